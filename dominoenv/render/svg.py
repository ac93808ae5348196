"""A position as a self-contained SVG picture, for notebooks, pages and papers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import singledispatch
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from dominoenv.render import scene
from dominoenv.render.geometry import Point, Tile
from dominoenv.render.scene import Area, Box, Disc, Line, Shape, Words
from dominoenv.render.view import Reveal, TableView, view_table

FONT = "system-ui, 'Segoe UI', 'DejaVu Sans', Helvetica, Arial, sans-serif"


def render_svg(position: Mapping[str, Any], reveal: Reveal = None) -> str:
    """Draw a position, a dict as `Game.position()` returns it, as SVG.

    reveal: the hands that lie face up: "all", a list of seats, or None. The picture has its own
    background, needs no font and no other file, and contains a description in words. Raises
    PositionError or RulesError for an invalid position or seat.
    """
    table = view_table(position, reveal)
    shapes = scene.draw(table)
    title = ", ".join(table.title)
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {scene.WIDTH} {scene.HEIGHT}" '
            f'role="img" aria-label={quoteattr(title)} font-family="{FONT}" '
            'style="max-width: 100%; height: auto">',
            f"<title>{escape(title)}</title>",
            f"<desc>{escape(_in_words(table))}</desc>",
            *_halves(shapes),
            *map(_drawn, shapes),
            "</svg>",
        ]
    )


def _in_words(table: TableView) -> str:
    """Describe the table in words."""
    board, said = table.board, []
    if board.middle is not None:
        inner, outer = board.middle
        tile = f"Double-{inner}" if inner == outer else f"{max(board.middle)}-{min(board.middle)}"
        said.append(f"{tile} in the middle.")
    for train in board.trains:
        name = " ".join(train.label) if train.seat is None else f"train of seat {train.seat}"
        marked = ", marked" if train.is_marked else ""
        said.append(f"The {name} has {len(train.links)} tiles and ends in {train.end}{marked}.")
    if board.tree is not None:
        ends = ", ".join(f"{pip} ({count})" for pip, count in board.tree.ends().items())
        said.append(f"{len(board.tree.links)} tiles joined; open ends: {ends or 'none'}.")
    said += [f"Seat {seat.number}: {seat.size} tiles, {seat.points}." for seat in table.seats]
    return " ".join([*said, table.status])


def _halves(shapes: list[Shape]) -> Iterator[str]:
    """Define each kind of half that occurs: its pips, 1 wide around the origin."""
    used = {pip for tile in shapes if isinstance(tile, Tile) for pip in (tile.inner, tile.outer)}
    yield "<defs>"
    for pip in sorted(pip for pip in used if pip):
        points, radius = scene.pips(pip)
        dots = "".join(f'<circle cx="{x:.3g}" cy="{y:.3g}" r="{radius}"/>' for x, y in points)
        yield f'<g id="pips-{pip}" fill="{scene.PIPS[pip]}">{dots}</g>'
    yield "</defs>"


@singledispatch
def _drawn(shape: Any) -> str:
    raise TypeError(f"{shape!r} is no shape")


@_drawn.register
def _(box: Box) -> str:
    place = f'x="{_n(box.x)}" y="{_n(box.y)}" width="{_n(box.width)}" height="{_n(box.height)}"'
    return f'<rect {place} rx="{_n(box.radius)}" fill="{box.fill}"/>'


@_drawn.register
def _(disc: Disc) -> str:
    edge = f' stroke="{disc.edge}" stroke-width="2"' if disc.edge else ""
    place = f'cx="{_n(disc.x)}" cy="{_n(disc.y)}" r="{_n(disc.radius)}"'
    return f'<circle {place} fill="{disc.fill}"{edge}/>'


@_drawn.register
def _(line: Line) -> str:
    style = f'fill="none" stroke="{line.colour}" stroke-width="{_n(line.width)}"'
    return f'<polyline points="{_points(line.points)}" {style} stroke-linejoin="round"/>'


@_drawn.register
def _(area: Area) -> str:
    return f'<polygon points="{_points(area.points)}" fill="{area.fill}"/>'


@_drawn.register
def _(words: Words) -> str:
    style = f'font-size="{_n(words.size)}" fill="{words.colour}" text-anchor="{words.anchor}"'
    weight = ' font-weight="bold"' if words.bold else ""
    return f'<text x="{_n(words.x)}" y="{_n(words.y)}" {style}{weight}>{escape(words.text)}</text>'


@_drawn.register
def _(tile: Tile) -> str:
    """Draw a tile in its own frame: 2 long and 1 wide around the origin."""
    turn = f" rotate({_n(tile.angle)})" if tile.angle else ""
    frame = f"translate({_n(tile.x)} {_n(tile.y)}){turn} scale({_n(tile.size)})"
    return f'<g transform="{frame}">{"".join(_tile(tile))}</g>'


def _tile(tile: Tile) -> Iterator[str]:
    style = scene.tile_style(tile)
    dash = ' stroke-dasharray=".16 .12"' if style.dashed else ""
    yield (
        f'<rect x="-.98" y="-.48" width="1.96" height=".96" rx=".14" fill="{style.fill}" '
        f'stroke="{style.edge}" stroke-width="{style.width}"{dash}/>'
    )
    if tile.inner is None or tile.outer is None:
        return
    yield f"<title>{tile.inner}-{tile.outer}</title>"
    yield f'<path d="M0-.36V.36" stroke="{scene.BAR}" stroke-width=".05"/>'
    for pip, side in ((tile.inner, -0.5), (tile.outer, 0.5)):
        if pip:
            yield f'<use href="#pips-{pip}" x="{side}"/>'


def _points(points: tuple[Point, ...]) -> str:
    return " ".join(f"{_n(x)},{_n(y)}" for x, y in points)


def _n(number: float) -> str:
    """Format a number with at most one decimal."""
    return f"{number:.1f}".removesuffix(".0")
