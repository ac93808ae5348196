"""The plan of a Mexican Train hand: the best train from an end, as helpers of kernels."""

from __future__ import annotations

from dominoenv.core.compiling import jit
from dominoenv.core.types import RulesRecord, SearchRecord
from dominoenv.search.longest_train import add_tile, clear_search, has_double

from .features import Features

NO_PLACE = -1  # place of a tile in a plan that it is not part of


@jit
def gather(f: Features, r: RulesRecord) -> None:
    """Put the tiles of the hand into the search."""
    t = f["search"]
    clear_search(t)
    for low in range(r["pips"]):
        for high in range(low, r["pips"]):
            if f["held"][low, high]:
                add_tile(t, low, high)


@jit
def place_in_plan(t: SearchRecord, a: int, b: int) -> int:
    """Return after how many steps of the best train a tile is laid, or NO_PLACE; 0: it is first.

    A double and the step that follows it share a place: see `is_first`.
    """
    for i in range(t["best_steps"] + 1):
        pip = int(t["best_walk"][i])
        if a == b and pip == a and has_double(t, a):
            return i
        if a != b and i < t["best_steps"]:
            following = int(t["best_walk"][i + 1])
            if (pip == a and following == b) or (pip == b and following == a):
                return i
    return NO_PLACE


@jit
def is_first(t: SearchRecord, a: int, b: int) -> bool:
    """Return whether a tile is the first of the best train: the double, where the start has one."""
    if a != b and has_double(t, int(t["best_walk"][0])):
        return False
    return place_in_plan(t, a, b) == 0
