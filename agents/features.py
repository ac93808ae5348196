"""Features that agents read out of an observation: helpers of their kernels, for both games.

`offsets` says where each part of a row begins; `read` fills one record `f` of FEATURES from the
parts that both games have, `read_trains` and `read_feet` add what one game has. Seats and trains
are as the row names them: 0 the viewer and its train, then clockwise, the Mexican Train last.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dominoenv.core.compiling import jit
from dominoenv.core.layout import Layout
from dominoenv.core.rules import MAX_SEATS
from dominoenv.core.tiles import MAX_PIPS
from dominoenv.core.types import Rows, RulesRecord
from dominoenv.search.longest_train import SEARCH

NOWHERE = -1  # offset of a part that the game does not have; pip of a foot that is not open
TRAINS = MAX_SEATS + 1

PARTS = (
    *("hand", "table", "voids", "drew", "boneyard", "hand_sizes", "behind", "ends"),
    *("markers", "pending", "owes_play", "doubles", "engine"),
    *("foot", "toe_pips", "toes_missing", "arms_missing", "centre"),
)
OFFSETS = np.dtype([(name, np.int64) for name in PARTS])

FEATURES = np.dtype(
    [
        ("stride", np.int32),  # action ids of one place: tiles of a train, other pips of a pip
        ("note", np.float64),  # what an agent's `prepare` leaves to its `score`
        ("search", SEARCH),  # the train that the hand can lay, for agents that plan
        ("held", np.int8, (MAX_PIPS, MAX_PIPS)),  # 1: the tile of two pips, in either order
        ("unseen", np.int8, (MAX_PIPS, MAX_PIPS)),  # 1: neither in the hand nor on the table
        ("hand_pips", np.int32, (MAX_PIPS,)),  # tiles of the hand with each pip
        ("unseen_pips", np.int32, (MAX_PIPS,)),  # unseen tiles with each pip
        ("hand_size", np.int32),
        ("hand_cost", np.int32),  # what the hand costs
        ("num_unseen", np.int32),
        ("least_other", np.int32),  # tiles in the smallest hand of the others
        ("boneyard", np.int32),
        ("hand_sizes", np.int32, (MAX_SEATS,)),
        ("voids", np.int8, (MAX_SEATS, MAX_PIPS)),  # 1: provably holds no such tile
        # Mexican Train
        ("ends", np.int32, (TRAINS,)),  # outer pip of each train; the engine's while it is empty
        ("marked", np.int8, (MAX_SEATS,)),
        ("pending", np.int8, (TRAINS,)),  # 0, or the place among the uncovered doubles
        ("num_pending", np.int32),
        ("owes_play", np.int32),
        # Chicken Foot
        ("open_ends", np.int32, (MAX_PIPS,)),  # open ends of each pip
        ("foot", np.int32),  # pip of the open foot, or NOWHERE
        ("toe_pips", np.int32, (MAX_PIPS,)),  # toes of the open foot with each outer pip
        ("toes_missing", np.int32),
        ("arms_missing", np.int32),
        ("centre", np.int32),
    ],
    align=True,
)

Offsets: TypeAlias = np.void  # a record of OFFSETS
Features: TypeAlias = np.void  # a record of FEATURES
Parameters: TypeAlias = np.void  # an agent's parameters, each a float64
PipCounts: TypeAlias = NDArray[np.int32]  # (MAX_PIPS,) tiles with each pip


def offsets(layout: Layout) -> NDArray[np.void]:
    """Return where each part of a row begins, one record of OFFSETS, shape (1,)."""
    at = np.full(1, NOWHERE, np.int64).repeat(len(PARTS)).view(OFFSETS)
    for part in layout.parts:
        if part.name in PARTS:
            at[0][part.name] = part.start
    return at


@jit
def read(rows: Rows, i: int, r: RulesRecord, at: Offsets, f: Features) -> None:
    """Read what both games show: tiles, hand sizes, boneyard and proofs of row i."""
    read_tiles(rows, i, r, at, f)
    players, pips = int(r["players"]), int(r["pips"])
    f["boneyard"] = rows[i, at["boneyard"]]
    f["least_other"] = r["tiles"]
    for seat in range(players):
        f["hand_sizes"][seat] = rows[i, at["hand_sizes"] + seat]
        if seat > 0:
            f["least_other"] = min(f["least_other"], f["hand_sizes"][seat])
            for pip in range(pips):
                f["voids"][seat, pip] = rows[i, at["voids"] + (seat - 1) * pips + pip]


@jit
def read_tiles(rows: Rows, i: int, r: RulesRecord, at: Offsets, f: Features) -> None:
    """Read hand and table, and count the tiles of each pip."""
    f["hand_pips"][:] = 0
    f["unseen_pips"][:] = 0
    f["hand_size"] = f["hand_cost"] = f["num_unseen"] = 0
    for tile in range(r["tiles"]):
        low, high = int(r["low"][tile]), int(r["high"][tile])
        held = rows[i, at["hand"] + tile] != 0
        unseen = not held and rows[i, at["table"] + tile] == 0
        f["held"][low, high] = f["held"][high, low] = held
        f["unseen"][low, high] = f["unseen"][high, low] = unseen
        if held:
            count_tile(f["hand_pips"], low, high, 1)
            f["hand_size"] += 1
            f["hand_cost"] += r["cost"][tile]
        elif unseen:
            count_tile(f["unseen_pips"], low, high, 1)
            f["num_unseen"] += 1


@jit
def count_tile(counts: PipCounts, low: int, high: int, change: int) -> None:
    """Count a tile with each of its pips, a double once."""
    counts[low] += change
    if high != low:
        counts[high] += change


@jit
def read_trains(rows: Rows, i: int, r: RulesRecord, at: Offsets, f: Features) -> None:
    """Read the trains of Mexican Train."""
    f["stride"] = r["tiles"]
    players, pips = int(r["players"]), int(r["pips"])
    engine = one_hot(rows, i, int(at["engine"]), pips)
    f["owes_play"] = rows[i, at["owes_play"]]
    f["num_pending"] = 0
    for train in range(players + 1):
        end = one_hot(rows, i, int(at["ends"]) + train * (pips + 1), pips)
        f["ends"][train] = engine if end == NOWHERE else end
        f["pending"][train] = rows[i, at["pending"] + train]
        f["num_pending"] += f["pending"][train] > 0
    for seat in range(players):
        f["marked"][seat] = rows[i, at["markers"] + seat]


@jit
def read_feet(rows: Rows, i: int, r: RulesRecord, at: Offsets, f: Features) -> None:
    """Read the table of Chicken Foot."""
    pips = int(r["pips"])
    f["stride"] = pips
    for pip in range(pips):
        f["open_ends"][pip] = rows[i, at["ends"] + pip]
        f["toe_pips"][pip] = rows[i, at["toe_pips"] + pip]
    f["foot"] = one_hot(rows, i, int(at["foot"]), pips)
    f["centre"] = one_hot(rows, i, int(at["centre"]), pips)
    f["toes_missing"] = rows[i, at["toes_missing"]]
    f["arms_missing"] = rows[i, at["arms_missing"]]


@jit
def one_hot(rows: Rows, i: int, at: int, size: int) -> int:
    """Return which of `size` entries is set, or NOWHERE."""
    for k in range(size):
        if rows[i, at + k]:
            return k
    return NOWHERE


@jit
def chance(f: Features, seat: int, pip: int) -> float:
    """Return how probable it is that another seat holds a tile with a pip.

    0 where the pip is among its voids; otherwise every unseen tile may lie anywhere.
    """
    if f["voids"][seat, pip]:
        return 0.0
    wanted, tiles, taken = f["unseen_pips"][pip], f["num_unseen"], f["hand_sizes"][seat]
    return 1.0 - none_of(int(wanted), int(tiles), int(taken))


@jit
def none_of(wanted: int, tiles: int, taken: int) -> float:
    """Return the chance that none of `wanted` tiles is among `taken` of all `tiles`."""
    left = 1.0
    for k in range(wanted):
        left *= max(tiles - taken - k, 0) / max(tiles - k, 1)
    return left
