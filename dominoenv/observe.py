"""The parts of an observation that both games share: their layout, and the kernel that writes them.

A seat's view is made from what the seat may know: its own hand, and what lies open to everybody.
No function here reads another seat's hand or the order of the boneyard. Seats are relative: the
viewer is 0, the next clockwise 1 and so on.
"""

from __future__ import annotations

from typing import Any

from dominoenv._jit import jit
from dominoenv.round import NOT_DRAWN, write_pips, write_tiles
from dominoenv.rules import Rules

MOST_BEHIND = 255  # points behind the leader that a row can tell


def tile_sections(rules: Rules) -> list[tuple[str, int, int, str]]:
    """Lay out what `write_tile_sets` writes."""
    size = rules.tiles.size
    return [
        ("hand", size, 1, "the viewer's tiles, by tile id"),
        ("table", size, 1, "tiles on the table, by tile id"),
    ]


@jit
def write_tile_sets(g: Any, r: Any, seat: int, row: Any) -> int:
    """Write the viewer's hand and the table; return where the next part begins."""
    write_tiles(row, 0, g["hands"][seat])
    write_tiles(row, int(r["tiles"]), g["table"])
    return int(2 * r["tiles"])


def shared_sections(rules: Rules) -> list[tuple[str, int, int, str]]:
    """Lay out what `write_shared` writes."""
    players, pips, size = rules.players, rules.max_pip + 1, rules.tiles.size
    return [
        ("to_move", players, 1, "one-hot: whose turn it is, the viewer first, then clockwise"),
        ("drew", 1, 1, "the seat to move has drawn and may not draw again"),
        ("passes", 1, players, "passes in a row that ended with an empty boneyard"),
        ("hand_sizes", players, size, "tiles in each hand, the viewer's first"),
        ("boneyard", 1, size, "tiles left in the boneyard"),
        (
            "lacks",
            (players - 1) * pips,
            1,
            "for each other seat, clockwise, and each pip: the seat provably holds no such tile",
        ),
        ("round", 1, max(len(rules.rounds) - 1, 1), "rounds of the match already played"),
        (
            "behind",
            players,
            MOST_BEHIND,
            f"points of each seat above the lowest total, at most {MOST_BEHIND}, the viewer first",
        ),
    ]


@jit
def write_shared(g: Any, r: Any, seat: int, row: Any, at: int) -> int:
    """Write turn, hand sizes, boneyard, proofs, round and scores; return where the row ends."""
    players, pips = int(r["players"]), int(r["pips"])
    row[at + (int(g["to_move"]) + players - seat) % players] = 1
    at += players
    row[at] = g["drew"] != NOT_DRAWN
    row[at + 1] = g["passes"]
    at += 2
    least = g["scores"][0]
    for other in range(1, players):
        least = min(least, g["scores"][other])
    lacks_at = at + players + 1
    behind_at = lacks_at + (players - 1) * pips + 1
    for i in range(players):
        other = (seat + i) % players
        row[at + i] = g["hand_sizes"][other]
        row[behind_at + i] = min(g["scores"][other] - least, MOST_BEHIND)
        if i > 0:
            write_pips(row, lacks_at + (i - 1) * pips, int(g["lacks"][other]))
    row[at + players] = g["boneyard_size"]
    row[behind_at - 1] = g["round"]
    return behind_at + players
