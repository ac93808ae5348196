"""`Game`: one match, move by move in text, for people, tests and search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from functools import lru_cache
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from dominoenv import drive
from dominoenv.advice import Advice, checked_advice
from dominoenv.batch import MOST_MATCHES
from dominoenv.checks import checked_index, checked_seed
from dominoenv.determinize import redeal
from dominoenv.errors import (
    DominoError,
    GameOverError,
    IllegalActionError,
    PositionError,
    RecordError,
)
from dominoenv.games import kind_of
from dominoenv.positions import position_of, record_of
from dominoenv.records import (
    EPISODES,
    MATCH,
    PlayedRound,
    Record,
    match_record,
    one_of,
    round_record,
)
from dominoenv.render.pixels import render_pixels
from dominoenv.render.svg import render_svg
from dominoenv.render.table import Reveal
from dominoenv.render.text import render_text
from dominoenv.round import PLAYING
from dominoenv.rules import Rules, make_rules, whole_number

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


@lru_cache(maxsize=32)
def move_texts(rules: Rules) -> MoveTexts:
    """Return the moves of some rules; made at the first call."""
    return MoveTexts(rules)


class Game:
    """One match. Seats are absolute; moves are text: `9-4@2`, `9-4@M`, `draw`, `pass`.

    The game stands at a round's last position until `next_round` deals the next one. The same match
    as game `match` of a `BatchedGame` with the same seed and `episode="match"`.
    """

    def __init__(
        self,
        game: str = "mexican_train",
        rules: Rules | Mapping[str, Any] | str | None = None,
        *,
        seed: int | None = None,
        match: int = 0,
        round: int = 0,
        **options: Any,
    ) -> None:
        """Deal the first round.

        rules: a rules object, a preset or options by name; or give options as keywords. seed: of
        the deals, None draws one. round: index of the round to begin with, for one-round episodes.
        Raises RulesError and other DominoErrors for what cannot be.
        """
        self.rules = make_rules(game, rules, **options)
        self._set_up(np.zeros(1, kind_of(self.rules).state))
        self.seed: int | None = checked_seed(seed)
        self._states["seed"] = self.seed
        self._states["match"] = checked_index("match", match, MOST_MATCHES)
        self._states["round"] = whole_number("round", round, 0, len(self.rules.rounds) - 1)
        drive.deal_games(self._states, self.rules.record)
        self._refresh()

    def _set_up(self, states: NDArray[np.void]) -> None:
        kind = kind_of(self.rules)
        self._states = states
        self._settings = np.zeros(1, drive.SETTINGS)  # one round, no autoreset, nothing observed
        self._masks = np.zeros((1, kind.observe.num_actions(self.rules)), np.int8)
        self._rows = np.zeros((1, 0), np.uint8)
        self._rewards = np.zeros((1, self.rules.players), np.float32)
        self._outcomes = np.zeros(1, drive.OUTCOME)
        self._action = np.zeros(1, np.int64)
        self._moves: list[str] = []  # of this round
        self._policy: list[Advice | None] = []  # beside each move
        self._played: tuple[PlayedRound, ...] = ()  # the rounds before
        self._is_dealt = True  # this round, from the seed

    @classmethod
    def from_position(cls, position: Mapping[str, Any]) -> Self:
        """Return a game that stands at a position; the inverse of `position`.

        Raises PositionError or RulesError for one that cannot be.
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
        drive.show_games(*arrays)

    # ------------------------------------------------------------------------------------- playing

    def legal_moves(self) -> list[str]:
        """Return the moves that the seat to move may make, sorted; none when the round is over."""
        texts = move_texts(self.rules).texts[self.to_move]
        return sorted(texts[action] for action in self._masks[0].nonzero()[0])

    def move_text(self, action: int) -> str:
        """Return an action id of the seat to move as text; IllegalActionError if it is none."""
        texts = move_texts(self.rules).texts[self.to_move]
        if not isinstance(action, int | np.integer) or not 0 <= action < len(texts):
            raise IllegalActionError(f"action {action!r}: actions are 0 ... {len(texts) - 1}")
        return texts[action]

    def push(self, move: str, policy: Mapping[str, Mapping[str, float]] | None = None) -> None:
        """Make a move.

        policy: what its player held of the legal moves, for the record: `{"probability": {move:
        number}}`, `{"score": {move: number}}` or both. Raises IllegalActionError naming the legal
        moves if it is not one of them, GameOverError when the round is over, RecordError for a
        policy that cannot be; nothing has changed then.
        """
        if self.round_over:
            raise GameOverError(
                "the match is over" if self.over else "the round is over; call next_round()"
            )
        actions = move_texts(self.rules).actions[self.to_move]
        text = move if isinstance(move, str) and move in actions else self._high_first(move)
        action = actions.get(text)
        if action is None or not self._masks[0, action]:
            raise IllegalActionError(
                f"move {move!r} of seat {self.to_move} is illegal; legal are "
                f"{', '.join(self.legal_moves())}"
            )
        advice = None
        if policy is not None:
            advice = checked_advice(policy, self.legal_moves(), self._in_house)
        self._action[0] = action
        drive.advance_games(
            self._states,
            self.rules.record,
            self._settings,
            _GAMES,
            self._action,
            self._masks,
            self._rows,
            self._rewards,
            self._outcomes,
            drive.MOVE,
        )
        self._moves.append(text)
        self._policy.append(advice)

    def _in_house(self, move: str) -> str:
        """Return a move as the library writes it; '' if it is none."""
        known = move_texts(self.rules).actions[self.to_move]
        return move if move in known else self._high_first(move)

    def _high_first(self, move: object) -> str:
        """Return a move with its tile written high pip first; '' if it is not a move."""
        tile, _, place = move.partition("@") if isinstance(move, str) else ("", "", "")
        try:
            return f"{self.rules.tiles.text(self.rules.tiles.parse(tile))}@{place}"
        except PositionError:
            return ""

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
        new_seed = self.seed if seed is None else checked_seed(seed)
        self._played = (*self._played, self._this_round())
        self._moves, self._policy, self._is_dealt = [], [], True
        self._states["seed"] = self.seed = new_seed
        self._states["round"] += 1
        drive.deal_games(self._states, self.rules.record)
        self._refresh()

    # ------------------------------------------------------------------------------------- reading

    @property
    def to_move(self) -> int:
        """The seat to move."""
        return int(self._states["to_move"][0])

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

    @property
    def policy(self) -> list[Advice | None]:
        """What was noted beside each move of this round; None where nothing was."""
        return self._policy.copy()

    def record(self, players: Sequence[str] | None = None, *, episode: str = MATCH) -> Record:
        """Return the record of the match's finished rounds (`docs/formats.md`).

        It has a result once the match is over. players: a name for each seat. episode: "round"
        records the round that stands finished on the table alone. Raises RecordError for what a
        record cannot hold: a round that was begun from a position, a round that goes on.
        """
        if one_of("episode", episode, EPISODES) == MATCH:
            played = (*self._played, *([self._this_round()] if self.round_over else []))
            return match_record(self.rules, played, players)
        if not self.round_over:
            raise RecordError("the round is not over yet; a record holds finished rounds")
        return round_record(self.rules, self._this_round(), players)

    def _this_round(self) -> PlayedRound:
        """Return this round, which is over."""
        seed = int(self._states["seed"][0]) if self._is_dealt else None
        match, index = int(self._states["match"][0]), self.round
        penalties = tuple(self._per_seat("penalties"))
        policy = tuple(self._policy) if any(self._policy) else ()
        return PlayedRound(seed, match, index, tuple(self._moves), penalties, policy)

    def observation(self) -> tuple[NDArray[np.uint8], NDArray[np.int8]]:
        """Return what the seat to move may know, and its mask, as policies take them.

        Shapes (1, L) and (1, A); nothing is legal when the round is over.
        """
        rows = np.zeros((1, kind_of(self.rules).observe.layout(self.rules).size), np.uint8)
        seats = np.array([self.to_move])
        drive.observe_games(self._states, self.rules.record, _GAMES, seats, rows)
        return rows, self._masks.copy()

    @property
    def state(self) -> NDArray[np.void]:
        """A copy of the state, one record of shape (1,): the whole truth."""
        return self._states.copy()

    def position(self) -> dict[str, Any]:
        """Return the position, a dict of plain JSON values."""
        return position_of(self.rules, self._states[0])

    def text(self, reveal: Reveal = None, *, colour: bool = False, width: int = 100) -> str:
        """Return the table as text, `render_text` of the position."""
        return render_text(self.position(), reveal, colour, width)

    def svg(self, reveal: Reveal = None) -> str:
        """Return the table as an SVG picture, `render_svg` of the position."""
        return render_svg(self.position(), reveal)

    def pixels(self, reveal: Reveal = None, *, width: int = 1200) -> NDArray[np.uint8]:
        """Return the table as (height, width, 3) pixels, `render_pixels` of the position."""
        return render_pixels(self.position(), reveal, width)

    def _repr_svg_(self) -> str:
        """Let a notebook show the table; all hands lie face down."""
        return self.svg()

    def copy(self) -> Self:
        """Return an independent game that goes on identically."""
        return deepcopy(self)

    def redeal_hidden(self, seat: int, rng: np.random.Generator) -> Self:
        """Return an independent game in which what a seat cannot see is dealt anew.

        It agrees with all that the seat may observe, so its legal moves are the same when the seat
        is to move. Hands, boneyard and the seed of later rounds come from `rng` and from what the
        seat may know alone: hand sizes and proofs of what hands lack. Each deal that agrees with
        them is equally likely (how: `dominoenv.determinize`). A round that is over stays as it is.
        The new game makes no record: its round was not dealt from a seed. Raises DominoError for a
        seat or a generator that cannot be, PositionError if a position's `lacks` allows no deal.
        """
        viewer = np.array([whole_number("seat", seat, 0, self.rules.players - 1)])
        game = self.copy()
        redeal(self.rules, game._states, viewer, rng)
        game.seed = int(game._states["seed"][0])
        game._played, game._is_dealt = (), False  # finished rounds tell the seed
        game._refresh()
        return game
