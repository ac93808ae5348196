"""A study's findings as tables."""

from __future__ import annotations

from collections.abc import Sequence

from ..grid import Grid, print_grids
from ..plain import markdown as plain
from ..statistics import probability
from ..tournament.analysis import named_differences
from ..tournament.report import (
    count,
    deals_to_settle,
    how_it_was_made,
    multiple,
    percent,
    same_endings,
    same_tables,
    signed,
)
from .analysis import Findings, PairLine, SameLine
from .config import StudyConfig


def grids(config: StudyConfig, findings: Findings) -> list[Grid]:
    """Return all tables that have rows."""
    same, labels = findings.same, [line.cell for line in findings.same]
    rows = [line.row for line in same]
    found = [
        _pairs(config, findings.pairs),
        _deals_needed(config, findings.pairs),
        _changes(config, findings),
        same_tables(rows, labels),
        same_endings(rows, labels),
        _order(same),
    ]
    return [grid for grid in found if grid.rows]


def _pairs(config: StudyConfig, lines: Sequence[PairLine]) -> Grid:
    return Grid(
        "Pairs",
        ("cell", "a", "b", "a − b", "p (Holm)", "a's wins", "of all rounds", "blocked"),
        tuple((line.cell, *_pair_cells(line)) for line in lines),
        "a − b: difference of mean penalties in points a round, paired by deal; below 0 speaks for "
        f"a. All intervals at {config.confidence:.0%}, each for itself. p: of no difference, with "
        f"Holm's correction for all {len(lines)} lines. a's wins: share of rounds won by one a "
        "among seats of b, as a multiple of the fair share and as it is. blocked: rounds that "
        "nobody went out of.",
        texts=3,
    )


def _pair_cells(line: PairLine) -> tuple[str, ...]:
    row = line.row
    return (
        row.a,
        row.b,
        signed(row.difference),
        probability(row.p_corrected),
        multiple(row.of_a.wins),
        percent(row.of_a.wins.times(1 / line.players)),
        f"{row.blocked:.1%}",
    )


def _deals_needed(config: StudyConfig, lines: Sequence[PairLine]) -> Grid:
    sizes = named_differences(config)
    return Grid(
        "How many deals settle it",
        ("cell", "a", "b", "deals", "settle it", *(f"for {size}" for size in sizes)),
        tuple(
            (
                line.cell,
                line.row.a,
                line.row.b,
                f"{line.row.deals:,}",
                count(deals_to_settle(config, line.row)),
                *(count(line.row.sample_size[size]) for size in sizes),
            )
            for line in lines
        ),
        "deals: that were played. settle it: so many find a difference as large as the one that "
        f"was measured with a probability of {config.power:.0%}, by one two-sided test at "
        f"{1 - config.confidence:.2g}; then the same for so many points.",
        texts=3,
    )


def _changes(config: StudyConfig, findings: Findings) -> Grid:
    columns: dict[str, dict[str, str]] = {}
    for line in findings.same:
        for what, change in line.changes.items():
            shown = signed(change.times(100)) if what == "blocked" else signed(change)
            columns.setdefault(f"{line.row.agent}: {what}", {})[line.cell] = shown
    for pair in findings.pairs:
        if pair.change is not None:
            shown = signed(pair.change)
            columns.setdefault(f"{pair.row.a} − {pair.row.b}", {})[pair.cell] = shown
    cells = dict.fromkeys(cell for column in columns.values() for cell in column)
    return Grid(
        "Against the first cell",
        ("cell", *columns),
        tuple((cell, *(column.get(cell, "") for column in columns.values())) for cell in cells),
        "What a cell changes against the first one, deal by deal: penalty and turns of a seat and "
        "the share of blocked rounds (in points of a hundred) at tables of one agent; and the "
        "difference of a pair's penalties, below 0 where the first of the two gains. Intervals at "
        f"{config.confidence:.0%}, each for itself: of many, some miss.",
    )


def _order(lines: Sequence[SameLine]) -> Grid:
    return Grid(
        "Who begins",
        ("cell", "agent", "first", "second", "last", "first's wins", "of all rounds"),
        tuple(_order_cells(line) for line in lines),
        "Penalty of the seat that moves first, second and last, minus the table's mean: what the "
        "rules give to who begins, among agents that are all the same. first's wins: share of "
        "rounds won by the first to move, as a multiple of the fair share and as it is.",
        texts=2,
    )


def _order_cells(line: SameLine) -> tuple[str, ...]:
    places, wins = line.row.by_order, line.row.first_wins
    shown = (signed(places[place].difference) for place in (0, 1, -1))
    return (
        line.cell,
        line.row.agent,
        *shown,
        multiple(wins),
        percent(wins.times(1 / line.players)),
    )


def summary(config: StudyConfig, findings: Findings) -> str:
    """Return what was played, in one sentence."""
    return (
        f"{len(config.tournaments)} cells, {findings.games:,} games, "
        f"{findings.decisions:,} decisions."
    )


def print_report(config: StudyConfig, findings: Findings) -> None:
    """Print all tables to the terminal."""
    print_grids(grids(config, findings), summary(config, findings))


def markdown(
    config: StudyConfig, findings: Findings, pictures: Sequence[str], versions: dict[str, str]
) -> str:
    """Return the report; pictures: names of the files that were drawn."""
    tables = "\n".join(grid.markdown() for grid in grids(config, findings))
    shown = "\n".join(f"![{name.removesuffix('.png')}]({name})" for name in pictures)
    rules = ((cell, str(one.make_rules())) for cell, one in config.tournaments.items())
    cells = Grid("The cells", ("cell", "rules"), tuple(rules), "", texts=2)
    return f"""# Study {plain(config.name)}

{summary(config, findings)}

Every deal of a pair is played with both agents turned through all seats; all tables of a cell play
the same deals.

{shown}

{tables}
{cells.markdown()}
{how_it_was_made(config, "study", versions)}"""
