"""Results as tables: described once, shown in the terminal and in Markdown."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from rich import box
from rich.console import Console, Group
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from dominoenv.core.rules import Rules

from ..statistics import Estimate, sample_size
from .analysis import Analysis, PairRow, SameRow, SeatRow, Seats, Side
from .config import MatchConfig, TournamentConfig
from .rating import Rating, deals_apart
from .run import Played
from .schedule import PAIR

WIDTH = 110  # minimum width of the terminal's tables in columns, also if the output is a file


@dataclass(frozen=True)
class Grid:
    """A table: the first `texts` columns hold words, the others figures."""

    title: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str
    texts: int = 1

    def for_terminal(self) -> Group:
        """Return the table for rich."""
        table = Table(box=box.SIMPLE_HEAD)
        for number, heading in enumerate(self.headings):
            is_text = number < self.texts
            table.add_column(heading, justify="left" if is_text else "right", no_wrap=not is_text)
        for row in self.rows:
            table.add_row(*map(escape, row))
        return Group(Text(f"\n{self.title}", style="bold"), table, Text(self.caption, style="dim"))

    def markdown(self) -> str:
        """Return the table as a section of Markdown."""
        sides = ["---"] * self.texts + ["---:"] * (len(self.headings) - self.texts)
        lines = (self.headings, sides, *self.rows)
        table = "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
        return f"## {self.title}\n\n{table}\n\n{self.caption}\n"


def grids(config: TournamentConfig, analysis: Analysis) -> list[Grid]:
    """Return all tables."""
    pairs = [row for row in analysis.pairs if row.table == PAIR]
    mixed = [row for row in analysis.pairs if row.table != PAIR]
    found = [_ratings(config, analysis.ratings), *_steps(config, analysis)]
    for title, rows in (("Pairs", pairs), ("Mixed tables", mixed)):
        if rows:
            found += [_pairs(config, title, rows), _play(title, rows)]
    if analysis.same:
        found += [same_tables(analysis.same), same_endings(analysis.same)]
    return [*found, _deals_needed(config, analysis.pairs), _seats(analysis.seats)]


def _ratings(config: TournamentConfig, ratings: Sequence[Rating]) -> Grid:
    return Grid(
        "Ratings",
        ("agent", "rating", f"{config.confidence:.0%} interval", "penalty", "games"),
        tuple(
            (
                row.agent,
                f"{row.rating.mean:+.0f}",
                f"{row.rating.low:+.0f} … {row.rating.high:+.0f}",
                f"{row.penalty:.2f}",
                f"{row.games:,}",
            )
            for row in ratings
        ),
        "Elo's scale, mean 0: an agent 100 points above another has the lower penalty of the two "
        "64 times in 100. Penalties depend on whom an agent met; ratings allow for it.",
    )


def _steps(config: TournamentConfig, analysis: Analysis) -> list[Grid]:
    """Return the ladder's steps as one table; none if there is one agent."""
    ratings = analysis.ratings
    rows = tuple(_step_cells(config, analysis, upper, lower) for upper, lower in pairwise(ratings))
    headings = ("upper", "lower", "rating step", "intervals", "deals for that")
    caption = (
        "Neighbours on the ladder. intervals: whether those of the two ratings are apart, and how "
        "many deals at each table it takes, by the square root. settled: whether the difference "
        f"of penalties is, at {1 - config.confidence:.2g} by Holm's p; then how many deals find "
        f"it with a probability of {config.power:.0%} if it is what was measured."
    )
    title = "The steps of the ladder"
    more = ("upper − lower", "settled", "deals for that")
    return [Grid(title, (*headings, *more), rows, caption, texts=2)] if rows else []


