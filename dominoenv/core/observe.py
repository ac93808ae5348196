"""The parts of an observation that games share: their layout, and the kernel that writes them.

A seat's view is made from what the seat may know: its own hand, and what lies open to everybody.
No function here reads another seat's hand or the order of the boneyard. Seats are relative: the
viewer is 0, the next clockwise 1 and so on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from dominoenv.core.bits import store_byte, write_bits
from dominoenv.core.compiling import jit
from dominoenv.core.round import NOT_DRAWN, clockwise, next_seat
from dominoenv.core.rules import Rules
from dominoenv.core.types import Row, RulesRecord, State

MAX_BEHIND = 255  # points behind the leader that a row can tell

Parts: TypeAlias = Mapping[str, list[int]]  # the raw values of one row, by the name of their part


def tile_sections(rules: Rules) -> list[tuple[str, int, int, str]]:
    """Lay out what `write_tile_sets` writes."""
    size = rules.tiles.size
    return [
        ("hand", size, 1, "the viewer's tiles, by tile id"),
        ("table", size, 1, "tiles on the table, by tile id"),
    ]


@jit
def write_tile_sets(g: State, r: RulesRecord, seat: int, row: Row) -> int:
    """Write the viewer's hand and the table; return where the next part begins."""
    size = int(r["tiles"])
    for w in range(r["words"]):
        in_word = min(size - 64 * w, 64)
        write_bits(row, 64 * w, g["hands"][seat, w], in_word)
        write_bits(row, size + 64 * w, g["table"][w], in_word)
    return 2 * size


def shared_sections(rules: Rules) -> list[tuple[str, int, int, str]]:
    """Lay out what `write_shared` writes."""
    players, pips, size = rules.players, rules.max_pip + 1, rules.tiles.size
    return [
        (
            "voids",
            (players - 1) * pips,
            1,
            "for each other seat, clockwise, and each pip: the seat provably holds no such tile",
        ),
        ("to_move", players, 1, "one-hot: whose turn it is, the viewer first, then clockwise"),
        ("drew", 1, 1, "the seat to move has drawn and may not draw again"),
        ("passes", 1, 2 * players, "passes in a row that ended with an empty boneyard"),
        ("boneyard", 1, size, "tiles left in the boneyard"),
        ("round", 1, max(len(rules.rounds) - 1, 1), "rounds of the match already played"),
        ("hand_sizes", players, size, "tiles in each hand, the viewer's first"),
        (
            "behind",
            players,
            MAX_BEHIND,
            f"points of each seat above the lowest total, at most {MAX_BEHIND}, the viewer first",
        ),
    ]


@jit
def write_shared(g: State, r: RulesRecord, seat: int, row: Row, at: int) -> int:
    """Write proofs, turn, boneyard, round, hand sizes and scores; return where the row ends."""
    players, pips = int(r["players"]), int(r["pips"])
    other, least = seat, int(g["scores"][seat])
    for _ in range(1, players):
        other = next_seat(g, r, other)
        write_bits(row, at, np.uint64(g["voids"][other]), pips)
        least = min(least, int(g["scores"][other]))
        at += pips
    store_byte(row, at + clockwise(r, int(g["to_move"]), players - seat), 1)
    at += players
    store_byte(row, at, g["drew"] != NOT_DRAWN)
    store_byte(row, at + 1, int(g["passes"]))
    store_byte(row, at + 2, int(g["boneyard_size"]))
    store_byte(row, at + 3, int(g["round"]))
    at += 4
    for i in range(players):
        other = next_seat(g, r, other)  # the viewer first
        store_byte(row, at + i, int(g["hand_sizes"][other]))
        store_byte(row, at + players + i, min(int(g["scores"][other]) - least, MAX_BEHIND))
    return at + 2 * players


# ------------------------------------------------------------------------------------- plain values


def shared_values(rules: Rules, parts: Parts) -> dict[str, Any]:
    """Return as plain values what `write_tile_sets` and `write_shared` wrote, by name."""
    hand, table = set_places(parts["hand"]), set_places(parts["table"])
    unseen = sorted(set(range(rules.tiles.size)).difference(hand, table))
    return {
        "hand": [rules.tiles.text(tile) for tile in hand],
        "table": [rules.tiles.text(tile) for tile in table],
        "unseen": [rules.tiles.text(tile) for tile in unseen],
        "voids": [[], *map(set_places, chunks(parts["voids"], rules.max_pip + 1))],
        "to_move": one_hot(parts["to_move"]),
        "drew": bool(parts["drew"][0]),
    }


def set_places(flags: Sequence[int]) -> list[int]:
    """Return the places of those that are not 0."""
    return [place for place, flag in enumerate(flags) if flag]


def one_hot(flags: Sequence[int]) -> int | None:
    """Return the place of the one that is set; None where none is."""
    return next(iter(set_places(flags)), None)


def repeated(counts: Sequence[int]) -> list[int]:
    """Return each place as often as it counts."""
    return [place for place, count in enumerate(counts) for _ in range(count)]


def chunks(values: Sequence[int], size: int) -> Iterator[Sequence[int]]:
    """Yield the values, `size` at a time."""
    for start in range(0, len(values), size):
        yield values[start : start + size]
