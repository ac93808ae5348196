"""What a picture of a table shows, read from a position once for all drawings.

A `Table` holds what lies open, the hands that are to be seen, and what is to be said in words. The
tiles of other hands and of the boneyard are not in it: no drawing can show them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np

from dominoenv.chicken_foot.state import CENTRE
from dominoenv.errors import PositionError
from dominoenv.positions import MEXICAN, FootTable, record_of
from dominoenv.rules import Rules

Reveal: TypeAlias = Literal["all"] | Collection[int] | None
Link: TypeAlias = tuple[int, int]  # a tile's pips: the inner half is the one that joins


@dataclass(frozen=True)
class Seat:
    """A seat: what lies before it and how it stands."""

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
class Train:
    """A train of Mexican Train, from the engine outwards."""

    seat: int | None  # None: the Mexican Train
    links: tuple[Link, ...]
    end: int  # the pip that fits next
    is_marked: bool
    pending: int  # place among the doubles to be covered, from 1; 0: its end is none of them
    is_mover: bool


@dataclass
class Tree:
    """What lies on a Chicken Foot table: entries, who joined whom, and how it stands."""

    table: FootTable
    links: list[Link] = field(default_factory=list)  # of each entry
    joined: dict[int, list[int]] = field(default_factory=dict)  # entry or CENTRE -> its entries

    def chain(self, entry: int) -> list[int]:
        """Return the entries from one to the next double, or to the end."""
        chain = [entry]
        while not self.is_double(chain[-1]) and chain[-1] in self.joined:
            chain.append(self.joined[chain[-1]][0])
        return chain

    def is_double(self, entry: int) -> bool:
        """Return whether an entry is a double."""
        inner, outer = self.links[entry]
        return inner == outer

    def missing(self, entry: int) -> int:
        """Return how many tiles an entry, or CENTRE, waits for before anything else is played."""
        if entry == CENTRE:
            return self.table.centre_missing
        needed: int = self.table.rules.toes
        return needed - len(self.table.toes) if entry == self.table.foot else 0

    def ends(self) -> dict[int, int]:
        """Return how many open ends there are of each pip."""
        counts: dict[int, int] = {}
        for pip in sorted(self.table.open.values()):
            counts[pip] = counts.get(pip, 0) + 1
        return counts

    @property
    def is_locked(self) -> bool:
        """Whether the centre or a foot must be completed before the open ends count."""
        return self.table.centre_missing > 0 or self.table.foot is not None


@dataclass(frozen=True)
class Table:
    """One position as it is to be seen."""

    rules: Rules
    middle: int  # pip of the double in the middle
    seats: tuple[Seat, ...]
    trains: tuple[Train, ...]  # the Mexican Train last; none in Chicken Foot
    tree: Tree | None  # of Chicken Foot
    boneyard: int
    title: tuple[str, ...]
    status: str  # one sentence: what happens next


def read_table(position: Mapping[str, Any], reveal: Reveal = None) -> Table:
    """Return what is to be seen of a position, a dict as `Game.position()` returns it.

    reveal: whose hands lie face up: "all", the seats named, or nobody's (None). Raises
    PositionError or RulesError for a position that cannot be and for hands that are no seats'.
    """
    rules, _ = record_of(position)
    check_reveal(rules, reveal)
    is_trains = rules.game == "mexican_train"
    trains = tuple(_trains(rules, position)) if is_trains else ()
    tree = None if is_trains else _grow(rules, position)
    return Table(
        rules=rules,
        middle=position["engine" if is_trains else "centre"],
        seats=tuple(_seat(rules, position, reveal, seat) for seat in range(rules.players)),
        trains=trains,
        tree=tree,
        boneyard=len(position["boneyard"]),
        title=(
            rules.game.replace("_", " ").title(),
            f"{rules.players} players",
            f"double-{rules.max_pip}",
            f"round {position.get('round', 0) + 1} of {len(rules.rounds)}",
        ),
        status=_status(position, tree),
    )


def check_reveal(rules: Rules, reveal: object) -> None:
    """Raise PositionError for what does not name hands."""
    if reveal is None or (isinstance(reveal, str) and reveal == "all"):
        return
    seats: list[Any] = [-1]
    if isinstance(reveal, Collection) and getattr(reveal, "ndim", 1) == 1:  # of an array
        seats = list(reveal)
    if not all(isinstance(seat, int | np.integer) and 0 <= seat < rules.players for seat in seats):
        raise PositionError(f"reveal={reveal!r} must be 'all', None or some seats")


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


# ---------------------------------------------------------------------------------- Mexican Train


def _trains(rules: Rules, position: Mapping[str, Any]) -> Iterator[Train]:
    pending = list(position.get("pending", []))
    names: list[int | None] = [*range(rules.players), None]
    for seat, texts in zip(names, [*position["trains"], position["mexican_train"]], strict=True):
        links = tuple(_links(rules, position["engine"], texts))
        name = MEXICAN if seat is None else seat
        yield Train(
            seat=seat,
            links=links,
            end=links[-1][1] if links else position["engine"],
            is_marked=seat in position.get("markers", []),
            pending=pending.index(name) + 1 if name in pending else 0,
            is_mover=_is_mover(position, seat),
        )


def _links(rules: Rules, engine: int, texts: Sequence[str]) -> Iterator[Link]:
    """Turn a train's tiles so that each fits the one before."""
    end = engine
    for text in texts:
        outer = sum(_pips(rules, text)) - end
        yield end, outer
        end = outer


# ----------------------------------------------------------------------------------- Chicken Foot


def _grow(rules: Rules, position: Mapping[str, Any]) -> Tree:
    """Follow the table tile by tile."""
    tree = Tree(FootTable(rules, position["centre"]))
    for i, (text, *where) in enumerate(position["table"]):
        entry = where[0] if where else CENTRE
        pip = tree.table.pip_of(entry)
        tree.table.join(rules.tiles.parse(text), pip, entry)
        tree.links.append((pip, sum(_pips(rules, text)) - pip))
        tree.joined.setdefault(entry, []).append(i)
    return tree


# -------------------------------------------------------------------------------------- in words


def _status(position: Mapping[str, Any], tree: Tree | None) -> str:
    """Say in words what happens next."""
    if _is_over(position):
        penalties = ", ".join(f"seat {s} {cost}" for s, cost in enumerate(position["penalties"]))
        return f"The round is over. Penalties: {penalties}."
    words = f"Seat {position['to_move']} to move"
    if position.get("owes_play"):
        words += ", owes a play for its double"
    if position.get("drew"):
        words += ", has drawn"
    return words + (_train_duty(position) if tree is None else _foot_duty(tree)) + "."


def _train_duty(position: Mapping[str, Any]) -> str:
    pending = position.get("pending", [])
    if not pending or position.get("owes_play"):
        return ""
    whose = "the Mexican Train" if pending[0] == MEXICAN else f"the train of seat {pending[0]}"
    return f"; must cover the double on {whose} (◆1)"


def _foot_duty(tree: Tree) -> str:
    if arms := tree.missing(CENTRE):
        places = f"{arms} {'arm' if arms == 1 else 'arms'}"
        return f"; the centre comes first, {places} to go, by {tree.table.centre}"
    if tree.table.foot is None:
        return ""
    toes = tree.missing(tree.table.foot)
    return (
        f"; the open foot needs {toes} {'toe' if toes == 1 else 'toes'}, by {tree.table.foot_pip}"
    )
