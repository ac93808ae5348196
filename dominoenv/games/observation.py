"""`Observation`: one row of numbers as plain Python values by name, for agents written by hand."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dominoenv.core.layout import Layout
from dominoenv.core.observe import shared_values
from dominoenv.core.rules import Rules
from dominoenv.errors import DominoError, nearest
from dominoenv.games.registry import kind_of


class Move(NamedTuple):
    """A legal move, as its seat sees it: seats are relative, 0 is its own."""

    action: int
    """The action id, which `act` returns and `step` takes."""
    text: str
    """Such as `9-4@0` (onto the own train), `9-4@M`, `9-4@9` (Chicken Foot: by its 9), `draw`."""
    tile: str | None
    """The tile, `9-4`; None where none is played."""
    place: int | str | None
    """Where it goes, 0, "M" or 9 above: in Mexican Train a key of `Observation.ends`."""

    @property
    def pips(self) -> tuple[int, ...]:
        """Both pips of the tile, the high one first; none where none is played."""
        return tuple(map(int, self.tile.split("-"))) if self.tile else ()


class Observation:
    """What a seat may know at one decision, by name, as plain Python values.

    Seats are relative: 0 is the viewer, 1 the next clockwise, and so on. Besides the attributes
    below it has those of the game, which `print` shows; `docs/observations.md` explains them all.
    """

    hand: list[str]
    """The viewer's tiles: `["9-4", ...]`."""
    table: list[str]
    """The tiles on the table."""
    unseen: list[str]
    """All others: in other hands or in the boneyard."""
    hand_sizes: list[int]
    """The number of tiles in each hand, the viewer's first."""
    voids: list[list[int]]
    """For each seat the pips that it provably holds no tile of; the viewer's own list is empty."""
    boneyard: int
    """The number of tiles left in the boneyard."""
    to_move: int
    """Whose turn it is; 0 where the viewer has to decide."""
    drew: bool
    """Whether the seat to move has drawn and may not draw again."""
    passes: int
    """Passes in a row that ended with an empty boneyard."""
    round: int
    """Rounds of the match already played."""
    behind: list[int]
    """Points of each seat above the lowest total, at most 255, the viewer first."""

    def __init__(self, rules: Rules, row: NDArray[Any]) -> None:
        """Read one row.

        row: L entries, uint8 as `BatchedGame` and `Game` give them, or floats in [0, 1] as
        environments do. Raises DominoError for any other.
        """
        self._rules = rules
        layout = _layout(rules)
        raw = layout.raw(np.reshape(row, -1)).tolist()
        parts = {part.name: raw[part.slice] for part in layout.parts}
        self.__dict__ |= {name: one[0] if len(one) == 1 else one for name, one in parts.items()}
        self.__dict__ |= shared_values(rules, parts) | kind_of(rules).observe.plain_values(
            rules, parts
        )

    def legal_moves(self, mask: NDArray[Any]) -> list[Move]:
        """Return the legal moves by action id; mask: A entries, 1 = legal, of the viewer.

        Raises DominoError for a mask of another length.
        """
        moves, flags = _moves(self._rules), np.reshape(mask, -1)
        if len(flags) != len(moves):
            raise DominoError(f"the mask has {len(flags)} entries, not {len(moves)}")
        return [moves[action] for action in flags.nonzero()[0]]

    def __getattr__(self, name: str) -> Any:
        """Say what there is: called for attributes that do not exist."""
        known = [own for own in self.__dict__ if not own.startswith("_")]
        raise AttributeError(f"{name!r} of the observation: {nearest(name, known)}")

    def __repr__(self) -> str:
        values = (f"{name}={value!r}" for name, value in self._values())
        return f"Observation({', '.join(values)})"

    def __str__(self) -> str:
        """Return one line for each value."""
        return "\n".join(f"{name}: {value!r}" for name, value in self._values())

    def _values(self) -> list[tuple[str, Any]]:
        return [(name, value) for name, value in vars(self).items() if not name.startswith("_")]


@lru_cache(maxsize=32)
def _layout(rules: Rules) -> Layout:
    return kind_of(rules).observe.layout(rules)


@lru_cache(maxsize=32)
def _moves(rules: Rules) -> list[Move]:
    """Return all moves of seat 0; its texts say how any seat sees its own."""
    observe = kind_of(rules).observe
    texts = [observe.action_text(rules, 0, action) for action in range(observe.num_actions(rules))]
    tiles = observe.action_tiles(rules).tolist()
    return [_move(rules, *both) for both in enumerate(zip(texts, tiles, strict=True))]


def _move(rules: Rules, action: int, what: tuple[str, int]) -> Move:
    text, tile = what
    place = text.partition("@")[2]
    where = int(place) if place.isdigit() else place or None
    return Move(action, text, rules.tiles.text(tile) if tile >= 0 else None, where)
