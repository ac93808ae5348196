"""Blank hunter: everything turns on [0|0], the tile that costs 50 points.

In the own hand it goes first, and until then open ends of 0 are made and spared for it. Where
somebody else may hold it, ends of 0 are covered and none are made, unless all others provably lack
the pip. A double fits the open end of its own pip only, and while a foot is open not even that.
Source: "the other players will be trying to block the playing of it", of the double blank, in
http://web.archive.org/web/20020103201512/http:/www.flash.net/~russellr/mindshare/humor/chknfoot.htm
"""

from __future__ import annotations

from dataclasses import dataclass

from dominoenv.core.compiling import jit
from dominoenv.core.types import Mask, RulesRecord
from dominoenv.policies import register_policy

from .agent import Agent, parameter
from .factory import make_kernel
from .features import Features, Parameters, read_feet
from .feet import kept_pips

FIRST = 1_000_000.0


@jit
def worth_of_blank_end(f: Features, r: RulesRecord, p: Parameters) -> float:
    """Return what one more open end of 0 is worth; below 0 where another may hold [0|0]."""
    if f["held"][0, 0]:
        return float(p["own"])
    if f["unseen"][0, 0]:
        for seat in range(1, r["players"]):
            if not f["voids"][seat, 0]:
                return -float(p["starve"])
    return 0.0


@jit
def score(f: Features, r: RulesRecord, p: Parameters, pip: int, other: int) -> float:
    """Return how good it is to join the tile pip-other by `pip`, in penalty points."""
    if pip >= r["pips"]:
        return 0.0  # draw, pass
    if pip == 0 and other == 0:
        return FIRST
    value = float(r["cost"][r["ids"][pip, other]]) + float(p["variety"]) * kept_pips(
        f, r, pip, other
    )
    if other == 0:
        value += float(f["note"])
    elif pip == 0 and f["foot"] != 0 and f["arms_missing"] == 0:
        value -= float(f["note"])
    return value


@jit
def prepare(f: Features, r: RulesRecord, p: Parameters, mask: Mask) -> None:
    """Note what one more open end of 0 is worth."""
    f["note"] = worth_of_blank_end(f, r, p)


@register_policy("blank_hunter")
@dataclass(eq=False, kw_only=True)
class BlankHunter(Agent):
    """Sheds its own [0|0] first, and starves whoever seems to hold it."""

    games = ("chicken_foot",)
    variety: float = parameter(10.0, "what a pip that the hand keeps is worth, in penalty points")
    own: float = parameter(40.0, "what an open end of 0 is worth to the holder of [0|0]")
    starve: float = parameter(
        4.0,
        "what it is worth that an end of 0 is covered, or not made, while another may hold [0|0]",
    )
    kernel = staticmethod(make_kernel("blank_hunter", read_feet, score, prepare))
