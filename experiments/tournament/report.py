"""A tournament's results as tables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from dominoenv.core.rules import Rules

from ..grid import Grid, print_grids
from ..plain import code_block
from ..plain import markdown as plain
from ..statistics import MAX_DEALS, Estimate, probability, sample_size
from .analysis import Analysis, PairRow, SameRow, SeatRow, Seats, Side, named_differences
from .config import MatchConfig, TournamentConfig
from .rating import Rating, Step, deals_apart
from .run import Played
from .schedule import PAIR


def grids(config: TournamentConfig, analysis: Analysis) -> list[Grid]:
    """Return all tables."""
    pairs = [row for row in analysis.pairs if row.table == PAIR]
    mixed = [row for row in analysis.pairs if row.table != PAIR]
    found = [*_ladders(config, analysis.ratings), *_steps(config, analysis.ratings)]
    for title, rows in (("Pairs", pairs), ("Mixed tables", mixed)):
        if rows:
            found += [_pairs(config, title, rows), _play(title, rows)]
    if analysis.same:
        found += [same_tables(analysis.same), same_endings(analysis.same)]
    return [*found, _deals_needed(config, analysis.pairs), _seats(analysis.seats)]


def _ladders(config: TournamentConfig, ratings: Sequence[Rating]) -> list[Grid]:
    """Return the ratings, one table for each group of agents that met."""
    groups = [[row for row in ratings if row.group == number] for number in _groups(ratings)]
    if len(groups) == 1:
        return [_ratings(config, "Ratings", groups[0], "")]
    apart = (
        f"One of {len(groups)} groups of agents that never met those of the other groups, directly "
        "or through others. Each has a ladder of its own: ratings of different groups cannot be "
        "compared. "
    )
    return [
        _ratings(config, f"Ratings of group {number}", rows, apart)
        for number, rows in enumerate(groups, 1)
    ]


def _groups(ratings: Sequence[Rating]) -> list[int]:
    return sorted({row.group for row in ratings})


def _ratings(config: TournamentConfig, title: str, rows: Sequence[Rating], apart: str) -> Grid:
    scale = (
        "Elo's scale, mean 0: an agent 100 points above another has the lower penalty of the two "
        "64 times in 100. Intervals are of an agent against the mean of its group, each for "
        "itself. A prior keeps them finite: one deal for each agent but one, half of it won by "
        "either side. Penalties depend on whom an agent met; ratings allow for it."
    )
    return Grid(
        title,
        ("agent", "rating", f"{config.confidence:.0%} interval", "penalty", "games"),
        tuple(
            (row.agent, *_rating_cells(row.rating), f"{row.penalty:.2f}", f"{row.games:,}")
            for row in rows
        ),
        apart + (scale if len(rows) > 1 else "An agent that met no other has no rating."),
    )


def _rating_cells(rating: Estimate | None) -> tuple[str, str]:
    if rating is None:
        return "none", ""
    return f"{rating.mean:+.0f}", between(rating)


def _steps(config: TournamentConfig, ratings: Sequence[Rating]) -> list[Grid]:
    """Return the steps of all ladders as one table; none if nobody met."""
    rows = tuple(
        (row.agent, lower.agent, *_step_cells(config, row.above_next))
        for row, lower in pairwise(ratings)
        if row.above_next
    )
    interval = f"{config.confidence:.0%} interval"
    caption = (
        "Neighbours on a ladder, and how far the upper one is above the lower one. Intervals are "
        "each for itself. p: of no difference, with Holm's correction for the "
        f"{len(rows)} steps. apart: whether it is below {1 - config.confidence:.2g}. deals to part "
        "them: so many at each table find a step as large as the measured one, tested alone, with "
        f"a probability of {config.power:.0%}."
    )
    headings = ("upper", "lower", "step", interval, "p (Holm)", "apart", "deals to part them")
    return [Grid("The steps of the ladder", headings, rows, caption, texts=2)] if rows else []


def _step_cells(config: TournamentConfig, step: Step) -> tuple[str, ...]:
    deals = max(config.pair_deals, config.mixed_deals)
    return (
        f"{step.difference.mean:+.0f}",
        between(step.difference),
        probability(step.p_corrected),
        "yes" if step.p_corrected < 1 - config.confidence else "no",
        count(deals_apart(step, deals, config.confidence, config.power)),
    )


def deals_to_settle(config: MatchConfig, row: PairRow) -> float:
    """Return how many deals find a pair's difference if the measured one is true."""
    return sample_size(row.difference.mean, row.deviation, config.confidence, config.power)


