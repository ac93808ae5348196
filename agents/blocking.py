"""Who can go on: chances of the other seats in Mexican Train, as helpers of kernels."""

from __future__ import annotations

from typing import Any

from agents.reading import chance
from dominoenv._jit import jit


@jit
def nobody_plays(v: Any, r: Any, seats: int, pip: int) -> float:
    """Return the chance that none of the next `seats` seats holds a tile with a pip.

    Hands are taken as independent, which they are not quite.
    """
    left = 1.0
    for seat in range(1, min(seats + 1, int(r["players"]))):
        left *= 1.0 - chance(v, seat, pip)
    return left


@jit
def covers_left(v: Any, pip: int, low: int, high: int) -> int:
    """Return the tiles of a pip that the hand keeps, when it plays the tile low-high."""
    return int(v["hand_pips"][pip]) - int(v["held"][low, high] and (low == pip or high == pip))
