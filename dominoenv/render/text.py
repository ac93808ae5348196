"""A position as a picture in plain text, for terminals, logs and bug reports.

The double lies on the left and the trains or arms fan out from it. Below them are the hands, face
down unless they are revealed. Coordinates are those of the moves: `seat 2` is `@2`, `Mexican` `@M`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from dominoenv.chicken_foot.state import CENTRE
from dominoenv.errors import PositionError
from dominoenv.positions import MEXICAN, FootTable, record_of
from dominoenv.rules import Rules

Reveal = Literal["all"] | Collection[int] | None

LEAST_WIDTH, MOST_WIDTH = 60, 10_000
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

    reveal: whose hands lie face up: "all", the seats named, or nobody's (None). colour: with ANSI
    colours, for a terminal. Trains that are too long lose tiles in their middle, never their end.
    Raises PositionError or RulesError for a position that cannot be, PositionError for hands to
    reveal that are no seats, and for a `width` below 60 or above 10,000.
    """
    if not isinstance(width, int) or width < LEAST_WIDTH:
        raise PositionError(f"width={width!r} is too narrow a picture; take {LEAST_WIDTH} or more")
    if width > MOST_WIDTH:
        raise PositionError(f"width={width} is too wide a picture; take {MOST_WIDTH} at most")
    if not isinstance(colour, bool | np.bool_):
        raise PositionError(f"colour={colour!r} must be true or false")
    rules, _ = record_of(position)
    _check_reveal(rules, reveal)
    pen = _Pen(rules, position, colour, width)
    table = _trains(pen) if position["game"] == "mexican_train" else _feet(pen)
    lines = [*_head(pen), "", *table, "", *_hands(pen, reveal), "", *_wrapped(pen, _status(pen))]
    return "\n".join(line.rstrip() for line in lines)


def _check_reveal(rules: Rules, reveal: object) -> None:
    """Raise PositionError for what does not name hands."""
    if reveal is None or (isinstance(reveal, str) and reveal == "all"):
        return
    seats: list[Any] = [-1]
    if isinstance(reveal, Collection) and getattr(reveal, "ndim", 1) == 1:  # of an array
        seats = list(reveal)
    if not all(isinstance(seat, int | np.integer) and 0 <= seat < rules.players for seat in seats):
        raise PositionError(f"reveal={reveal!r} must be 'all', None or some seats")


@dataclass(frozen=True)
class _Pen:
    """What every part of the picture is drawn with."""

    rules: Rules
    position: Mapping[str, Any]
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

    def pips(self, text: str) -> tuple[int, int]:
        """Return the low and the high pip of a tile."""
        tile = self.rules.tiles.parse(text)
        return int(self.rules.tiles.low[tile]), int(self.rules.tiles.high[tile])

    @property
    def seats(self) -> range:
        return range(len(self.position["hands"]))

    @property
    def is_over(self) -> bool:
        return "penalties" in self.position

    def is_mover(self, seat: int) -> bool:
        return bool(seat == self.position["to_move"]) and not self.is_over


# -------------------------------------------------------------------------------------- the frame


def _columns(text: str) -> int:
    """Return how many columns a text takes, its colours aside."""
    return len(_ANSI.sub("", text))


def _spread(pen: _Pen, left: str, right: str) -> str:
    """Set one text to the left margin, the other to the right one."""
    return left + " " * max(1, pen.width - _columns(left) - _columns(right)) + right


def _wrapped(pen: _Pen, words: Sequence[str], indent: int = 0, between: str = " ") -> list[str]:
    """Set words into lines, all but the first indented."""
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
    rules, position = pen.rules, pen.position
    name = position["game"].replace("_", " ").title()
    number = position.get("round", 0) + 1
    left = (
        f"{pen.paint(name, 'bold')} · {len(pen.seats)} players · double-{rules.max_pip} · "
        f"round {number} of {len(rules.rounds)}"
    )
    line = _spread(pen, left, f"boneyard {len(position['boneyard'])}")
    return [line, pen.paint("─" * pen.width, "dim")]


def _hands(pen: _Pen, reveal: Reveal) -> Iterator[str]:
    position = pen.position
    scores = position.get("scores", [0] * len(pen.seats))
    for seat in pen.seats:
        hand, score = position["hands"][seat], scores[seat]
        points = f"{score:>5} {'point' if abs(score) == 1 else 'points':<6}"
        lead = f"{_seat_label(pen, seat)}{points}  {len(hand):>3} "
        open_hand = isinstance(reveal, str) or (reveal is not None and seat in reveal)
        tiles = [pen.tile(*pen.pips(text)[::-1]) if open_hand else FACE_DOWN for text in hand]
        indent = _columns(lead)
        lines = _wrapped(pen, tiles or [pen.paint("no tiles", "dim")], indent, "")
        yield lead + lines[0]
        yield from lines[1:]


