"""The layout of a table, which all drawings share.

The tile in the middle is the origin. Lengths are in halves of a tile, x runs to the right, y down.
Trains and feet stay inside their own sectors (`geometry.py`), so nothing overlaps, however long the
round.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from math import inf, pi
from typing import TypeVar

from dominoenv.core.board import MIDDLE, Board, TrainView, Tree
from dominoenv.render.geometry import GAP, Point, Row, Sector, Tile, extent, polar, swing, winding
from dominoenv.render.view import TableView

# Within these distances rows run straight; longer ones wind, so that tiles stay large.
NEAR_TRAINS, NEAR_TREE = 13.0, 24.0
ENOUGH = 1.1  # how much farther straighter rows may reach
NARROW = 2.0  # the width that suits a single row
FOOT = 0.9  # between a double and its toes
DOWN, RIGHT = pi / 2, 0.0  # seat 0 sits below; a line that is nobody's runs to both sides
T = TypeVar("T")

STRAIGHT, MAX_STEM = 1000, 8  # tiles; a stem longer than any row, and the longest one that is tried


@dataclass(frozen=True)
class Rail:
    """The line that joins the tiles of a row."""

    points: tuple[Point, ...]
    kind: str = "rail"  # "marked": of a train that is open to all; "foot": of an open foot


@dataclass(frozen=True)
class Sign:
    """A train's name, at the rim of the table in the direction of its seat."""

    train: TrainView
    angle: float  # radians, clockwise from the right


@dataclass(frozen=True)
class Token:
    """A marker, or the number of a double that must be covered."""

    x: float
    y: float
    kind: str  # "marker" or "pending"
    text: str = ""


@dataclass
class Placement:
    """The table laid out; `radius` is the largest distance from the middle."""

    radius: float
    hub: float = 0.0  # radius of the disc under the engine; 0: none
    tiles: list[Tile] = field(default_factory=list)
    rails: list[Rail] = field(default_factory=list)
    signs: list[Sign] = field(default_factory=list)
    tokens: list[Token] = field(default_factory=list)


def place_table(table: TableView) -> Placement:
    """Return the layout of a table."""
    board = table.board
    layout = _trains(board) if board.tree is None else _tree(board.tree)
    if board.middle is not None:
        layout.tiles.insert(0, Tile(0.0, 0.0, 0.0, *board.middle, ring="middle"))
    return layout


def _longest_straight(lay: Callable[[int], tuple[float, list[T]]], near: float) -> list[T]:
    """Return the rows with the longest stems that keep everything (nearly) as compact as possible.

    lay: takes the length of a stem, returns how far the rows reach, and the rows.
    """
    laid = []
    for stem in (STRAIGHT, *range(MAX_STEM, 0, -1)):
        laid.append(lay(stem))
        if laid[-1][0] <= near:
            return laid[-1][1]
    nearest = min(distance for distance, _ in laid)
    return next(rows for distance, rows in laid if distance <= ENOUGH * nearest)


# ----------------------------------------------------------------------------------------- trains


def _trains(board: Board) -> Placement:
    if not board.trains:
        return Placement(1.0)
    hub, sectors = _sectors(board)
    links = [train.links for train in board.trains]

    def lay(stem: int) -> tuple[float, list[Row]]:
        rows = [winding(one, sector, stem) for one, sector in zip(links, sectors, strict=True)]
        return extent(rows), rows

    rows = _longest_straight(lay, NEAR_TRAINS)
    layout = Placement(max(extent(rows), hub + 4), hub)
    for train, sector, row in zip(board.trains, sectors, rows, strict=True):
        _add_train(layout, train, sector, row)
    return layout


def _sectors(board: Board) -> tuple[float, list[Sector]]:
    """Divide the plane into one sector per train, clockwise; long ones get more.

    The first train, and with it its seat, lies below, or to the right if no seat owns it.
    """
    lengths = [len(train.links) for train in board.trains]
    enough = 6 + sum(lengths) / len(lengths) / 2
    shares = [max(length, enough) for length in lengths]
    turn = 2 * pi * shares[0] / sum(shares) / 2
    start = (RIGHT if board.trains[0].seat is None else DOWN) - turn
    circle = Sector(start, start + 2 * pi, 0.0)
    sectors = circle.split(shares, [inf] * len(shares))
    narrow = min(sector.half for sector in sectors)
    hub = max(2.2, Sector(-narrow, narrow, 0.0).reach(1))
    return hub, [sector.beyond(hub + GAP) for sector in sectors]