def _pairs(config: TournamentConfig, title: str, rows: Sequence[PairRow]) -> Grid:
    return Grid(
        title,
        ("a", "b", "a − b", "p (Holm)", "a's wins", "b's wins", "better"),
        tuple(
            (
                row.a,
                row.b,
                signed(row.difference),
                probability(row.p_corrected),
                multiple(row.of_a.wins),
                multiple(row.of_b.wins),
                verdict(row, config.confidence),
            )
            for row in rows
        ),
        "a − b: difference of mean penalties in points a round, paired by deal, with its "
        f"{config.confidence:.0%} interval, each for itself; below 0 speaks for a. p: of no "
        f"difference, with Holm's correction for the {len(rows)} comparisons of this table. Wins: "
        "share of rounds won as a multiple of the fair share, in the games in which the agent "
        f"holds one seat. better: a or b where p is below {1 - config.confidence:.2g}, else open.",
        texts=2,
    )


def _play(title: str, rows: Sequence[PairRow]) -> Grid:
    headings = ("agent", "against", "penalty", "went out", "blocked", "turns", "draws")
    return Grid(
        f"{title}: how the rounds went",
        (*headings, "doubles/turn"),
        tuple(
            (me, other, *_side_cells(side, row.blocked))
            for row in rows
            for me, other, side in ((row.a, row.b, row.of_a), (row.b, row.a, row.of_b))
        ),
        "In the games in which the agent holds one seat: its penalty, how often it went out, its "
        "turns and draws a round, its doubles a turn; blocked: rounds that nobody went out of.",
        texts=2,
    )


def _side_cells(side: Side, blocked: float) -> tuple[str, ...]:
    return (
        f"{side.penalty:.2f}",
        f"{side.went_out:.1%}",
        f"{blocked:.1%}",
        f"{side.turns:.2f}",
        f"{side.draws:.2f}",
        f"{side.doubles_per_turn:.3f}",
    )


def same_tables(rows: Sequence[SameRow], labels: Sequence[str] = ()) -> Grid:
    """Return how rounds go at tables of one agent; labels: a first column, one a row."""
    cells = [
        (row.agent, f"{row.deals:,}", *map(multiple, (row.penalty, row.turns, row.draws)))
        for row in rows
    ]
    headings = ("agent", "deals", "penalty", "turns", "draws")
    caption = "All seats are the same agent's, one game a deal; penalty, turns and draws of a seat."
    return _labelled("Tables of one agent", headings, cells, caption, labels)


def same_endings(rows: Sequence[SameRow], labels: Sequence[str] = ()) -> Grid:
    """Return how rounds end at tables of one agent; labels: a first column, one a row."""
    cells = [
        (row.agent, *map(percent, (row.blocked, row.by_double, row.by_centre, row.free)))
        for row in rows
    ]
    headings = ("agent", "blocked", "at a double", "at the centre", "free")
    caption = (
        "Shares of all rounds at tables of one agent. blocked: nobody went out; of these, at a "
        "double: with a double pending or a foot open; at the centre: before it was full; free: "
        "with neither, as the tiles left fitted no end that was open to them."
    )
    return _labelled("How rounds are blocked", headings, cells, caption, labels)


def _labelled(
    title: str,
    headings: tuple[str, ...],
    rows: Sequence[tuple[str, ...]],
    caption: str,
    labels: Sequence[str],
) -> Grid:
    """Return a table, with the labels as a first column if there are any."""
    if not labels:
        return Grid(title, headings, tuple(rows), caption)
    marked = tuple((label, *cells) for label, cells in zip(labels, rows, strict=True))
    return Grid(title, ("cell", *headings), marked, caption, texts=2)


def _deals_needed(config: TournamentConfig, rows: Sequence[PairRow]) -> Grid:
    sizes = named_differences(config)
    return Grid(
        "How many deals it takes",
        ("a", "b", "table", "deals", "finds", "settle it", *(f"for {size}" for size in sizes)),
        tuple(
            (
                row.a,
                row.b,
                row.table,
                f"{row.deals:,}",
                f"{row.minimum_detectable_difference:.2f}",
                count(deals_to_settle(config, row)),
                *(count(row.sample_size[size]) for size in sizes),
            )
            for row in rows
        ),
        f"finds: the difference in points that these deals find with a probability of "
        f"{config.power:.0%}, by one two-sided test at {1 - config.confidence:.2g}. settle it: how "
        "many deals find a difference as large as the measured one; then the same for so many "
        "points. From the spread of the paired differences.",
        texts=3,
    )


