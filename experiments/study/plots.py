"""Forest plots: one line per cell, an estimate with its interval for each agent or pair."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ..drawing import GREY, add_legend, open_frame, plain_text, save, short
from ..plain import visible
from ..statistics import Estimate
from .analysis import Findings, PairLine, SameLine
from .config import StudyConfig

PLOTS = ("pairs.png", "tables.png", "order.png", "changes.png")
COLOURS = ("#0b6e99", "#c8553d", "#5a8f29", "#7b4ea3", "#b8860b", "#444444")
MARKS = "osD^vP"
MULTIPLE, SHARE = "multiple of the fair share", "% of rounds"
DPI = 100  # they are tall
LONGEST = 60  # characters of a pair in the legend
LINE, MARGINS, WIDTH = 0.3, 1.5, 3.3  # inches: a line, above and below, a panel

Series = dict[str, dict[str, Estimate]]  # by agent or pair, then by cell


@dataclass(frozen=True)
class Panel:
    """One column of a picture."""

    title: str
    block: str
    series: Series
    neutral: float | None = 0.0
    """The value that means no difference."""

    @property
    def says_something(self) -> bool:
        """Whether any figure in it is not 0."""
        return any(value.mean for values in self.series.values() for value in values.values())


@plain_text
def draw_plots(config: StudyConfig, findings: Findings, folder: Path) -> list[str]:
    """Draw the pictures that have data; return their names."""
    cells = list(config.tournaments)
    drawn = []
    for name, panels in pictures(findings):
        full = [panel for panel in panels if panel.says_something]
        if full:
            draw_forest(cells, full, config, folder / name)
            drawn.append(name)
    return drawn


def pictures(findings: Findings) -> Iterator[tuple[str, list[Panel]]]:
    """Yield the name of each picture and its panels."""
    pairs, same, points = findings.pairs, findings.same, "points a round"
    yield (
        "pairs.png",
        [
            Panel("penalty, first minus second", points, _between(pairs, _difference)),
            Panel("wins of one first among second", MULTIPLE, _between(pairs, _wins), 1.0),
        ],
    )
    yield (
        "tables.png",
        [
            Panel("penalty of a seat", points, _of(same, lambda n: n.row.penalty), None),
            Panel("blocked", SHARE, _of(same, lambda n: n.row.blocked.times(100)), None),
            Panel("blocked at a double", SHARE, _of(same, _by_double), None),
        ],
    )
    yield (
        "order.png",
        [
            Panel("first to move: penalty − mean", points, _of(same, _first)),
            Panel("last to move: penalty − mean", points, _of(same, _last)),
            Panel("first to move: wins", MULTIPLE, _of(same, lambda n: n.row.first_wins), 1.0),
        ],
    )
    yield (
        "changes.png",
        [
            Panel("change of a seat's penalty", points, _change(same, "penalty")),
            Panel("change of blocked rounds", f"{SHARE} (points)", _change(same, "blocked", 100)),
            Panel("change of first minus second", points, _between(pairs, lambda n: n.change)),
        ],
    )


def _between(lines: Sequence[PairLine], value: Callable[[PairLine], Estimate | None]) -> Series:
    series: Series = {}
    for line in lines:
        found = value(line)
        if found is not None:
            series.setdefault(f"{line.row.a} : {line.row.b}", {})[line.cell] = found
    return series


def _difference(line: PairLine) -> Estimate:
    return line.row.difference


def _wins(line: PairLine) -> Estimate:
    return line.row.of_a.wins


def _of(lines: Sequence[SameLine], value: Callable[[SameLine], Estimate]) -> Series:
    series: Series = {}
    for line in lines:
        series.setdefault(line.row.agent, {})[line.cell] = value(line)
    return series


def _by_double(line: SameLine) -> Estimate:
    return line.row.by_double.times(100)


def _first(line: SameLine) -> Estimate:
    return line.row.by_order[0].difference


def _last(line: SameLine) -> Estimate:
    return line.row.by_order[-1].difference


def _change(lines: Sequence[SameLine], what: str, factor: float = 1) -> Series:
    return _of([line for line in lines if line.changes], lambda n: n.changes[what].times(factor))


def draw_forest(
    cells: Sequence[str], panels: Sequence[Panel], config: StudyConfig, path: Path
) -> None:
    """Draw panels side by side over the same cells, the first on top."""
    shown = [cell for cell in cells if any(cell in s for p in panels for s in p.series.values())]
    names = list(dict.fromkeys(name for panel in panels for name in panel.series))
    most = max(len(panel.series) for panel in panels)
    height = MARGINS + LINE * len(shown) * max(1.0, 0.5 + 0.25 * most)
    width = 0.6 + 0.08 * max(map(len, shown)) + WIDTH * len(panels)
    figure = Figure(figsize=(width, height), layout="constrained", dpi=DPI)
    all_axes = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    handles: dict[str, Any] = {}
    for axes, panel in zip(all_axes, panels, strict=True):
        handles |= _draw_panel(axes, shown, panel, names)
    all_axes[0].set_yticks(range(len(shown)), [visible(cell) for cell in shown])
    all_axes[0].set_ylim(len(shown) - 0.4, -0.6)
    shown_names = [short(name, LONGEST) for name in handles]
    style = {"loc": "outside lower center", "frameon": False, "ncols": 4}
    add_legend(figure, list(handles.values()), shown_names, **style)
    figure.suptitle(f"{visible(config.name)}, {config.confidence:.0%} intervals", fontweight="bold")
    save(figure, path)


def _draw_panel(
    axes: Axes, cells: Sequence[str], panel: Panel, names: Sequence[str]
) -> dict[str, Any]:
    """Draw the series of a panel; return the handle of each for the legend."""
    handles = {}
    offsets = 0.16 * (np.arange(len(panel.series)) - (len(panel.series) - 1) / 2)
    for offset, (name, values) in zip(offsets, panel.series.items(), strict=True):
        places = np.array([place for place, cell in enumerate(cells) if cell in values])
        found = [values[cell] for cell in cells if cell in values]
        number = names.index(name)  # a name has the same style in all panels
        handles[name] = axes.errorbar(
            [value.mean for value in found],
            places + offset,
            xerr=np.transpose([(v.mean - v.low, v.high - v.mean) for v in found]),
            fmt=MARKS[number % len(MARKS)],
            color=COLOURS[number % len(COLOURS)],
            markersize=4,
            capsize=2,
        )
    if panel.neutral is not None:
        axes.axvline(panel.neutral, color=GREY, linewidth=0.8, linestyle=":")
    axes.grid(alpha=0.3)
    axes.set_title(panel.title, fontsize=10)
    axes.set_xlabel(panel.block)
    open_frame(axes)
    return handles
