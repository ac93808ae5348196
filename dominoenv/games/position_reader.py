"""Takes values out of a position, each checked: what the reading of every game is made of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dominoenv.core.tiles import add_tiles
from dominoenv.core.types import State
from dominoenv.errors import PositionError


class PositionReader:
    """Takes values out of a position, each checked; remembers which tiles have been seen.

    Every method raises PositionError naming key or place and what is wrong there.
    """

    def __init__(self, rules: Any, position: Mapping[str, Any]) -> None:
        self.rules = rules
        self.position = position
        self.where: dict[int, str] = {}  # tile -> where it lies

    def sequence(self, key: str, size: int | None = None, default: Any = None) -> list[Any]:
        """Return a list; size: how many entries it must have."""
        value = self.position.get(key, default)
        if not isinstance(value, list | tuple):
            raise PositionError(f"{key}={value!r} must be a list")
        if size is not None and len(value) != size:
            raise PositionError(f"{key} has {len(value)} entries; it needs {size}")
        return list(value)

    def number(self, key: str, low: int, high: int, default: Any = None) -> int:
        """Return a whole number in low ... high."""
        return self.checked(key, self.position.get(key, default), low, high)

    def checked(self, where: str, value: Any, low: int, high: int) -> int:
        """Return a value that is a whole number in low ... high; where: it stands."""
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise PositionError(f"{where}={value!r} must be a whole number in {low} ... {high}")
        return value

    def flag(self, key: str) -> bool:
        """Return True or False; False where the key is missing."""
        value = self.position.get(key, False)
        if not isinstance(value, bool):
            raise PositionError(f"{key}={value!r} must be true or false")
        return value

    def numbers(self, key: str, low: int, high: int, default: int) -> list[int]:
        """One number for each seat."""
        players = self.rules.players
        values = self.sequence(key, players, [default] * players)
        return [self.checked(f"{key}[{i}]", value, low, high) for i, value in enumerate(values)]

    def tile(self, text: Any, where: str) -> int:
        """Return the id of a tile, and note where it lies."""
        try:
            tile = self.rules.tiles.parse(text)
        except PositionError as error:
            raise PositionError(f"{where}: {error}") from None
        return self.lay(tile, where)

    def lay(self, tile: int, where: str) -> int:
        """Note where a tile lies; it can lie in one place only."""
        if tile in self.where:
            name = self.rules.tiles.text(tile)
            raise PositionError(f"{name} lies in {self.where[tile]} and in {where}")
        self.where[tile] = where
        return tile

    def tiles(self, texts: Any, where: str) -> list[int]:
        """Return the ids of a list of tiles, and note where they lie."""
        if not isinstance(texts, list | tuple):
            raise PositionError(f"{where}={texts!r} must be a list of tiles")
        return [self.tile(text, where) for text in texts]

    def lay_middle(self, g: State, key: str) -> int:
        """Lay the round's double into the middle; return its pip."""
        pip = self.number(key, 0, self.rules.max_pip)
        add_tiles(g["table"], [self.lay(int(self.rules.tiles.ids[pip, pip]), key)])
        return pip