def _seat_label(pen: _Pen, seat: int) -> str:
    if pen.is_mover(seat):
        return pen.paint(f"{MOVER} seat {seat}", "bold")
    return f"  seat {seat}"


def _status(pen: _Pen) -> list[str]:
    """Say in words what happens next."""
    position = pen.position
    if pen.is_over:
        penalties = ", ".join(
            f"seat {seat} {penalty}" for seat, penalty in enumerate(position["penalties"])
        )
        return f"The round is over. Penalties: {penalties}.".split()
    words = f"Seat {position['to_move']} to move"
    if position.get("owes_play"):
        words += ", owes a play for its double"
    if position.get("drew"):
        words += ", has drawn"
    duty = _train_duty(position) if position["game"] == "mexican_train" else _foot_duty(pen)
    return f"{words}{duty}.".split()


def _box(pip: int) -> list[str]:
    """Draw the double in the middle."""
    face = f"{pip:^3}"
    return ["┏━━━┯━━━┓", f"┃{face}│{face}┃", "┗━━━┷━━━┛"]


def _fan(pen: _Pen, pip: int, blocks: Sequence[list[str]]) -> list[str]:
    """Draw blocks of lines as branches of the double in the middle."""
    rows = [row for i, block in enumerate(blocks) for row in _branch(block, i, len(blocks))]
    above = max(0, (3 - len(rows)) // 2)
    rows = [("   ", ""), *rows, ("   ", "")] if above else rows
    rows += [("   ", "")] * (3 - len(rows))
    starts = [i for i, (stem, _) in enumerate(rows) if stem[1] == "─"]
    middle = min(starts, key=lambda i: abs(2 * i - len(rows) + 1))
    middle = min(max(middle, 1), len(rows) - 2)
    box = dict(zip(range(middle - 1, middle + 2), _box(pip), strict=True))
    drawn = []
    for i, (stem, text) in enumerate(rows):
        joint = _JOINTS.get(stem[0], stem[0]) + stem[1:] if i == middle else stem
        root = "──" if i == middle else "  "
        drawn.append(f" {pen.paint(box.get(i, ' ' * 9), 'bold')}{root}{joint}{text}")
    return drawn


_JOINTS = {"╭": "┬", "├": "┼", "╰": "┴", "│": "┤", "─": "─"}  # where the double joins the stem
STEM = 15  # columns that the fan takes to the left of its branches


def _branch(block: list[str], i: int, number: int) -> Iterator[tuple[str, str]]:
    """Yield the stem and the text of each line of a branch."""
    first = "─" if number == 1 else "╭" if i == 0 else "╰" if i == number - 1 else "├"
    yield f"{first}─ ", block[0]
    for text in block[1:]:
        yield ("   " if i == number - 1 else "│  "), text


def _chain(pen: _Pen, links: Sequence[tuple[int, int]], room: int) -> str:
    """Draw tiles end to end; the middle is left out where they are too many for the room."""
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


# ---------------------------------------------------------------------------------- Mexican Train


def _trains(pen: _Pen) -> list[str]:
    position = pen.position
    pending = list(position.get("pending", []))
    blocks = [_train(pen, MEXICAN, position["mexican_train"], pending)]
    blocks += [_train(pen, seat, position["trains"][seat], pending) for seat in pen.seats]
    return _fan(pen, position["engine"], blocks)


def _train(pen: _Pen, name: int | str, texts: Sequence[str], pending: list[int | str]) -> list[str]:
    links = list(_links(pen, texts))
    end = links[-1][1] if links else pen.position["engine"]
    if name == MEXICAN:
        label = "  Mexican  "
    else:
        assert isinstance(name, int)
        marked = name in pen.position.get("markers", [])
        label = f"{_seat_label(pen, name)} {pen.paint(FLAG, 'flag') if marked else ' '} "
    duty = f"{PENDING}{pending.index(name) + 1}" if name in pending else ""
    note = f"{pen.paint(f'{duty:<3}', 'alert')}{pen.paint(f'end {end:>2}', 'open')}"
    room = pen.width - STEM - _columns(label) - _columns(note) - 1
    shown = _chain(pen, links, room) if links else pen.paint("·", "dim")
    gap = pen.width - STEM - _columns(label) - _columns(shown) - _columns(note)
    return [label + shown + " " * gap + note]


def _links(pen: _Pen, texts: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Turn a train's tiles so that each fits the one before; yield (inner, outer) pips."""
    end = pen.position["engine"]
    for text in texts:
        low, high = pen.pips(text)
        if end not in (low, high):
            raise PositionError(f"{text} does not fit the end {end} of its train")
        yield end, low + high - end
        end = low + high - end


def _train_duty(position: Mapping[str, Any]) -> str:
    pending = position.get("pending", [])
    if not pending or position.get("owes_play"):
        return ""
    whose = "the Mexican Train" if pending[0] == MEXICAN else f"the train of seat {pending[0]}"
    return f"; must cover the double on {whose} ({PENDING}1)"


# ----------------------------------------------------------------------------------- Chicken Foot


@dataclass
class _Tree:
    """What lies on a Chicken Foot table: entries, who joined whom, and how it stands."""

    table: FootTable
    links: list[tuple[int, int]] = field(default_factory=list)  # (inner, outer) of each entry
    joined: dict[int, list[int]] = field(default_factory=dict)  # entry or CENTRE -> its entries

    def arms(self) -> list[int]:
        return self.joined.get(CENTRE, [])


def _grow(pen: _Pen) -> _Tree:
    """Follow the table tile by tile."""
    tree = _Tree(FootTable(pen.rules, pen.position["centre"]))
    for i, (text, *where) in enumerate(pen.position["table"]):
        entry = where[0] if where else CENTRE
        low, high = pen.pips(text)
        pip = tree.table.pip_of(entry)
        if pip not in (low, high):
            raise PositionError(f"table[{i}]: {text} does not fit the pip {pip}")
        tree.table.join(pen.rules.tiles.parse(text), pip, entry)
        tree.links.append((pip, low + high - pip))
        tree.joined.setdefault(entry, []).append(i)
    return tree


def _feet(pen: _Pen) -> list[str]:
    tree = _grow(pen)
    blocks = [_arm(pen, tree, entry, pen.width - STEM) for entry in tree.arms()]
    missing = [pen.paint(f"{MISSING} for a {pen.position['centre']}", "dim")]
    blocks += [missing] * tree.table.centre_missing
    return [*_fan(pen, pen.position["centre"], blocks), "", *_open_ends(pen, tree)]


def _arm(pen: _Pen, tree: _Tree, entry: int, room: int) -> list[str]:
    """Draw the tiles from an entry to the next double, and what grows from that, below it."""
    chain = [entry]
    while not _is_double(tree, chain[-1]) and chain[-1] in tree.joined:
        chain.append(tree.joined[chain[-1]][0])
    last = chain[-1]
    note = _end_note(pen, tree, last)
    links = [tree.links[i] for i in chain]
    lines = [f"{_chain(pen, links, room - _columns(note) - 1)} {note}"]
    toes = [_arm(pen, tree, toe, room - 3) for toe in tree.joined.get(last, [])]
    if last == tree.table.foot:
        toes += [[pen.paint(f"{MISSING} toe", "alert")]] * _toes_missing(tree)
    for i, block in enumerate(toes):
        stems = ("╰─ ", "   ") if i == len(toes) - 1 else ("├─ ", "│  ")
        lines += [stems[0] + block[0], *(stems[1] + line for line in block[1:])]
    return lines


def _is_double(tree: _Tree, entry: int) -> bool:
    inner, outer = tree.links[entry]
    return inner == outer


def _toes_missing(tree: _Tree) -> int:
    needed: int = tree.table.rules.toes
    return needed - len(tree.table.toes)


def _end_note(pen: _Pen, tree: _Tree, entry: int) -> str:
    if entry in tree.table.open:
        return pen.paint(f"→ {tree.table.open[entry]}", "open")
    if entry in tree.table.toes:
        return pen.paint(f"({tree.table.toes[entry]})", "dim")
    if entry == tree.table.foot:
        return pen.paint(f"{PENDING} open foot", "alert")
    return "" if entry in tree.joined else pen.paint("dead", "dim")


def _open_ends(pen: _Pen, tree: _Tree) -> list[str]:
    counts: dict[int, int] = {}
    for pip in sorted(tree.table.open.values()):
        counts[pip] = counts.get(pip, 0) + 1
    ends = [f"{pip}×{number}" for pip, number in counts.items()]
    locked = tree.table.centre_missing > 0 or tree.table.foot is not None
    lead = "  open ends, locked now:  " if locked else "  open ends:  "
    lines = _wrapped(pen, ends or ["none"], len(lead), "  ")
    return [lead + pen.paint(lines[0], "dim" if locked else "open"), *lines[1:]]


def _foot_duty(pen: _Pen) -> str:
    table = _grow(pen).table
    if table.centre_missing:
        number = table.centre_missing
        places = f"{number} {'arm' if number == 1 else 'arms'}"
        return f"; the centre comes first, {places} to go, by {table.centre}"
    if table.foot is None:
        return ""
    number = table.rules.toes - len(table.toes)
    return f"; the open foot needs {number} {'toe' if number == 1 else 'toes'}, by {table.foot_pip}"
