"""What a seat sees of Chicken Foot, and what its actions are called."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dominoenv.core.bits import store_byte
from dominoenv.core.compiling import jit
from dominoenv.core.layout import Layout
from dominoenv.core.observe import (
    Parts,
    one_hot,
    repeated,
    shared_sections,
    tile_sections,
    write_shared,
    write_tile_sets,
)
from dominoenv.core.types import Row, RulesRecord, State
from dominoenv.games.chicken_foot.play import centre_missing
from dominoenv.games.chicken_foot.rules import ChickenFootRules
from dominoenv.games.chicken_foot.state import NO_FOOT

VERSION = 1  # of the layout: one more whenever a part moves, comes, goes or changes its meaning
DRAW, PASS = "draw", "pass"


def layout(rules: ChickenFootRules) -> Layout:
    """Return the layout of an observation under these rules."""
    pips, size = rules.max_pip + 1, rules.tiles.size
    return Layout.of(
        *tile_sections(rules),
        ("ends", pips, size, "open ends of each pip; an unfinished foot's toes are none yet"),
        ("foot", pips, 1, "one-hot: the pip of the open chicken foot; all 0 without one"),
        ("toe_pips", pips, rules.toes, "toes of the open foot with each outer pip"),
        ("toes_missing", 1, rules.toes, "toes that the open foot still needs"),
        ("arms_missing", 1, rules.centre_arms, "tiles that the centre still needs"),
        ("centre", pips, 1, "one-hot: the centre's pip"),
        *shared_sections(rules),
        version=VERSION,
    )


@jit
def view(g: State, r: RulesRecord, seat: int, row: Row) -> int:
    """Write a seat's observation; return its length."""
    row[:] = 0
    pips = int(r["pips"])
    at = write_tile_sets(g, r, seat, row)
    for pip in range(pips):
        store_byte(row, at + pip, int(g["ends"][pip]))
    at += pips
    toes_at = at + pips
    if g["foot"] != NO_FOOT:
        store_byte(row, at + int(g["foot"]), 1)
        for i in range(g["toes"]):
            row[toes_at + int(g["toe_pips"][i])] += 1
        store_byte(row, toes_at + pips, int(r["toes"] - g["toes"]))
    at = toes_at + pips + 1
    store_byte(row, at, centre_missing(g, r))
    store_byte(row, at + 1 + int(g["centre"]), 1)
    return write_shared(g, r, seat, row, at + 1 + pips)


def plain_values(rules: ChickenFootRules, parts: Parts) -> dict[str, Any]:
    """Return as plain values what this game's own parts of a row say."""
    return {
        "ends": repeated(parts["ends"]),  # a pip as often as it is open
        "foot": one_hot(parts["foot"]),  # the pip of the open foot, or None
        "toe_pips": repeated(parts["toe_pips"]),
        "centre": one_hot(parts["centre"]),
    }


def num_actions(rules: ChickenFootRules) -> int:
    """Return A, the number of action ids: pip joined by and other pip, then draw and pass."""
    return (rules.max_pip + 1) ** 2 + 2


def action_text(rules: ChickenFootRules, seat: int, action: int) -> str:
    """Return a seat's action as text, such as `9-4@9`: the tile, and the pip that joins it."""
    pips = rules.max_pip + 1
    pip, other = divmod(action, pips)
    if pip >= pips:
        return (DRAW, PASS)[other]
    return f"{rules.tiles.text(int(rules.tiles.ids[pip, other]))}@{pip}"


def action_tiles(rules: ChickenFootRules) -> NDArray[np.int16]:
    """Return (A,) the id of the tile that each action plays, -1 for draw and pass."""
    return np.append(rules.tiles.ids.ravel(), np.full(2, -1, np.int16))
