"""Deals as records tell them: which there can be, and the position that play begins from.

What comes out of a file is checked here for its form; the position checks the tiles.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from dominoenv.errors import RecordError
from dominoenv.records import BEGINNER, MIDDLE, shortened
from dominoenv.rules import MexicanTrainRules, Rules
from dominoenv.tiles import DominoSet


def dealt_position(rules: Rules, line: dict[str, Any], scores: list[int] | None) -> dict[str, Any]:
    """Return the position after a deal; RecordError for one that the rules do not give."""
    middle, beginner = MIDDLE[rules.game], BEGINNER[rules.game]
    begun_by = whole("", beginner, line[beginner], 0, rules.players - 1)
    pip = whole("", middle, line[middle], 0, rules.max_pip)
    sizes = _hand_sizes(rules, line["hands"])
    position = {
        "game": rules.game,
        "rules": rules,
        middle: pip,
        "to_move": begun_by,
        "hands": line["hands"],
        "boneyard": line["boneyard"],
        "round": line["round"],
        "scores": scores or [0] * rules.players,
    }
    if isinstance(rules, MexicanTrainRules):
        if pip != rules.rounds[line["round"]]:
            raise RecordError(f"engine={pip}, but this round's is {rules.rounds[line['round']]}")
        position["to_move"] = _first_to_move(rules, begun_by, sizes)
        empty = [[] for _ in range(rules.players)]  # type: list[list[str]]
        nobody = [0] * rules.players
        return {**position, "trains": empty, "mexican_train": [], "turns_taken": nobody}
    wanted = [rules.hand_size - (seat == begun_by) for seat in range(rules.players)]
    _check_sizes(rules, sizes, wanted)
    return {**position, "to_move": (begun_by + 1) % rules.players, "table": []}


def _hand_sizes(rules: Rules, hands: Any) -> list[int]:
    if not isinstance(hands, list) or not all(isinstance(hand, list) for hand in hands):
        raise RecordError(f"hands={shortened(hands)} must be a list of hands, each a list of tiles")
    if len(hands) != rules.players:
        raise RecordError(f"hands has {len(hands)} hands for {rules.players} players")
    return [len(hand) for hand in hands]


def _first_to_move(rules: MexicanTrainRules, starter: int, sizes: list[int]) -> int:
    """Return who moves first; hands have the sizes of a deal.

    The starter; where the engine is dealt, the seat after the one that laid it. If nobody held it,
    seats drew in turn from the starter on, the last of them the engine.
    """
    players, wanted = rules.players, [rules.hand_size] * rules.players
    if rules.engine_tile == "set_aside":
        first = starter
    else:
        drawn = max(sum(sizes) - sum(wanted) + 1, 0)
        for i in range(drawn):
            wanted[(starter + i) % players] += 1
        layer = (starter + drawn - 1) % players if drawn else sizes.index(min(sizes))
        wanted[layer] -= 1
        first = (layer + 1) % players
    _check_sizes(rules, sizes, wanted)
    return first


def check_lead(rules: Rules, line: dict[str, Any], where: str) -> None:
    """Check that the centre is the first double of the search that any hand held."""
    tiles, centre = rules.tiles, line["centre"]
    held = {tile_of(tiles, text) for hand in line["hands"] for text in hand}
    for pip in lead_order(rules.rounds[line["round"]], rules.max_pip):
        if pip == centre:
            return
        if int(tiles.ids[pip, pip]) in held:
            raise RecordError(
                f"{where}: centre={centre}, but {pip}-{pip} is in a hand and leads before it"
            )


def lead_order(wanted: int, max_pip: int) -> list[int]:
    """Return which doubles lead, first to last; a plain twin of the kernel's search."""
    if wanted == 1:
        return [*range(1, max_pip + 1), 0]
    return [*range(wanted, -1, -1), *range(wanted + 1, max_pip + 1)]


def _check_sizes(rules: Rules, sizes: list[int], wanted: list[int]) -> None:
    if sizes != wanted:
        raise RecordError(
            f"hands of {', '.join(map(str, sizes))} tiles are no deal of {rules.hand_size} each"
        )


def high_first(rules: Rules, line: dict[str, Any]) -> dict[str, Any]:
    """Return the tiles of a round's line, each written high pip first."""
    tiles = rules.tiles
    hands, boneyard = line["hands"], line["boneyard"]
    return {
        "hands": [[_name(tiles, text) for text in hand] for hand in hands],
        "boneyard": [_name(tiles, text) for text in boneyard],
    }


@lru_cache(maxsize=4096)
def tile_of(tiles: DominoSet, text: str) -> int:
    """Return the id of a tile that has been parsed before."""
    return tiles.parse(text)


@lru_cache(maxsize=4096)
def _name(tiles: DominoSet, text: str) -> str:
    """Return a tile high pip first; it has been parsed before."""
    return tiles.text(tiles.parse(text))


def whole(where: str, key: str, value: Any, low: int, high: int) -> int:
    """Return a whole number in its limits, or raise RecordError; where: "" if it is added later."""
    if type(value) is not int or not low <= value <= high:
        at = f"{where}: " if where else ""
        raise RecordError(
            f"{at}{key}={shortened(value)} must be a whole number in {low} ... {high}"
        )
    return value