def _seats(seats: Seats) -> Grid:
    rows: tuple[SeatRow, ...] = (*seats.by_seat, *seats.by_order)
    return Grid(
        "Seats",
        ("seat", "penalty − table's mean"),
        tuple((row.name, signed(row.difference)) for row in rows),
        f"{seat_verdict(seats)} Intervals are each for itself. mover 1 is the first to move: what "
        "the rules give to who begins.",
    )


# ------------------------------------------------------------------------------------------ words


SUSPICIOUS = 0.001
"""p of equal seats: one sound tournament in a thousand falls below it."""


def seat_verdict(seats: Seats) -> str:
    """Return what the comparison of seats means."""
    if math.isnan(seats.p):
        return "Whether a seat is favoured: too few deals to say."
    shown = probability(seats.p)
    tested = (
        "One test that the seats are equal (Hotelling's T²): p "
        f"{shown if shown[0] == '<' else f'= {shown}'}; below {SUSPICIOUS:g} it is a warning."
    )
    if seats.p < SUSPICIOUS:
        return f"{tested} WARNING: a seat is favoured. By the rules none is: look for a bug."
    return f"{tested} No sign of a seat that is favoured."


def verdict(row: PairRow, confidence: float) -> str:
    """Return which of the two is better: "a", "b", or "open"."""
    if row.p_corrected >= 1 - confidence:
        return "open"
    return "a" if row.difference.mean < 0 else "b"


def signed(value: Estimate) -> str:
    """Return a difference with half its interval: `-1.23 ± 0.45`."""
    return f"{value.mean:+.2f} ± {value.half:.2f}"


def multiple(value: Estimate) -> str:
    """Return a multiple with half its interval: `1.23 ± 0.04`."""
    return f"{value.mean:.2f} ± {value.half:.2f}"


def percent(value: Estimate) -> str:
    """Return a share with half its interval: `12.3 ± 0.4 %`."""
    return f"{100 * value.mean:.1f} ± {100 * value.half:.1f} %"


def between(value: Estimate) -> str:
    """Return an interval of ratings: `-12 … +34`."""
    return f"{value.low:+.0f} … {value.high:+.0f}"


def count(number: float) -> str:
    """Return a number of deals with two significant digits, or that it is beyond all reach."""
    return "> 10⁹" if number > MAX_DEALS else f"{float(f'{math.ceil(number):.2g}'):,.0f}"


# ---------------------------------------------------------------------------------------- showing


def print_report(config: TournamentConfig, analysis: Analysis, played: Played) -> None:
    """Print all tables to the terminal."""
    print_grids(grids(config, analysis), summary(config.make_rules(), played))


def summary(rules: Rules, played: Played) -> str:
    """Return what was played, in one sentence."""
    return (
        f"{rules}. {len(played.deal):,} games of {len(set(played.deal.tolist())):,} deals, "
        f"{played.games.decisions.sum():,} decisions, {played.speed:,.0f} a second on one core."
    )


def markdown(
    config: TournamentConfig, analysis: Analysis, played: Played, versions: dict[str, str]
) -> str:
    """Return the report."""
    tables = "\n".join(grid.markdown() for grid in grids(config, analysis))
    return f"""# Tournament {plain(config.name)}

{plain(summary(config.make_rules(), played))}

Every deal is played with the agents turned through all seats; all tables play the same deals.

![ratings](ratings.png)
![pairs](pairs.png)
![penalties](penalties.png)

{tables}
{how_it_was_made(config, "tournament", versions)}"""


def how_it_was_made(config: MatchConfig, what: str, versions: dict[str, str]) -> str:
    """Return the last section of a report: everything needed to reproduce it."""
    used = ", ".join(f"{name} {version}" for name, version in versions.items())
    return f"""## How it was made

Seed {config.seed}; {used}. It is played again by `dominoenv {what} FILE` with
this file:

{code_block(config.to_yaml(), "yaml")}
"""
