"""Tables of results: described once, shown in the terminal and in Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from .plain import markdown, visible

PADDING = (0, 1, 0, 0)  # tables should fit 80 columns
GAP = 2  # between two columns: the padding and rich's own


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
        for number, (heading, width) in enumerate(zip(self.headings, self._widths(), strict=True)):
            is_text = number < self.texts
            justify: Literal["left", "right"] = "left" if is_text else "right"
            name = Text(visible(heading))
            table.add_column(name, justify=justify, no_wrap=not is_text, min_width=width)
        for number, row in enumerate(self.rows):
            if number in self.sections:
                table.add_section()
            table.add_row(*(Text(visible(cell)) for cell in row))
        return table

    @property
    def width(self) -> int:
        """How many columns of a terminal it needs: figures and words are not broken."""
        return sum(self._widths()) + GAP * (len(self.headings) - 1)

    def _widths(self) -> list[int]:
        columns = zip(self.headings, *self.rows, strict=True)
        return [
            max(_width(visible(cell), words=number < self.texts) for cell in column)
            for number, column in enumerate(columns)
        ]

    def markdown(self) -> str:
        """Return the table as a section of Markdown."""
        sides = ["---"] * self.texts + ["---:"] * (len(self.headings) - self.texts)
        cells = [[markdown(cell) for cell in row] for row in (self.headings, *self.rows)]
        table = "\n".join(f"| {' | '.join(row)} |" for row in (cells[0], sides, *cells[1:]))
        return f"## {self.title}\n\n{table}\n\n{self.caption}".rstrip() + "\n"


def print_grids(grids: Sequence[Grid], closing: str = "") -> None:
    """Print tables, each with its title and caption, and a closing text.

    A table is as wide as its figures need, even where the terminal is not.
    """
    console = Console(highlight=False)
    for grid in grids:
        console.print(Text(f"\n{visible(grid.title)}\n", style="bold"))
        wide = Console(highlight=False, width=max(console.width, grid.width))
        wide.print(grid.for_terminal())
        console.print(Text(f"\n{grid.caption}", style="dim"))
    if closing:
        console.print(Text(f"\n{visible(closing)}"))


def _width(text: str, words: bool) -> int:
    """Return the width of a text, or that of its longest word."""
    return max(map(cell_len, text.split() or [""])) if words else cell_len(text)
