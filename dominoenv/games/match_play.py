"""`MatchPlay`: one match, move by move in text; what `Game`, records and replays are made of."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from functools import lru_cache
from threading import get_ident
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from dominoenv.core.arguments import checked_seed
from dominoenv.core.options import whole_number
from dominoenv.core.round import PLAYING
from dominoenv.core.rules import Rules
from dominoenv.core.threads import Guard, in_use, one_thread
from dominoenv.errors import DominoError, GameOverError, IllegalActionError, PositionError
from dominoenv.games import stepping
from dominoenv.games.positions import position_of, record_of
from dominoenv.games.registry import kind_of

_GAMES = np.zeros(1, np.int64)  # the index of the one game


class MoveTexts:
    """All moves of some rules as text, once: both ways between texts and action ids."""

    def __init__(self, rules: Rules) -> None:
        observe, seats = kind_of(rules).observe, range(rules.players)
        actions = range(observe.num_actions(rules))
        self.texts: list[list[str]] = [
            [observe.action_text(rules, seat, a) for a in actions] for seat in seats
        ]
        self.actions: list[dict[str, int]] = [
            {text: action for action, text in enumerate(own)} for own in self.texts
        ]

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self  # never changed: copies of a game share it


@lru_cache(maxsize=32)
def move_texts(rules: Rules) -> MoveTexts:
    """Return the moves of some rules; made at the first call."""
    return MoveTexts(rules)


class MatchPlay:
    """One match under some rules. Seats are absolute; moves are text: `9-4@2`, `9-4@M`, `draw`.

    It stands at a round's last position until `next_round` deals the next one.
    """

    def __init__(self, rules: Rules, seed: int | None, match: int = 0, round: int = 0) -> None:
        """Deal the first round; arguments are checked, but `match`."""
        self.rules = rules
        self._set_up(np.zeros(1, kind_of(self.rules).state))
        self.seed: int | None = checked_seed(seed)
        self._states["seed"], self._states["match"] = self.seed, match
        self._states["round"] = whole_number("round", round, 0, len(self.rules.rounds) - 1)
        stepping.deal_games(self._states, self.rules.record)
        self._refresh()

    def _set_up(self, states: NDArray[np.void]) -> None:
        kind = kind_of(self.rules)
        self._guard = Guard()
        self._states = states
        self._texts = move_texts(self.rules)
        self._settings = np.zeros(1, stepping.SETTINGS)  # one round, no autoreset, nothing observed
        self._masks = np.zeros((1, kind.observe.num_actions(self.rules)), np.int8)
        self._rows = np.zeros((1, 0), np.uint8)
        self._rewards = np.zeros((1, self.rules.players), np.float32)
        self._outcomes = np.zeros(1, stepping.OUTCOME)
        self._action = np.zeros(1, np.int64)
        self._moves: list[str] = []  # of this round
        self._is_dealt = True  # this round, from the seed

    @classmethod
    def from_position(cls, position: Mapping[str, Any]) -> Self:
        """Return a game that stands at a position; the inverse of `position`.

        Raises PositionError or RulesError for an invalid one.
        """
        game = cls.__new__(cls)
        game.rules, states = record_of(position)
        game.seed = None
        game._set_up(states)
        game._is_dealt = False
        game._refresh()
        return game

    def _refresh(self) -> None:
        arrays = self._states, self.rules.record, self._settings, _GAMES, self._masks, self._rows
        stepping.show_games(*arrays)

    # ------------------------------------------------------------------------------------- playing

    def legal_moves(self) -> list[str]:
        """Return the moves that the seat to move may make, sorted; none when the round is over."""
        texts = self._texts.texts[self.to_move]
        return sorted(texts[action] for action in self._masks[0].nonzero()[0])

    def move_text(self, action: int) -> str:
        """Return an action id of the seat to move as text; IllegalActionError if it is none."""
        texts = self._texts.texts[self.to_move]
        if not isinstance(action, int | np.integer) or not 0 <= action < len(texts):
            raise IllegalActionError(f"action {action!r}: actions are 0 ... {len(texts) - 1}")
        return texts[action]

    def push(self, move: str) -> None:
        """Make a move.

        Raises IllegalActionError naming the legal moves if it is not one of them, GameOverError
        when the round is over; the state is left unchanged then.
        """
        self._carry_out(self._checked_move(move))

    def _checked_move(self, move: str) -> int:
        """Return the action of a legal move; see `push`."""
        if self.round_over:
            raise GameOverError(
                "the match is over" if self.over else "the round is over; call next_round()"
            )
        actions = self._texts.actions[self.to_move]
        action = actions.get(self.written(move))
        if action is None or not self._masks[0, action]:
            raise IllegalActionError(
                f"move {move!r} of seat {self.to_move} is illegal; legal are "
                f"{', '.join(self.legal_moves())}"
            )
        return action

    def _carry_out(self, action: int) -> None:
        """Make a legal move."""
        threads, own = self._guard.threads, get_ident()
        try:
            threads.append(own)
            if threads[0] != own:
                raise in_use()
            text = self._texts.texts[self.to_move][action]
            self._action[0] = action
            place = stepping.advance_games(
                self._states,
                self.rules.record,
                self._settings,
                _GAMES,
                self._action,
                self._masks,
                self._rows,
                self._rewards,
                self._outcomes,
                stepping.CHECK_AND_MOVE,
            )
            if place >= 0:  # it was legal when it was checked
                raise in_use()
            self._moves.append(text)
        finally:
            threads.pop()

    def written(self, move: object) -> str:
        """Return a move of the seat to move as the library writes it; "" if it is none."""
        known = self._texts.actions[self.to_move]
        return move if isinstance(move, str) and move in known else self._high_first(move)

    def _high_first(self, move: object) -> str:
        """Return a move with its tile written high pip first; '' if it is not a move."""
        tile, _, place = move.partition("@") if isinstance(move, str) else ("", "", "")
        try:
            return f"{self.rules.tiles.text(self.rules.tiles.parse(tile))}@{place}"
        except PositionError:
            return ""

    @one_thread
    def next_round(self, seed: int | None = None) -> None:
        """Deal the next round. A game made from a position needs a seed once.

        Raises GameOverError while the round goes on or after the match's last one.
        """
        if not self.round_over:
            raise GameOverError("the round is not over yet")
        if self.over:
            raise GameOverError("the match is over")
        if seed is None and self.seed is None:
            raise DominoError("a game made from a position has no seed: next_round(seed=...)")
        self.seed = self.seed if seed is None else checked_seed(seed)
        self._moves, self._is_dealt = [], True
        self._states["seed"] = self.seed
        self._states["round"] += 1
        stepping.deal_games(self._states, self.rules.record)
        self._refresh()

    # ------------------------------------------------------------------------------------- reading

    @property
    def to_move(self) -> int:
        """The seat to move."""
        return int(self._states["to_move"][0])

    @property
    def match(self) -> int:
        """The number of the match of the seed."""
        return int(self._states["match"][0])

    @property
    def is_dealt(self) -> bool:
        """Whether this round was dealt from the seed, and not set up from a position."""
        return self._is_dealt

    @property
    def round(self) -> int:
        """The round's place in `rules.rounds`, from 0."""
        return int(self._states["round"][0])

    @property
    def round_over(self) -> bool:
        """Whether the round has ended."""
        return bool(self._states["ending"][0] != PLAYING)

    @property
    def over(self) -> bool:
        """Whether the match has ended."""
        return self.round_over and self.round + 1 == len(self.rules.rounds)

    @property
    def penalties(self) -> list[int] | None:
        """What the round costs each seat; None while it goes on."""
        return self._per_seat("penalties") if self.round_over else None

    @property
    def scores(self) -> list[int]:
        """Total of each seat over the rounds that have ended."""
        return self._per_seat("scores")

    @property
    def winners(self) -> list[int]:
        """The seats with the lowest total once the match is over; none before."""
        scores = self.scores
        return [s for s, score in enumerate(scores) if score == min(scores)] if self.over else []

    def _per_seat(self, field: str) -> list[int]:
        return [int(value) for value in self._states[field][0][: self.rules.players]]

    @property
    def moves(self) -> list[str]:
        """The moves of this round so far, as text; of a position's round, those since."""
        return self._moves.copy()

    @one_thread
    def observation(self) -> tuple[NDArray[np.uint8], NDArray[np.int8]]:
        """Return what the seat to move may know, and its mask, as policies take them.

        Shapes (1, L) and (1, A); nothing is legal when the round is over.
        """
        rows = np.zeros((1, kind_of(self.rules).observe.layout(self.rules).size), np.uint8)
        seats = np.array([self.to_move])
        stepping.observe_games(self._states, self.rules.record, _GAMES, seats, rows)
        return rows, self._masks.copy()

    @property
    def state(self) -> NDArray[np.void]:
        """A copy of the state, one record of shape (1,): the whole truth."""
        return self._states.copy()

    def position(self) -> dict[str, Any]:
        """Return the position, a dict of plain JSON values."""
        return position_of(self.rules, self._states[0])

    @one_thread
    def copy(self) -> Self:
        """Return an independent game that goes on identically."""
        return deepcopy(self)
