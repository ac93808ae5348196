"""Flexible: heavy tiles first, but keep many different pips in the hand.

A hand that has tiles of many pips finds an end it fits, and lays toes of most feet; a seat that
cannot play draws. So each pip that a play would take out of the hand counts against its weight.
Source: the second and the third of the tips in
https://www.beharhome.com/en-us/blogs/learn-how-to-play/playing-dominoes-tips
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .agent import Agent, parameter
from .features import pick, read, read_table
from .feet import kept_pips
from dominoenv.core.compiling import jit, kernel
from dominoenv.policies import register_policy


@jit
def score(f: Any, r: Any, p: Any, pip: int, other: int) -> float:
    """Return how good it is to join the tile pip-other by `pip`, in penalty points."""
    if pip >= r["pips"]:
        return 0.0  # draw, pass
    cost = float(r["cost"][r["ids"][pip, other]])
    return cost + float(p["variety"]) * kept_pips(f, r, pip, other)


@kernel
def choose(
    rows: Any,
    masks: Any,
    draws: Any,
    actions: Any,
    rules: Any,
    offsets: Any,
    parameters: Any,
    reading: Any,
    search: Any,
    scores: Any,
) -> int:
    """Write the best action of each row; see `Agent.kernel`."""
    r, f, p = rules[0], reading[0], parameters[0]
    pips = int(r["pips"])
    for i in range(len(rows)):
        read(rows, i, r, offsets[0], f)
        read_table(rows, i, r, offsets[0], f)
        for action in range(len(scores)):
            if masks[i, action]:
                scores[action] = score(f, r, p, action // pips, action % pips)
        actions[i] = pick(masks, i, scores, draws[i])
        if actions[i] < 0:
            return i
    return -1


@register_policy("flexible")
@dataclass(eq=False, kw_only=True)
class Flexible(Agent):
    """Plays the tile of most weight, and of most pips left in the hand."""

    games = ("chicken_foot",)
    variety: float = parameter(8.0, "what a pip that the hand keeps is worth, in penalty points")
    kernel = staticmethod(choose)
