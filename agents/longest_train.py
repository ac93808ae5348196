"""Longest train: plan the best trail through the hand, lay it on the own train, the rest elsewhere.

The plan is the longest (or heaviest) train that the hand can lay from the own train's end, found
exactly. Tiles off the plan are of no use at home: they go first, heaviest first, wherever they fit,
others' doubles included. The plan waits, because nobody else may use the own train; a marked train
is closed at once. Sources: the first tip of
http://www.binaryfest.com/a-winning-strategy-for-mexican-train-dominoes/, and the use of other
trains for the rest in https://www.mexicantrainfun.com/mexican-train-domino-strategy/. The trail is
that of `dominoenv.search.longest_train`.
"""

from __future__ import annotations

from dataclasses import dataclass

from dominoenv.core.compiling import jit
from dominoenv.core.types import Mask, RulesRecord
from dominoenv.policies import register_policy
from dominoenv.search.longest_train import MOST, search_train

from .agent import Agent, choice, parameter
from .factory import make_kernel
from .features import Features, Parameters, read_trains
from .planning import NO_PLACE, gather, is_first, place_in_plan

# Kinds of moves, best first; the heaviest of a kind is played, pips being well below 1,000.
CLOSE, OFF_PLAN, PLAN, BREAK, STRAY = 5_000.0, 4_000.0, 3_000.0, 2_000.0, 1_000.0


@jit
def score(f: Features, r: RulesRecord, p: Parameters, target: int, tile: int) -> float:
    """Return how good it is to play a tile on a train."""
    if target > r["players"]:
        return 0.0  # draw, pass, stop
    t = f["search"]
    low, high = int(r["low"][tile]), int(r["high"][tile])
    place, weight = place_in_plan(t, low, high), float(low + high)
    if target == 0:
        if not is_first(t, low, high):
            return STRAY + weight  # the plan starts from an end that would be gone
        # others may play on a marked train, and on a double
        at_once = f["marked"][0] or f["pending"][0] or not p["off_plan_first"]
        return (CLOSE if at_once else PLAN) + weight
    if place == NO_PLACE:
        return OFF_PLAN + weight
    return BREAK + 10.0 * place  # the later in the plan, the less is lost


@jit
def prepare(f: Features, r: RulesRecord, p: Parameters, mask: Mask) -> None:
    """Plan the best train from the own train's end."""
    gather(f, r)
    per_tile, per_pip = (MOST, 1) if p["objective"] == 0 else (1, MOST)
    search_train(f["search"], int(f["ends"][0]), per_tile, per_pip, int(p["budget"]))


@register_policy("longest_train")
@dataclass(eq=False, kw_only=True)
class LongestTrain(Agent):
    """Lays the longest train through the hand at home, and everything else elsewhere first."""

    games = ("mexican_train",)
    objective: str = choice(("tiles", "pips"), "what the plan makes most of")
    off_plan_first: bool = parameter(True, "whether tiles off the plan go before those of the plan")
    budget: int = parameter(2_000, "steps of the search of a decision", low=1)
    kernel = staticmethod(make_kernel("longest_train", read_trains, score, prepare))
