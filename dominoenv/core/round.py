"""What a round of either game has: hands, table, boneyard, turn, and the verbs on them.

Everything here works on one record `g` (a game's state) and one record `r` (its rules), unchecked:
the caller has made sure that a tile is where it is taken from. Letters: P seats, K pips, T tiles.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dominoenv.core.bits import ONE, bit, lowest
from dominoenv.core.compiling import jit, outlined
from dominoenv.core.rules import MAX_SEATS
from dominoenv.core.streams import below, open_stream
from dominoenv.core.tiles import MAX_TILES, WORDS
from dominoenv.core.types import RulesRecord, State

SEATS = MAX_SEATS

PLAYING, WENT_OUT, NOBODY_CAN_PLAY = range(3)  # g["ending"]
FREE, BY_DOUBLE, BY_CENTRE = range(3)  # what play was bound to when the round ended
NOT_DRAWN, DRAWN, DRAW_SPENT = range(3)  # g["drew"]; spent: the tile drawn this turn was played

# A step reads and writes a few cache lines of a record: what it needs stands together, in front.
ROUND_STATE: list[Any] = [
    ("to_move", np.int16),
    ("ending", np.int16),  # PLAYING, WENT_OUT or NOBODY_CAN_PLAY
    ("drew", np.int16),  # has the seat to move drawn for the play it owes? NOT_DRAWN ...
    ("passes", np.int16),  # passes in a row that ended with an empty boneyard
    ("round", np.int16),  # index into the rules' rounds
    ("starter", np.int16),  # Mexican Train: the round's starter; Chicken Foot: who led
    ("boneyard_size", np.int16),
    ("num_played", np.int16),
    ("table", np.uint64, (WORDS,)),  # tile set on the table
    ("hands", np.uint64, (SEATS, WORDS)),  # tile set of each seat
    ("hand_sizes", np.int16, (SEATS,)),
    ("voids", np.int32, (SEATS,)),  # bit p: everybody knows that the seat holds no tile with pip p
]

ROUND_STORE: list[Any] = [
    ("scores", np.int32, (SEATS,)),  # of the match, this round's penalties included once it ended
    ("penalties", np.int32, (SEATS,)),  # of the round, once it has ended
    ("seed", np.uint64),
    ("stream", np.uint64),  # where the random stream of the deal stands
    ("match", np.int64),
    ("boneyard", np.uint8, (MAX_TILES,)),  # a pile: the next draw is the last of boneyard_size
    ("played", np.uint8, (MAX_TILES,)),  # tiles in the order they were played
]


@outlined
def clear_round(g: State) -> None:
    """Take everything off the table and out of the hands; seed, match, round, scores stay."""
    g["to_move"] = g["starter"] = 0
    g["ending"] = PLAYING
    g["drew"] = NOT_DRAWN
    g["passes"] = g["boneyard_size"] = g["num_played"] = 0
    g["table"][:] = 0
    g["hands"][:] = 0
    g["hand_sizes"][:] = 0
    g["voids"][:] = 0
    g["penalties"][:] = 0


@outlined
def pile_up(g: State, r: RulesRecord, set_aside: int) -> None:
    """Shuffle all tiles but `set_aside` (-1: all) into the boneyard, by the round's own stream."""
    g["stream"] = open_stream(g["seed"], g["match"], g["round"])
    size = 0
    for tile in range(r["tiles"] - 1, -1, -1):
        if tile != set_aside:
            g["boneyard"][size] = tile
            size += 1
    g["boneyard_size"] = size
    shuffle_boneyard(g)


@outlined
def shuffle_boneyard(g: State) -> None:
    """Shuffle the list that lies in the boneyard, its first element on top: at the end."""
    size = int(g["boneyard_size"])
    for i in range(size - 1, 0, -1):
        j = below(g, i + 1)
        a, b = size - 1 - i, size - 1 - j
        tile = g["boneyard"][a]
        g["boneyard"][a] = g["boneyard"][b]
        g["boneyard"][b] = tile


@jit
def draw_tile(g: State, seat: int) -> int:
    """Move the boneyard's next tile into a hand; returns the tile."""
    size = g["boneyard_size"] - 1
    g["boneyard_size"] = size
    tile = int(g["boneyard"][size])
    g["hands"][seat, tile >> 6] |= bit(tile)
    g["hand_sizes"][seat] += 1
    return tile


