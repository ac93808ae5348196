"""The rules of a Mexican Train table: options, presets, hand sizes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Any, ClassVar, Self

from dominoenv.core.options import option, whole_number
from dominoenv.core.rules import MAX_SEATS, MIN_SEATS, Dead, Rules
from dominoenv.core.tiles import MAX_TILES
from dominoenv.errors import RulesError

UNLIMITED = MAX_TILES  # max_doubles_per_turn=None, for the kernels
SEED = "seed"  # first_starter: drawn from the match's seed
DRAWN_STARTER = -1  # the same, for the kernels


class EngineTile(IntEnum):
    """Whether the round's double is laid before the deal or dealt with the rest."""

    SET_ASIDE = 0
    DEALT = 1


class FirstTurn(IntEnum):
    """Where a seat may play in its first turn."""

    ANY = 0
    OWN_TRAIN = 1


class Blocked(IntEnum):
    """How a round ends that nobody can win."""

    LAP = 0
    NO_PLAY = 1


class DoubleFollowup(IntEnum):
    """Where the play goes that a double owes."""

    ANYWHERE = 0
    COVER_IF_POSSIBLE = 1
    NONE = 2


class Draws(IntEnum):
    """How often a seat draws that cannot play."""

    PER_PLAY = 0
    PER_TURN = 1


class Opening(IntEnum):
    """What a seat lays in its first turn."""

    ONE_TILE = 0
    WHOLE_TRAIN = 1


# Hand sizes by set and table, for 2, 3, 4 ... seats.
HANDS: dict[str, dict[int, tuple[int, ...]]] = {
    "house": {9: (15, 15, 11, 9, 8, 7, 6), 12: (16, 16, 15, 14, 12, 10, 9)},
    "published": {9: (15, 13, 10, 9, 8, 7, 6), 12: (16, 16, 15, 14, 12, 10, 9)},
    "station": {12: (12, 12, 12, 12, 12, 10, 10, 8, 8)},
    "pagat": {12: (15, 15, 15, 12, 12, 10, 10, 8, 8)},
}
MAX_HAND, MIN_HAND, MIN_BONEYARD = 16, 3, 5  # where no table says


@dataclass(frozen=True, eq=False, kw_only=True)
class MexicanTrainRules(Rules):
    """The rules of a Mexican Train table. Docs: `docs/rules.md`.

    Presets: `engine` (the engine set aside, double-9), `station` (the engine dealt, double-12, own
    train first), `pagat` and `tournament`.
    """

    hand_table: str = option("house", tuple(HANDS), in_record=False)
    """Where hand sizes come from when `hand_size` is left out."""
    engine_tile: str = option("set_aside", EngineTile)
    """Whether the round's double is laid before the deal or dealt with the rest."""
    first_starter: int | str = option(0, high=MAX_SEATS - 1, named={SEED: DRAWN_STARTER})
    """Starter of the first round: a seat, or "seed" to draw it. Later rounds go on clockwise."""
    first_turn: str = option("any", FirstTurn)
    blocked: str = option("lap", Blocked)
    """How a round ends that nobody can win."""
    dead_double: str = option("released", Dead)
    """What becomes of a pending double that can never be covered."""
    double_followup: str = option("anywhere", DoubleFollowup)
    max_doubles_per_turn: int | None = option(None, low=1, high=UNLIMITED, named={None: UNLIMITED})
    draws: str = option("per_play", Draws)
    go_out_on_double: bool = option(True)
    opening: str = option("one_tile", Opening)
    own_train_first: bool = option(False)

    game = "mexican_train"
    presets: ClassVar[dict[str, dict[str, Any]]] = {
        "engine": {},
        "station": {
            "max_pip": 12,
            "hand_table": "station",
            "engine_tile": "dealt",
            "first_turn": "own_train",
            "blocked": "no_play",
        },
        "pagat": {"max_pip": 12, "hand_table": "pagat", "engine_tile": "dealt"},
        "tournament": {
            "double_followup": "cover_if_possible",
            "max_doubles_per_turn": 1,
            "go_out_on_double": False,
        },
    }

    def __post_init__(self) -> None:
        starter = self.first_starter
        if isinstance(starter, str) and starter != SEED:
            raise RulesError(f"first_starter={starter!r} must be a seat or {SEED!r}")
        super().__post_init__()
        if starter != SEED:
            whole_number("first_starter", starter, 0, self.players - 1)

    @property
    def starter_is_drawn(self) -> bool:
        """Whether the match's seed decides who starts its first round."""
        return self.first_starter == SEED

    def with_drawn_starter(self) -> Self:
        """Return the rules with the starter drawn from the seed."""
        return replace(self, first_starter=SEED)

    @property
    def dealt_tiles(self) -> int:
        """How many tiles there are to deal from: all but an engine that was set aside."""
        return self.tiles.size - (self.engine_tile == "set_aside")

    def _usual_hand_size(self) -> int:
        table = HANDS[self.hand_table].get(self.max_pip, ())
        if self.players - MIN_SEATS < len(table):
            return table[self.players - MIN_SEATS]
        spare = self.dealt_tiles - max(self.players, MIN_BONEYARD)
        hand_size = min(MAX_HAND, spare // self.players)
        if hand_size < MIN_HAND:
            raise RulesError(
                f"players={self.players} are too many for the double-{self.max_pip} set: its "
                f"{self.dealt_tiles} tiles give hands of {max(hand_size, 0)}, and "
                f"{MIN_HAND} is the least; take a larger set, or give hand_size yourself"
            )
        return hand_size
