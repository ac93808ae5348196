"""What a tournament shows: pairs, ratings, seats.

Every figure is a mean over deals of the mean over a deal's games. Letters: D deals, G games, P
seats, n agents.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from experiments.deals import NOBODY
from experiments.inference import (
    Estimate,
    corrected,
    deals_needed,
    interval,
    p_of_equal_columns,
    p_value,
    smallest_found,
)
from experiments.tournament.config import TournamentConfig
from experiments.tournament.rating import Rating, rate
from experiments.tournament.run import Played
from experiments.tournament.tables import MIXED, PAIR

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Side:
    """One agent of a pair, in the games in which it holds one seat."""

    penalty: float
    wins: Estimate
    """Share of rounds won, a tie shared, as a multiple of the fair share 1/P."""
    went_out: float
    """Share of rounds in which it went out."""
    turns: float
    draws: float
    doubles_per_turn: float


@dataclass(frozen=True)
class PairRow:
    """Two agents at one kind of table; a is rated above b."""

    table: str
    a: str
    b: str
    difference: Estimate
    """Penalty of a minus that of b: below 0, a is better."""
    deviation: float
    """Standard deviation of the difference over deals."""
    p: float
    """Of no difference."""
    p_corrected: float
    """Holm's, over all pairs at this kind of table."""
    deals: int
    games: int
    blocked: float
    """Share of rounds that nobody won by going out."""
    of_a: Side
    of_b: Side
    smallest_found: float
    """Difference that so many deals find with the config's power."""
    deals_needed: dict[str, int]
    """For each of the config's differences."""


@dataclass(frozen=True)
class SeatRow:
    """Penalty at a seat minus the table's mean, all agents having sat there equally often."""

    name: str
    difference: Estimate


@dataclass(frozen=True)
class Seats:
    """Whether a chair matters, or who moves first."""

    by_seat: tuple[SeatRow, ...]
    p: float
    """That all chairs are equal, by Hotelling's T squared: small means a bug."""
    by_order: tuple[SeatRow, ...]
    """First to move, second and so on: what the rules give to who begins."""


@dataclass(frozen=True)
class Analysis:
    """Everything that is reported."""

    ratings: tuple[Rating, ...]
    """Best first."""
    pairs: tuple[PairRow, ...]
    """Pairs' tables first, best agents first."""
    seats: Seats


def analyse(config: TournamentConfig, played: Played) -> Analysis:
    """Return what a tournament shows."""
    ratings = rate(played, config.resamples, config.confidence, config.seed)
    order = [rating.agent for rating in ratings]
    rows = [*_pair_rows(config, played, PAIR, order), *_pair_rows(config, played, MIXED, order)]
    return Analysis(ratings, tuple(rows), seats(played, config.confidence))


def by_deal(deals: NDArray[np.int64], values: Array) -> Array:
    """Return the mean of each deal's games: (G,) or (G, P) values to (D,) or (D, P)."""
    _, place, games = np.unique(deals, return_inverse=True, return_counts=True)
    sums = np.zeros((len(games), *values.shape[1:]))
    np.add.at(sums, place, values)
    means: Array = (sums.T / games).T
    return means


# ------------------------------------------------------------------------------------------ pairs


def _pair_rows(
    config: TournamentConfig, played: Played, table: str, order: Sequence[str]
) -> list[PairRow]:
    pairs = [(a, b) for i, a in enumerate(order) for b in order[i + 1 :]]
    found = (pair_row(config, played, table, a, b) for a, b in pairs)
    rows = [row for row in found if row is not None]
    p_values = corrected([row.p for row in rows])
    return [replace(row, p_corrected=p) for row, p in zip(rows, p_values, strict=True)]


def pair_row(
    config: TournamentConfig, played: Played, table: str, a: str, b: str
) -> PairRow | None:
    """Compare two agents at one kind of table; None if they have not met on two deals."""
    at_a, at_b = (played.who == played.agents.index(agent) for agent in (a, b))
    some = at_a.any(axis=1) & at_b.any(axis=1) & (played.is_pair == (table == PAIR))
    deals, at_a, at_b = played.deal[some], at_a[some], at_b[some]
    penalties = played.games.penalties[some].astype(float)
    differences = by_deal(deals, _mean_at(penalties, at_a) - _mean_at(penalties, at_b))
    if len(differences) < 2:
        return None
    deviation = float(differences.std(ddof=1))
    p = p_value(differences)
    return PairRow(
        table=table,
        a=a,
        b=b,
        difference=interval(differences, config.confidence),
        deviation=deviation,
        p=p,
        p_corrected=p,
        deals=len(differences),
        games=len(deals),
        blocked=float((played.games.went_out[some] == NOBODY).mean()),
        of_a=_side(played, some, at_a, config.confidence),
        of_b=_side(played, some, at_b, config.confidence),
        smallest_found=smallest_found(deviation, len(differences), config.confidence, config.power),
        deals_needed={
            f"{size:g}": deals_needed(size, deviation, config.confidence, config.power)
            for size in config.differences
        },
    )


def _mean_at(values: Array, at: NDArray[np.bool_]) -> Array:
    """Return (G,) means of (G, P) values over the seats where `at`."""
    means: Array = (values * at).sum(axis=1) / at.sum(axis=1)
    return means


def _side(
    played: Played, some: NDArray[np.bool_], at: NDArray[np.bool_], confidence: float
) -> Side:
    """Describe an agent by those of some games in which it holds one seat, the one where `at`."""
    alone = at.sum(axis=1) == 1
    rows, seat = np.flatnonzero(some)[alone], at[alone].argmax(axis=1)
    games, players = played.games, played.who.shape[1]
    wins = by_deal(played.deal[rows], games.wins[rows, seat] * players)
    turns = games.turns[rows, seat]
    return Side(
        penalty=float(games.penalties[rows, seat].mean()),
        wins=interval(wins, confidence),
        went_out=float((games.went_out[rows] == seat).mean()),
        turns=float(turns.mean()),
        draws=float(games.draws[rows, seat].mean()),
        doubles_per_turn=float(games.doubles[rows, seat].sum() / max(turns.sum(), 1)),
    )


# ------------------------------------------------------------------------------------------ seats


def seats(played: Played, confidence: float) -> Seats:
    """Compare the chairs, and the places in the order of moving.

    Line-ups turn through all seats and the starter is drawn, so chairs have equal penalties but for
    chance; a small p is a chair that the program favours.
    """
    penalties = played.games.penalties.astype(float)
    excess = penalties - penalties.mean(axis=1, keepdims=True)
    players = excess.shape[1]
    in_order = (played.games.first[:, None] + np.arange(players)) % players
    at_chair = by_deal(played.deal, excess)
    at_place = by_deal(played.deal, np.take_along_axis(excess, in_order, axis=1))
    return Seats(
        _seat_rows("seat", at_chair, confidence, first=0),
        p_of_equal_columns(at_chair) if len(at_chair) > players else math.nan,
        _seat_rows("mover", at_place, confidence, first=1),
    )


def _seat_rows(name: str, values: Array, confidence: float, first: int) -> tuple[SeatRow, ...]:
    return tuple(
        SeatRow(f"{name} {number}", interval(column, confidence))
        for number, column in enumerate(values.T, first)
    )