def _step_cells(
    config: TournamentConfig, analysis: Analysis, upper: Rating, lower: Rating
) -> tuple[str, ...]:
    row = next((r for r in analysis.pairs if (r.a, r.b) == (upper.agent, lower.agent)), None)
    apart = "apart" if upper.rating.low > lower.rating.high else "overlap"
    step = upper.above_next
    words = (upper.agent, lower.agent, f"{step.mean:+.0f} ± {step.half:.0f}" if step else "")
    if row is None:
        return (*words, apart, *["not met"] * 4)
    return (
        *words,
        apart,
        count(deals_apart(upper, lower, max(config.pair_deals, config.mixed_deals))),
        signed(row.difference),
        "yes" if row.p_corrected < 1 - config.confidence else "no",
        count(deals_to_settle(config, row)),
    )


def deals_to_settle(config: MatchConfig, row: PairRow) -> float:
    """Return how many deals find a pair's difference if the measured one is true."""
    size = row.difference.mean
    if row.deviation == 0 or size == 0:
        return math.inf
    return sample_size(size, row.deviation, config.confidence, config.power)


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
        f"{config.confidence:.0%} interval; below 0, a is better. p: of no difference, by "
        f"Holm's correction for the {len(rows)} comparisons of this table. Wins: share of rounds "
        "won as a multiple of the fair share, in the games in which the agent holds one seat. "
        "better: a or b, where Holm's p allows to say so.",
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
    sizes = [f"{size:g}" for size in config.differences]
    return Grid(
        "How many deals it takes",
        ("a", "b", "table", "deals", "finds", *(f"for {size}" for size in sizes)),
        tuple(
            (
                row.a,
                row.b,
                row.table,
                f"{row.deals:,}",
                f"{row.minimum_detectable_difference:.2f}",
                *(f"{row.sample_size[size]:,}" for size in sizes),
            )
            for row in rows
        ),
        f"finds: the difference in points that these deals find with a probability of "
        f"{config.power:.0%}, by a two-sided test at {1 - config.confidence:.2g}; then how many "
        "deals other differences take. From the spread of the paired differences.",
        texts=3,
    )


def _seats(seats: Seats) -> Grid:
    rows: tuple[SeatRow, ...] = (*seats.by_seat, *seats.by_order)
    return Grid(
        "Seats",
        ("seat", "penalty − table's mean"),
        tuple((row.name, signed(row.difference)) for row in rows),
        f"All seats are equal: p = {probability(seats.p)} (Hotelling's T²). {seat_verdict(seats)} "
        "mover 1 is the first to move: what the rules give to who begins.",
    )


# ------------------------------------------------------------------------------------------ words


SUSPICIOUS = 0.001
"""p of equal seats: one sound tournament in a thousand falls below it."""


def seat_verdict(seats: Seats) -> str:
    """Return what the comparison of seats means."""
    if math.isnan(seats.p):
        return "Too few deals to say."
    if seats.p < SUSPICIOUS:
        return "WARNING: a seat is favoured. By the rules none is: look for a bug."
    return "No seat is favoured beyond chance."


def verdict(row: PairRow, confidence: float) -> str:
    """Return which of the two is better, or "not settled"."""
    if row.p_corrected >= 1 - confidence:
        return "not settled"
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


def count(number: float) -> str:
    """Return a number of deals with two significant digits."""
    if math.isinf(number):
        return "no number"
    return f"{float(f'{number:.2g}'):,.0f}"


def probability(p: float) -> str:
    """Return a p value; tiny ones as a bound."""
    return "< 0.0001" if p < 1e-4 else f"{p:.4f}"


# ---------------------------------------------------------------------------------------- showing


def print_report(config: TournamentConfig, analysis: Analysis, played: Played) -> None:
    """Print all tables to the terminal."""
    tables = [grid.for_terminal() for grid in grids(config, analysis)]
    console = Console(width=max(WIDTH, Console().width), highlight=False)
    console.print(Group(*tables))
    console.print(f"\n{escape(summary(config.make_rules(), played))}")


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
    return f"""# Tournament {config.name}

{summary(config.make_rules(), played)}

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

```yaml
{config.to_yaml()}```
"""
