"""The totals of a match, round by round, as a small SVG chart and as a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from dominoenv.records.format import Record

WIDTH, HEIGHT = 640, 260  # points
LEFT, RIGHT, TOP, BOTTOM = 44, 40, 12, 28
GAP = 13  # between the numbers of seats at the right
STEPS = (1, 2, 5)


def score_chart(record: Record) -> str:
    """Return the chart and the table as HTML; columns of the chart have `data-round`."""
    totals = [[0] * len(record.players), *(line["scores"] for line in record.rounds)]
    if "episode" in record.header:
        totals = [totals[0], totals[-1]]
    return _svg(totals) + _table(record)


def _svg(totals: Sequence[Sequence[int]]) -> str:
    plot = _Plot(totals)
    seats = range(len(totals[0]))
    return "".join(
        [
            f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
            'aria-label="Totals after each round; see the table below for numbers">',
            *plot.grid(),
            *(plot.line(seat) for seat in seats),
            *plot.labels(),
            *plot.columns(),
            "</svg>",
        ]
    )


class _Plot:
    """Totals (rounds + 1, seats) on a canvas."""

    def __init__(self, totals: Sequence[Sequence[int]]) -> None:
        self.totals = totals
        self.low = min(0, *(min(row) for row in totals))
        self.high = max(1, *(max(row) for row in totals))

    def x(self, i: int) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * i / (len(self.totals) - 1)

    def y(self, total: float) -> float:
        part = (total - self.low) / (self.high - self.low)
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * part

    def grid(self) -> Iterator[str]:
        step = _step(self.high - self.low)
        first = -(-self.low // step) * step
        for total in range(first, self.high + 1, step):
            y = self.y(total)
            yield f'<path class="grid" d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}"/>'
            yield f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{total}</text>'
        every = -(-len(self.totals) // 14)
        for i in range(1, len(self.totals), every):
            yield f'<text x="{self.x(i):.1f}" y="{HEIGHT - 8}" text-anchor="middle">{i}</text>'

    def line(self, seat: int) -> str:
        points = " ".join(
            f"{self.x(i):.1f},{self.y(row[seat]):.1f}" for i, row in enumerate(self.totals)
        )
        return f'<polyline class="seat-{seat}" points="{points}"/>'

    def labels(self) -> Iterator[str]:
        """Yield each seat's number at the end of its line, spaced so that none overlap."""
        ends = sorted((self.y(total), seat) for seat, total in enumerate(self.totals[-1]))
        room, y = HEIGHT - BOTTOM, -GAP * 1.0
        for i, (wanted, seat) in enumerate(ends):
            y = max(y + GAP, min(wanted, room - GAP * (len(ends) - 1 - i)))
            x = WIDTH - RIGHT + 8
            yield f'<text class="seat-{seat}" x="{x}" y="{y + 4:.1f}">{seat}</text>'

    def columns(self) -> Iterator[str]:
        """Yield the clickable column of each round, between two totals."""
        for i in range(1, len(self.totals)):
            x, width = self.x(i - 1), self.x(i) - self.x(i - 1)
            yield (
                f'<rect class="column" data-round="{i - 1}" x="{x:.1f}" y="{TOP}" '
                f'width="{width:.1f}" height="{HEIGHT - TOP - BOTTOM}"/>'
            )


def _step(span: int) -> int:
    """Return a round step with which the grid has at most five lines."""
    scale = 1
    while True:
        for step in STEPS:
            if span <= 5 * step * scale:
                return step * scale
        scale *= 10


def _table(record: Record) -> str:
    names = "".join(f'<th scope="col">{escape(name)}</th>' for name in record.labels)
    rows = "".join(
        f'<tr><th scope="row">{line["round"] + 1}</th>'
        + "".join(
            f"<td>{total} <small>({penalty:+d})</small></td>"
            for total, penalty in zip(line["scores"], line["penalties"], strict=True)
        )
        + "</tr>"
        for line in record.rounds
    )
    return (
        "<details><summary>Totals in numbers</summary><div class='scroll'><table>"
        "<caption>Total after each round, and what the round cost</caption>"
        f'<thead><tr><th scope="col">Round</th>{names}</tr></thead><tbody>{rows}</tbody>'
        "</table></div></details>"
    )
