"""The longest or heaviest train that a hand can lay: an exact search with a budget.

Pips are the vertices of a graph and tiles its edges, so a train is a trail from the start: a walk
that uses no tile twice. The search is a depth-first branch and bound over trails.

Doubles are loops and are laid as soon as their pip is reached: a loop can be inserted into any
trail that visits its pip, leads nowhere else, and makes the trail longer by one tile and no
lighter. So only the other tiles are searched.

Upper bound: take the tiles that the walk can still reach. Those that it leaves over form a graph
whose odd vertices are known, except for the end of the walk (an Euler trail has odd vertices only
at its start and end). Each odd vertex costs at least half a tile and its own pip (L. Euler, Solutio
problematis ad geometriam situs pertinentis, 1741).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dominoenv.core.bits import ONE, lowest
from dominoenv.core.compiling import jit, kernel
from dominoenv.core.tiles import MAX_PIPS, MAX_TILES, domino_set
from dominoenv.core.types import Records, SearchRecord
from dominoenv.errors import DominoError, PositionError, nearest

MOST = 4096  # more than the pips of the largest set, and more than its tiles
# The value of a tile: a constant, and an amount for each of its pips. The smaller one breaks ties.
OBJECTIVES = {"tiles": (MOST, 1), "pips": (1, MOST)}
BUDGET = 1_000_000  # steps of a search, about 0.1 microseconds each

SEARCH = np.dtype(
    [
        ("links", np.uint64, (MAX_PIPS,)),  # bit q of links[p]: the tile p-q is unused
        ("degree", np.int16, (MAX_PIPS,)),  # number of bits of links[p]
        ("doubles", np.uint64),  # bit p: the double of p is in the hand
        ("visits", np.int16, (MAX_PIPS,)),  # how often the walk has visited each pip
        ("walk", np.int16, (MAX_TILES + 1,)),  # the pips of the walk
        ("untried", np.uint64, (MAX_TILES + 1,)),  # next pips still to try from each of them
        ("best_steps", np.int32),  # tiles of the best walk, without its doubles
        ("best_walk", np.int16, (MAX_TILES + 1,)),
        ("best_value", np.int64),
        ("proven", np.int32),  # 1: nothing better exists
    ],
    align=True,
)


class Train(NamedTuple):
    """A train laid from a hand."""

    tiles: tuple[str, ...]
    """In the order of play, each as `high-low`."""
    pips: int
    """Sum over all of these tiles."""
    end: int
    """The outer pip; the start if nothing fits."""
    proven: bool
    """Whether it is certainly the best; False: the budget ran out first."""


def longest_train(
    hand: Iterable[str | tuple[int, int]],
    start: int,
    objective: str = "tiles",
    budget: int = BUDGET,
) -> Train:
    """Return the best train that the tiles of a hand can make from an end of pip `start`.

    hand: tiles as text (`9-4`) or as pairs of pips, in any order; start: 0 ... 18. objective:
    "tiles" for the longest train, of equals the heaviest; "pips" for the heaviest, of equals the
    longest. After `budget` steps the search returns the best train found so far.

    Raises PositionError for invalid or duplicate tiles and an invalid start, DominoError for other
    objectives and budgets.
    """
    if not isinstance(objective, str) or objective not in OBJECTIVES:
        raise DominoError(f"objective={objective!r}: {nearest(objective, OBJECTIVES)}")
    if not _is_whole(budget) or budget < 1:
        raise DominoError(f"budget={budget!r} must be a whole number, 1 or more")
    if not _is_whole(start) or not 0 <= start < MAX_PIPS:
        raise PositionError(f"start={start!r} must be a pip, 0 ... {MAX_PIPS - 1}")
    tiles = list(hand)
    pips = np.array([_pips(tile) for tile in tiles], np.int64).reshape(-1, 2)
    search = np.zeros(1, SEARCH)
    twice = _search_hand(search, pips, int(start), *OBJECTIVES[objective], min(budget, 1 << 62))
    if twice >= 0:
        raise PositionError(f"tile {tiles[twice]!r} stands twice in the hand")
    return _read_train(search[0])


def _is_whole(number: object) -> bool:
    return isinstance(number, int | np.integer) and not isinstance(number, bool)


def _pips(tile: object) -> tuple[int, int]:
    """Return the lower and the higher pip of a tile, or raise PositionError."""
    tiles = domino_set(MAX_PIPS - 1)
    if isinstance(tile, tuple | list) and len(tile) == 2 and all(map(_is_whole, tile)):
        tile = f"{tile[0]}-{tile[1]}"
    number = tiles.parse(tile)
    return int(tiles.low[number]), int(tiles.high[number])


def _read_train(t: SearchRecord) -> Train:
    """Return the best walk of a search, with doubles inserted where each pip is first reached."""
    walk = t["best_walk"][: t["best_steps"] + 1].tolist()
    tiles: list[tuple[int, int]] = []
    for i, pip in enumerate(walk):
        if i > 0:
            tiles.append((walk[i - 1], pip))
        if int(t["doubles"]) >> pip & 1 and pip not in walk[:i]:
            tiles.append((pip, pip))
    texts = tuple(f"{max(tile)}-{min(tile)}" for tile in tiles)
    return Train(texts, sum(map(sum, tiles)), walk[-1], bool(t["proven"]))


# ---------------------------------------------------------------------------------------- kernels


@kernel
def _search_hand(
    search: Records, pips: NDArray[np.int64], start: int, per_tile: int, per_pip: int, budget: int
) -> int:
    """Search the best train of some tiles; return -1, or the index of a duplicate tile."""
    t = search[0]
    clear_search(t)
    for i in range(len(pips)):
        if not add_tile(t, pips[i, 0], pips[i, 1]):
            return i
    search_train(t, start, per_tile, per_pip, budget)
    return -1


@jit
def clear_search(t: SearchRecord) -> None:
    """Remove all tiles from a search."""
    t["links"][:] = 0
    t["degree"][:] = 0
    t["doubles"] = 0


@jit
def add_tile(t: SearchRecord, low: int, high: int) -> bool:
    """Add a tile to a search; return whether it was new."""
    if low == high:
        new = not has_double(t, low)
        t["doubles"] |= ONE << np.uint64(low)
        return new
    new = not (t["links"][low] >> np.uint64(high)) & ONE
    if new:
        link(t, low, high, 1)
    return new


@jit
def remove_tile(t: SearchRecord, low: int, high: int) -> None:
    """Remove a tile from a search that has it."""
    if low == high:
        t["doubles"] &= ~(ONE << np.uint64(low))
    else:
        link(t, low, high, -1)


@jit
def has_double(t: SearchRecord, pip: int) -> bool:
    """Return whether the double of a pip is among the tiles."""
    return bool((t["doubles"] >> np.uint64(pip)) & ONE)


@jit
def link(t: SearchRecord, a: int, b: int, change: int) -> None:
    """Add the tile a-b, a != b, to the graph (1), or remove it (-1)."""
    t["links"][a] ^= ONE << np.uint64(b)
    t["links"][b] ^= ONE << np.uint64(a)
    t["degree"][a] += change
    t["degree"][b] += change


@jit
def search_train(t: SearchRecord, start: int, per_tile: int, per_pip: int, budget: int) -> None:
    """Find the best walk from a pip through the tiles of a search, in at most `budget` steps.

    All tiles are restored afterwards, for another search.
    """
    t["visits"][:] = 0
    t["best_steps"], t["best_walk"][0] = 0, start
    depth, steps = 0, 0
    value = arrive(t, start, 0, per_tile, per_pip)
    t["best_value"] = value
    look_ahead(t, depth, value, per_tile, per_pip)
    while steps < budget:
        pip = int(t["walk"][depth])
        if t["untried"][depth]:
            following = next_pip(t, depth)
            link(t, pip, following, -1)
            depth, steps = depth + 1, steps + 1
            value += per_tile + per_pip * (pip + following)
            value += arrive(t, following, depth, per_tile, per_pip)
            if value > t["best_value"]:
                note_best(t, depth, value)
            look_ahead(t, depth, value, per_tile, per_pip)
        elif depth == 0:
            break
        else:
            value -= go_back(t, depth, per_tile, per_pip)
            depth -= 1
    t["proven"] = steps < budget or (depth == 0 and not t["untried"][0])
    while depth > 0:
        go_back(t, depth, per_tile, per_pip)
        depth -= 1


@jit
def arrive(t: SearchRecord, pip: int, depth: int, per_tile: int, per_pip: int) -> int:
    """Extend the walk to a pip; return the value of the double that is laid there."""
    t["walk"][depth] = pip
    t["visits"][pip] += 1
    return per_tile + 2 * per_pip * pip if t["visits"][pip] == 1 and has_double(t, pip) else 0


@jit
def go_back(t: SearchRecord, depth: int, per_tile: int, per_pip: int) -> int:
    """Undo the walk's last step; return its value, its double included."""
    pip, before = int(t["walk"][depth]), int(t["walk"][depth - 1])
    t["visits"][pip] -= 1
    link(t, pip, before, 1)
    value = per_tile + per_pip * (pip + before)
    if t["visits"][pip] == 0 and has_double(t, pip):
        value += per_tile + 2 * per_pip * pip
    return value


