"""Doubles first: get rid of what fits in one place only, then heaviest first.

A double fits a single pip, where other tiles fit two, and in Mexican Train it earns one more play.
Source: the first of the tips in
https://www.beharhome.com/en-us/blogs/learn-how-to-play/playing-dominoes-tips
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dominoenv.core.rules import Rules
from dominoenv.games.registry import kind_of
from dominoenv.policies import HeaviestPolicy, register_policy

DOUBLE = 10_000  # more than any tile costs


def double_actions(rules: Rules) -> NDArray[np.int32]:
    """Return (A,) 1 for each action that plays a double."""
    tiles = kind_of(rules).observe.action_tiles(rules)
    is_double = rules.tiles.low[tiles] == rules.tiles.high[tiles]
    doubles: NDArray[np.int32] = ((tiles >= 0) & is_double).astype(np.int32)
    return doubles


@register_policy("doubles_first")
class DoublesFirstPolicy(HeaviestPolicy):
    """Plays a double where one is legal, the heaviest; otherwise the heaviest tile."""

    preference = 1

    def __init__(self, rules: Rules, seed: int = 0) -> None:
        super().__init__(rules, seed)
        kinds = double_actions(rules)
        self._weights += self.preference * DOUBLE * kinds
