"""The state of one game of Mexican Train: one plain record, nothing hidden anywhere else.

Trains 0 ... P-1 belong to the seats; train P, after the last seat's, is the Mexican Train.
"""

from __future__ import annotations

import numpy as np

from dominoenv.round import ROUND_STATE, ROUND_STORE, SEATS
from dominoenv.tiles import MAX_TILES

TRAINS = SEATS + 1

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
