"""What the page knows of a match: for each round the table, and what changes with every move."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dominoenv.advice import Advice, mistakes
from dominoenv.deals import dealt_position
from dominoenv.game import Game
from dominoenv.positions import FootTable
from dominoenv.records import MATCH, MIDDLE, Record
from dominoenv.replay.table import round_svg
from dominoenv.rules import Rules

# What a page shows of a position, beside the tiles on the table.
SHOWN = (
    *("to_move", "hands", "boneyard", "drew", "scores", "penalties"),
    *("markers", "pending", "owes_play", "foot"),
)
Change = list[Any]  # ["=", path, value], ["-", path] or ["x", path, index]; a path is keys


def replay_data(record: Record) -> dict[str, Any]:
    """Return the match as plain JSON values, as `app.js` takes them."""
    dealt = zip(record.rounds, games(record), strict=True)
    rounds = [_Round(record.rules, line, game) for line, game in dealt]
    for one, flags in zip(rounds, _mistakes(rounds), strict=True):
        for step, is_mistake in zip(one.steps, flags, strict=True):
            if is_mistake:
                step["mistake"] = 1
    return {
        "game": record.header["game"],
        "rules": str(record.rules),
        "players": record.players,
        "rounds": [one.data() for one in rounds],
        "result": record.result,
    }


def games(record: Record) -> Iterator[Game]:
    """Yield a game at the deal of each round; the record has been verified."""
    scores: list[int] | None = None
    for line in record.rounds:
        yield Game.from_position(dealt_position(record.rules, line, scores))
        if record.header.get("episode", MATCH) == MATCH:
            scores = line["scores"]


def shown(game: Game) -> dict[str, Any]:
    """Return what the page shows of a position; `foot`: the double that waits for toes."""
    position = game.position()
    if "table" in position and (foot := _open_foot(game.rules, position)):
        position["foot"] = foot
    return {key: position[key] for key in SHOWN if key in position}


def _open_foot(rules: Rules, position: dict[str, Any]) -> str | None:
    """Return the double that waits for toes, or None."""
    table, entries = FootTable(rules, position["centre"]), position["table"]
    for text, *where in entries:
        entry = where[0] if where else -1
        table.join(rules.tiles.parse(text), table.pip_of(entry), entry)
    return None if table.foot is None else str(entries[table.foot][0])


def changes(before: Any, after: Any, path: tuple[Any, ...] = ()) -> Iterator[Change]:
    """Yield what makes one JSON value of another, lists of lists element by element."""
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
    """Return the place of the one element that a list has lost; None if it is no such list."""
    if len(before) != len(after) + 1:
        return None
    pairs = enumerate(zip(before, after, strict=False))
    place = next((i for i, (old, new) in pairs if old != new), len(after))
    return place if before[place + 1 :] == after[place:] else None


class _Round:
    """One round, replayed; `game` stands at its deal before, and at its end after."""

    def __init__(self, rules: Rules, line: dict[str, Any], game: Game) -> None:
        self.line, self.rules, self.game = line, rules, game
        self.start = shown(game)
        self.steps = list(self._steps())

    def _steps(self) -> Iterator[dict[str, Any]]:
        before = self.start
        moves = self.line["moves"]
        for move, advice in zip(moves, self.line.get("policy", [None] * len(moves)), strict=True):
            step = {"seat": self.game.to_move, "move": move, "legal": self.game.legal_moves()}
            if advice is not None:
                step["advice"] = advice
            self.game.push(move)
            after = shown(self.game)
            yield {**step, "changes": list(changes(before, after))}
            before = after

    def data(self) -> dict[str, Any]:
        position = self.game.position()
        return {
            "round": self.line["round"],
            "double": self.line[MIDDLE[self.rules.game]],
            "blocked": int(all(position["hands"])),
            "start": self.start,
            "steps": self.steps,
            "svg": round_svg(position),
        }


def _mistakes(rounds: list[_Round]) -> Iterator[list[bool]]:
    """Yield the mistakes of each round; what is usually at stake is that of the whole match."""
    steps = [step for one in rounds for step in one.steps]
    advice: list[Advice | None] = [step.get("advice") for step in steps]
    flags = iter(mistakes([(step["seat"], step["move"]) for step in steps], advice))
    for one in rounds:
        yield [next(flags) for _ in one.steps]