@outlined
def deal_hands(g: State, r: RulesRecord) -> None:
    """Deal every seat its hand, seat 0 all of its tiles first."""
    for seat in range(r["players"]):
        for _ in range(r["hand_size"]):
            draw_tile(g, seat)


@jit
def lay_tile(g: State, seat: int, tile: int) -> None:
    """Move a tile from a hand onto the table."""
    g["hands"][seat, tile >> 6] &= ~bit(tile)
    g["hand_sizes"][seat] -= 1
    put_on_table(g, tile)


@jit
def put_on_table(g: State, tile: int) -> None:
    """Add a tile to the set of those on the table."""
    g["table"][tile >> 6] |= bit(tile)


@jit
def holds(g: State, seat: int, tile: int) -> bool:
    """Return whether a tile is in a hand."""
    return bool(g["hands"][seat, tile >> 6] & bit(tile))


@jit
def is_on_table(g: State, tile: int) -> bool:
    """Return whether a tile lies on the table."""
    return bool(g["table"][tile >> 6] & bit(tile))


@jit
def next_seat(g: State, r: RulesRecord, seat: int) -> int:
    """Return the seat clockwise of a seat."""
    return seat + 1 if seat + 1 < r["players"] else 0


@jit
def clockwise(r: RulesRecord, seat: int, steps: int) -> int:
    """Return the seat so many steps, at most P, clockwise of a seat."""
    there = seat + steps
    return there if there < r["players"] else there - int(r["players"])


@jit
def is_double(r: RulesRecord, tile: int) -> bool:
    """Return whether both pips of a tile are the same."""
    return bool(r["low"][tile] == r["high"][tile])


@jit
def other_pip(r: RulesRecord, tile: int, pip: int) -> int:
    """Return the pip of a tile that is not `pip` (of a double: `pip` again)."""
    return int(r["low"][tile]) + int(r["high"][tile]) - pip


@jit
def all_on_table(g: State, r: RulesRecord, pip: int) -> bool:
    """Return whether all K tiles of a pip lie on the table, so that nobody can ever play one."""
    for w in range(WORDS):
        if r["pip_tiles"][pip, w] & ~g["table"][w]:
            return False
    return True


@outlined
def somebody_holds(g: State, r: RulesRecord, pips: int) -> bool:
    """Return whether any hand holds a tile with one of the pips, given as a bit mask."""
    for w in range(WORDS):
        held = g["hands"][0, w]
        for seat in range(1, r["players"]):
            held |= g["hands"][seat, w]
        for pip in range(r["pips"]):
            if (pips >> pip) & 1 and held & r["pip_tiles"][pip, w]:
                return True
    return False


@jit
def count_pass(g: State) -> None:
    """Count a pass towards the lap that ends a round: it counts once the boneyard is empty."""
    g["passes"] = g["passes"] + 1 if g["boneyard_size"] == 0 else 0


@jit
def proof_of_draw(g: State, seat: int, pips: int) -> None:
    """Note what a draw proves: the hand has none of the pips that the seat could have used."""
    g["voids"][seat] |= pips


@jit
def proof_of_pass(g: State, seat: int, pips: int) -> None:
    """Note what a pass proves; a tile drawn just before stays in the hand and ends older proofs."""
    if g["drew"] == DRAWN:
        g["voids"][seat] = pips
    else:
        g["voids"][seat] |= pips


@jit
def hand_cost(g: State, r: RulesRecord, seat: int) -> int:
    """Return what the tiles left in a hand cost."""
    total = 0
    for w in range(WORDS):
        word = g["hands"][seat, w]
        while word:
            total += int(r["cost"][w * 64 + lowest(word)])
            word &= word - ONE
    return total


@outlined
def end_round(g: State, r: RulesRecord, ending: int) -> None:
    """End the round: every seat pays for its hand."""
    g["ending"] = ending
    for seat in range(r["players"]):
        cost = hand_cost(g, r, seat)
        g["penalties"][seat] = cost
        g["scores"][seat] += cost
