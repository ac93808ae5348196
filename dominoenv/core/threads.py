"""Threads: several that share the games of a batch, and one at a time for each object.

Kernels let go of Python's lock while they run, so two threads in one batch would write over each
other's records.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache, wraps
from threading import get_ident
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from dominoenv.errors import DominoError

P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S", bound="Guarded")

MIN_SHARE = 256  # games; waking a thread for fewer takes longer than the work


def map_slices(number: int, num_threads: int, work: Callable[[slice], Any]) -> list[Any]:
    """Do work on slices of 0 ... number-1 in threads, the caller's among them; return the answers.

    The answers stand in the order of the slices. An exception in one is raised once all are done.
    """
    parts = max(min(num_threads, number // MIN_SHARE), 1)
    slices = [slice(number * i // parts, number * (i + 1) // parts) for i in range(parts)]
    if parts == 1:
        return [work(slices[0])]
    helpers = _helpers(parts - 1, os.getpid())
    others = [helpers.submit(work, part) for part in slices[1:]]
    try:
        own = work(slices[0])
    finally:
        for other in others:
            other.exception()  # waits
    return [own, *(other.result() for other in others)]


@cache
def _helpers(size: int, process: int) -> ThreadPoolExecutor:
    """Return threads that all batches of a process share; they do not outlive a fork."""
    return ThreadPoolExecutor(size, "dominoenv")


class Guard:
    """Which threads are in an object; a copy of the object begins with nobody in it.

    `threads` has one entry a call, and the first belongs to the thread that is let in. A list costs
    less than a lock, and an interrupt (Ctrl-C) leaves nobody behind where the entry is made inside
    of `try` and taken back by `finally`.
    """

    __slots__ = ("threads",)

    def __init__(self) -> None:
        self.threads: list[int] = []

    def __reduce__(self) -> tuple[type[Guard], tuple[()]]:
        return Guard, ()


class Guarded(Protocol):
    """What has methods for `one_thread`."""

    _guard: Guard


def one_thread(method: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], R]:
    """Let one thread at a time into an object's methods, as a decorator: the others are refused.

    They don't wait, because two threads that take turns in one game are a mistake. The thread that
    is in may call other such methods. Where every nanosecond counts, the lines stand in the method.
    """

    @wraps(method)
    def guarded(self: S, /, *args: P.args, **kwargs: P.kwargs) -> R:
        threads, own = self._guard.threads, get_ident()
        try:
            threads.append(own)
            if threads[0] != own:
                raise in_use()
            return method(self, *args, **kwargs)
        finally:
            threads.pop()

    return guarded


def in_use() -> DominoError:
    """Return the error for a thread that is not let in."""
    return DominoError(
        "in use by another thread: one thread at a time may use a game, a batch or an environment; "
        "give each thread its own"
    )
