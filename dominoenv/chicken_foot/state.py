"""The state of one game of Chicken Foot: one plain record, nothing hidden anywhere else."""

from __future__ import annotations

import numpy as np

from dominoenv.round import ROUND_STATE, ROUND_STORE
from dominoenv.tiles import MAX_PIPS, MAX_TILES

NO_FOOT = -1  # g["foot"]
CENTRE = -1  # g["joined"]: the tile joins the centre
ANY_END = -2  # g["joined"]: any open end of the pip it was attached by; they are interchangeable

STATE = np.dtype(
    [
        ("centre", np.int16),  # pip of the double in the centre
        ("arms", np.int16),  # tiles that have joined the centre
        ("foot", np.int16),  # pip of the open chicken foot, or NO_FOOT
        ("toes", np.int16),  # toes that the open foot has
        ("toe_pips", np.int8, (MAX_PIPS,)),  # their outer pips, no open ends yet
        *ROUND_STATE,
        ("ends", np.int16, (MAX_PIPS,)),  # number of open ends of each pip
        *ROUND_STORE,
        ("attach", np.uint8, (MAX_TILES,)),  # the pip by which each of `played` was joined
        ("joined", np.int16, (MAX_TILES,)),  # the entry of `played` it was joined to
    ],
    align=True,
)
