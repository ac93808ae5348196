"""Who can go on: chances of the other seats in Mexican Train, as helpers of kernels."""

from __future__ import annotations

from dominoenv.core.compiling import jit
from dominoenv.core.types import RulesRecord

from .features import Features, chance


@jit
def nobody_plays(f: Features, r: RulesRecord, seats: int, pip: int) -> float:
    """Return the chance that none of the next `seats` seats holds a tile with a pip.

    Hands are taken as independent, which they are not quite.
    """
    left = 1.0
    for seat in range(1, min(seats + 1, int(r["players"]))):
        left *= 1.0 - chance(f, seat, pip)
    return left


@jit
def covers_left(f: Features, pip: int, low: int, high: int) -> int:
    """Return the tiles of a pip that the hand keeps, when it plays the tile low-high."""
    return int(f["hand_pips"][pip]) - int(f["held"][low, high] and (low == pip or high == pip))
