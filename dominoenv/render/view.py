"""`TableView`: what a picture of a table shows, the same for all drawings.

It holds what lies open, the hands that are shown, and the texts. It does not contain the tiles of
other hands or of the boneyard, so no drawing can show them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from dominoenv.core.board import Board, Link
from dominoenv.core.rules import Rules
from dominoenv.errors import PositionError
from dominoenv.games.positions import record_of
from dominoenv.games.registry import kind_of

Reveal: TypeAlias = Literal["all"] | Collection[int] | None


@dataclass(frozen=True)
class Seat:
    """A seat: its hand and its score."""

    number: int
    size: int  # tiles in the hand
    hand: tuple[Link, ...] | None  # face up, the higher pip first; None: face down
    score: int
    is_mover: bool

    @property
    def points(self) -> str:
        """The score in words."""
        return f"{self.score} {'point' if abs(self.score) == 1 else 'points'}"


@dataclass(frozen=True)
class TableView:
    """One position as it is shown."""

    rules: Rules
    board: Board
    seats: tuple[Seat, ...]
    boneyard: int
    title: tuple[str, ...]
    status: str  # one sentence: what happens next


def view_table(position: Mapping[str, Any], reveal: Reveal = None) -> TableView:
    """Return the view of a position, a dict as `Game.position()` returns it.

    reveal: the hands that lie face up: "all", a list of seats, or None. Raises PositionError or
    RulesError for an invalid position or seat.
    """
    rules, _ = record_of(position)
    check_reveal(rules, reveal)
    kind = kind_of(rules)
    board = kind.table.board(rules, position)
    return TableView(
        rules=rules,
        board=board,
        seats=tuple(_seat(rules, position, reveal, seat) for seat in range(rules.players)),
        boneyard=len(position["boneyard"]),
        title=(
            kind.title,
            f"{rules.players} players",
            f"double-{rules.max_pip}",
            f"round {position.get('round', 0) + 1} of {len(rules.rounds)}",
        ),
        status=_status(position, board),
    )


def check_reveal(rules: Rules, reveal: object) -> None:
    """Raise PositionError for an invalid `reveal`."""
    if reveal is None or (isinstance(reveal, str) and reveal == "all"):
        return
    seats: list[Any] = [-1]
    if isinstance(reveal, Collection) and getattr(reveal, "ndim", 1) == 1:  # of an array
        seats = list(reveal)
    if not all(isinstance(seat, int | np.integer) and 0 <= seat < rules.players for seat in seats):
        raise PositionError(f"reveal={reveal!r} must be 'all', None or a list of seats")


def _pips(rules: Rules, text: str) -> Link:
    """Return the low and the high pip of a tile."""
    tile = rules.tiles.parse(text)
    return int(rules.tiles.low[tile]), int(rules.tiles.high[tile])


def _is_over(position: Mapping[str, Any]) -> bool:
    return "penalties" in position


def _is_mover(position: Mapping[str, Any], seat: int | None) -> bool:
    return bool(seat == position["to_move"]) and not _is_over(position)


def _seat(rules: Rules, position: Mapping[str, Any], reveal: Reveal, seat: int) -> Seat:
    texts = position["hands"][seat]
    is_open = isinstance(reveal, str) or (reveal is not None and seat in reveal)
    hand = [_pips(rules, text)[::-1] for text in texts] if is_open else None
    return Seat(
        number=seat,
        size=len(texts),
        hand=None if hand is None else tuple(hand),
        score=position.get("scores", [0] * rules.players)[seat],
        is_mover=_is_mover(position, seat),
    )


def _status(position: Mapping[str, Any], board: Board) -> str:
    """Return in words what happens next."""
    if _is_over(position):
        penalties = ", ".join(f"seat {s} {cost}" for s, cost in enumerate(position["penalties"]))
        return f"The round is over. Penalties: {penalties}."
    words = f"Seat {position['to_move']} to move"
    if position.get("owes_play"):
        words += ", owes a play for its double"
    if position.get("drew"):
        words += ", has drawn"
    return words + (f"; {board.duty}" if board.duty else "") + "."
