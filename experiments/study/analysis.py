"""The analysis of a study: a line per cell and pair, and per cell and agent on its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ..statistics import Estimate, corrected, interval
from ..tournament.analysis import (
    Array,
    PairRow,
    SameRow,
    pair_differences,
    pair_row,
    same_row,
    same_values,
)
from ..tournament.config import TournamentConfig
from ..tournament.run import Played
from ..tournament.schedule import PAIR
from .config import StudyConfig

CHANGES = ("penalty", "turns", "blocked")  # fields of SameRow that are compared between cells


@dataclass(frozen=True)
class PairLine:
    """Two agents in a cell."""

    cell: str
    players: int
    row: PairRow
    """Its p_corrected is corrected over all lines of the study (Holm)."""
    change: Estimate | None
    """Difference of the pair minus that in the first cell, by deal."""


@dataclass(frozen=True)
class SameLine:
    """A table of one agent in a cell."""

    cell: str
    players: int
    row: SameRow
    changes: dict[str, Estimate]
    """Against the first cell, by deal: CHANGES; empty if there is no comparison."""


@dataclass(frozen=True)
class Findings:
    """All results of a study."""

    pairs: tuple[PairLine, ...]
    same: tuple[SameLine, ...]
    games: int
    decisions: int


def find(config: StudyConfig, played: Sequence[Played]) -> Findings:
    """Return the analysis of a study; played: one entry per tournament."""
    cells = list(zip(config.tournaments.items(), played, strict=True))
    first = played[0] if config.against_first else None
    pairs = [line for (c, t), p in cells for line in _pair_lines(c, t, p, first)]
    p_values = corrected([line.row.p for line in pairs])
    return Findings(
        tuple(
            replace(line, row=replace(line.row, p_corrected=p))
            for line, p in zip(pairs, p_values, strict=True)
        ),
        tuple(line for (c, t), p in cells for line in _same_lines(c, t, p, first)),
        sum(len(p.deal) for p in played),
        sum(int(p.games.decisions.sum()) for p in played),
    )


def _pair_lines(
    cell: str, config: TournamentConfig, played: Played, first: Played | None
) -> Iterator[PairLine]:
    players, pairs = config.make_rules().players, config.pairs or _all_pairs(config.titles)
    for a, b in pairs:
        row = pair_row(config, played, PAIR, a, b)
        if row is not None:
            here = pair_differences(played, PAIR, a, b)
            there = _in_first(first, played, a, b)
            change = None if there is None else _change(here, there, config.confidence)
            yield PairLine(cell, players, row, change)


def _all_pairs(titles: Sequence[str]) -> list[tuple[str, str]]:
    return [(a, b) for i, a in enumerate(titles) for b in titles[i + 1 :]]


def _in_first(first: Played | None, played: Played, a: str, b: str) -> Array | None:
    """Return a pair's differences in the first cell; None in that cell or if it was not played."""
    if first is None or first is played or not {a, b} <= set(first.agents):
        return None
    return pair_differences(first, PAIR, a, b)


def _same_lines(
    cell: str, config: TournamentConfig, played: Played, first: Played | None
) -> Iterator[SameLine]:
    players = config.make_rules().players
    for agent in config.titles if config.same_deals else ():
        changes = {}
        if first is not None and first is not played and agent in first.agents:
            here, there = same_values(played, agent), same_values(first, agent)
            changes = {n: _change(here[n], there[n], config.confidence) for n in CHANGES}
        row = same_row(config, played, agent)
        yield SameLine(cell, players, row, changes)


def _change(here: Array, there: Array, confidence: float) -> Estimate:
    """Compare two cells deal by deal; deals are independent, with the same hands or not."""
    return interval(here - there, confidence)
