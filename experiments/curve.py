"""The learning curve of a training run, and its final evaluation, as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from .drawing import GREY, add_legend, open_frame, plain_text, save, short
from .evaluate import Comparison
from .plain import visible

LEARNER, OTHERS = "#0b6e99", "#c8553d"
SMOOTHING = 0.05  # fraction of the iterations in one point of the smoothed curve


@plain_text
def draw_learning_curve(
    progress: Sequence[dict[str, float]], rows: Sequence[Comparison], path: Path, title: str
) -> None:
    """Write a PNG: left, mean penalties over decisions; right, the evaluation with intervals."""
    figure = Figure(figsize=(11, 4.2), layout="constrained", dpi=150)
    left, right = figure.subplots(1, 2, width_ratios=(1.5, 1))
    _draw_training(left, progress)
    _draw_evaluation(right, rows)
    figure.suptitle(visible(title), fontweight="bold")
    save(figure, path)


def _draw_training(axes: Axes, progress: Sequence[dict[str, float]]) -> None:
    decisions = np.array([row["decisions"] for row in progress])
    for name, colour, label in (
        ("others", OTHERS, "opponents, mean"),
        ("penalty", LEARNER, "learner"),
    ):
        values = np.array([row[name] for row in progress])
        axes.plot(decisions, values, color=colour, alpha=0.25, linewidth=0.8)
        axes.plot(decisions, smooth(values), color=colour, linewidth=2, label=label)
    open_frame(axes)
    axes.grid(axis="y", alpha=0.3)
    axes.xaxis.set_major_formatter(_short_number)
    axes.set_xlabel("decisions of the learner")
    axes.set_ylabel("penalty points per episode")
    axes.set_title("training, actions drawn by probability", fontsize=10)
    axes.legend(frameon=False)


def smooth(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return centred rolling means, over shorter windows near the ends; NaN are ignored."""
    reach = max(1, int(len(values) * SMOOTHING / 2))
    windows = (values[max(0, i - reach) : i + reach + 1] for i in range(len(values)))
    return np.array([np.nanmean(w) if np.isfinite(w).any() else np.nan for w in windows])


def _draw_evaluation(axes: Axes, rows: Sequence[Comparison]) -> None:
    opponents = list(dict.fromkeys(row.opponent for row in rows))
    agents = list(dict.fromkeys(row.agent for row in rows))
    drawn = []
    for number, agent in enumerate(agents):
        own = [row for row in rows if row.agent == agent]
        places = [opponents.index(row.opponent) + 0.16 * (2 * number - 1) for row in own]
        colour, marker = (LEARNER, GREY)[number % 2], "os"[number % 2]
        drawn.append(_draw_intervals(axes, own, places, colour, marker))
    open_frame(axes)
    axes.axvline(0, color="black", linewidth=0.8)
    axes.margins(x=0.18)
    axes.set_yticks(range(len(opponents)), [f"against {short(name)}" for name in opponents])
    axes.set_ylim(len(opponents) - 0.5, -0.5)
    axes.set_xlabel("own penalty minus the others', points\n← better, with 95 % intervals")
    axes.set_title(f"{rows[0].deals:,} held-out deals from every seat", fontsize=10)
    add_legend(axes, drawn, [short(agent) for agent in agents], frameon=False, fontsize=8)


def _draw_intervals(
    axes: Axes,
    rows: Sequence[Comparison],
    places: Sequence[float],
    colour: str,
    marker: str,
) -> Any:
    """Draw the rows of an agent; return the handle for the legend."""
    means = [row.difference for row in rows]
    errors = [(row.high - row.low) / 2 for row in rows]
    drawn = axes.errorbar(means, places, xerr=errors, fmt=marker, color=colour, capsize=3)
    for row, place in zip(rows, places, strict=True):
        axes.annotate(
            f"{row.difference:+.1f}",
            (row.high, place),
            (5, 0),
            textcoords="offset points",
            va="center",
            fontsize=8,
            color=colour,
        )
    return drawn


def _short_number(value: float, _: float) -> str:
    if value >= 1e6:
        return f"{value / 1e6:g}M"
    return f"{value / 1e3:g}k" if value >= 1e3 else f"{value:g}"
