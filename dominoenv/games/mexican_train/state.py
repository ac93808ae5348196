"""The state of one game of Mexican Train: one plain record, nothing hidden anywhere else.

Trains 0 ... P-1 belong to the seats; train P, after the last seat's, is the Mexican Train.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dominoenv.core.round import BY_DOUBLE, FREE, ROUND_STATE, ROUND_STORE, SEATS
from dominoenv.core.tiles import MAX_TILES
from dominoenv.games.mexican_train.rules import MexicanTrainRules

TRAINS = SEATS + 1
MEXICAN = "M"  # the Mexican Train, among seats

TILES_IN_MIDDLE = 1  # the engine

STATE = np.dtype(
    [
        ("engine", np.int16),  # pip of the engine
        ("markers", np.int16),  # bit s: seat s's train is marked, open to all
        ("owes_play", np.int16),  # 1: the seat to move has just played a double
        ("doubles", np.int16),  # doubles that the seat to move has played in this turn
        ("num_pending", np.int16),
        ("pending", np.int8, (TRAINS,)),  # trains that end in an uncovered double, oldest first
        ("ends", np.int8, (TRAINS,)),  # outer pip of each train; the engine's while it is empty
        *ROUND_STATE,
        ("lengths", np.int16, (TRAINS,)),  # tiles on each train
        ("turns_taken", np.int16, (SEATS,)),
        *ROUND_STORE,
        ("onto", np.uint8, (MAX_TILES,)),  # the train that each of `played` went onto
    ],
    align=True,
)


def ranges(rules: MexicanTrainRules) -> dict[str, tuple[int, int, int | None]]:
    """Return what each own field may hold; see `StateModule`."""
    players, top = rules.players, rules.max_pip
    return {
        "engine": (0, top, None),
        "markers": (0, (1 << players) - 1, None),
        "owes_play": (0, 1, None),
        "doubles": (0, top + 1, None),
        "num_pending": (0, players + 1, None),
        "pending": (0, players, None),
        "ends": (0, top, players + 1),
        "lengths": (0, rules.tiles.size, players + 1),
        "turns_taken": (0, 1 << 14, players),
        "onto": (0, players, None),
    }


def unfinished(rules: MexicanTrainRules, states: NDArray[np.void]) -> NDArray[np.int32]:
    """Return (B,) whether a pending double binds each game."""
    return np.where(states["num_pending"] > 0, BY_DOUBLE, FREE).astype(np.int32)
