"""Tables of results: described once, shown in the terminal and in Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich import box
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from .plain import markdown, visible

PADDING = (0, 2, 0, 0)  # tables should fit 80 columns


@dataclass(frozen=True)
class Grid:
    """A table: the first `texts` columns hold words, the others figures.

    Cells and headings are plain text; `sections` are the rows above which a line is drawn.
    """

    title: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str
    texts: int = 1
    sections: frozenset[int] = frozenset()

    def for_terminal(self) -> Table:
        """Return the table for rich, without title and caption."""
        table = Table(box=box.SIMPLE_HEAD, padding=PADDING, pad_edge=False, show_edge=False)
        for number, heading in enumerate(self.headings):
            is_text = number < self.texts
            table.add_column(
                Text(visible(heading)),
                justify="left" if is_text else "right",
                no_wrap=not is_text,
                overflow="fold",
            )
        for number, row in enumerate(self.rows):
            if number in self.sections:
                table.add_section()
            table.add_row(*(Text(visible(cell)) for cell in row))
        return table

    def markdown(self) -> str:
        """Return the table as a section of Markdown."""
        sides = ["---"] * self.texts + ["---:"] * (len(self.headings) - self.texts)
        cells = [[markdown(cell) for cell in row] for row in (self.headings, *self.rows)]
        table = "\n".join(f"| {' | '.join(row)} |" for row in (cells[0], sides, *cells[1:]))
        return f"## {self.title}\n\n{table}\n\n{self.caption}\n"


def print_grids(grids: Sequence[Grid], closing: str = "") -> None:
    """Print tables, each with its title and caption, and a closing text.

    A table is as wide as its figures need, even where the terminal is not.
    """
    console = Console(highlight=False)
    for grid in grids:
        table = grid.for_terminal()
        console.print(Text(f"\n{visible(grid.title)}\n", style="bold"))
        _wide_enough(console, table).print(table)
        console.print(Text(f"\n{grid.caption}", style="dim"))
    if closing:
        console.print(Text(f"\n{visible(closing)}"))


def _wide_enough(console: Console, table: Table) -> Console:
    unlimited = console.options.update(width=10_000)
    needed = Measurement.get(console, unlimited, table).minimum
    return Console(highlight=False, width=max(console.width, needed))
