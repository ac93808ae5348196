"""Flexible: heavy tiles first, but keep many different pips in the hand.

A hand that has tiles of many pips finds an end it fits, and lays toes of most feet; a seat that
cannot play draws. So each pip that a play would take out of the hand counts against its weight.
Source: standard advice for block dominoes, "keep variety in your hand" (J. D. McLeod, pagat.com).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from agents.agent import Agent, parameter
from agents.feet import kept_pips
from agents.reading import pick, read, read_table
from dominoenv._jit import jit, kernel
from dominoenv.policies import register_policy


@register_policy("flexible")
@dataclass(eq=False, kw_only=True)
class Flexible(Agent):
    """Plays the tile of most weight, and of most pips left in the hand."""

    games = ("chicken_foot",)
    variety: float = parameter(2.0)
    """What a pip that the hand keeps is worth, in penalty points."""

    def choose(self, rows: Any, masks: Any, draws: Any, actions: Any) -> int:
        """Write an action for each row; return -1, or the first row that allows none."""
        return _choose(
            *(rows, masks, draws, actions, self.rules.record, self._offsets),
            *(self._reading, self._scores, self.variety),
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
    variety: float,
) -> int:
    r, v = rules[0], reading[0]
    pips = int(r["pips"])
    for i in range(len(rows)):
        read(rows, i, r, offsets[0], v)
        read_table(rows, i, r, offsets[0], v)
        for action in range(len(scores)):
            if masks[i, action]:
                scores[action] = score(v, r, action // pips, action % pips, variety)
        actions[i] = pick(masks, i, scores, draws[i])
        if actions[i] < 0:
            return i
    return -1


@jit
def score(v: Any, r: Any, pip: int, other: int, variety: float) -> float:
    """Return how good it is to join the tile pip-other by `pip`, in penalty points."""
    if pip >= r["pips"]:
        return 0.0  # draw, pass
    return float(r["cost"][r["ids"][pip, other]]) + variety * kept_pips(v, r, pip, other)
