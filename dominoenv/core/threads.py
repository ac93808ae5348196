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
    """Lets one thread at a time into an object, and refuses the others instead of letting them wait.

    Two threads that take turns in one game are a mistake. The thread that is in may enter again. A
    copy of the object begins with nobody in it. `enter` belongs inside of `try`, and `leave` under
    its `finally`: then an interrupt (Ctrl-C) leaves nobody behind. A list costs less than a lock.
    """

    __slots__ = ("_threads",)

    def __init__(self) -> None:
        self._threads: list[int] = []  # one entry a call; the first is of the thread that is in

    def __reduce__(self) -> tuple[type[Guard], tuple[()]]:
        return Guard, ()

    def enter(self) -> None:
        """Let the calling thread in, or raise DominoError."""
        threads, own = self._threads, get_ident()
        threads.append(own)
        if threads[0] != own:
            raise DominoError(
                "in use by another thread: one thread at a time may use a game, a batch or an "
                "environment; give each thread its own"
            )

    def leave(self) -> None:
        """Undo `enter`, whatever became of it."""
        self._threads.pop()


class Guarded(Protocol):
    """What has methods for `one_thread`."""

    _guard: Guard


def one_thread(method: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], R]:
    """Guard a method, as a decorator; those where its cost counts do it themselves."""

    @wraps(method)
    def guarded(self: S, /, *args: P.args, **kwargs: P.kwargs) -> R:
        guard = self._guard
        try:
            guard.enter()
            return method(self, *args, **kwargs)
        finally:
            guard.leave()

    return guarded
