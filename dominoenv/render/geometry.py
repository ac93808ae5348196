"""Sectors for trains and feet around a centre: pure geometry in polar coordinates.

A `Sector` is a part of the plane: two angles and a smallest radius. Sectors that share no angle
share no point, so tiles laid inside their own sectors never overlap. Lengths are in halves of a
tile: a tile is 2 long and 1 wide. Angles are radians, clockwise, as y runs down.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import atan2, cos, degrees, hypot, inf, pi, sin, tan

from dominoenv.core.board import Link

Point = tuple[float, float]

GAP = 0.08  # between tiles that are joined
ASIDE = 0.35  # between a tile and the border of its sector, and between the rows of a train
MAX_HALF_ANGLE = 1.4  # half of the widest angle that a straight row uses


@dataclass(frozen=True)
class Tile:
    """A placed tile: its centre, and the angle in degrees to which its outer half points."""

    x: float
    y: float
    angle: float
    inner: int | None  # pips; None: face down, or a free place
    outer: int | None
    size: float = 1.0  # length of a half
    kind: str = "tile"  # or "down", a tile face down; "free", an empty place for a tile
    ring: str = ""  # why its border is coloured: "open", "pending", "locked"; "" for no colour

    def corners(self) -> list[Point]:
        """Return its four corners."""
        turn = self.angle * pi / 180
        along, across = (cos(turn), sin(turn)), (-sin(turn) / 2, cos(turn) / 2)
        return [
            (
                self.x + self.size * (a * along[0] + b * across[0]),
                self.y + self.size * (a * along[1] + b * across[1]),
            )
            for a, b in ((-1, -1), (1, -1), (1, 1), (-1, 1))
        ]


@dataclass(frozen=True)
class Sector:
    """The points between two angles, at least `radius` away from the centre."""

    low: float
    high: float
    radius: float

    @property
    def middle(self) -> float:
        """The middle angle."""
        return (self.low + self.high) / 2

    @property
    def half(self) -> float:
        """Half of the angle between the borders."""
        return (self.high - self.low) / 2

    def beyond(self, radius: float) -> Sector:
        """Return the part from a distance on."""
        return replace(self, radius=max(radius, self.radius))

    def reach(self, width: float) -> float:
        """Return the distance from which on something of a width fits in the middle."""
        return max(self.radius, (width / 2 + ASIDE) / tan(min(self.half, MAX_HALF_ANGLE)))

    def split(self, shares: Sequence[float], most: Sequence[float]) -> list[Sector]:
        """Divide it by shares into adjacent sectors, each at most as wide as its `most`, centred.

        A small share counts as 2/5 of the mean, because narrow sectors push their tiles far out.
        """
        least = 0.4 * sum(shares) / len(shares)
        shares = [max(share, least) for share in shares]
        whole, total = self.high - self.low, sum(shares)
        widths = [
            min(whole * share / total, limit) for share, limit in zip(shares, most, strict=True)
        ]
        low, sectors = self.middle - sum(widths) / 2, []
        for width in widths:
            sectors.append(Sector(low, low + width, self.radius))
            low += width
        return sectors


def polar(radius: float, angle: float) -> Point:
    """Return the point at a distance and an angle."""
    return radius * cos(angle), radius * sin(angle)


@dataclass
class Row:
    """Tiles laid one after another, the line that joins them, and the distance they reach."""

    tiles: list[Tile]
    rail: list[Point]
    radius: float

    @property
    def end(self) -> Point:
        """The radius and angle of the end of the row, where the next one is joined."""
        x, y = self.rail[-1]
        return hypot(x, y), atan2(y, x)


def place(link: Link | None, radius: float, angle: float, turn: float) -> Tile:
    """Place a tile at a distance and an angle, turned from the outward direction, in radians."""
    inner, outer = (None, None) if link is None else link
    x, y = polar(radius, angle)
    kind = "free" if link is None else "tile"
    return Tile(x, y, degrees(angle + turn), inner, outer, kind=kind)


def is_double(link: Link | None) -> bool:
    """Return whether a tile is a double, which lies across its row."""
    return link is not None and link[0] == link[1]


def straight(links: Sequence[Link | None], sector: Sector) -> Row:
    """Place tiles straight outwards in the middle of a sector, each as near as it fits."""
    angle, radius = sector.middle, sector.radius
    row = Row([], [], radius)
    for link in links:
        width, depth = (2, 1) if is_double(link) else (1, 2)
        start = sector.beyond(radius).reach(width)
        row.tiles.append(place(link, start + depth / 2, angle, pi / 2 if depth == 1 else 0))
        row.rail += [polar(start, angle), polar(start + depth, angle)]
        radius = start + depth + GAP
        row.radius = hypot(start + depth, width / 2) + GAP
    return row


def winding(links: Sequence[Link | None], sector: Sector, stem: int) -> Row:
    """Place `stem` tiles straight outwards and the rest back and forth across the sector.

    A train no longer than its stem is straight.
    """
    row = straight(links[:stem], sector)
    rest, turn, start = list(links[stem:]), 1, sector.middle
    while rest:
        before = len(rest)
        rest = _across(row, rest, sector, start, turn)
        if len(rest) < before:
            turn, start = -turn, sector.high if turn > 0 else sector.low
        else:  # too narrow for one tile: go farther out
            row.radius += 1.0
    return row


def _across(
    row: Row, links: list[Link | None], sector: Sector, start: float, turn: int
) -> list[Link | None]:
    """Place as many tiles as fit on an arc, from an angle on; return the rest."""
    taken: list[tuple[Link | None, float]] = []
    begins_inside = start == sector.middle
    for reach in (0.5, 1.0):  # a row with a double across it needs more room
        arc = row.radius + ASIDE + reach
        taken = _fitting(links, sector, arc, start, turn)
        if reach == 1.0 or not any(is_double(link) for link, _ in taken):
            break
    if not taken:
        return links
    for i, (link, angle) in enumerate(taken):
        half = (0.4 if is_double(link) else 0.9) / arc  # its ends lie under the tile
        row.rail += _bend(row.end, (arc, angle - turn * half), 0 if i or begins_inside else -turn)
        row.rail.append(polar(arc, angle + turn * half))
        row.tiles.append(place(link, arc, angle, 0 if is_double(link) else turn * pi / 2))
    row.radius = hypot(arc + reach, 1.5 - reach)
    return links[len(taken) :]


def _fitting(
    links: list[Link | None], sector: Sector, arc: float, start: float, turn: int
) -> list[tuple[Link | None, float]]:
    """Return the tiles that fit on an arc with the angles of their centres."""
    border = (sector.high if turn > 0 else sector.low) - turn * ASIDE / (arc - 1)
    at = start + turn * (GAP if start == sector.middle else ASIDE) / (arc - 1)
    taken = []
    for link in links:
        half = atan2(0.5, arc - 1) if is_double(link) else atan2(1, arc - 0.5)
        if turn * (border - at) < 2 * half:
            break
        taken.append((link, at + turn * half))
        at += turn * (2 * half + GAP / arc)
    return taken


def _bend(start: Point, end: Point, bulge: float, steps: int = 6) -> list[Point]:
    """Return a curve between two points given by distance and angle, bulging to one side."""
    points = []
    for i in range(1, steps + 1):
        t = i / steps
        radius = start[0] + (end[0] - start[0]) * t
        angle = start[1] + _turned(end[1] - start[1]) * t
        points.append(polar(radius, angle - bulge * 0.3 * sin(pi * t) / max(radius, 1)))
    return points


def swing(start: Point, end: Point, level: float, steps: int = 20) -> list[Point]:
    """Return a line that changes its angle below `level` and runs straight outwards from there.

    Points are given as distance and angle.
    """
    change = _turned(end[1] - start[1])
    points = []
    for i in range(steps + 1):
        t = i / steps
        smooth = t * t * (3 - 2 * t)
        radius = start[0] + (max(level, start[0]) - start[0]) * t
        points.append(polar(radius, start[1] + change * smooth))
    return [*points, polar(*end)]


def _turned(angle: float) -> float:
    return (angle + pi) % (2 * pi) - pi


def extent(rows: Sequence[Row]) -> float:
    """Return the largest distance from the centre."""
    return max((row.radius for row in rows), default=-inf)
