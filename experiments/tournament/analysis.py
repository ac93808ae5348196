"""The analysis of a tournament: pairs, ratings, seats, and rounds among copies of one agent.

Every figure is a mean over deals of the mean over the games of a deal. Letters: D deals, G games, P
seats, n agents.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dominoenv.core.round import BY_CENTRE, BY_DOUBLE, FREE

from ..arena import NOBODY
from ..statistics import (
    MIN_DEALS,
    Estimate,
    corrected,
    interval,
    minimum_detectable_difference,
    p_of_equal_columns,
    p_value,
    sample_size,
    share,
)
from .config import MatchConfig, TournamentConfig
from .rating import Rating, rate
from .run import Played
from .schedule import MIXED, PAIR, SAME, TABLES

Array = NDArray[np.float64]

SHARES = ("blocked", "by_double", "by_centre", "free")  # of rounds: 0 or 1 for each deal


@dataclass(frozen=True)
class Side:
    """One agent of a pair, in the games in which it has one seat."""

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
    """p of no difference."""
    p_corrected: float
    """p with Holm's correction over all pairs at this kind of table."""
    deals: int
    games: int
    blocked: float
    """Share of rounds that nobody won by going out."""
    of_a: Side
    of_b: Side
    minimum_detectable_difference: float
    """Difference that these deals find with the config's power."""
    sample_size: dict[str, float]
    """For each of the config's differences; infinite above MAX_DEALS."""


@dataclass(frozen=True)
class SameRow:
    """How rounds go at a table with the same agent at all seats."""

    agent: str
    deals: int
    penalty: Estimate
    """Of a seat."""
    turns: Estimate
    """Of a seat."""
    draws: Estimate
    """Of a seat."""
    blocked: Estimate
    """Share of rounds that nobody went out of."""
    by_double: Estimate
    """Share of rounds that were blocked with a pending double or an open foot on the table."""
    by_centre: Estimate
    """Share of rounds that were blocked before the centre was full."""
    free: Estimate
    """Share of rounds that were blocked with neither."""
    by_order: tuple[SeatRow, ...]
    """First to move, second and so on: penalty minus the table's mean."""
    first_wins: Estimate
    """Share of rounds won by the first to move, a tie shared, as a multiple of the fair share."""


@dataclass(frozen=True)
class SeatRow:
    """Penalty at a seat minus the table's mean; all agents sat there equally often."""

    name: str
    difference: Estimate


@dataclass(frozen=True)
class Seats:
    """Whether the seat or the turn order matters."""

    by_seat: tuple[SeatRow, ...]
    p: float
    """p of equal seats, by Hotelling's T squared; a small one points to a bug."""
    by_order: tuple[SeatRow, ...]
    """First to move, second and so on: the advantage of moving first."""


@dataclass(frozen=True)
class Analysis:
    """All reported results."""

    ratings: tuple[Rating, ...]
    """One group of agents that met after the other, best first."""
    pairs: tuple[PairRow, ...]
    """Pairs' tables first, best agents first."""
    same: tuple[SameRow, ...]
    """Best agents first."""
    seats: Seats


def analyse(config: TournamentConfig, played: Played) -> Analysis:
    """Return the analysis of a tournament."""
    ratings = rate(played, config.resamples, config.confidence, config.seed)
    order = [rating.agent for rating in ratings]
    rows = [*_pair_rows(config, played, PAIR, order), *_pair_rows(config, played, MIXED, order)]
    same = tuple(same_row(config, played, agent) for agent in order) if config.same_deals else ()
    return Analysis(ratings, tuple(rows), same, seats(played, config.confidence))


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


def pair_row(config: MatchConfig, played: Played, table: str, a: str, b: str) -> PairRow | None:
    """Compare two agents at one kind of table; None if they have not met on two deals."""
    some, at_a, at_b = _meetings(played, table, a, b)
    differences = pair_differences(played, table, a, b)
    if len(differences) < MIN_DEALS:
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
        games=int(some.sum()),
        blocked=float((played.games.went_out[some] == NOBODY).mean()),
        of_a=_side(played, some, at_a[some], config.confidence),
        of_b=_side(played, some, at_b[some], config.confidence),
        minimum_detectable_difference=minimum_detectable_difference(
            deviation, len(differences), config.confidence, config.power
        ),
        sample_size={
            name: sample_size(size, deviation, config.confidence, config.power)
            for name, size in named_differences(config).items()
        },
    )


def named_differences(config: MatchConfig) -> dict[str, float]:
    """Return the config's differences by their texts, each once."""
    return {f"{size:.12g}": size for size in config.differences}


