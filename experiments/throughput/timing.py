"""Timing on a busy machine: contestants take turns, medians are reported."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

Timed = Callable[[], tuple[float, int]]  # does some work; returns its seconds and its decisions


@dataclass(frozen=True)
class Speed:
    """Decisions a second: the median of some repeats, and the quartiles."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, rates: list[float]) -> Speed:
        """Return the speed of some repeats."""
        if len(rates) == 1:
            return cls(rates[0], rates[0], rates[0])
        low, median, high = statistics.quantiles(rates, n=4, method="inclusive")
        return cls(median, low, high)

    @property
    def nanoseconds(self) -> float:
        """Nanoseconds per decision."""
        return 1e9 / self.median

    def __str__(self) -> str:
        """Return `3.21 M`, `98 k`, with three digits at most."""
        return short(self.median)


def short(rate: float) -> str:
    """Return a rate as `3.21 M` or `98 k`."""
    if rate >= 999_500:
        return f"{rate / 1e6:.3g} M"
    return f"{rate / 1e3:.3g} k" if rate >= 1000 else f"{rate:.0f}"


def race(contestants: Mapping[str, Timed], repeats: int) -> dict[str, Speed]:
    """Run each contestant `repeats` times, in turns, after a warm-up.

    Slow phases of the machine affect all of them.
    """
    rates: dict[str, list[float]] = {name: [] for name in contestants}
    for repeat in range(repeats + 1):
        for name, work in contestants.items():
            seconds, decisions = work()
            if repeat:
                rates[name].append(decisions / seconds)
    return {name: Speed.of(found) for name, found in rates.items()}


def timed_loop(loop: Callable[[int], Iterator[None]], decisions: int) -> Timed:
    """Time a loop that yields after each decision; each repeat starts it with a new number."""
    begun = 0

    def work() -> tuple[float, int]:
        nonlocal begun
        begun += 1
        steps = loop(begun)
        next(steps)  # warm-up, not counted
        start = time.perf_counter()
        for _ in range(decisions):
            next(steps)
        return time.perf_counter() - start, decisions

    return work
