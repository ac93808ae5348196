"""Tiles as tuples (high, low), their texts, sets and pips (docs/formats.md, "Tiles and moves")."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any

Tile = tuple[int, int]  # (high, low)


def full_set(max_pip: int) -> list[Tile]:
    """All tiles of the double-N set in the order of their ids: 0-0, 1-0 … N-0, 1-1, 2-1 …"""
    return [(high, low) for low in range(max_pip + 1) for high in range(low, max_pip + 1)]


def parse_tile(text: str) -> Tile:
    """Reads `9-4` or `4-9`."""
    a, b = (int(part) for part in text.split("-"))
    return (max(a, b), min(a, b))


def tile_text(tile: Tile) -> str:
    return f"{tile[0]}-{tile[1]}"


def move_text(tile: Tile, place: int | str) -> str:
    return f"{tile_text(tile)}@{place}"


def parse_move(move: str) -> tuple[Tile, str]:
    """Splits a play `9-4@M` into its tile and the place after the @."""
    tile, place = move.split("@")
    return parse_tile(tile), place


def normal_text(move: str) -> str:
    """The same move with the tile's high pip first; what is no play stays as it is."""
    try:
        return move_text(*parse_move(move))
    except ValueError:
        return move


def by_id(tiles: Iterable[Tile]) -> list[Tile]:
    """Sorted in the order of the tile ids."""
    return sorted(tiles, key=lambda tile: (tile[1], tile[0]))


def is_double(tile: Tile) -> bool:
    return tile[0] == tile[1]


def other_pip(tile: Tile, pip: int) -> int:
    """The pip at the other half of a tile that has `pip`; ValueError if it has not."""
    if pip not in tile:
        raise ValueError(f"tile {tile_text(tile)} does not join pip {pip}")
    return tile[1] if tile[0] == pip else tile[0]


def hand_penalty(hand: Iterable[Tile], double_blank: int) -> int:
    """Mexican Train rule 11, Chicken Foot rule 7: the pips left; 0-0 has a price of its own."""
    return sum(double_blank if tile == (0, 0) else tile[0] + tile[1] for tile in hand)


def all_on_table(pip: int, table: Iterable[Tile], max_pip: int) -> bool:
    """Whether all N+1 tiles of a pip lie on the table (Mexican Train rule 8, Chicken Foot 5)."""
    return sum(pip in tile for tile in table) == max_pip + 1


def check_distinct(tiles: list[Tile], max_pip: int) -> None:
    """ValueError for a tile that stands twice in a position or is not in the set."""
    for tile in tiles:
        if tiles.count(tile) > 1:
            raise ValueError(f"tile {tile_text(tile)} stands twice in the position")
        if not 0 <= tile[1] <= tile[0] <= max_pip:
            raise ValueError(f"tile {tile_text(tile)} is not in the double-{max_pip} set")


def once_a_move(method: Callable[..., Any]) -> Callable[..., Any]:
    """Remember what a method of a round says until the round forgets: `self.memo.clear()`."""

    @wraps(method)
    def remembered(self: Any, *args: Any) -> Any:
        key = (method.__name__, *args)
        if key not in self.memo:
            self.memo[key] = method(self, *args)
        return self.memo[key]

    return remembered
