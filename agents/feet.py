"""What Chicken Foot agents count, as helpers of kernels: pips kept, toes left, others' hands."""

from __future__ import annotations

from dominoenv.core.compiling import jit
from dominoenv.core.types import RulesRecord
from dominoenv.games.chicken_foot.state import NO_FOOT

from .features import Features


@jit
def kept_pips(f: Features, r: RulesRecord, pip: int, other: int) -> int:
    """Return how many different pips the hand still has when it has played a tile."""
    number = 0
    for p in range(r["pips"]):
        left = int(f["hand_pips"][p]) - int(p in (pip, other))
        number += left > 0
    return number


@jit
def makes_foot(f: Features, pip: int, other: int) -> bool:
    """Return whether playing a tile opens a foot; at the centre and on a foot nothing does."""
    return pip == other and f["foot"] == NO_FOOT and f["arms_missing"] == 0


@jit
def toes_left(f: Features, pip: int) -> int:
    """Return the tiles of a pip, its double aside, that may still become toes."""
    return int(f["unseen_pips"][pip] + f["hand_pips"][pip] - f["held"][pip, pip])


@jit
def unseen_cost(f: Features, r: RulesRecord) -> float:
    """Return what an unseen tile costs on average."""
    total, number = 0, 0
    for tile in range(r["tiles"]):
        if f["unseen"][r["low"][tile], r["high"][tile]]:
            total += int(r["cost"][tile])
            number += 1
    return total / max(number, 1)


@jit
def others_cost(f: Features, r: RulesRecord) -> float:
    """Return what the hands of the other seats cost on average, if unseen tiles lie anywhere."""
    tiles = 0
    for seat in range(1, r["players"]):
        tiles += int(f["hand_sizes"][seat])
    return tiles * unseen_cost(f, r) / (int(r["players"]) - 1)
