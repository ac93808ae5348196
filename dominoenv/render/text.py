"""A position as a picture in plain text, for terminals, logs and bug reports.

The double is on the left and the trains or arms fan out from it. Below are the hands, face down
unless revealed. Labels match the text of moves: `seat 2` is `@2`, `Mexican` is `@M`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TextIO

import numpy as np

from dominoenv.core.board import MIDDLE, Link, TrainView, Tree
from dominoenv.errors import PositionError
from dominoenv.render.view import Reveal, Seat, TableView, view_table

MIN_WIDTH, MAX_WIDTH = 70, 10_000
LITTLE_ROOM = 45  # columns; from here on feet are drawn close: 18 may grow from one another
FACE_DOWN = "▯"
MISSING = "▫"
FLAG = "⚑"
MOVER = "▸"
PENDING = "◆"

_ANSI = re.compile(r"\x1b\[[0-9;]*m")
_STYLES = {"bold": "1", "dim": "2", "alert": "1;31", "flag": "1;33", "open": "32"}
# One colour a pip, near to those that are printed on coloured domino sets.
_PIP_COLOURS = (
    *(250, 39, 34, 160, 136, 26, 178, 165, 37, 99),
    *(208, 45, 70, 203, 142, 62, 220, 170, 73),
)


def render_text(
    position: Mapping[str, Any], reveal: Reveal = None, colour: bool = False, width: int = 100
) -> str:
    """Draw a position, a dict as `Game.position()` returns it, in at most `width` columns.

    reveal: the hands that lie face up: "all", a list of seats, or None. colour: with ANSI colours,
    for a terminal (`wants_colour`). Trains that are too long are shortened in the middle, never at
    the end. Raises PositionError or RulesError for an invalid position, PositionError for invalid
    seats and for a `width` below 70 or above 10,000.
    """
    if not isinstance(width, int) or width < MIN_WIDTH:
        raise PositionError(f"width={width!r} is too narrow; it must be {MIN_WIDTH} or more")
    if width > MAX_WIDTH:
        raise PositionError(f"width={width} is too wide; it must be {MAX_WIDTH} or less")
    if not isinstance(colour, bool | np.bool_):
        raise PositionError(f"colour={colour!r} must be true or false")
    table = view_table(position, reveal)
    pen = _Pen(table, bool(colour), width)
    board = table.board
    lies = _trains(pen) if board.tree is None else _tree(pen, board.tree)
    status = _wrapped(pen, table.status.split())
    lines = [*_head(pen), "", *lies, "", *_hands(pen), "", *status]
    return "\n".join(line.rstrip() for line in lines)


def wants_colour(stream: TextIO) -> bool:
    """Return whether a stream is a terminal that accepts colours.

    The environment variables NO_COLOR (https://no-color.org) and TERM=dumb forbid it.
    """
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return stream.isatty() and not plain


@dataclass(frozen=True)
class _Pen:
    """The table and the settings that every part of the picture needs."""

    table: TableView
    colour: bool
    width: int

    def paint(self, text: str, style: str) -> str:
        return self._coded(text, _STYLES[style])

    def _coded(self, text: str, code: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.colour and text else text

    def tile(self, inner: int, outer: int) -> str:
        weight = "1;" if inner == outer else ""
        left, right = (
            self._coded(str(pip), f"{weight}38;5;{_PIP_COLOURS[pip]}") for pip in (inner, outer)
        )
        return f"[{left}|{right}]"


# -------------------------------------------------------------------------------------- the frame


def _columns(text: str) -> int:
    """Return the number of columns of a text, without its colour codes."""
    return len(_ANSI.sub("", text))


def _spread(pen: _Pen, left: str, right: str) -> str:
    """Align one text left and the other right."""
    return left + " " * max(1, pen.width - _columns(left) - _columns(right)) + right


def _wrapped(pen: _Pen, words: Sequence[str], indent: int = 0, between: str = " ") -> list[str]:
    """Wrap words into lines, all but the first indented."""
    lines, line = [], ""
    for word in words:
        longer = f"{line}{between}{word}" if line else word
        if line and indent + _columns(longer) > pen.width:
            lines.append(line)
            longer = word
        line = longer
    lines.append(line)
    return [lines[0], *(" " * indent + line for line in lines[1:])]


def _head(pen: _Pen) -> list[str]:
    name, *facts = pen.table.title
    left = " · ".join([pen.paint(name, "bold"), *facts])
    line = _spread(pen, left, f"boneyard {pen.table.boneyard}")
    return [line, pen.paint("─" * pen.width, "dim")]


def _hands(pen: _Pen) -> Iterator[str]:
    for seat in pen.table.seats:
        score, unit = seat.points.split()
        lead = (
            f"{_seat_label(pen, seat.number, seat.is_mover)}{score:>5} {unit:<6}  {seat.size:>3} "
        )
        hand = _hand(pen, seat)
        indent = _columns(lead)
        lines = _wrapped(pen, hand or [pen.paint("no tiles", "dim")], indent, "")
        yield lead + lines[0]
        yield from lines[1:]


def _hand(pen: _Pen, seat: Seat) -> list[str]:
    if seat.hand is None:
        return [FACE_DOWN] * seat.size
    return [pen.tile(*link) for link in seat.hand]


def _seat_label(pen: _Pen, seat: int, is_mover: bool) -> str:
    return pen.paint(f"{MOVER} seat {seat}", "bold") if is_mover else f"  seat {seat}"


def _box(middle: Link | None) -> list[str]:
    """Draw the tile in the middle."""
    left, right = ("   ", "   ") if middle is None else (f"{pip:^3}" for pip in middle)
    return ["┏━━━┯━━━┓", f"┃{left}│{right}┃", "┗━━━┷━━━┛"]


def _fan(pen: _Pen, blocks: Sequence[list[str]]) -> list[str]:
    """Draw blocks of lines as branches of the tile in the middle."""
    rows = [row for i, block in enumerate(blocks) for row in _branch(block, i, len(blocks))]
    above = 1 if len(blocks) == 1 else 0  # a single branch leaves from the middle line
    rows = [("   ", "")] * above + rows
    rows += [("   ", "")] * (3 - len(rows))
    starts = [i for i, (stem, _) in enumerate(rows) if stem[1] == "─"]
    middle = min(starts, key=lambda i: abs(2 * i - len(rows) + 1))
    middle = min(max(middle, 1), len(rows) - 2)
    box = dict(zip(range(middle - 1, middle + 2), _box(pen.table.board.middle), strict=True))
    drawn = []
    for i, (stem, text) in enumerate(rows):
        joint = _JOINTS.get(stem[0], stem[0]) + stem[1:] if i == middle else stem
        root = "──" if i == middle else "  "
        drawn.append(f" {pen.paint(box.get(i, ' ' * 9), 'bold')}{root}{joint}{text}")
    return drawn


_JOINTS = {"╭": "┬", "├": "┼", "╰": "┴", "│": "┤", "─": "─"}  # where the double joins the stem
STEM = 15  # columns of the fan, to the left of its branches


def _branch(block: list[str], i: int, number: int) -> Iterator[tuple[str, str]]:
    """Yield the stem and the text of each line of a branch."""
    first = "─" if number == 1 else "╭" if i == 0 else "╰" if i == number - 1 else "├"
    yield f"{first}─ ", block[0]
    for text in block[1:]:
        yield ("   " if i == number - 1 else "│  "), text


def _chain(pen: _Pen, links: Sequence[Link], room: int) -> str:
    """Draw tiles end to end, without the middle ones if they do not fit."""
    tiles = [pen.tile(*link) for link in links]
    if sum(map(_columns, tiles)) <= room:
        return "".join(tiles)
    gap = f" ⋯{len(tiles)}⋯ "
    head: list[str] = []
    tail = [tiles.pop()]
    used = _columns(gap) + _columns(tail[0])
    while tiles and used + _columns(tiles[0 if len(head) < len(tail) else -1]) <= room:
        side = head if len(head) < len(tail) else tail
        side.append(tiles.pop(0 if side is head else -1))
        used += _columns(side[-1])
    return "".join([*head, pen.paint(f" ⋯{len(tiles)}⋯ ", "dim"), *reversed(tail)])


# ----------------------------------------------------------------------------------------- trains


def _trains(pen: _Pen) -> list[str]:
    *own, last = pen.table.board.trains
    return _fan(pen, [[_train(pen, train)] for train in (last, *own)])


def _train(pen: _Pen, train: TrainView) -> str:
    if train.seat is None:
        label = f"{train.label[0]:^11}"
    else:
        flag = pen.paint(FLAG, "flag") if train.is_marked else " "
        label = f"{_seat_label(pen, train.seat, train.is_mover)} {flag} "
    duty = f"{PENDING}{train.pending}" if train.pending else ""
    note = f"{pen.paint(f'{duty:<3}', 'alert')}{pen.paint(f'end {train.end:>2}', 'open')}"
    room = pen.width - STEM - _columns(label) - _columns(note) - 1
    shown = _chain(pen, train.links, room) if train.links else pen.paint("·", "dim")
    gap = pen.width - STEM - _columns(label) - _columns(shown) - _columns(note)
    return label + shown + " " * gap + note


# ------------------------------------------------------------------------------------------ trees


def _tree(pen: _Pen, tree: Tree) -> list[str]:
    arms = tree.joined.get(MIDDLE, [])
    blocks = [_arm(pen, tree, entry, pen.width - STEM) for entry in arms]
    for_what = f" for a {pen.table.board.middle[0]}" if pen.table.board.middle else ""
    missing = [pen.paint(f"{MISSING}{for_what}", "dim")]
    blocks += [missing] * tree.missing.get(MIDDLE, 0)
    return [*_fan(pen, blocks), "", *_open_ends(pen, tree)]


def _arm(pen: _Pen, tree: Tree, entry: int, room: int) -> list[str]:
    """Draw the tiles from an entry to the next double, and below them what grows from it."""
    chain = tree.chain(entry)
    last = chain[-1]
    note = _end_note(pen, tree, last)
    links = [tree.links[i] for i in chain]
    lines = [f"{_chain(pen, links, room - _columns(note) - 1)} {note}"]
    dash = "─ " if room > LITTLE_ROOM else ""
    toes = [_arm(pen, tree, toe, room - 1 - len(dash)) for toe in tree.joined.get(last, [])]
    toes += [[pen.paint(f"{MISSING} toe", "alert")]] * tree.missing.get(last, 0)
    for i, block in enumerate(toes):
        first, rest = ("╰", " ") if i == len(toes) - 1 else ("├", "│")
        lines.append(first + dash + block[0])
        lines += [rest + " " * len(dash) + line for line in block[1:]]
    return lines


def _end_note(pen: _Pen, tree: Tree, entry: int) -> str:
    if entry in tree.open:
        return pen.paint(f"→ {tree.open[entry]}", "open")
    if entry in tree.closed:
        return pen.paint(f"({tree.closed[entry]})", "dim")
    if entry == tree.waiting:
        return pen.paint(f"{PENDING} open foot", "alert")
    return "" if entry in tree.joined else pen.paint("dead", "dim")


def _open_ends(pen: _Pen, tree: Tree) -> list[str]:
    ends = [f"{pip}×{number}" for pip, number in tree.ends().items()]
    lead = "  open ends, locked now:  " if tree.is_locked else "  open ends:  "
    lines = _wrapped(pen, ends or ["none"], len(lead), "  ")
    return [lead + pen.paint(lines[0], "dim" if tree.is_locked else "open"), *lines[1:]]
