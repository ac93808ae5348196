"""Play given deals with given line-ups, for evaluation and tournaments.

A deal is one round: deal d is round d % R of match HELD_OUT_MATCH + d, which training never uses.
It fixes the hands at the seats, the engine or the lead, the order of the boneyard and who begins.
Letters: G games, P seats, A actions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from dominoenv.batch import HELD_OUT_MATCH, BatchedGame
from dominoenv.core.round import BY_CENTRE, FREE, WENT_OUT
from dominoenv.core.rules import Rules
from dominoenv.errors import DominoError
from dominoenv.games.registry import kind_of
from dominoenv.policies import Policy

NOBODY = -1  # in Games.went_out: the round was blocked


@dataclass(frozen=True)
class Games:
    """The results of G games for each of P seats; all int32."""

    penalties: NDArray[np.int32]  # (G, P)
    turns: NDArray[
        np.int32
    ]  # (G, P) turns begun; laying the engine or the lead with the deal is not a turn
    draws: NDArray[np.int32]  # (G, P)
    doubles: NDArray[np.int32]  # (G, P) doubles played
    decisions: NDArray[np.int32]  # (G, P) moves with a choice, made by the agent
    first: NDArray[np.int32]  # (G,) the seat that moved first
    went_out: NDArray[np.int32]  # (G,) the seat that went out, or NOBODY
    bound: NDArray[np.int32]  # (G,) BY_DOUBLE: a double pending, a foot open; BY_CENTRE; or FREE

    @property
    def wins(self) -> NDArray[np.float64]:
        """(G, P) 1 for the lowest penalty, a share for a tie, or 0."""
        lowest = self.penalties == self.penalties.min(axis=1, keepdims=True)
        shares: NDArray[np.float64] = lowest / lowest.sum(axis=1, keepdims=True)
        return shares

    def arrays(self) -> dict[str, NDArray[np.int32]]:
        """Return the arrays by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def check(self, number: int, players: int) -> None:
        """Raise DominoError unless these are so many games, with values that games can have."""
        seat, most = players - 1, np.iinfo(np.int32).max
        alone = {"first": (0, seat), "went_out": (NOBODY, seat), "bound": (FREE, BY_CENTRE)}
        for name, array in self.arrays().items():
            shape = (number,) if name in alone else (number, players)
            if np.shape(array) != shape or array.dtype != np.int32:
                raise DominoError(f"{name} must be int32 of shape {shape}")
            low, high = alone.get(name, (0, most))
            bad = (array < low) | (array > high)
            if name == "penalties":  # going out may have a bonus
                bad &= self.went_out[:, None] != np.arange(players)
            if bad.any():
                raise DominoError(f"{name} must lie in {low} ... {high}")

    @classmethod
    def join(cls, parts: Sequence[Games]) -> Games:
        """Return the games of several results, one after another."""
        names = [field.name for field in fields(cls)]
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


def play(
    rules: Rules,
    deals: NDArray[np.int64],
    lineups: NDArray[np.int64],
    policies: Sequence[Policy],
    seed: int,
) -> Games:
    """Play G games side by side to their end.

    deals: (G,) the deal of each game; lineups: (G, P) index of the policy at each seat. Forced
    moves are made here; policies make the others, each in one batch.
    """
    game = BatchedGame(rules, len(deals), seed, forced="explicit", autoreset=False)
    game.reset(seed, matches=HELD_OUT_MATCH + deals, rounds=deals % len(rules.rounds))
    tally = _Tally(game)
    while (live := np.flatnonzero(~game.waiting)).size:
        seats = game.to_move[live].astype(np.int64)  # a copy: the step changes it
        actions, choices = _choose(game, live, lineups[live, seats], policies)
        game.step(actions, live)
        tally.count(live, seats, actions, choices)
    return tally.games()


def _choose(
    game: BatchedGame,
    live: NDArray[np.int64],
    movers: NDArray[np.int64],
    policies: Sequence[Policy],
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return an action for each live game, and whether there was a choice."""
    masks = game.masks[live]
    actions = masks.argmax(axis=1)  # the only legal one, or a placeholder
    choices = np.count_nonzero(masks, axis=1) > 1
    for number, policy in enumerate(policies):
        some = np.flatnonzero(choices & (movers == number))
        if some.size:
            actions[some] = policy.act(game.observations[live[some]], masks[some])
    return actions, choices


class _Tally:
    """Counts turns, draws and other events of a batch of games, seat by seat."""

    def __init__(self, game: BatchedGame) -> None:
        self.game = game
        self.is_draw, self.is_double = action_kinds(game.rules)
        self.first = game.to_move.astype(np.int32)
        shape = (game.num_games, game.num_players)
        names = ("turns", "draws", "doubles", "decisions")
        self.counts = {name: np.zeros(shape, np.int32) for name in names}

    def count(
        self,
        live: NDArray[np.int64],
        seats: NDArray[np.int64],
        actions: NDArray[np.int64],
        choices: NDArray[np.bool_],
    ) -> None:
        """Count a move in each of the live games."""
        turn_over = (self.game.to_move[live] != seats) | self.game.waiting[live]
        for name, what in (
            ("turns", turn_over),
            ("draws", self.is_draw[actions]),
            ("doubles", self.is_double[actions]),
            ("decisions", choices),
        ):
            self.counts[name][live, seats] += what

    def games(self) -> Games:
        """Return the counts and how the rounds ended."""
        states = self.game.states
        # from the records: no step pays a round that the deal alone decided
        hands = states["hand_sizes"][:, : self.game.num_players]
        out = np.where(states["ending"] == WENT_OUT, hands.argmin(axis=1), NOBODY)
        return Games(
            penalties=states["penalties"][:, : self.game.num_players].copy(),
            first=self.first,
            went_out=out.astype(np.int32),
            bound=kind_of(self.game.rules).state_module.unfinished(self.game.rules, states),
            **self.counts,
        )


def action_kinds(rules: Rules) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return (A,) whether an action is a draw, and (A,) whether it plays a double."""
    observe, tiles = kind_of(rules).observe, rules.tiles
    played = observe.action_tiles(rules)
    texts = [observe.action_text(rules, 0, action) for action in range(observe.num_actions(rules))]
    draws = np.array([text == "draw" for text in texts])
    return draws, (played >= 0) & (tiles.low[played] == tiles.high[played])
