"""Deals in records: dealt from a seed, and a line's tiles in their canonical form."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from dominoenv.core.rules import Rules
from dominoenv.core.tiles import DominoSet, tiles_of
from dominoenv.games import stepping
from dominoenv.games.registry import kind_of


def dealt_round(rules: Rules, seed: int, match: int, index: int) -> dict[str, Any]:
    """Deal a round as the engine does; return the part of its line before the moves."""
    states = np.zeros(1, kind_of(rules).state)
    states["seed"], states["match"], states["round"] = seed, match, index
    stepping.deal_games(states, rules.record)
    g, text, deal = states[0], rules.tiles.text, kind_of(rules).deal
    hands = [tiles_of(g["hands"][seat])[::-1] for seat in range(rules.players)]
    return {
        "type": "round",
        "round": index,
        deal.MIDDLE: int(g[deal.MIDDLE]),
        deal.STARTER: int(g["starter"]),
        "hands": [[text(tile) for tile in hand] for hand in hands],
        "boneyard": [text(tile) for tile in g["boneyard"][: g["boneyard_size"]][::-1]],
    }


def high_first(rules: Rules, line: dict[str, Any]) -> dict[str, Any]:
    """Return the tiles of a round's line, each with its high pip first."""
    tiles = rules.tiles
    hands, boneyard = line["hands"], line["boneyard"]
    return {
        "hands": [[_name(tiles, text) for text in hand] for hand in hands],
        "boneyard": [_name(tiles, text) for text in boneyard],
    }


@lru_cache(maxsize=4096)
def _name(tiles: DominoSet, text: str) -> str:
    """Return a tile with its high pip first; it has been checked before."""
    return tiles.text(tiles.parse(text))
