"""Ratings from all tables: a Bradley-Terry model on Elo's scale, one ladder for each group.

Two agents at one table compare by their penalties: the lower one wins, a tie is half a win. The
model says that a beats b with probability 1 / (1 + 10 ** ((b - a) / 400)). Breaking a table's
ranking into all of its pairs keeps the estimate consistent (Azari Soufiani, Chen, Parkes, Xia,
"Generalized method-of-moments for rank aggregation", 2013). `choix` finds the maximum (Maystre and
Grossglauser, "Fast and accurate inference of Plackett-Luce models", 2015).

**Groups.** Ratings compare agents that met, directly or through others. Each group of such agents
has a ladder of its own, with mean 0; nothing is known of the difference between two ladders.

**Prior.** An agent that never lost has no finite maximum, so every pair that met gets some deals
won by either side. Their number is the pair's leverage, the share of its own deals in all that the
tournament knows of the two: 1 for a pair that alone links two parts, and n - 1 over all pairs of n
agents. Half of it for each side is the penalty of Jeffreys' prior (Firth, "Bias reduction of
maximum likelihood estimates", 1993), with deals in place of games, as games of a deal are not
independent. The prior counts n - 1 deals, however many were played.

**Intervals** are quantiles of ratings under random weights: exponential ones for the deals, each
with all of its games (the Bayesian bootstrap, Rubin 1981), and gamma ones for the deals of the
prior. Where two parts are linked by deals that are won or lost as a whole, that is Jeffreys'
interval of a proportion (Brown, Cai, DasGupta, "Interval estimation for a binomial proportion",
2001), so a link of one deal is as weak as it should be; where there are many deals, they are those
of the ordinary bootstrap over deals. `python -m tests.intervals` measures how often they hold.

Letters: D deals, G games, P seats, n agents, R resamples.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations

import choix
import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components
from scipy.stats import norm

from ..statistics import Estimate, corrected
from .run import Played

Array = NDArray[np.float64]

ELO = 400 / math.log(10)  # points for a factor e in the odds
MAX_ITERATIONS = 10_000  # of choix; a dozen is usual
MAX_STEPS, MAX_STEP, TOLERANCE = 100, 1.5, 1e-6  # of Newton's method; steps in natural logarithms
TINY = 1e-9  # deals of the prior at least, which keeps logarithms finite


@dataclass(frozen=True)
class Step:
    """The difference of two neighbours on a ladder."""

    difference: Estimate
    p: float
    """p of no difference, two-sided: of a normal distribution as wide as the side of the interval
    towards 0, and at least the share of resampled differences beyond 0."""
    p_corrected: float
    """p with Holm's correction over all steps of the tournament."""


@dataclass(frozen=True)
class Rating:
    """An agent's place on the ladder of its group."""

    agent: str
    group: int
    """From 1; the groups with the most agents come first."""
    rating: Estimate | None
    """Against the mean of the group, which is 0; None for an agent that met nobody."""
    above_next: Step | None
    """To the next lower agent of the group."""
    penalty: float
    """Mean over all of the agent's seats and games."""
    games: int


@dataclass(frozen=True)
class Ladder:
    """The agents of a group, and their ratings on Elo's scale."""

    agents: NDArray[np.int64]
    """(n,) indices into the tournament's agents, best first."""
    ratings: Array  # (n,)
    drawn: Array
    """(R, n) ratings under random weights of the deals."""

    def rating(self, place: int, confidence: float) -> Estimate:
        """Return a rating with its interval."""
        return _between_quantiles(float(self.ratings[place]), self.drawn[:, place], confidence)

    def difference(self, upper: int, lower: int, confidence: float) -> Step:
        """Compare two places on the ladder."""
        gaps = self.drawn[:, upper] - self.drawn[:, lower]
        value = float(self.ratings[upper] - self.ratings[lower])
        found = _between_quantiles(value, gaps, confidence)
        side = max(value - found.low if value > 0 else found.high - value, TINY)
        normal = 2 * norm.sf(norm.ppf((1 + confidence) / 2) * abs(value) / side)
        p = float(max(normal, 2 * min((gaps <= 0).mean(), (gaps >= 0).mean())))
        return Step(found, p, p)


def rate(played: Played, resamples: int, confidence: float, seed: int) -> tuple[Rating, ...]:
    """Return the ratings: one group after the other, best first."""
    rows = [
        row
        for group, ladder in enumerate(ladders(played, resamples, seed), 1)
        for row in _rows(played, group, ladder, confidence)
    ]
    p_values = iter(corrected([row.above_next.p for row in rows if row.above_next]))
    return tuple(
        replace(row, above_next=replace(row.above_next, p_corrected=next(p_values)))
        if row.above_next
        else row
        for row in rows
    )


def _rows(played: Played, group: int, ladder: Ladder, confidence: float) -> Iterator[Rating]:
    last = len(ladder.agents) - 1
    for place, number in enumerate(ladder.agents):
        at = played.who == number
        yield Rating(
            agent=played.agents[number],
            group=group,
            rating=ladder.rating(place, confidence) if last else None,
            above_next=ladder.difference(place, place + 1, confidence) if place < last else None,
            penalty=float(played.games.penalties[at].mean()),
            games=int(at.any(axis=1).sum()),
        )


