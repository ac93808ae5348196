"""The state of one game of Chicken Foot: one plain record, nothing hidden anywhere else."""

from __future__ import annotations

import numpy as np

from dominoenv.round import ROUND_STATE
from dominoenv.tiles import MAX_PIPS, MAX_TILES

NO_FOOT = -1  # g["foot"]
CENTRE = -1  # g["joined"]: the tile joins the centre
ANY_END = -2  # g["joined"]: any open end of the pip it was attached by; they are interchangeable

STATE = np.dtype(
    [
        *ROUND_STATE,
        ("centre", np.int32),  # pip of the double in the centre
        ("arms", np.int32),  # tiles that have joined the centre
        ("foot", np.int32),  # pip of the open chicken foot, or NO_FOOT
        ("toes", np.int32),  # toes that the open foot has
        ("toe_pips", np.int16, (MAX_PIPS,)),  # their outer pips, no open ends yet
        ("ends", np.int16, (MAX_PIPS,)),  # number of open ends of each pip
        ("attach", np.int16, (MAX_TILES,)),  # the pip by which each of `played` was joined
        ("joined", np.int16, (MAX_TILES,)),  # the entry of `played` it was joined to
    ],
    align=True,
)
