"""Ratings from all tables: a Bradley-Terry model on Elo's scale.

Two agents at one table compare by their penalties: the lower one wins, a tie is half a win. The
model says that a beats b with probability 1 / (1 + 10 ** ((b - a) / 400)); its maximum likelihood
comes from `choix` (Maystre and Grossglauser, "Fast and accurate inference of Plackett-Luce models",
2015). Breaking a table's ranking into all of its pairs keeps the estimate consistent (Azari
Soufiani, Chen, Parkes, Xia, "Generalized method-of-moments for rank aggregation", 2013). Pairs of
one deal are not independent, so intervals come from a bootstrap over deals with all of their games.
Letters: D deals, G games, P seats, n agents, R resamples.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations

import choix
import numpy as np
from numpy.typing import NDArray

from ..statistics import Estimate
from .run import Played

ELO = 400 / math.log(10)  # points for a factor e in the odds
PRIOR_WINS = 0.1  # wins added for each ordered pair: keeps ratings finite if an agent never lost
MAX_ITERATIONS = 10_000  # iterations; a dozen is usual


@dataclass(frozen=True)
class Rating:
    """An agent's rating; the mean of all agents is 0."""

    agent: str
    rating: Estimate
    """With the bootstrap interval."""
    above_next: Estimate | None
    """Rating minus that of the next lower agent, with the bootstrap interval."""
    penalty: float
    """Mean over all of the agent's seats and games."""
    games: int


def rate(played: Played, resamples: int, confidence: float, seed: int) -> tuple[Rating, ...]:
    """Return the ratings, best first."""
    wins = wins_by_deal(played)
    ratings = fit(wins.sum(axis=0))
    drawn = resampled(wins, resamples, np.random.default_rng(seed))
    order = np.argsort(-ratings, kind="stable")
    rows = []
    for number, below in zip(order, [*order[1:], None], strict=True):
        at = played.who == number
        rating = _bootstrapped(ratings[number], drawn[:, number], confidence)
        step = None
        if below is not None:
            gaps = drawn[:, number] - drawn[:, below]
            step = _bootstrapped(ratings[number] - ratings[below], gaps, confidence)
        penalty, games = float(played.games.penalties[at].mean()), int(at.any(axis=1).sum())
        rows.append(Rating(played.agents[number], rating, step, penalty, games))
    return tuple(rows)


def _bootstrapped(value: float, drawn: NDArray[np.float64], confidence: float) -> Estimate:
    """Return a value with the interval that holds so many of (R,) resampled values."""
    tail = (1 - confidence) / 2
    low, high = np.quantile(drawn, [tail, 1 - tail])
    return Estimate(float(value), float(low), float(high))


def deals_apart(upper: Rating, lower: Rating, deals: int) -> float:
    """Return how many deals separate the intervals of two ratings, given the result of `deals`.

    Intervals shrink with the root of the number of deals; infinite where the ratings are equal.
    """
    gap = upper.rating.mean - lower.rating.mean
    halves = (upper.rating.mean - upper.rating.low) + (lower.rating.high - lower.rating.mean)
    return deals * (halves / gap) ** 2 if gap > 0 else math.inf


def wins_by_deal(played: Played) -> NDArray[np.float64]:
    """Return (D, n, n) how often the first agent had a lower penalty than the second one."""
    agents, places = len(played.agents), np.unique(played.deal, return_inverse=True)[1]
    wins = np.zeros((places.max() + 1, agents, agents))
    penalties, who = played.games.penalties, played.who
    for left, right in combinations(range(who.shape[1]), 2):
        better = (np.sign(penalties[:, right] - penalties[:, left]) + 1) / 2  # 1, a half or 0
        np.add.at(wins, (places, who[:, left], who[:, right]), better)
        np.add.at(wins, (places, who[:, right], who[:, left]), 1 - better)
    diagonal = np.arange(agents)
    wins[:, diagonal, diagonal] = 0  # an agent's own seats are not compared
    return wins


def fit(wins: NDArray[np.float64], start: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
    """Return (n,) ratings from (n, n) wins; a start near them saves time."""
    regular = wins + PRIOR_WINS * (1 - np.eye(len(wins)))
    begin = None if start is None else start / ELO
    strengths = choix.ilsr_pairwise_dense(regular, initial_params=begin, max_iter=MAX_ITERATIONS)
    ratings: NDArray[np.float64] = ELO * (strengths - strengths.mean())
    return ratings


def resampled(
    wins: NDArray[np.float64], resamples: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Return (R, n) ratings, each from as many deals, drawn with replacement."""
    deals, agents = wins.shape[:2]
    rows = []
    best = fit(wins.sum(axis=0))
    for _ in range(resamples):
        often = np.bincount(rng.integers(deals, size=deals), minlength=deals)
        total = often.astype(float) @ wins.reshape(deals, -1)
        rows.append(fit(total.reshape(agents, agents), best))
    return np.array(rows)
