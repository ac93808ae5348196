"""Three pictures: ratings with intervals, differences of all pairs, distribution of penalties."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from ..drawing import GREY, add_legend, open_frame, plain_text, save, short
from ..plain import visible
from .analysis import Analysis, PairRow
from .config import TournamentConfig
from .rating import Rating
from .run import Played
from .schedule import PAIR

BLUE = "#0b6e99"
DIFFERENCES = "RdBu"  # red above 0: worse; blue below: better (the map is reversed)
DPI = 150


@plain_text
def draw_plots(config: TournamentConfig, analysis: Analysis, played: Played, folder: Path) -> None:
    """Write ratings.png, pairs.png and penalties.png."""
    agents = [rating.agent for rating in analysis.ratings]
    pairs = [row for row in analysis.pairs if row.table == PAIR]
    kind = "pairs' tables" if pairs else "mixed tables"
    draw_ratings(analysis.ratings, config, folder / "ratings.png")
    name = visible(config.name)
    draw_pairs(agents, pairs or analysis.pairs, f"{name}, {kind}", folder / "pairs.png")
    draw_penalties(agents, played, name, folder / "penalties.png")


def draw_ratings(ratings: Sequence[Rating], config: TournamentConfig, path: Path) -> None:
    """Draw a point with its interval for each agent that met others, by groups, the best on top."""
    rated = [row for row in ratings if row.rating]
    ladders = [list(rows) for _, rows in groupby(rated, lambda row: row.group)] or [[]]
    sizes = [len(rows) + 0.6 for rows in ladders]
    height = 1.2 + 0.36 * (len(rated) + 2 * (len(ladders) - 1))
    figure = Figure(figsize=(7.5, height), layout="constrained", dpi=DPI)
    panels = figure.subplots(len(ladders), 1, squeeze=False, height_ratios=sizes)[:, 0]
    for number, (axes, rows) in enumerate(zip(panels, ladders, strict=True), 1):
        _draw_ladder(axes, rows)
        if len(ladders) > 1:
            axes.set_title(f"group {number}", fontsize=9, loc="left")
    panels[-1].set_xlabel(f"rating (Elo's scale, mean 0), {config.confidence:.0%} intervals")
    figure.suptitle(visible(config.name), fontweight="bold")
    save(figure, path)


def _draw_ladder(axes: Axes, rows: Sequence[Rating]) -> None:
    found = [row.rating for row in rows if row.rating]
    means = np.array([value.mean for value in found])
    # an interval of quantiles may miss the estimate of an agent that hardly ever lost
    low = np.maximum(means - [value.low for value in found], 0)
    high = np.maximum([value.high for value in found] - means, 0)
    places = np.arange(len(rows))
    axes.errorbar(means, places, xerr=[low, high], fmt="o", color=BLUE, capsize=3, markersize=5)
    axes.axvline(0, color=GREY, linewidth=0.8, linestyle=":")
    axes.set_yticks(places, [short(row.agent) for row in rows])
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.grid(axis="x", alpha=0.3)
    open_frame(axes)


def draw_pairs(agents: Sequence[str], rows: Sequence[PairRow], title: str, path: Path) -> None:
    """Draw the matrix of penalty differences: the row's agent minus the column's."""
    size = len(agents)
    means, halves = np.full((size, size), np.nan), np.full((size, size), np.nan)
    for row in rows:
        i, j = agents.index(row.a), agents.index(row.b)
        means[i, j], means[j, i] = row.difference.mean, -row.difference.mean
        halves[i, j] = halves[j, i] = row.difference.half
    side = 2.4 + 0.7 * size
    figure = Figure(figsize=(side + 1.2, side), layout="constrained", dpi=DPI)
    axes = figure.subplots()
    most = float(np.nanmax(np.abs(means), initial=0.01))
    image = axes.imshow(means, cmap=f"{DIFFERENCES}_r", vmin=-most, vmax=most)
    _write_cells(axes, means, halves, most)
    names = [short(agent) for agent in agents]
    axes.set_xticks(range(size), names, rotation=40, ha="right", rotation_mode="anchor")
    axes.set_yticks(range(size), names)
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)
    axes.set_title(title, fontweight="bold")
    axes.set_xlabel("against")
    bar = figure.colorbar(image, ax=axes, shrink=0.8)
    bar.set_label("penalty difference, points a round (blue: better)")
    bar.outline.set_visible(False)
    save(figure, path)


def _write_cells(axes: Axes, means: np.ndarray, halves: np.ndarray, most: float) -> None:
    for (i, j), mean in np.ndenumerate(means):
        if np.isfinite(mean):
            colour = "white" if abs(mean) > 0.6 * most else "black"
            text = f"{mean:+.1f}\n± {halves[i, j]:.1f}"
            axes.text(j, i, text, ha="center", va="center", fontsize=8, color=colour)


def draw_penalties(agents: Sequence[str], played: Played, title: str, path: Path) -> None:
    """Draw the cumulative distribution of each agent's penalties, over all its seats."""
    figure = Figure(figsize=(8, 4.6), layout="constrained", dpi=DPI)
    axes = figure.subplots()
    colours = matplotlib.colormaps["viridis"](np.linspace(0, 0.9, len(agents)))
    dashes = ("-", "--", "-.", ":")
    names, curves = [], []
    for number, (agent, colour) in enumerate(zip(agents, colours, strict=True)):
        at = played.who == played.agents.index(agent)
        values = played.games.penalties[at]
        names.append(f"{short(agent)} ({values.mean():.1f})")
        curves.append(axes.ecdf(values, color=colour, linestyle=dashes[number % 4], linewidth=1.6))
    everything = played.games.penalties
    axes.set_xlim(min(everything.min(), 0), max(float(np.quantile(everything, 0.995)), 1))
    axes.set_ylim(0, 1.01)
    axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    axes.grid(alpha=0.3)
    axes.set_xlabel("penalty points of a round, at most")
    axes.set_ylabel("rounds")
    axes.set_title(title, fontweight="bold")
    columns = 1 + len(agents) // 16
    style = {"frameon": False, "fontsize": 8, "loc": "lower right", "ncols": columns}
    add_legend(axes, curves, names, title="agent (mean)", **style)
    open_frame(axes)
    save(figure, path)
