"""How often the intervals of a tournament hold the truth, in tournaments whose truth is made up.

    python -m tests.intervals --tournaments 2000 --resamples 1000

Agents have known strengths. A seat's result is its agent's strength and luck; some of the luck is
that of the seat's hand on that deal, the same for all who hold it at any table. The luck has a
Gumbel distribution, so that ratings are exactly those of the Bradley-Terry model and differences of
penalties are those of strengths. Pairs play unequal numbers of deals, and two groups of agents are
linked by few deals of one pair only, or all of them by mixed tables. Letters as in
`experiments.tournament.rating`.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from experiments import arena
from experiments.statistics import MIN_DEALS, Estimate, interval
from experiments.tournament import rating
from experiments.tournament.analysis import pair_differences
from experiments.tournament.run import Played
from experiments.tournament.schedule import MIXED, PAIR, TABLES, mixed_lineups, pair_lineups

AGENTS = 6
GROUPS = ((0, 1, 2), (3, 4, 5))
BRIDGE = (2, 3)
POINTS = 10.0  # of penalty for a factor e in the odds
LUCK_OF_HANDS = (0.0, 0.7)  # correlation of the results of one hand
SPREAD = 120.0  # of the strengths, on Elo's scale
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Truth:
    """A made-up tournament: strengths on Elo's scale, deals for each pair."""

    strengths: NDArray[np.float64]
    players: int
    pairs: dict[tuple[int, int], int]
    mixed_deals: int
    luck: float


def draw_truth(number: int, rng: np.random.Generator) -> Truth:
    """Draw a tournament; the number decides about its kind."""
    inside = [pair for group in GROUPS for pair in combinations(group, 2)]
    pairs = {pair: int(rng.integers(5, 80)) for pair in inside}
    linked_by_mixed = number % 3 == 2
    if not linked_by_mixed:
        pairs[BRIDGE] = int(rng.integers(1, 20))
    return Truth(
        strengths=rng.normal(0, SPREAD, AGENTS),
        players=4 if linked_by_mixed else (2, 3, 4)[number // 3 % 3],
        pairs=pairs,
        mixed_deals=30 if linked_by_mixed else 0,
        luck=LUCK_OF_HANDS[number % 2],
    )


def play(truth: Truth, rng: np.random.Generator) -> Played:
    """Play the tournament."""
    deals, who, tables = (np.concatenate(parts) for parts in zip(*_lineups(truth), strict=True))
    hands = rng.normal(size=(int(deals.max()) + 1, truth.players))
    noise = rng.normal(size=who.shape)
    normal = truth.luck * hands[deals] + np.sqrt(1 - truth.luck**2) * noise
    luck = -np.log(-norm.logcdf(normal))
    results = POINTS * (truth.strengths[who] / rating.ELO + luck)
    return made(np.round(-1e6 * results) / 1e6, deals, who, tables)


def _lineups(truth: Truth) -> Iterator[tuple[NDArray[np.int64], ...]]:
    turns = pair_lineups(truth.players)
    for pair, deals in truth.pairs.items():
        who = np.tile(np.array(pair)[turns], (deals, 1))
        deal = np.repeat(np.arange(deals), len(turns))
        yield deal, who, np.full(len(who), TABLES.index(PAIR))
    for deal in range(truth.mixed_deals):
        who = mixed_lineups(AGENTS, truth.players, seed=0, deal=deal)
        yield np.full(len(who), deal), who, np.full(len(who), TABLES.index(MIXED))


def made(
    penalties: NDArray[np.float64],
    deals: NDArray[np.int64],
    who: NDArray[np.int64],
    tables: NDArray[np.int64],
) -> Played:
    """Return games of which only the penalties matter."""
    none = np.zeros(len(deals), np.int32)
    counts = dict.fromkeys(("turns", "draws", "doubles", "decisions"), np.zeros_like(who))
    games = arena.Games(
        penalties=penalties,  # type: ignore[arg-type]
        first=none,
        went_out=none,
        bound=none,
        **counts,  # type: ignore[arg-type]
    )
    names = tuple(f"agent {number}" for number in range(int(who.max()) + 1))
    return Played(names, games, deals, who, tables, 1.0)


def check(truth: Truth, played: Played, resamples: int, seed: int) -> Iterator[tuple[str, bool]]:
    """Yield for every interval of the tournament its kind and whether it holds the truth."""
    (ladder,) = rating.ladders(played, resamples, seed)
    strengths = truth.strengths[ladder.agents] - truth.strengths.mean()
    for place, strength in enumerate(strengths):
        found = ladder.rating(place, CONFIDENCE)
        yield "rating", _holds(found, strength)
    for upper, lower in combinations(range(AGENTS), 2):
        step = ladder.difference(upper, lower, CONFIDENCE).difference
        holds = _holds(step, strengths[upper] - strengths[lower])
        yield "difference of ratings", holds
        if {*ladder.agents[[upper, lower]].tolist()} == {*BRIDGE} and BRIDGE in truth.pairs:
            yield "difference across a bridge", holds
    for (a, b), deals in truth.pairs.items():
        if deals >= MIN_DEALS:
            values = pair_differences(played, PAIR, played.agents[a], played.agents[b])
            gap = POINTS * (truth.strengths[b] - truth.strengths[a]) / rating.ELO
            yield "difference of penalties", _holds(interval(values, CONFIDENCE), gap)


def _holds(found: Estimate, truth: float) -> bool:
    return found.low <= truth <= found.high


def coverage(tournaments: int, resamples: int, seed: int) -> dict[str, float]:
    """Return the share of intervals that hold the truth, by kind, over so many tournaments."""
    held: dict[str, list[bool]] = defaultdict(list)
    for number in range(tournaments):
        rng = np.random.default_rng([seed, number])
        truth = draw_truth(number, rng)
        for kind, holds in check(truth, play(truth, rng), resamples, number):
            held[kind].append(holds)
    return {kind: float(np.mean(found)) for kind, found in held.items()}


def main() -> None:
    """Measure from the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.intervals",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--tournaments", type=int, default=2000)
    parser.add_argument("--resamples", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    shares = coverage(options.tournaments, options.resamples, options.seed)
    print(
        f"{CONFIDENCE:.0%} intervals of {options.tournaments:,} made-up tournaments hold the truth:"
    )
    for kind, found in shares.items():
        print(f"{kind:28} {found:.1%}")


if __name__ == "__main__":
    main()
