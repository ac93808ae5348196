"""Deals as records tell them: the pieces of their checks that all games share.

What comes out of a file is checked here for its form; the position checks the tiles.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from dominoenv.core.rules import Rules
from dominoenv.core.tiles import DominoSet
from dominoenv.errors import RecordError, shortened


def shared_position(
    rules: Rules, line: dict[str, Any], scores: list[int] | None, to_move: int
) -> dict[str, Any]:
    """Return the keys of the position after a deal that all games have."""
    return {
        "game": rules.game,
        "rules": rules,
        "to_move": to_move,
        "hands": line["hands"],
        "boneyard": line["boneyard"],
        "round": line["round"],
        "scores": scores or [0] * rules.players,
    }


def hand_sizes(rules: Rules, hands: Any) -> list[int]:
    """Return the size of each hand of a deal, or raise RecordError."""
    if not isinstance(hands, list) or not all(isinstance(hand, list) for hand in hands):
        raise RecordError(f"hands={shortened(hands)} must be a list of hands, each a list of tiles")
    if len(hands) != rules.players:
        raise RecordError(f"hands has {len(hands)} hands for {rules.players} players")
    return [len(hand) for hand in hands]


def check_sizes(rules: Rules, sizes: list[int], wanted: list[int]) -> None:
    """Raise RecordError for hands of other sizes than wanted."""
    if sizes != wanted:
        raise RecordError(
            f"hands of {', '.join(map(str, sizes))} tiles are no deal of {rules.hand_size} each"
        )


@lru_cache(maxsize=4096)
def tile_of(tiles: DominoSet, text: str) -> int:
    """Return the id of a tile that has been parsed before."""
    return tiles.parse(text)


def whole(where: str, key: str, value: Any, low: int, high: int) -> int:
    """Return a whole number in its limits, or raise RecordError; where: "" if it is added later."""
    if type(value) is not int or not low <= value <= high:
        at = f"{where}: " if where else ""
        raise RecordError(
            f"{at}{key}={shortened(value)} must be a whole number in {low} ... {high}"
        )
    return value
