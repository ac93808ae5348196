"""What all plots share: no window, plain text, small files."""

from __future__ import annotations

import io
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from PIL import Image

from dominoenv.core.files import write_atomically

from .plain import visible

GREY = "#777777"
LONGEST = 28  # characters of a name

plain_text = matplotlib.rc_context(
    {"text.parse_math": False, "text.usetex": False, "axes.formatter.use_mathtext": False}
)
"""Decorates functions that draw texts of users: `$` and `_` are no formulas there."""


def short(name: str, longest: int = LONGEST) -> str:
    """Return a name as a plot shows it: in one line and not too long."""
    shown = visible(name)
    return shown if len(shown) <= longest else f"{shown[: longest - 1]}…"


def open_frame(axes: Axes) -> None:
    """Hide the upper and the right side of a frame."""
    axes.spines[["top", "right"]].set_visible(False)


def add_legend(
    where: Axes | Figure, handles: Sequence[Any], names: Sequence[str], **options: Any
) -> None:
    """Add a legend that shows every name, also one that begins with an underscore."""
    legend = where.legend(list(handles), [str(number) for number in range(len(names))], **options)
    for text, name in zip(legend.get_texts(), names, strict=True):
        text.set_text(name)


def save(figure: Figure, path: Path) -> None:
    """Write a picture with a palette of 256 colours, a third of the size."""
    full, small = io.BytesIO(), io.BytesIO()
    with warnings.catch_warnings():
        # a label in a script that no font here has is shown as boxes
        warnings.filterwarnings("ignore", r"Glyph \d+ .* missing from font", UserWarning)
        figure.savefig(full, format="png")
    with Image.open(full) as picture:
        picture.convert("RGB").quantize(256).save(small, "png", optimize=True)
    write_atomically(path, small.getvalue())