@jit
def next_pip(t: SearchRecord, depth: int) -> int:
    """Return the next pip to try, the one with most tiles left, and mark it as tried."""
    left = t["untried"][depth]
    best, most = 0, -1
    while left:
        pip = lowest(left)
        left &= left - ONE
        if t["degree"][pip] >= most:
            best, most = pip, int(t["degree"][pip])
    t["untried"][depth] &= ~(ONE << np.uint64(best))
    return best


@jit
def look_ahead(t: SearchRecord, depth: int, value: int, per_tile: int, per_pip: int) -> None:
    """Store the next pips to try from the end of the walk: none if the bound rules them out."""
    pip = int(t["walk"][depth])
    t["untried"][depth] = t["links"][pip]
    if value + most_to_come(t, pip, per_tile, per_pip) <= t["best_value"]:
        t["untried"][depth] = 0


@jit
def note_best(t: SearchRecord, depth: int, value: int) -> None:
    """Store the walk as the best so far."""
    t["best_value"], t["best_steps"] = value, depth
    for i in range(depth + 1):
        t["best_walk"][i] = t["walk"][i]


@jit
def most_to_come(t: SearchRecord, pip: int, per_tile: int, per_pip: int) -> int:
    """Return an upper bound of what the walk can still gain from a pip on.

    All reachable tiles, less what an Euler trail must leave over: half a tile and its own pip for
    every odd vertex that is not an end of the remaining walk. The bound assumes the best end for
    tiles and for pips separately.
    """
    tiles, pips, odd, odd_pips, odd_most = within_reach(t, pip)
    if odd > 0 and t["degree"][pip] & 1:  # the walk ends at one of the others
        tiles -= (odd - 1) // 2
        pips -= odd_pips - odd_most
    elif odd > 0:  # it ends here, or at one of the others and leaves a tile here
        tiles -= odd // 2
        pips -= min(odd_pips, odd_pips - odd_most + pip)
    return per_tile * tiles + per_pip * pips


@jit
def within_reach(t: SearchRecord, pip: int) -> tuple[int, int, int, int, int]:
    """Return the number of tiles reachable from a pip, and the sum of their pips.

    Then the number of vertices other than `pip` with an odd degree (doubles aside), the sum of
    their own pips, and the largest.
    """
    reach = ONE << np.uint64(pip)
    border = reach
    halves, doubles, pips = 0, 0, 0
    odd, odd_pips, odd_most = 0, 0, 0
    while border:
        here = lowest(border)
        border &= border - ONE
        new = t["links"][here] & ~reach
        reach |= new
        border |= new
        degree = int(t["degree"][here])
        halves += degree
        pips += degree * here
        if t["visits"][here] == 0 and has_double(t, here):
            doubles += 1
            pips += 2 * here
        if degree & 1 and here != pip:
            odd += 1
            odd_pips += here
            odd_most = max(odd_most, here)
    return halves // 2 + doubles, pips, odd, odd_pips, odd_most
