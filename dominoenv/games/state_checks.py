"""What a state record must fulfil so that kernels may work on it: ranges, and no tile twice.

Kernels are unchecked: a record from elsewhere that says "seat 12" makes them write where nothing
belongs to them. Letters: B games, P seats, K pips, T tiles.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dominoenv.core.arguments import as_array
from dominoenv.core.rules import Rules
from dominoenv.core.tiles import WORDS
from dominoenv.errors import DominoError
from dominoenv.games.protocol import Range
from dominoenv.games.registry import kind_of


def as_states(rules: Rules, states: object, number: int | None = None) -> NDArray[np.void]:
    """Return records of the rules' game (n,), or raise DominoError for what is none."""
    records = as_array("states", states)
    shape = (records.size if number is None else number,)
    if records.shape != shape or records.dtype != kind_of(rules).state:
        raise DominoError(
            f"states must be {'' if number is None else f'{number} '}records of {rules.game}, not "
            f"an array of shape {records.shape} with fields {records.dtype.names}"
        )
    return records


def check_states(rules: Rules, states: NDArray[np.void]) -> None:
    """Raise DominoError naming game and field for records (B,) that no game of the rules has.

    What is checked keeps kernels inside their arrays, and tiles in one place each. Whether a record
    was reached by legal play is not: that takes a replay.
    """
    for field, (low, high, size) in _ranges(rules).items():
        values = states[field] if size is None else states[field][:, :size]
        bad = (values < low) | (values > high)
        if bad.any():
            where = np.argwhere(bad)[0]
            raise DominoError(
                f"states: {field}={int(values[tuple(where)])} of game {int(where[0])} must lie in "
                f"{low} ... {high}"
            )
    _check_tiles(rules, states)


def _ranges(rules: Rules) -> dict[str, Range]:
    players, top, size = rules.players, rules.max_pip, rules.tiles.size
    own = kind_of(rules).state_module
    seats, pips, tiles = players - 1, (1 << top + 1) - 1, size - 1
    return {
        "match": (0, (1 << 63) - 1, None),
        "round": (0, len(rules.rounds) - 1, None),
        "starter": (0, seats, None),
        "to_move": (0, seats, None),
        "ending": (0, 2, None),
        "drew": (0, 2, None),
        "passes": (0, 2 * players, None),
        "boneyard_size": (0, size, None),
        "num_played": (0, size - own.TILES_IN_MIDDLE, None),
        "hand_sizes": (0, size, None),
        "voids": (0, pips, players),
        "boneyard": (0, tiles, None),
        "played": (0, tiles, None),
        **own.ranges(rules),
    }


def _check_tiles(rules: Rules, states: NDArray[np.void]) -> None:
    """Check that each tile of the set lies in one place at most, and sizes are what they count."""
    sets = np.concatenate([states["hands"], states["table"][:, None]], axis=1)
    lies = np.unpackbits(sets.astype("<u8").view(np.uint8), axis=-1, bitorder="little")
    places = lies.sum(1, dtype=np.int64)  # (B, 64 * WORDS) sets that hold each tile
    pile = np.arange(states["boneyard"].shape[1]) < states["boneyard_size"][:, None]
    game, at = pile.nonzero()
    np.add.at(places, (game, states["boneyard"][game, at]), 1)
    places[:, rules.tiles.size : 64 * WORDS] *= 2  # tiles that the set does not have
    counts = lies.sum(2, dtype=np.int64)  # (B, SEATS + 1)
    _refuse((places > 1).any(1), "a tile lies in two places, or is not of the set")
    _refuse((counts[:, :-1] != states["hand_sizes"]).any(1), "hand_sizes are not those of hands")
    _refuse(counts[:, rules.players : -1].any(1), "a seat that does not exist has a hand")
    laid = states["num_played"] + kind_of(rules).state_module.TILES_IN_MIDDLE
    _refuse(counts[:, -1] != laid, "num_played is not that of the table")


def _refuse(bad: NDArray[Any], what: str) -> None:
    if bad.any():
        raise DominoError(f"states: {what}, in game {int(bad.argmax())}")
