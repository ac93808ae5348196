"""`Game`: one match, move by move in text, for people, tests and search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from dominoenv.core.arguments import checked_index
from dominoenv.core.options import whole_number
from dominoenv.core.rules import Rules
from dominoenv.core.streams import MAX_MATCHES
from dominoenv.core.threads import one_thread
from dominoenv.errors import RecordError
from dominoenv.games.match_play import MatchPlay
from dominoenv.games.registry import make_rules
from dominoenv.records.annotations import Annotation, checked_annotation
from dominoenv.records.format import (
    EPISODES,
    MATCH,
    PlayedRound,
    Record,
    match_record,
    one_of,
    played_round,
    round_record,
)
from dominoenv.render.pixels import render_pixels
from dominoenv.render.svg import render_svg
from dominoenv.render.text import render_text
from dominoenv.render.view import Reveal
from dominoenv.search.determinization import redeal


class Game(MatchPlay):
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
        Raises RulesError and other DominoErrors for invalid arguments.
        """
        made = make_rules(game, rules, **options)
        super().__init__(made, seed, checked_index("match", match, MAX_MATCHES), round)

    def _set_up(self, states: NDArray[np.void]) -> None:
        super()._set_up(states)
        self._annotations: list[Annotation | None] = []  # beside each move
        self._played: tuple[PlayedRound, ...] = ()  # the rounds before

    # ------------------------------------------------------------------------------------- playing

    def push(self, move: str, annotation: Mapping[str, Mapping[str, float]] | None = None) -> None:
        """Make a move.

        annotation: what its player said of the legal moves, for the record: `{"probability":
        {move: number}}`, `{"score": {move: number}}` or both. Raises IllegalActionError naming the
        legal moves if it is not one of them, GameOverError when the round is over, RecordError for
        an invalid annotation; the state is left unchanged then.
        """
        action, checked = self._checked_move(move), None
        if annotation is not None:
            checked = checked_annotation(annotation, self.legal_moves(), self.written)
        self._carry_out(action)
        self._annotations.append(checked)

    @one_thread
    def next_round(self, seed: int | None = None) -> None:
        """Deal the next round. A game made from a position needs a seed once.

        Raises GameOverError while the round goes on or after the match's last one.
        """
        played = (*self._played, self._this_round()) if self.round_over else self._played
        super().next_round(seed)
        self._played, self._annotations = played, []

    # ------------------------------------------------------------------------------------- reading

    @property
    def annotations(self) -> list[Annotation | None]:
        """What was noted beside each move of this round; None where nothing was."""
        return self._annotations.copy()

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
        return played_round(self, self._annotations)

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

    def redeal_hidden(self, seat: int, rng: np.random.Generator) -> Self:
        """Return an independent game in which what a seat cannot see is dealt anew.

        It agrees with all that the seat may observe, so its legal moves are the same when the seat
        is to move. Hands, boneyard and the seed of later rounds come from `rng` and from what the
        seat may know alone: hand sizes and proofs of what hands lack. Each deal that agrees with
        them is equally likely (how: `search.determinization`). A round that is over stays as it is.
        The new game makes no record: its round was not dealt from a seed. Raises DominoError for a
        seat or a generator that cannot be, PositionError if a position's `voids` allows no deal.
        """
        viewer = np.array([whole_number("seat", seat, 0, self.rules.players - 1)])
        game = self.copy()
        redeal(self.rules, game._states, viewer, rng)
        game.seed = int(game._states["seed"][0])
        game._played, game._is_dealt = (), False  # finished rounds tell the seed
        game._refresh()
        return game
