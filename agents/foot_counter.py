"""Foot counter: count the tiles of a double's pip before it is laid.

A double calls for toes. Where too few tiles of its pip are left for them the foot freezes the table
for good (with `dead_foot="binds"`): a trap that a light hand sets and a heavy hand avoids. Where
they are left, a foot is good if the next seat probably cannot lay a toe and the hand can. Source:
rule 5 of Chicken Foot in `docs/rules.md`, and the control over the end of the round that a double
gives whose toes are gone, in https://chahssa682.amebaownd.com/posts/29620454.
"""

from __future__ import annotations

from dataclasses import dataclass

from dominoenv.core.compiling import jit
from dominoenv.core.rules import Dead
from dominoenv.core.types import RulesRecord
from dominoenv.policies import register_policy

from .agent import Agent, parameter
from .factory import make_kernel
from .features import Features, Parameters, chance, read_feet
from .feet import kept_pips, makes_foot, others_cost, toes_left


@jit
def score(f: Features, r: RulesRecord, p: Parameters, pip: int, other: int) -> float:
    """Return how good it is to join the tile pip-other by `pip`, in penalty points."""
    if pip >= r["pips"]:
        return 0.0  # draw, pass
    cost = float(r["cost"][r["ids"][pip, other]])
    value = cost + float(p["variety"]) * kept_pips(f, r, pip, other)
    if makes_foot(f, pip, other):
        if toes_left(f, pip) < r["toes"] and r["dead_foot"] == Dead.BINDS:
            value += float(p["freeze"]) * (others_cost(f, r) - (f["hand_cost"] - cost))
        else:
            value += float(p["block"]) * (1.0 - chance(f, 1, pip))
            value += float(p["toe"]) * (f["hand_pips"][pip] - 1)
    return value


@register_policy("foot_counter")
@dataclass(eq=False, kw_only=True)
class FootCounter(Agent):
    """Plays or withholds doubles by the tiles left for their toes."""

    games = ("chicken_foot",)
    variety: float = parameter(10.0, "what a pip that the hand keeps is worth, in penalty points")
    freeze: float = parameter(
        2.0,
        "what a point is worth that the others' hands cost more when a dead foot ends the round",
    )
    block: float = parameter(20.0, "what a foot is worth on which the next seat surely has no toe")
    toe: float = parameter(6.0, "what each toe in the own hand is worth to a foot that is opened")
    kernel = staticmethod(make_kernel("foot_counter", read_feet, score))
