"""Flexible: heavy tiles first, but keep many different pips in the hand.

A hand that has tiles of many pips finds an end it fits, and lays toes of most feet; a seat that
cannot play draws. So each pip that a play would take out of the hand counts against its weight.
Source: the second and the third of the tips in
https://www.beharhome.com/en-us/blogs/learn-how-to-play/playing-dominoes-tips
"""

from __future__ import annotations

from dataclasses import dataclass

from dominoenv.core.compiling import jit
from dominoenv.core.types import RulesRecord
from dominoenv.policies import register_policy

from .agent import Agent, parameter
from .factory import make_kernel
from .features import Features, Parameters, read_feet
from .feet import kept_pips


@jit
def score(f: Features, r: RulesRecord, p: Parameters, pip: int, other: int) -> float:
    """Return how good it is to join the tile pip-other by `pip`, in penalty points."""
    if pip >= r["pips"]:
        return 0.0  # draw, pass
    cost = float(r["cost"][r["ids"][pip, other]])
    return cost + float(p["variety"]) * kept_pips(f, r, pip, other)


@register_policy("flexible")
@dataclass(eq=False, kw_only=True)
class Flexible(Agent):
    """Plays the tile of most weight, and of most pips left in the hand."""

    games = ("chicken_foot",)
    variety: float = parameter(8.0, "what a pip that the hand keeps is worth, in penalty points")
    kernel = staticmethod(make_kernel("flexible", read_feet, score))
