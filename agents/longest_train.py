"""Longest train: plan the best trail through the hand, lay it on the own train, the rest elsewhere.

The plan is the longest (or heaviest) train that the hand can lay from the own train's end, found
exactly. Tiles off the plan are of no use at home: they go first, heaviest first, wherever they fit,
others' doubles included. The plan waits, because nobody else may use the own train; a marked train
is closed at once. Source: the advice of every Mexican Train leaflet, to lay out the longest train
in front of you before the first move and to keep it; the trail is that of `dominoenv.trains`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from agents.agent import Agent, choice, parameter
from agents.planning import NO_PLACE, gather, is_first, place_in_plan
from agents.reading import pick, read, read_trains
from dominoenv._jit import jit, kernel
from dominoenv.policies import register_policy
from dominoenv.trains import OBJECTIVES, SEARCH, search_train

# Kinds of moves, best first; the heaviest of a kind is played, pips being well below 1,000.
CLOSE, OFF_PLAN, PLAN, BREAK, STRAY = 5_000.0, 4_000.0, 3_000.0, 2_000.0, 1_000.0


@register_policy("longest_train")
@dataclass(eq=False, kw_only=True)
class LongestTrain(Agent):
    """Lays the longest train through the hand at home, and everything else elsewhere first."""

    games = ("mexican_train",)
    objective: str = choice("tiles", "pips")
    """What the plan makes most of."""
    off_plan_first: bool = parameter(True)
    """Whether tiles off the plan go before those of the plan."""
    budget: int = parameter(2_000, low=1)
    """Steps of the search of a decision."""

    def __post_init__(self, seed: int) -> None:
        super().__post_init__(seed)
        self._search = np.zeros(1, SEARCH)

    def choose(self, rows: Any, masks: Any, draws: Any, actions: Any) -> int:
        """Write an action for each row; return -1, or the first row that allows none."""
        per_tile, per_pip = OBJECTIVES[self.objective]
        return _choose(
            *(rows, masks, draws, actions, self.rules.record, self._offsets),
            *(self._reading, self._scores, self._search),
            *(per_tile, per_pip, self.budget, self.off_plan_first),
        )


@kernel
def _choose(
    rows: Any,
    masks: Any,
    draws: Any,
    actions: Any,
    rules: Any,
    offsets: Any,
    reading: Any,
    scores: Any,
    search: Any,
    per_tile: int,
    per_pip: int,
    budget: int,
    off_plan_first: bool,
) -> int:
    r, v, t = rules[0], reading[0], search[0]
    tiles = int(r["tiles"])
    for i in range(len(rows)):
        read(rows, i, r, offsets[0], v)
        read_trains(rows, i, r, offsets[0], v)
        gather(v, r, t)
        search_train(t, int(v["ends"][0]), per_tile, per_pip, budget)
        for action in range(len(scores)):
            if masks[i, action]:
                scores[action] = score(v, r, t, action // tiles, action % tiles, off_plan_first)
        actions[i] = pick(masks, i, scores, draws[i])
        if actions[i] < 0:
            return i
    return -1


@jit
def score(v: Any, r: Any, t: Any, target: int, tile: int, off_plan_first: bool) -> float:
    """Return how good it is to play a tile on a train."""
    if target > r["players"]:
        return 0.0  # draw, pass, stop
    low, high = int(r["low"][tile]), int(r["high"][tile])
    place, weight = place_in_plan(t, low, high), float(low + high)
    if target == 0:
        if not is_first(t, low, high):
            return STRAY + weight  # the plan starts from an end that would be gone
        return (CLOSE if v["marked"][0] or not off_plan_first else PLAN) + weight
    if place == NO_PLACE:
        return OFF_PLAN + weight
    return BREAK + 50.0 * place  # the later in the plan, the less is lost
