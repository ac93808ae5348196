"""The data of the page: for each round the table, and what every move changes.

`Frames` collects it during the one replay that verifies a record.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dominoenv.games.match_play import MatchPlay
from dominoenv.games.registry import kind_of
from dominoenv.records.annotations import Annotation, for_people, mistakes
from dominoenv.records.format import ANNOTATIONS, Record
from dominoenv.replay.board_svg import round_svg

# What the page shows of a position, besides the tiles on the table.
SHOWN = ("to_move", "hands", "boneyard", "drew", "scores", "penalties")
Change = list[Any]  # ["=", path, value], ["-", path] or ["x", path, index]; path: list of keys


class Frames:
    """Called after the deal of each round and after every move; `data` returns the page's data."""

    def __init__(self) -> None:
        self._rounds: list[_Round] = []

    def __call__(self, game: MatchPlay) -> None:
        """Store the current position of a game."""
        if not game.moves:
            self._rounds.append(_Round(game))
        else:
            self._rounds[-1].moved(game)

    def data(self, record: Record) -> dict[str, Any]:
        """Return the match as the plain JSON values that `app.js` reads."""
        rounds = self._rounds[-len(record.rounds) :]
        kept = [line.get(ANNOTATIONS, [None] * len(line["moves"])) for line in record.rounds]
        for one, beside, flags in zip(rounds, kept, _mistakes(rounds, kept), strict=True):
            one.annotate(beside, flags)
        return {
            "game": kind_of(record.rules).title,
            "rules": str(record.rules),
            "players": record.labels,
            "places": _places(record),
            "rounds": [one.data() for one in rounds],
            "result": record.result,
        }


def _places(record: Record) -> dict[str, str]:
    """Return the targets of moves in words, by the text after their @."""
    names, table = dict(enumerate(record.labels)), kind_of(record.rules).table
    moves = {move for line in record.rounds for move in line["moves"] if "@" in move}
    places = sorted({move.split("@")[1] for move in moves})
    return {place: table.place_text(record.rules, place, names) for place in places}


def shown(game: MatchPlay) -> dict[str, Any]:
    """Return what the page shows of a position.

    `marked`: names of marked trains; `waiting`: doubles to be covered or completed; `owes`, `duty`:
    what the seat to move owes, and what it must do, in words.
    """
    position = game.position()
    board = kind_of(game.rules).table.board(game.rules, position)
    return {
        **{key: position[key] for key in SHOWN if key in position},
        "marked": [train.name for train in board.trains if train.is_marked],
        "waiting": board.waiting_tiles(),
        "owes": "" if game.round_over else board.owes,
        "duty": "" if game.round_over else board.duty,
    }


def changes(before: Any, after: Any, path: tuple[Any, ...] = ()) -> Iterator[Change]:
    """Yield the changes from one JSON value to another, nested lists element by element."""
    if before == after:
        return
    if isinstance(before, dict) and isinstance(after, dict):
        yield from (["-", [*path, key]] for key in before if key not in after)
        for key, value in after.items():
            yield from changes(before.get(key), value, (*path, key))
    elif _are_lists(before, after) and len(before) == len(after):
        for i, (old, new) in enumerate(zip(before, after, strict=True)):
            yield from changes(old, new, (*path, i))
    elif _are_lists(before, after) and (place := _lost_one(before, after)) is not None:
        yield ["x", list(path), place]
    else:
        yield ["=", list(path), after]


def _are_lists(before: Any, after: Any) -> bool:
    return isinstance(before, list) and isinstance(after, list)


def _lost_one(before: list[Any], after: list[Any]) -> int | None:
    """Return the index of the one element that a list has lost; None for other changes."""
    if len(before) != len(after) + 1:
        return None
    pairs = enumerate(zip(before, after, strict=False))
    place = next((i for i, (old, new) in pairs if old != new), len(after))
    return place if before[place + 1 :] == after[place:] else None


class _Round:
    """The data of one round."""

    def __init__(self, game: MatchPlay) -> None:
        self._index, self.start = game.round, shown(game)
        middle = kind_of(game.rules).table.board(game.rules, game.position()).middle
        self._middle = "" if middle is None else f"{max(middle)}-{min(middle)}"
        self.steps: list[dict[str, Any]] = []
        self._next(game, self.start)

    def _next(self, game: MatchPlay, now: dict[str, Any]) -> None:
        """Store who is to move; at the end, the final position."""
        self._now = now
        self._open = {"seat": game.to_move, "legal": game.legal_moves()}
        if game.round_over:
            self._end = game.position()

    def moved(self, game: MatchPlay) -> None:
        """Store a move."""
        before, after = self._now, shown(game)
        step = {**self._open, "move": game.moves[-1], "changes": list(changes(before, after))}
        self.steps.append(step)
        self._next(game, after)

    def annotate(self, beside: list[Annotation | None], flags: list[bool]) -> None:
        """Add the annotations of the moves, and mark mistakes."""
        for step, annotation, is_mistake in zip(self.steps, beside, flags, strict=True):
            if annotation is not None:
                step["annotation"] = for_people(annotation)
            if is_mistake:
                step["mistake"] = 1

    def data(self) -> dict[str, Any]:
        return {
            "round": self._index,
            "middle": self._middle,
            "blocked": int(all(self._end["hands"])),
            "start": self.start,
            "steps": self.steps,
            "svg": round_svg(self._end),
        }


def _mistakes(rounds: list[_Round], kept: list[list[Annotation | None]]) -> Iterator[list[bool]]:
    """Yield the mistakes of each round; the usual stake is that of the whole match."""
    steps = [(step["seat"], step["move"]) for one in rounds for step in one.steps]
    flags = iter(mistakes(steps, [one for of_round in kept for one in of_round]))
    for one in rounds:
        yield [next(flags) for _ in one.steps]
