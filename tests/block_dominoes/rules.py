"""The rules of a Block or Draw dominoes table: options, presets, hand sizes."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Any, ClassVar

from dominoenv.core.options import option, whole_number
from dominoenv.core.rules import MIN_SEATS, Rules
from dominoenv.errors import RulesError

MOST_SEATS, USUAL_HAND = 4, 7


class Draws(IntEnum):
    """What a seat does that cannot play."""

    BLOCK = 0  # it passes; the boneyard stays where it is
    DRAW = 1  # it draws until it can play or the boneyard is empty


@dataclass(frozen=True, eq=False, kw_only=True)
class BlockDominoesRules(Rules):
    """The rules of a Block or Draw dominoes table.

    Seat 0 begins the first round with any tile, the next seat clockwise the second one, and so on.
    A round ends when a hand is empty or every seat has passed in a row; each seat pays the pips
    left in its hand. There is no double in the middle: of `rounds` only the number counts.
    """

    players: int = option(2, low=MIN_SEATS, high=MOST_SEATS)
    max_pip: int = option(6)
    draws: str = option("block", Draws)
    """What a seat does that cannot play."""

    game = "block_dominoes"
    presets: ClassVar[dict[str, dict[str, Any]]] = {"block": {}, "draw": {"draws": "draw"}}

    def __post_init__(self) -> None:
        super().__post_init__()
        whole_number("players", self.players, MIN_SEATS, MOST_SEATS)

    @property
    def draws_from_boneyard(self) -> bool:
        """Whether a seat that cannot play draws as long as there are tiles."""
        return self.draws == "draw"

    def check_decisions(self) -> None:
        """Raise RulesError where whoever leads goes out by leading."""
        if self.hand_size == 1:
            raise RulesError("hand_size=1: whoever leads goes out, so there is nothing to decide")

    def _usual_hand_size(self) -> int:
        return min(USUAL_HAND, self.tiles.size // self.players)
