"""What a game must bring: `GameKind`, one object that names its rules, state and modules.

Everything outside of a game's folder goes through these; nothing there asks which game it is. The
modules are checked by type, and `tests/test_games.py` tries every function on every registered
game. Letters: B games, P seats, L entries of an observation, A actions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from dominoenv.core.board import Board
from dominoenv.core.layout import Layout
from dominoenv.core.observe import Parts
from dominoenv.core.rules import Rules
from dominoenv.core.types import Mask, Row, RulesRecord, State
from dominoenv.games.position_reader import PositionReader

Range = tuple[int, int, int | None]  # lowest, highest, entries that count (None: all, or a scalar)


class StateModule(Protocol):
    """`state.py`: the record of one game."""

    STATE: np.dtype[np.void]
    """Begins with the game's hot fields, then `ROUND_STATE` and `ROUND_STORE` (`core/round.py`)."""

    def ranges(self, rules: Any) -> dict[str, Range]:
        """Return what each own field may hold, so that kernels stay inside their arrays."""

    def unfinished(self, rules: Any, states: NDArray[np.void]) -> NDArray[np.int32]:
        """Return (B,) what play was bound to: FREE, BY_DOUBLE or BY_CENTRE (`core/round.py`)."""


class PlayModule(Protocol):
    """`play.py`: the rules as kernels of one state record and one rules record, unchecked."""

    def deal(self, g: State, r: RulesRecord) -> None:
        """Deal round g["round"] of match g["match"]."""

    def legal(self, g: State, r: RulesRecord, mask: Mask) -> tuple[int, int]:
        """Write the mask of legal actions; return how many there are, and one of them."""

    def is_legal(self, g: State, r: RulesRecord, action: int) -> bool:
        """Return whether an action, any integer, is legal now."""

    def apply(self, g: State, r: RulesRecord, action: int) -> None:
        """Carry out a legal action."""

    def end_if_blocked(self, g: State, r: RulesRecord) -> None:
        """End the round if nobody can play any more."""

    def random_action(self, g: State, r: RulesRecord) -> int:
        """Draw one of the legal actions from the stream in g["stream"], each equally likely."""

    def heaviest_action(self, g: State, r: RulesRecord) -> int:
        """Return the legal action of the heaviest tile, equals drawn from g["stream"]."""


class ObserveModule(Protocol):
    """`observe.py`: what a seat sees, and what its actions are called."""

    def layout(self, rules: Any) -> Layout:
        """Return the layout of an observation."""

    def view(self, g: State, r: RulesRecord, seat: int, row: Row) -> int:
        """Write what a seat may know, a kernel; return the length of the row."""

    def plain_values(self, rules: Any, parts: Parts) -> dict[str, Any]:
        """Return what `Observation` shows of a row otherwise than as numbers, by name.

        parts: the raw values of each part. Only of parts that this game alone has; those that all
        games share are known, and what is not named here appears as it stands in the row.
        """

    def num_actions(self, rules: Any) -> int:
        """Return A."""

    def action_text(self, rules: Any, seat: int, action: int) -> str:
        """Return a seat's action as text, such as `9-4@2`."""

    def action_tiles(self, rules: Any) -> NDArray[np.int16]:
        """Return (A,) the id of the tile that each action plays, -1 for draw, pass and the like."""


class PositionModule(Protocol):
    """`position.py`: the keys of a position that only this game has."""

    KEYS: tuple[str, ...]
    OPTIONAL: tuple[str, ...]
    """Those of KEYS that may be left out."""

    def write(self, rules: Any, g: State) -> dict[str, Any]:
        """Return those keys of a state record."""

    def read(self, reader: PositionReader, g: State) -> None:
        """Read them into a state record, checked. Raises PositionError."""

    def waits_for_draw(self, rules: Any, g: State, empty: list[int]) -> bool:
        """Return whether a round in which these hands are empty goes on all the same."""

    def out_bonus(self, rules: Any, g: State) -> int:
        """Return what the seat that went out is charged beside its empty hand."""


class DealModule(Protocol):
    """`deal.py`: what a record says of a deal, and how that is checked."""

    MIDDLE: str
    """The key of the pip in the middle, in records and in the state."""
    STARTER: str
    """The key of who began."""

    def dealt_position(
        self, rules: Any, line: dict[str, Any], scores: list[int] | None
    ) -> dict[str, Any]:
        """Return the position after a deal; RecordError for one that the rules do not give."""

    def check_start(
        self, rules: Any, line: dict[str, Any], earlier: Sequence[dict[str, Any]]
    ) -> None:
        """Raise RecordError where another seat, or another double, begins this round."""


class TableModule(Protocol):
    """`table.py`: what drawings and the replay page show."""

    def board(self, rules: Any, position: Mapping[str, Any]) -> Board:
        """Return what lies on the table of a position."""

    def place_text(self, rules: Any, place: str, names: Mapping[int, str]) -> str:
        """Return where a move goes, in words; names: of the seats."""


@dataclass(frozen=True)
class GameKind:
    """One game: its rules class and the modules of its folder."""

    rules: type[Rules]
    state_module: StateModule
    play: PlayModule
    observe: ObserveModule
    position: PositionModule
    deal: DealModule
    table: TableModule

    @property
    def name(self) -> str:
        """The game's name, as rules, positions and records say it."""
        return self.rules.game

    @property
    def title(self) -> str:
        """The name as people write it."""
        return self.name.replace("_", " ").title()

    @property
    def state(self) -> np.dtype[np.void]:
        """The dtype of a state record."""
        return self.state_module.STATE
