"""Opportunist: look one move ahead, and weigh the plan, the next move, the others and the end.

Each legal move is carried out on the hand, and the best train is searched anew for what would be
left. The move is judged by what then lies on the plan and off it, by how many tiles could follow,
by what a double opens to the next seats, and, when somebody is nearly out, by the pips that are
still in the hand. Source: the ideas of `longest_train`, `blocker` and `heaviest` in one sum, and
the advice to watch how close others are to ending the round, in
https://www.mexicantrainfun.com/mexican-train-domino-strategy/; the weights were found by playing
rounds against `longest_train`.
"""

from __future__ import annotations

from dataclasses import dataclass

from dominoenv.core.compiling import jit
from dominoenv.core.types import Mask, RulesRecord
from dominoenv.policies import register_policy
from dominoenv.search.longest_train import MOST, add_tile, remove_tile, search_train

from .agent import Agent, parameter
from .blocking import nobody_plays
from .factory import make_kernel
from .features import Features, Parameters, chance, read_trains
from .planning import gather

PLAY = 1e6  # any tile scores above draw, pass and stop


@jit
def score(f: Features, r: RulesRecord, p: Parameters, target: int, tile: int) -> float:
    """Return what the hand and the table are worth after a tile has gone onto a train."""
    if target > r["players"]:
        return 0.0  # draw, pass, stop
    low, high = int(r["low"][tile]), int(r["high"][tile])
    t, before = f["search"], int(f["ends"][target])
    remove_tile(t, low, high)
    f["ends"][target] = low + high - before
    value = PLAY + hand_worth(f, r, p, tile) + table_worth(f, r, p, target, low, high)
    f["ends"][target] = before
    add_tile(t, low, high)
    return value


@jit
def hand_worth(f: Features, r: RulesRecord, p: Parameters, tile: int) -> float:
    """Return what is left in the hand: tiles on and off the plan, pips, and tiles that fit."""
    t = f["search"]
    search_train(t, int(f["ends"][0]), MOST, 1, int(p["budget"]))
    planned, left = int(t["best_value"]) // MOST, int(f["hand_size"]) - 1
    pips = float(p["pips"] + p["rush"] / max(int(f["least_other"]), 1))
    value = -pips * (int(f["hand_cost"]) - int(r["cost"][tile]))
    value -= float(p["on_plan"]) * planned + float(p["off_plan"]) * (left - planned)
    follow = followers(f, r, int(r["low"][tile]), int(r["high"][tile]))
    return value + float(p["follow"]) * min(follow, 3)


@jit
def table_worth(
    f: Features, r: RulesRecord, p: Parameters, target: int, low: int, high: int
) -> float:
    """Return what a move is worth by what it does on the table."""
    value = 0.0
    if target == 0 and f["marked"][0]:
        value += float(p["close"])
    if low == high:
        return value + float(p["double"])
    if f["owes_play"]:
        value += float(p["open_double"]) * open_doubles(f, r, target)
        if f["pending"][0] and target != 0:
            value -= float(p["own_double"]) * (1.0 - nobody_plays(f, r, 1, int(f["ends"][0])))
    if target > 0:
        value += float(p["scarce"]) * (1.0 - chance(f, 1, int(f["ends"][target])))
    return value


@jit
def followers(f: Features, r: RulesRecord, low: int, high: int) -> int:
    """Return the pairs of a tile left in the hand and an open train that it fits."""
    number = 0
    for train in range(r["players"] + 1):
        if train == 0 or train == r["players"] or f["marked"][train]:
            end = int(f["ends"][train])
            number += int(f["hand_pips"][end]) - int(low == end or high == end)
    return number


@jit
def open_doubles(f: Features, r: RulesRecord, target: int) -> float:
    """Return the chances summed that the next seat cannot cover doubles left open elsewhere."""
    total = 0.0
    for train in range(1, r["players"] + 1):
        if f["pending"][train] and train != target:
            total += nobody_plays(f, r, 1, int(f["ends"][train]))
    return total


@jit
def prepare(f: Features, r: RulesRecord, p: Parameters, mask: Mask) -> None:
    """Put the hand into the search."""
    gather(f, r)


@register_policy("opportunist")
@dataclass(eq=False, kw_only=True)
class Opportunist(Agent):
    """Plays the move after which the hand is worth most, in pips."""

    games = ("mexican_train",)
    on_plan: float = parameter(1.0, "what a tile costs that is left on the plan")
    off_plan: float = parameter(13.0, "what a tile costs that is left off the plan")
    pips: float = parameter(0.1, "what a pip in the hand costs")
    rush: float = parameter(
        1.0,
        "what a pip costs more when another seat is one tile from going out; less with more tiles",
    )
    follow: float = parameter(
        1.0, "what a tile is worth that fits some open train in the next turn, up to three of them"
    )
    close: float = parameter(8.0, "what it is worth to close the own marked train")
    double: float = parameter(6.0, "what the further play of a double is worth")
    open_double: float = parameter(
        4.0, "what a double is worth that is left open and that the next seat surely cannot cover"
    )
    own_double: float = parameter(
        12.0,
        "what it costs to leave a double open on the own train that the next seat surely covers",
    )
    scarce: float = parameter(
        2.0, "what an end of a shared train is worth that the next seat surely cannot use"
    )
    budget: int = parameter(500, "steps of each search; there is one for each legal move", low=1)
    kernel = staticmethod(make_kernel("opportunist", read_trains, score, prepare))