def _add_train(layout: Placement, train: TrainView, sector: Sector, row: Row) -> None:
    if row.tiles:
        ring = "pending" if train.pending else "open" if train.is_open else ""
        row.tiles[-1] = last = replace(row.tiles[-1], ring=ring)
        if train.pending:
            x, y = last.corners()[1]
            layout.tokens.append(Token(x, y, "pending", str(train.pending)))
    start = polar(layout.hub, sector.middle)
    end = () if row.tiles else (polar(layout.hub + 2, sector.middle),)
    kind = "marked" if train.is_marked else "rail"
    layout.rails.append(Rail((start, *row.rail, *end), kind))
    if train.is_marked:
        layout.tokens.append(Token(*polar(layout.hub - 0.6, sector.middle), "marker"))
    layout.tiles += row.tiles
    layout.signs.append(Sign(train, sector.middle))


# ------------------------------------------------------------------------------------------ trees


def _tree(tree: Tree) -> Placement:
    def lay(stem: int) -> tuple[float, list[tuple[Row, str]]]:
        grower = _Grower(tree, stem)
        grower.grow(MIDDLE, Row([], [], 1.2), Sector(-pi / 2, 1.5 * pi, 1.2))
        left, top, right, bottom = bounds([tile for row, _ in grower.rows for tile in row.tiles])
        return max(right - left, bottom - top) / 2, grower.rows

    rows = _longest_straight(lay, NEAR_TREE)
    layout = Placement(extent([row for row, _ in rows]))
    for row, kind in rows:
        layout.rails.append(Rail(tuple(row.rail), kind))
        layout.tiles += row.tiles
    return layout


def bounds(tiles: Sequence[Tile]) -> tuple[float, float, float, float]:
    """Return left, top, right and bottom of the tiles; of no tiles, a point."""
    corners = [corner for tile in tiles for corner in tile.corners()]
    xs, ys = [x for x, _ in corners] or [0.0], [y for _, y in corners] or [0.0]
    return min(xs), min(ys), max(xs), max(ys)


@dataclass
class _Grower:
    """Places the rows of a tree: a chain up to its double, then each toe in its own sector."""

    tree: Tree
    stem: int
    rows: list[tuple[Row, str]] = field(default_factory=list)  # with the kind of the rail
    widths: dict[int, float] = field(default_factory=dict)  # entry -> width for what grows there

    def grow(self, entry: int, foot: Row, sector: Sector) -> None:
        """Place everything joined to an entry, the last of a row, in the sector beyond it."""
        toes: list[int | None] = [*self.tree.joined.get(entry, [])]
        toes += [None] * self.tree.missing.get(entry, 0)
        if not toes:
            return
        sector = sector.beyond(foot.radius + FOOT)
        wants = [self._want(toe, sector.radius) for toe in toes]
        most = [inf] * len(toes) if entry == MIDDLE else wants
        kind = "foot" if entry == self.tree.waiting else "rail"
        for toe, part in zip(toes, sector.split(wants, most), strict=True):
            chain = [] if toe is None else self.tree.chain(toe)
            row = winding([self.tree.links[link] for link in chain] or [None], part, self.stem)
            self._mark(row, chain)
            row.rail = [*_from_foot(foot, part), *row.rail]
            self.rows.append((row, kind))
            if chain:
                self.grow(chain[-1], row, part)

    def _mark(self, row: Row, chain: list[int]) -> None:
        """Mark the open foot and the ends that may be joined now."""
        last = chain[-1] if chain else None
        if last is not None and last == self.tree.waiting:
            row.tiles[-1] = replace(row.tiles[-1], ring="pending")
        elif last in self.tree.open and not self.tree.is_locked:
            row.tiles[-1] = replace(row.tiles[-1], ring="open")

    def _want(self, toe: int | None, level: float) -> float:
        """Return the angle that everything beyond a toe needs, from a distance on."""
        if toe is None:
            return NARROW / level
        chain = self.tree.chain(toe)
        toes = [*self.tree.joined.get(chain[-1], []), *[None] * self.tree.missing.get(chain[-1], 0)]
        if self.stem == STRAIGHT:
            below = level + (2 + GAP) * len(chain)
            return max(NARROW / level, sum(self._want(after, below) for after in toes))
        return self._room(toe) / level

    def _room(self, toe: int | None) -> float:
        """Return the width that everything beyond a toe needs if rows wind."""
        if toe is None:
            return NARROW
        if toe not in self.widths:
            chain = self.tree.chain(toe)
            toes = [
                *self.tree.joined.get(chain[-1], []),
                *[None] * self.tree.missing.get(chain[-1], 0),
            ]
            own = 1.2 * len(chain) + (0 if toes else NARROW)
            self.widths[toe] = own + sum(map(self._room, toes))
        return self.widths[toe]


def _from_foot(foot: Row, sector: Sector) -> list[Point]:
    """Return the line from a double to the sector of a toe."""
    if not foot.rail:
        return [(0.0, 0.0)]
    radius, angle = foot.end
    start = max(foot.radius, radius), angle
    return [foot.rail[-1], *swing(start, (sector.radius, sector.middle), sector.radius)]
