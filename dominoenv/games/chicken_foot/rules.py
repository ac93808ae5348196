"""The rules of a Chicken Foot table: options, presets, hand sizes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from dominoenv.core.options import option, whole_number
from dominoenv.core.rules import MIN_SEATS, Dead, Rules
from dominoenv.core.tiles import MAX_PIPS
from dominoenv.errors import RulesError

HANDS = {9: (20, 15, 11, 9, 8, 7, 6)}
SPARE, MIN_HAND, MAX_HAND = 13, 4, 20


@dataclass(frozen=True, eq=False, kw_only=True)
class ChickenFootRules(Rules):
    """The rules of a Chicken Foot table. Docs: `docs/rules.md`.

    Presets: `chicken_foot` and `pagat` (four arms, no bonus for going out).
    """

    double_blank: int = option(50, low=0, high=1000, in_record=False)
    """What [0|0] costs in a hand."""
    centre_arms: int = option(6, low=1, high=MAX_PIPS)
    """Tiles that must join the centre before anything else is played."""
    toes: int = option(3, low=1, high=MAX_PIPS)
    """Tiles that a double needs before anything else is played."""
    dead_foot: str = option("binds", Dead)
    """What becomes of a foot that can never be completed."""
    out_bonus: int = option(-5, low=-1000, high=1000)
    """Penalty of the seat that goes out."""
    foot_out_bonus: int = option(-10, low=-1000, high=1000)
    """The same when a foot was open at that moment."""

    game = "chicken_foot"
    presets: ClassVar[dict[str, dict[str, Any]]] = {
        "chicken_foot": {},
        "pagat": {"centre_arms": 4, "out_bonus": 0, "foot_out_bonus": 0},
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        whole_number("centre_arms", self.centre_arms, 1, self.max_pip)
        whole_number("toes", self.toes, 1, self.max_pip - 1)

    def check_decisions(self) -> None:
        """Raise RulesError where whoever leads goes out by leading."""
        if self.hand_size == 1:
            raise RulesError("hand_size=1: whoever leads goes out, so there is nothing to decide")

    @property
    def _last_round(self) -> int:
        return 1

    def _usual_hand_size(self) -> int:
        table = HANDS.get(self.max_pip, ())
        if self.players - MIN_SEATS < len(table):
            return table[self.players - MIN_SEATS]
        shared = (self.tiles.size - SPARE) // self.players
        hand_size = min(max(shared, MIN_HAND), MAX_HAND)
        if hand_size * self.players > self.tiles.size:
            raise RulesError(
                f"players={self.players} are too many for the double-{self.max_pip} set: hands of "
                f"{hand_size}, the least, need {hand_size * self.players} tiles and it has "
                f"{self.tiles.size}; take a larger set, or give hand_size yourself"
            )
        return hand_size