def pair_differences(played: Played, table: str, a: str, b: str) -> Array:
    """Return (D,) penalties of a minus those of b, on the deals on which they have met."""
    some, at_a, at_b = _meetings(played, table, a, b)
    penalties = played.games.penalties[some].astype(float)
    differences = _mean_at(penalties, at_a[some]) - _mean_at(penalties, at_b[some])
    return by_deal(played.deal[some], differences)


def _meetings(
    played: Played, table: str, a: str, b: str
) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.bool_]]:
    """Return (G,) whether two agents meet in a game, and (G, P) where each of them sits."""
    at_a, at_b = (played.who == played.agents.index(agent) for agent in (a, b))
    at_table = played.table == TABLES.index(table)
    return at_a.any(axis=1) & at_b.any(axis=1) & at_table, at_a, at_b


def _mean_at(values: Array, at: NDArray[np.bool_]) -> Array:
    """Return (G,) means of (G, P) values over the seats where `at`."""
    means: Array = (values * at).sum(axis=1) / at.sum(axis=1)
    return means


def _side(
    played: Played, some: NDArray[np.bool_], at: NDArray[np.bool_], confidence: float
) -> Side:
    """Describe an agent in the games in which it has one seat, given by `at`."""
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


# -------------------------------------------------------------------------- tables of one agent


def same_row(config: MatchConfig, played: Played, agent: str) -> SameRow:
    """Describe the rounds of an agent against copies of itself."""
    values = same_values(played, agent)
    means = {
        name: (share if name in SHARES else interval)(column, config.confidence)
        for name, column in values.items()
    }
    some = _same_games(played, agent)
    wins = np.take_along_axis(played.games.wins[some], _in_order(played)[some], axis=1)
    places = _seat_rows("mover", _excess_in_order(played)[some], config.confidence, first=1)
    first = interval(wins[:, 0] * wins.shape[1], config.confidence)
    return SameRow(agent, int(some.sum()), **means, by_order=places, first_wins=first)


def same_values(played: Played, agent: str) -> dict[str, Array]:
    """Return the result of each deal at an agent's own table, by the fields of SameRow."""
    some, games = _same_games(played, agent), played.games
    blocked = games.went_out[some] == NOBODY
    bound = {"by_double": BY_DOUBLE, "by_centre": BY_CENTRE, "free": FREE}
    seat_means = {"penalty": games.penalties, "turns": games.turns, "draws": games.draws}
    return {
        **{name: values[some].mean(axis=1) for name, values in seat_means.items()},
        "blocked": blocked.astype(float),
        **{name: (blocked & (games.bound[some] == by)).astype(float) for name, by in bound.items()},
    }


def _same_games(played: Played, agent: str) -> NDArray[np.bool_]:
    at_table = played.table == TABLES.index(SAME)
    some: NDArray[np.bool_] = at_table & (played.who[:, 0] == played.agents.index(agent))
    return some


# ------------------------------------------------------------------------------------------ seats


def seats(played: Played, confidence: float) -> Seats:
    """Compare the seats, and the places in the turn order.

    Line-ups rotate through all seats and the starter is drawn, so seats have equal expected
    penalties; a small p means that the program favours a seat.
    """
    at_chair = by_deal(played.deal, _excess(played))
    at_place = by_deal(played.deal, _excess_in_order(played))
    players = at_chair.shape[1]
    return Seats(
        _seat_rows("seat", at_chair, confidence, first=0),
        p_of_equal_columns(at_chair) if len(at_chair) > players else math.nan,
        _seat_rows("mover", at_place, confidence, first=1),
    )


def _excess(played: Played) -> Array:
    """Return (G, P) penalties at the seats minus the table's mean."""
    penalties = played.games.penalties.astype(float)
    excess: Array = penalties - penalties.mean(axis=1, keepdims=True)
    return excess


def _excess_in_order(played: Played) -> Array:
    """Return the same for the first to move, the second and so on."""
    return np.take_along_axis(_excess(played), _in_order(played), axis=1)


def _in_order(played: Played) -> NDArray[np.int64]:
    """Return (G, P) the seat that moves first, second and so on."""
    players = played.who.shape[1]
    order: NDArray[np.int64] = (played.games.first[:, None] + np.arange(players)) % players
    return order


def _seat_rows(name: str, values: Array, confidence: float, first: int) -> tuple[SeatRow, ...]:
    return tuple(
        SeatRow(f"{name} {number}", interval(column, confidence))
        for number, column in enumerate(values.T, first)
    )
