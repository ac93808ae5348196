"""A table as a list of simple shapes on a canvas, for drawings in points: SVG and pixels.

The canvas is 1500 wide and 1000 high: the table on the left, and on the right a panel with players,
scores, hands and what happens next. Letter sizes are heights.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil, cos, sin
from typing import TypeAlias

from dominoenv.render.geometry import Point, Tile
from dominoenv.render.placement import Placement, Sign, Token, bounds, place_table
from dominoenv.render.view import Seat, TableView

WIDTH, HEIGHT, PANEL = 1500, 1000, 1070  # the panel begins at PANEL
MARGIN = 24
MAX_HALF = 46.0  # a half of a tile is never drawn larger than this
LETTER = 0.55  # mean width of a letter, relative to its height

FELT, DARK, LINE = "#1f5c4a", "#174639", "#3d7a67"
IVORY, INK, FAINT = "#fbf7ea", "#f6f2e3", "#a9c7ba"
GOLD, RED, GREEN = "#ffca3a", "#ff5d5d", "#7be08b"
BLACK, BACK = "#20302a", "#8d2f3d"
RINGS = {"open": GREEN, "pending": RED, "locked": FAINT, "middle": GOLD}
RAILS = {"rail": ("#9cc4b3", 0.16), "marked": (GOLD, 0.2), "foot": (RED, 0.2)}
# One colour a pip, as on coloured sets; each is dark enough on ivory.
PIPS = (
    *("#20302a", "#1b86c9", "#218a3c", "#d02f2f", "#8a5a2b", "#2b3fae"),
    *("#b98300", "#c2358f", "#0b8a83", "#6a35b0", "#dd6b10", "#15803d"),
    *("#5c6670", "#a61c5b", "#6d7d12", "#174f8a", "#c04a2a", "#7a2ea0", "#0f6f5c"),
)


@dataclass(frozen=True)
class Box:
    """A rectangle with round corners."""

    x: float
    y: float
    width: float
    height: float
    fill: str
    radius: float = 0.0


@dataclass(frozen=True)
class Disc:
    """A filled circle."""

    x: float
    y: float
    radius: float
    fill: str
    edge: str = ""


@dataclass(frozen=True)
class Line:
    """A line through points."""

    points: tuple[Point, ...]
    colour: str
    width: float


@dataclass(frozen=True)
class Area:
    """A filled polygon."""

    points: tuple[Point, ...]
    fill: str


@dataclass(frozen=True)
class Words:
    """A line of text; (x, y) is the start, middle or end of its baseline."""

    x: float
    y: float
    text: str
    size: float
    colour: str = INK
    anchor: str = "start"
    bold: bool = False


Shape: TypeAlias = Box | Disc | Line | Area | Words | Tile


def draw(table: TableView) -> list[Shape]:
    """Return the shapes of a table, from bottom to top."""
    shapes: list[Shape] = [
        Box(0, 0, WIDTH, HEIGHT, FELT, 18),
        Box(PANEL, 0, WIDTH - PANEL, HEIGHT, DARK, 18),
    ]
    return [*shapes, *_table(place_table(table)), *_panel(table)]


# -------------------------------------------------------------------------------------- the table


@dataclass(frozen=True)
class _Frame:
    """The mapping from the layout to the canvas."""

    scale: float
    x: float
    y: float

    def point(self, x: float, y: float) -> Point:
        return self.x + self.scale * x, self.y + self.scale * y

    def tile(self, tile: Tile) -> Tile:
        x, y = self.point(tile.x, tile.y)
        return replace(tile, x=x, y=y, size=self.scale * tile.size)


def _fit(layout: Placement) -> _Frame:
    """Return the frame in which a layout fills its space; signs stand around a disc."""
    if layout.signs:
        scale = min(MAX_HALF, (HEIGHT / 2 - 64) / layout.radius)
        return _Frame(scale, PANEL / 2, HEIGHT / 2)
    left, top, right, bottom = bounds(layout.tiles)
    width, height = max(right - left, 12.0), max(bottom - top, 12.0)
    scale = min(MAX_HALF, (PANEL - 2 * MARGIN) / width, (HEIGHT - 2 * MARGIN) / height)
    x, y = PANEL - scale * (left + right), HEIGHT - scale * (top + bottom)
    return _Frame(scale, x / 2, y / 2)


def _table(layout: Placement) -> Iterator[Shape]:
    frame = _fit(layout)
    if layout.hub:
        yield Disc(frame.x, frame.y, layout.hub * frame.scale, DARK, LINE)
    for rail in layout.rails:
        colour, width = RAILS[rail.kind]
        points = tuple(frame.point(*point) for point in rail.points)
        yield Line(points, colour, max(2.0, width * frame.scale))
    yield from (frame.tile(tile) for tile in layout.tiles)
    for token in layout.tokens:
        yield from _token(token, frame)
    for sign in layout.signs:
        yield from _sign(sign, layout.radius * frame.scale, frame)


def _token(token: Token, frame: _Frame) -> Iterator[Shape]:
    x, y = frame.point(token.x, token.y)
    if token.kind == "marker":
        yield from _marker(x, y, 0.42 * frame.scale)
    else:
        size = max(9.0, 0.36 * frame.scale)
        yield Disc(x, y, size, RED, IVORY)
        yield Words(x, y + 0.5 * size, token.text, 1.4 * size, IVORY, "middle", True)


def _marker(x: float, y: float, size: float) -> Iterator[Shape]:
    """Draw a flag on a coin: this train is open to all."""
    yield Disc(x, y, size, GOLD)
    pole = (x - 0.35 * size, y - 0.62 * size), (x - 0.35 * size, y + 0.62 * size)
    yield Line(pole, BLACK, max(1.0, 0.16 * size))
    tip = (x + 0.55 * size, y - 0.27 * size)
    yield Area((pole[0], tip, (x - 0.35 * size, y + 0.08 * size)), BLACK)


def _sign(sign: Sign, radius: float, frame: _Frame) -> Iterator[Shape]:
    train = sign.train
    lines = train.label
    size, height = 18.0, 24.0 * len(lines) + 8
    width = max(map(len, lines)) * size * LETTER + 22
    across, down = cos(sign.angle), sin(sign.angle)
    distance = radius + 6 + (width * abs(across) + height * abs(down)) / 2  # clear of the disc
    x, y = frame.x + distance * across, frame.y + distance * down
    fill = GOLD if train.is_mover else DARK
    yield Box(x - width / 2, y - height / 2, width, height, fill, 10)
    for i, line in enumerate(lines):
        base = y - height / 2 + 22 + 24 * i
        yield Words(x, base, line, size, BLACK if train.is_mover else INK, "middle", True)


# -------------------------------------------------------------------------------------- the panel


def _panel(table: TableView) -> Iterator[Shape]:
    left, right = PANEL + MARGIN, WIDTH - MARGIN
    name, *facts = table.title
    yield Words(left, 50, name, 30, INK, bold=True)
    yield Words(right, 50, f"boneyard {table.boneyard}", 18, FAINT, "end")
    yield Words(left, 80, " · ".join(facts), 17, FAINT)
    status = table.status.replace("seat ", "seat\u00a0").replace("◆", "")  # the badge has no sign
    below = _wrapped(status, 20, right - left)
    if table.board.tree is not None:
        ends = [f"{pip}\u00a0({number})" for pip, number in table.board.tree.ends().items()]
        lead = "Open ends, locked now: " if table.board.tree.is_locked else "Open ends: "
        below = [*_wrapped(lead + (", ".join(ends) or "none"), 20, right - left), "", *below]
    bottom = HEIGHT - MARGIN - 26 * len(below)
    for i, line in enumerate(below):
        yield Words(left, bottom + 26 * (i + 1) - 6, line, 20, INK)
    height = min(170.0, (bottom - 110) / len(table.seats))
    marks = {train.seat for train in table.board.trains if train.is_marked}
    for i, seat in enumerate(table.seats):
        marked = i in marks
        yield from _seat(seat, marked, 100 + i * height, height)


def _seat(seat: Seat, is_marked: bool, top: float, height: float) -> Iterator[Shape]:
    left, right = PANEL + MARGIN, WIDTH - MARGIN
    if seat.is_mover:
        yield Box(left - 10, top + 2, right - left + 20, height - 4, FELT, 10)
        yield Box(left - 10, top + 2, 5, height - 4, GOLD, 2)
    colour = GOLD if seat.is_mover else INK
    yield Words(left + 4, top + 26, f"Seat {seat.number}", 21, colour, bold=True)
    if is_marked:
        yield from _marker(left + 106, top + 19, 11)
    tiles = f"{seat.size} {'tile' if seat.size == 1 else 'tiles'}"
    yield Words(right - 4, top + 26, f"{tiles} · {seat.points}", 18, FAINT, "end")
    yield from _hand(seat, left + 4, top + 36, right - left - 8, height - 44)


def _hand(seat: Seat, x: float, y: float, width: float, height: float) -> Iterator[Tile]:
    """Draw a hand upright in rows, as large as its space allows."""
    size, columns = _grid(seat.size, width, height)
    for i in range(seat.size):
        place = x + (i % columns + 0.5) * size * 1.12, y + (i // columns * 1.06 + 0.5) * size * 2
        if seat.hand is None:
            yield Tile(*place, 90.0, None, None, size, "down")
        else:
            yield Tile(*place, 90.0, *seat.hand[i], size)


def _grid(tiles: int, width: float, height: float) -> tuple[float, int]:
    """Return the half size and the number of columns with which the tiles are largest."""
    sizes = []
    for rows in range(1, 9):
        columns = max(1, ceil(tiles / rows))
        sizes.append((min(30.0, width / columns / 1.12, height / rows / 2.12), columns))
    size = max(size for size, _ in sizes)
    columns = int(width / 1.12 / size + 1e-6)
    return size, columns


def _wrapped(text: str, size: float, width: float) -> list[str]:
    """Wrap words into lines."""
    lines = [""]
    for word in text.split(" "):
        longer = f"{lines[-1]} {word}" if lines[-1] else word
        if len(longer) * size * LETTER * 0.92 > width:
            lines.append(word)
        else:
            lines[-1] = longer
    return [line.replace("\u00a0", " ") for line in lines]


# --------------------------------------------------------------------------------------- the pips

_NINE = {
    1: "....x....",
    2: "x.......x",
    3: "x...x...x",
    4: "x.x...x.x",
    5: "x.x.x.x.x",
    6: "xxx...xxx",
    7: "xxx.x.xxx",
    8: "xxxx.xxxx",
    9: "xxxxxxxxx",
}
# From 10 on: pips in each line; shorter lines fill the gaps of longer ones.
_LINES: dict[int, Sequence[int]] = {
    **{10: (4, 2, 4), 11: (4, 3, 4), 12: (4, 4, 4), 13: (4, 5, 4), 14: (5, 4, 5), 15: (5, 5, 5)},
    **{16: (4, 4, 4, 4), 17: (3, 4, 3, 4, 3), 18: (4, 3, 4, 3, 4)},
}


def pips(number: int) -> tuple[list[Point], float]:
    """Return positions and radius of the pips of a half, which is 1 wide around (0, 0)."""
    if number <= 9:
        grid = _NINE.get(number, "")
        return [
            ((i % 3 - 1) * 0.28, (i // 3 - 1) * 0.28) for i, c in enumerate(grid) if c == "x"
        ], 0.1
    lines = _LINES[number]
    pitch, gap = 0.7 / (max(lines) - 1), 0.7 / (len(lines) - 1)
    points = [
        ((i - (count - 1) / 2) * pitch, (row - (len(lines) - 1) / 2) * gap)
        for row, count in enumerate(lines)
        for i in range(count)
    ]
    return points, 0.075


# -------------------------------------------------------------------------------------- the tiles

BAR = "#b9b39d"  # between the halves of a tile


@dataclass(frozen=True)
class TileStyle:
    """How the body of a tile is drawn; the width of its edge is in halves."""

    fill: str
    edge: str
    width: float
    dashed: bool = False


def tile_style(tile: Tile) -> TileStyle:
    """Return how the body of a tile is drawn."""
    if tile.kind == "free":
        return TileStyle(FELT, RED, 0.08, dashed=True)
    if tile.kind == "down":
        return TileStyle(BACK, "#5f1c27", 0.06)
    if tile.ring:
        return TileStyle(IVORY, RINGS[tile.ring], 0.14)
    return TileStyle(IVORY, "#6d6a5c", 0.04)
