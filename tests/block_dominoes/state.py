"""The state of one game of Block dominoes: one plain record, nothing hidden anywhere else."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dominoenv.core.round import FREE, ROUND_STATE, ROUND_STORE
from dominoenv.core.tiles import MAX_TILES
from tests.block_dominoes.rules import BlockDominoesRules

NO_END = -1  # g["ends"] before the lead
LEFT, RIGHT, LEAD = range(3)  # of g["ends"], and what g["side"] says

TILES_IN_MIDDLE = 0

STATE = np.dtype(
    [
        ("ends", np.int8, (2,)),  # pip at the left and at the right end of the line
        *ROUND_STATE,
        *ROUND_STORE,
        ("side", np.uint8, (MAX_TILES,)),  # where each of `played` went
    ],
    align=True,
)


def ranges(rules: BlockDominoesRules) -> dict[str, tuple[int, int, int | None]]:
    """Return what each own field may hold; see `StateModule`."""
    return {"ends": (NO_END, rules.max_pip, None), "side": (LEFT, LEAD, None)}


def unfinished(rules: BlockDominoesRules, states: NDArray[np.void]) -> NDArray[np.int32]:
    """Return (B,) what play was bound to: nothing, in this game."""
    return np.full(len(states), FREE, np.int32)