def _between_quantiles(value: float, drawn: Array, confidence: float) -> Estimate:
    """Return a value with the interval that holds so many of (R,) drawn values."""
    tail = (1 - confidence) / 2
    low, high = np.quantile(drawn, [tail, 1 - tail])
    return Estimate(value, float(low), float(high))


def deals_apart(step: Step, deals: int, confidence: float, power: float) -> float:
    """Return how many deals find a step of that size with a probability of `power`.

    deals: how many gave the step; its interval shrinks with their root. Infinite for no step.
    """
    size, half = step.difference.mean, step.difference.half
    if size <= 0:
        return math.inf
    certain = norm.ppf((1 + confidence) / 2)
    return float(deals * (half / size * (1 + norm.ppf(power) / certain)) ** 2)


# ------------------------------------------------------------------------------------ who met whom


def ladders(played: Played, resamples: int, seed: int) -> list[Ladder]:
    """Return the ladder of each group of agents that met, the largest group first."""
    wins, rng = wins_by_deal(played), np.random.default_rng(seed)
    met = deals_met(wins)
    size = round_of_seats(played, wins)
    either = leverage(met) / 2
    found = []
    for members in groups(met):
        if len(members) == 1:
            found.append(Ladder(np.array(members), np.zeros(1), np.zeros((resamples, 1))))
            continue
        some = np.ix_(members, members)
        own, share, unit = wins[:, members][:, :, members], either[some], size[some]
        ratings = fit(own.sum(axis=0) + share * unit)
        drawn = resampled(own, share, unit, resamples, rng)
        order = np.argsort(-ratings, kind="stable")
        found.append(Ladder(np.array(members)[order], ratings[order], drawn[:, order]))
    return found


def groups(met: Array) -> list[list[int]]:
    """Return the agents that are linked by (n, n) deals, the largest group first."""
    number, label = connected_components(met > 0, directed=False)
    found = [np.flatnonzero(label == group).tolist() for group in range(number)]
    return sorted(found, key=lambda members: (-len(members), members))


def wins_by_deal(played: Played) -> Array:
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


def deals_met(wins: Array) -> Array:
    """Return (n, n) on how many deals two agents met, from (D, n, n) wins."""
    met: Array = (wins + wins.transpose(0, 2, 1) > 0).sum(axis=0).astype(float)
    return met


def round_of_seats(played: Played, wins: Array) -> Array:
    """Return (n, n) the comparisons of two agents while a line-up takes all seats in turn.

    That is a deal's worth of comparisons in the prior.
    """
    total, players = wins.sum(axis=0), played.who.shape[1]
    sat = np.zeros((len(played.who), len(total)))
    np.put_along_axis(sat, played.who, 1, axis=1)
    games = np.maximum(sat.T @ sat, 1)
    comparisons: Array = players * (total + total.T) / games
    return comparisons


def leverage(met: Array) -> Array:
    """Return (n, n) the share of a pair's own deals in what all deals say of the two.

    It is their effective resistance, in a network with a conductor of each pair's (n, n) deals,
    times these deals.
    """
    inverse = np.linalg.pinv(np.diag(met.sum(axis=0)) - met, hermitian=True)
    own = np.diag(inverse)
    share: Array = met * (own[:, None] + own - 2 * inverse)
    return share


# ----------------------------------------------------------------------------------------- fitting


def fit(wins: Array) -> Array:
    """Return (n,) ratings from (n, n) wins, with the prior's, of agents that are one group."""
    strengths = choix.ilsr_pairwise_dense(wins, max_iter=MAX_ITERATIONS)
    ratings: Array = ELO * (strengths - strengths.mean())
    return ratings


def resampled(
    wins: Array, share: Array, size: Array, resamples: int, rng: np.random.Generator
) -> Array:
    """Return (R, n) ratings under random weights of the deals and of the prior.

    wins: (D, n, n). The prior has (n, n) `share` deals won by the first agent, each of `size`
    comparisons.
    """
    deals, agents = wins.shape[:2]
    flat = wins.reshape(deals, -1)
    totals = np.stack([rng.exponential(size=deals) @ flat for _ in range(resamples)])
    won = np.maximum(rng.gamma(share, size=(resamples, agents, agents)), TINY)
    return fit_all(totals.reshape(won.shape) + size * won)


def fit_all(wins: Array) -> Array:
    """Return (R, n) ratings from (R, n, n) wins: `fit` for all of them at once.

    Newton's method; a step is cut where the quadratic would lead too far.
    """
    resamples, agents = wins.shape[:2]
    strengths = np.zeros((resamples, agents))
    met, won = wins + wins.transpose(0, 2, 1), wins.sum(axis=2)
    for _ in range(MAX_STEPS):
        chance = 1 / (1 + np.exp(strengths[:, None, :] - strengths[:, :, None]))
        curvature = met * chance * (1 - chance)
        slopes = won - (met * chance).sum(axis=2)
        # the mean of the strengths is free: any curvature along it makes the matrix regular
        free = curvature.mean(axis=(1, 2))[:, None, None]
        matrix = free - curvature + curvature.sum(axis=2)[:, :, None] * np.eye(agents)
        step = np.linalg.solve(matrix, slopes[:, :, None])[:, :, 0]
        largest = np.abs(step).max(axis=1, keepdims=True)
        strengths += step * np.minimum(1, MAX_STEP / np.maximum(largest, MAX_STEP))
        if largest.max() < TOLERANCE:
            break
    ratings: Array = ELO * (strengths - strengths.mean(axis=1, keepdims=True))
    return ratings
