"""The state of one game of Chicken Foot: one plain record, nothing hidden anywhere else."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dominoenv.core.round import BY_CENTRE, BY_DOUBLE, FREE, ROUND_STATE, ROUND_STORE
from dominoenv.core.tiles import MAX_PIPS, MAX_TILES
from dominoenv.games.chicken_foot.rules import ChickenFootRules

NO_FOOT = -1  # g["foot"]
CENTRE = -1  # g["joined"]: the tile joins the centre
ANY_END = -2  # g["joined"]: any open end of the pip it was attached by; they are interchangeable

TILES_IN_MIDDLE = 1  # the centre's double

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


def ranges(rules: ChickenFootRules) -> dict[str, tuple[int, int, int | None]]:
    """Return what each own field may hold; see `StateModule`."""
    top, size = rules.max_pip, rules.tiles.size
    return {
        "centre": (0, top, None),
        "arms": (0, rules.centre_arms, None),
        "foot": (-1, top, None),
        "toes": (0, rules.toes - 1, None),
        "toe_pips": (0, top, None),
        "ends": (0, size, top + 1),
        "attach": (0, top, None),
        "joined": (-2, size - 1, None),
    }


def unfinished(rules: ChickenFootRules, states: NDArray[np.void]) -> NDArray[np.int32]:
    """Return (B,) whether a foot is open in each game, or the centre not full."""
    by_double, by_centre = states["foot"] != NO_FOOT, states["arms"] < rules.centre_arms
    bound = np.select([by_double, by_centre], [BY_DOUBLE, BY_CENTRE], FREE)
    return bound.astype(np.int32)
