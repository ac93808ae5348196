"""Blocker: make the table hard to go on with.

A double that the next seats probably cannot cover is left open: each of them draws, passes and is
marked, while the hand keeps a cover to release it. On trains that others may use, ends are left in
pips of which few tiles are unseen, or which the next seat provably lacks. Probabilities come from
counting unseen tiles and from the proofs of draws and passes (docs/rules.md, what is public
knowledge). Source: rule 7, and the blocking play of block dominoes (J. D. McLeod, pagat.com).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from agents.agent import Agent, parameter
from agents.blocking import covers_left, nobody_plays
from agents.reading import chance, pick, read, read_trains
from dominoenv._jit import jit, kernel
from dominoenv.policies import register_policy


@register_policy("blocker")
@dataclass(eq=False, kw_only=True)
class Blocker(Agent):
    """Plays heavy tiles where they leave the next seats little to play."""

    games = ("mexican_train",)
    double: float = parameter(12.0)
    """Pips that a double is worth which surely stays uncovered."""
    keep_cover: float = parameter(6.0)
    """Pips that the last tile is worth in the hand which can cover an open double."""
    scarce: float = parameter(8.0)
    """Pips that an end of a shared train is worth which the next seat surely cannot use."""
    seats: int = parameter(2, low=1, high=9)
    """How many of the next seats are looked at."""

    def choose(self, rows: Any, masks: Any, draws: Any, actions: Any) -> int:
        """Write an action for each row; return -1, or the first row that allows none."""
        seats = min(self.seats, self.rules.players - 1)
        return _choose(
            *(rows, masks, draws, actions, self.rules.record, self._offsets),
            *(self._reading, self._scores),
            *(self.double, self.keep_cover, self.scarce, seats),
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
    double: float,
    keep_cover: float,
    scarce: float,
    seats: int,
) -> int:
    r, v = rules[0], reading[0]
    tiles = int(r["tiles"])
    for i in range(len(rows)):
        read(rows, i, r, offsets[0], v)
        read_trains(rows, i, r, offsets[0], v)
        for action in range(len(scores)):
            if masks[i, action]:
                target, tile = action // tiles, action % tiles
                scores[action] = score(v, r, target, tile, double, keep_cover, scarce, seats)
        actions[i] = pick(masks, i, scores, draws[i])
        if actions[i] < 0:
            return i
    return -1


@jit
def score(
    v: Any,
    r: Any,
    target: int,
    tile: int,
    double: float,
    keep_cover: float,
    scarce: float,
    seats: int,
) -> float:
    """Return how good it is to play a tile on a train, in pips."""
    players = int(r["players"])
    if target > players:
        return 0.0  # draw, pass, stop
    low, high = int(r["low"][tile]), int(r["high"][tile])
    outer = low + high - int(v["ends"][target])
    value = float(low + high)
    if low == high:
        value += double * nobody_plays(v, seats, low)
    elif v["owes_play"]:
        value += left_open(v, players, target, low, high, double, keep_cover, seats)
    if target > 0 and low != high:
        value += scarce * (1.0 - chance(v, 1, outer))
    return value


@jit
def left_open(
    v: Any,
    players: int,
    target: int,
    low: int,
    high: int,
    double: float,
    keep_cover: float,
    seats: int,
) -> float:
    """Return what the doubles of this turn are worth that a play leaves open."""
    value = 0.0
    for train in range(players + 1):
        if v["pending"][train] and train != target:
            pip = int(v["ends"][train])
            value += double * nobody_plays(v, seats, pip)
            if covers_left(v, pip, low, high) == 0:
                value -= keep_cover
    return value
