"""Threads that share the games of a batch; kernels let go of Python's lock while they run."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

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
