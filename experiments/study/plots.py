"""Forest plots: one line a cell, an estimate with its interval for each agent or pair."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.inference import Estimate
from experiments.study.analysis import Findings, SameLine
from experiments.study.config import StudyConfig
from experiments.tournament.plots import DPI, GREY

PLOTS = ("pairs.png", "tables.png", "order.png", "changes.png")
COLOURS = ("#0b6e99", "#c8553d", "#5a8f29", "#7b4ea3", "#b8860b", "#444444")
MARKS = "osD^vP"
LINE, MARGINS, WIDTH = 0.3, 1.5, 3.6  # inches: a line, above and below, a panel

Series = dict[str, dict[str, Estimate]]  # by what is compared, by cell


@dataclass(frozen=True)
class Panel:
    """One column of a picture."""

    title: str
    unit: str
    series: Series
    neutral: float | None = 0.0
    """Where nothing is better than anything."""


def draw_plots(config: StudyConfig, findings: Findings, folder: Path) -> list[str]:
    """Draw the pictures that there is something for; return their names."""
    cells = list(config.tournaments)
    drawn = []
    for name, panels in pictures(findings):
        full = [panel for panel in panels if panel.series]
        if full:
            draw_forest(cells, full, config, folder / name)
            drawn.append(name)
    return drawn


def pictures(findings: Findings) -> Iterator[tuple[str, list[Panel]]]:
    """Yield the name of each picture and its panels."""
    same, points = findings.same, "points a round"
    wins = {f"{n.row.a} among {n.row.b}": {} for n in findings.pairs}  # type: Series
    edges: Series = {f"{n.row.a} − {n.row.b}": {} for n in findings.pairs}
    moves: Series = {f"{n.row.a} − {n.row.b}": {} for n in findings.pairs if n.change}
    for line in findings.pairs:
        wins[f"{line.row.a} among {line.row.b}"][line.cell] = line.row.of_a.wins
        edges[f"{line.row.a} − {line.row.b}"][line.cell] = line.row.difference
        if line.change:
            moves[f"{line.row.a} − {line.row.b}"][line.cell] = line.change
    yield (
        "pairs.png",
        [
            Panel("difference of penalties", f"{points}; left: the first is better", edges),
            Panel("rounds won", "multiple of the fair share", wins, 1.0),
        ],
    )
    yield (
        "tables.png",
        [
            Panel("penalty of a seat", points, _of(same, lambda n: n.row.penalty), None),
            Panel("blocked", "% of rounds", _of(same, lambda n: n.row.blocked.times(100)), None),
            Panel("of these with a double", "% of rounds", _of(same, _by_double), None),
        ],
    )
    yield (
        "order.png",
        [
            Panel(
                "penalty of the first to move", f"{points}, minus the table's mean", _first(same)
            ),
            Panel("its wins", "multiple of the fair share", _of(same, _first_wins), 1.0),
        ],
    )
    yield (
        "changes.png",
        [
            Panel("penalty of a seat", points, _change(same, "penalty")),
            Panel("blocked", "% of rounds", _change(same, "blocked", 100)),
            Panel("difference of a pair", f"{points}; left: the first gains", moves),
        ],
    )


def _of(lines: Sequence[SameLine], value: Callable[[SameLine], Estimate]) -> Series:
    series: Series = {}
    for line in lines:
        series.setdefault(line.row.agent, {})[line.cell] = value(line)
    return series


def _by_double(line: SameLine) -> Estimate:
    return line.row.by_double.times(100)


def _first_wins(line: SameLine) -> Estimate:
    return line.row.first_wins


def _first(lines: Sequence[SameLine]) -> Series:
    return _of(lines, lambda line: line.row.by_order[0].difference)


def _change(lines: Sequence[SameLine], what: str, factor: float = 1) -> Series:
    return _of([line for line in lines if line.changes], lambda n: n.changes[what].times(factor))


def draw_forest(
    cells: Sequence[str], panels: Sequence[Panel], config: StudyConfig, path: Path
) -> None:
    """Draw panels side by side over the same cells, the first on top."""
    shown = [cell for cell in cells if any(cell in s for p in panels for s in p.series.values())]
    most = max(len(panel.series) for panel in panels)
    height = MARGINS + LINE * len(shown) * max(1.0, 0.5 + 0.25 * most)
    width = 1.2 + 0.075 * max(map(len, shown)) + WIDTH * len(panels)
    figure = Figure(figsize=(width, height), layout="constrained", dpi=DPI)
    all_axes = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    for axes, panel in zip(all_axes, panels, strict=True):
        _draw_panel(axes, shown, panel)
    all_axes[0].set_yticks(range(len(shown)), shown)
    all_axes[0].set_ylim(len(shown) - 0.4, -0.6)
    figure.suptitle(f"{config.name}, {config.confidence:.0%} intervals", fontweight="bold")
    figure.savefig(path)


def _draw_panel(axes: Axes, cells: Sequence[str], panel: Panel) -> None:
    offsets = 0.16 * (np.arange(len(panel.series)) - (len(panel.series) - 1) / 2)
    for number, (name, values) in enumerate(panel.series.items()):
        places = np.array([place for place, cell in enumerate(cells) if cell in values])
        found = [values[cell] for cell in cells if cell in values]
        axes.errorbar(
            [value.mean for value in found],
            places + offsets[number],
            xerr=[value.half for value in found],
            fmt=MARKS[number % len(MARKS)],
            color=COLOURS[number % len(COLOURS)],
            markersize=4,
            capsize=2,
            label=name,
        )
    if panel.neutral is not None:
        axes.axvline(panel.neutral, color=GREY, linewidth=0.8, linestyle=":")
    axes.grid(alpha=0.3)
    axes.set_title(panel.title, fontsize=10)
    axes.set_xlabel(panel.unit)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.18))
