"""A position as an array of pixels, drawn by Pillow; no display is needed."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, singledispatchmethod
from importlib import import_module
from math import cos, radians, sin
from types import ModuleType
from typing import Any

import numpy as np
from gymnasium.error import DependencyNotInstalled
from numpy.typing import NDArray

from dominoenv.errors import PositionError
from dominoenv.render import scene
from dominoenv.render.geometry import Point, Tile
from dominoenv.render.scene import Area, Box, Disc, Line, Shape, Words
from dominoenv.render.view import Reveal, view_table

SMOOTH = 2  # drawn larger by this factor, then scaled down: smooth edges
MIN_WIDTH, MAX_WIDTH = 300, 6000  # pixels
ANCHORS = {"start": "ls", "middle": "ms", "end": "rs"}


def render_pixels(
    position: Mapping[str, Any], reveal: Reveal = None, width: int = 1200
) -> NDArray[np.uint8]:
    """Draw a position, a dict as `Game.position()` returns it; return (height, width, 3) uint8.

    reveal: the hands that lie face up: "all", a list of seats, or None. width: in pixels, 300 to
    6000; the height is two thirds of it. Raises PositionError or RulesError for an invalid
    position, seat or width; DependencyNotInstalled without Pillow (`pip install
    "dominoenv[render]"`).
    """
    if isinstance(width, bool) or not isinstance(width, int | np.integer):
        raise PositionError(f"width={width!r} must be a whole number of pixels")
    if not MIN_WIDTH <= width <= MAX_WIDTH:
        raise PositionError(f"width={width} must be in {MIN_WIDTH} ... {MAX_WIDTH} pixels")
    shapes = scene.draw(view_table(position, reveal))
    size = int(width), round(width * scene.HEIGHT / scene.WIDTH)
    large = _pillow("Image").new("RGB", (size[0] * SMOOTH, size[1] * SMOOTH), scene.DARK)
    painter = _Painter(large, size[0] * SMOOTH / scene.WIDTH)
    for shape in shapes:
        painter.draw(shape)
    small = large.reduce(SMOOTH)
    return np.array(small, np.uint8)


def _pillow(name: str) -> ModuleType:
    """Return a module of Pillow."""
    try:
        return import_module(f"PIL.{name}")
    except ImportError as error:
        raise DependencyNotInstalled(
            'pixels are drawn by Pillow: pip install "dominoenv[render]"'
        ) from error


@cache
def _font(size: int) -> Any:
    return _pillow("ImageFont").load_default(size)


class _Painter:
    """Draws shapes into an image, `scale` pixels a point of the canvas."""

    def __init__(self, image: Any, scale: float) -> None:
        self.image, self.scale = image, scale
        self.pen = _pillow("ImageDraw").Draw(image)

    def _all(self, *numbers: float) -> list[float]:
        return [number * self.scale for number in numbers]

    def _points(self, points: tuple[Point, ...] | list[Point]) -> list[Point]:
        return [(x * self.scale, y * self.scale) for x, y in points]

    @singledispatchmethod
    def draw(self, shape: Shape) -> None:
        raise TypeError(f"{shape!r} is no shape")

    @draw.register
    def _(self, box: Box) -> None:
        corners = self._all(box.x, box.y, box.x + box.width, box.y + box.height)
        self.pen.rounded_rectangle(corners, box.radius * self.scale, box.fill)

    @draw.register
    def _(self, disc: Disc) -> None:
        self._dot(disc.x, disc.y, disc.radius, disc.fill, disc.edge)

    def _dot(self, x: float, y: float, radius: float, fill: str, edge: str = "") -> None:
        corners = self._all(x - radius, y - radius, x + radius, y + radius)
        self.pen.ellipse(corners, fill, edge or None, round(2 * self.scale) if edge else 0)

    @draw.register
    def _(self, line: Line) -> None:
        width = max(1, round(line.width * self.scale))
        self.pen.line(self._points(line.points), line.colour, width, "curve")

    @draw.register
    def _(self, area: Area) -> None:
        self.pen.polygon(self._points(area.points), area.fill)

    @draw.register
    def _(self, words: Words) -> None:
        font = _font(round(words.size * self.scale))
        self.pen.text(
            self._all(words.x, words.y),
            words.text,
            words.colour,
            font,
            ANCHORS[words.anchor],
        )

    @draw.register
    def _(self, tile: Tile) -> None:
        style = scene.tile_style(tile)
        half = style.width / 2
        self._round(tile, 0.98 + half, 0.48 + half, 0.14 + half, style.edge)
        self._round(tile, 0.98 - half, 0.48 - half, 0.14 - half, style.fill)
        if tile.inner is None or tile.outer is None:
            return
        bar = [self._at(tile, 0, -0.36), self._at(tile, 0, 0.36)]
        self.draw(Line(tuple(bar), scene.BAR, 0.05 * tile.size))
        for pip, side in ((tile.inner, -0.5), (tile.outer, 0.5)):
            points, radius = scene.pips(pip)
            for x, y in points:
                self._dot(*self._at(tile, x + side, y), radius * tile.size, scene.PIPS[pip])

    def _at(self, tile: Tile, x: float, y: float) -> Point:
        """Return the point on the canvas of coordinates in a tile's own frame."""
        turn = radians(tile.angle)
        return (
            tile.x + tile.size * (x * cos(turn) - y * sin(turn)),
            tile.y + tile.size * (x * sin(turn) + y * cos(turn)),
        )

    def _round(self, tile: Tile, x: float, y: float, radius: float, fill: str) -> None:
        """Fill a rotated rectangle with round corners."""
        corners = [(sx, sy) for sx, sy in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
        inner = x - radius, y - radius
        self._fill(tile, [(sx * x, sy * inner[1]) for sx, sy in corners], fill)
        self._fill(tile, [(sx * inner[0], sy * y) for sx, sy in corners], fill)
        for sx, sy in corners:
            self._dot(*self._at(tile, sx * inner[0], sy * inner[1]), radius * tile.size, fill)

    def _fill(self, tile: Tile, points: list[Point], fill: str) -> None:
        self.pen.polygon(self._points([self._at(tile, *point) for point in points]), fill)
