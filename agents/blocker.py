"""Blocker: make the table hard to go on with.

A double that the next seats probably cannot cover is left open: each of them draws, passes and is
marked, while the hand keeps a cover to release it. On trains that others may use, ends are left in
pips of which few tiles are unseen, or which the next seat provably lacks. Probabilities come from
counting unseen tiles and from the proofs of draws and passes (docs/rules.md, what is public
knowledge). Source: rule 7, and the choice between a double and another tile by what leaves the
opponent searching, in https://ourpastimes.com/strategy-mexican-train-dominoes-5527047.html
"""

from __future__ import annotations

from dataclasses import dataclass

from dominoenv.core.compiling import jit
from dominoenv.core.types import RulesRecord
from dominoenv.policies import register_policy

from .agent import Agent, parameter
from .blocking import covers_left, nobody_plays
from .factory import make_kernel
from .features import Features, Parameters, chance, read_trains


@jit
def score(f: Features, r: RulesRecord, p: Parameters, target: int, tile: int) -> float:
    """Return how good it is to play a tile on a train, in pips."""
    if target > r["players"]:
        return 0.0  # draw, pass, stop
    low, high = int(r["low"][tile]), int(r["high"][tile])
    outer = low + high - int(f["ends"][target])
    value = float(low + high)
    if low == high:
        value += p["double"] * nobody_plays(f, r, int(p["seats"]), low)
    elif f["owes_play"]:
        value += left_open(f, r, p, target, low, high)
    if target > 0 and low != high:
        value += p["scarce"] * (1.0 - chance(f, 1, outer))
    return value


@jit
def left_open(
    f: Features, r: RulesRecord, p: Parameters, target: int, low: int, high: int
) -> float:
    """Return what the doubles of this turn are worth that a play leaves open."""
    value = 0.0
    for train in range(r["players"] + 1):
        if f["pending"][train] and train != target:
            pip = int(f["ends"][train])
            value += p["double"] * nobody_plays(f, r, int(p["seats"]), pip)
            if covers_left(f, pip, low, high) == 0:
                value -= p["keep_cover"]
    return value


@register_policy("blocker")
@dataclass(eq=False, kw_only=True)
class Blocker(Agent):
    """Plays heavy tiles where they leave the next seats little to play."""

    games = ("mexican_train",)
    double: float = parameter(80.0, "pips that a double is worth which surely stays uncovered")
    keep_cover: float = parameter(
        6.0, "pips that the last tile is worth in the hand which can cover an open double"
    )
    scarce: float = parameter(
        1.0, "pips that an end of a shared train is worth which the next seat surely cannot use"
    )
    seats: int = parameter(1, "how many of the next seats are looked at", low=1, high=9)
    kernel = staticmethod(make_kernel("blocker", read_trains, score))
