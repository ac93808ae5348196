"""The table of a round as SVG, with all tiles of its final position.

The layout is that of the final position, so tiles never move: the page shows and hides them, and
marks trains and doubles with classes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import cos, sin
from typing import Any

from dominoenv.render import scene
from dominoenv.render.geometry import Tile, polar
from dominoenv.render.placement import Placement, Rail, Sign, bounds, place_table
from dominoenv.render.view import view_table

RIM = 2.6  # for signs, around the trains
MARGIN = 0.6
LINE_HEIGHT = 0.72  # height of a line of a sign


def round_svg(position: Mapping[str, Any]) -> str:
    """Return the table at the end of a round, without a label: the page provides one.

    Groups of class `tile` have `data-tile`; those of class `sign` and `marker` have `data-train`, a
    seat or `M`. Lengths are in halves of a tile.
    """
    layout = place_table(view_table(position))
    x, y, width, height = _frame(layout)
    box = f"{_n(x)} {_n(y)} {_n(width)} {_n(height)}"
    return "".join(
        [
            f'<svg viewBox="{box}" aria-hidden="true">',
            f'<circle class="hub" r="{_n(layout.hub)}"/>' if layout.hub else "",
            *(_rail(rail) for rail in layout.rails),
            *(_tile(tile) for tile in layout.tiles if tile.inner is not None),
            *(_sign(sign, layout) for sign in layout.signs),
            "</svg>",
        ]
    )


def pip_symbols(max_pip: int) -> str:
    """Return the definitions of all halves of a tile, `#pips-N`, 1 wide about the origin."""
    return "".join(map(_pips, range(1, max_pip + 1)))


def _pips(pip: int) -> str:
    points, radius = scene.pips(pip)
    dots = "".join(f'<circle cx="{x:.3g}" cy="{y:.3g}" r="{radius}"/>' for x, y in points)
    return f'<g id="pips-{pip}" fill="{scene.PIPS[pip]}">{dots}</g>'


def _frame(layout: Placement) -> tuple[float, float, float, float]:
    """Return left, top, width and height of what is drawn."""
    if layout.signs:
        reach = layout.radius + RIM
        return -reach, -reach, 2 * reach, 2 * reach
    left, top, right, bottom = bounds(layout.tiles)
    return left - MARGIN, top - MARGIN, right - left + 2 * MARGIN, bottom - top + 2 * MARGIN


def _rail(rail: Rail) -> str:
    points = " ".join(f"{_n(x)},{_n(y)}" for x, y in rail.points)
    return f'<polyline class="rail" points="{points}"/>'


def _tile(tile: Tile) -> str:
    inner, outer = tile.inner or 0, tile.outer or 0  # both are known: not a free place
    name = f"{max(inner, outer)}-{min(inner, outer)}"
    place = f"translate({_n(tile.x)} {_n(tile.y)}) rotate({_n(tile.angle)})"
    size = f" scale({_n(tile.size)})" if tile.size != 1 else ""
    return "".join(
        [
            f'<g class="tile" data-tile="{name}" transform="{place}{size}">',
            '<rect x="-.98" y="-.48" width="1.96" height=".96" rx=".14"/><path d="M0-.36V.36"/>',
            *_halves(tile),
            "</g>",
        ]
    )


def _halves(tile: Tile) -> Iterator[str]:
    for pip, side in ((tile.inner, "-.5"), (tile.outer, ".5")):
        if pip:
            yield f'<use href="#pips-{pip}" x="{side}"/>'


def _sign(sign: Sign, layout: Placement) -> str:
    """Draw a train's name at the rim, and its marker at the hub."""
    name, lines = sign.train.name, sign.train.label
    reach = layout.radius + RIM / 2
    x, y = reach * cos(sign.angle), reach * sin(sign.angle)
    first = y - LINE_HEIGHT * (len(lines) - 1) / 2 + 0.22
    text = "".join(
        f'<text x="{_n(x)}" y="{_n(first + LINE_HEIGHT * i)}">{line}</text>'
        for i, line in enumerate(lines)
    )
    return f'<g class="sign" data-train="{name}">{text}</g>{_marker(sign, layout, name)}'


def _marker(sign: Sign, layout: Placement, name: str) -> str:
    x, y = polar(layout.hub - 0.6, sign.angle)
    return (
        f'<g class="marker" data-train="{name}" transform="translate({_n(x)} {_n(y)})" hidden="">'
        '<circle r=".42"/><path d="M-.15-.26V.26M-.15-.26L.23-.11L-.15.04"/></g>'
    )


def _n(number: float) -> str:
    """Format a number with at most two decimals."""
    return f"{number:.2f}".rstrip("0").rstrip(".").replace("-0.", "-.") or "0"
