"""What a seat sees of Block dominoes, and what its actions are called."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dominoenv.core.bits import store_byte
from dominoenv.core.compiling import jit
from dominoenv.core.layout import Layout
from dominoenv.core.observe import (
    Parts,
    repeated,
    shared_sections,
    tile_sections,
    write_shared,
    write_tile_sets,
)
from dominoenv.core.types import Row, RulesRecord, State
from tests.block_dominoes.play import is_lead
from tests.block_dominoes.rules import BlockDominoesRules
from tests.block_dominoes.state import LEFT, RIGHT

DRAW, PASS = "draw", "pass"
LEAD_PLACE = "lead"


def layout(rules: BlockDominoesRules) -> Layout:
    """Return the layout of an observation under these rules."""
    return Layout.of(
        *tile_sections(rules),
        ("ends", rules.max_pip + 1, 2, "ends of the line with each pip; all 0 before the lead"),
        *shared_sections(rules),
    )


@jit
def view(g: State, r: RulesRecord, seat: int, row: Row) -> int:
    """Write a seat's observation; return its length."""
    row[:] = 0
    at = write_tile_sets(g, r, seat, row)
    if not is_lead(g):
        left, right = int(g["ends"][LEFT]), int(g["ends"][RIGHT])
        store_byte(row, at + left, 1)
        store_byte(row, at + right, 2 if left == right else 1)
    return write_shared(g, r, seat, row, at + int(r["pips"]))


def plain_values(rules: BlockDominoesRules, parts: Parts) -> dict[str, Any]:
    """Return as plain values what this game's own parts of a row say."""
    return {"ends": repeated(parts["ends"])}  # a pip twice where both ends have it


def num_actions(rules: BlockDominoesRules) -> int:
    """Return A: pip joined by and other pip, then the tiles as a lead, then draw and pass."""
    return (rules.max_pip + 1) ** 2 + rules.tiles.size + 2


def action_text(rules: BlockDominoesRules, seat: int, action: int) -> str:
    """Return a seat's action as text: `6-4@6`, the tile and the pip that joins it; `6-4@lead`."""
    tile = int(action_tiles(rules)[action])
    if tile < 0:
        return (DRAW, PASS)[action - num_actions(rules) + 2]
    pips = rules.max_pip + 1
    place = action // pips if action < pips * pips else LEAD_PLACE
    return f"{rules.tiles.text(tile)}@{place}"


def action_tiles(rules: BlockDominoesRules) -> NDArray[np.int16]:
    """Return (A,) the id of the tile that each action plays, -1 for draw and pass."""
    tiles = rules.tiles
    return np.concatenate([tiles.ids.ravel(), np.arange(tiles.size), [-1, -1]]).astype(np.int16)
