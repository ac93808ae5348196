"""`LearnerGames`: many games with one learning seat in each, the other seats played inside.

The one loop that the single-learner environments are skins of (Gymnasium's `single` and `vector`,
Stable-Baselines3's `sb3`); no framework is needed here. Letters: B games, P seats, L entries of an
observation, A actions.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dominoenv._jit import kernel
from dominoenv.batch import (
    MOST_MATCHES,
    POINTS_PER_REWARD,
    BatchedGame,
    as_array,
    checked_choice,
    checked_index,
    checked_seed,
    finite,
)
from dominoenv.errors import CheckpointError, DominoError, IllegalActionError
from dominoenv.policies import Actions, Masks, Observations, Policy, make_policy
from dominoenv.rules import Rules
from dominoenv.streams import GAMMA, LINEUP, mix, open_stream

ROTATE = "rotate"
ILLEGAL = ("raise", "penalty")
ILLEGAL_REWARD = -1.0  # default of what an illegal action costs

Function: TypeAlias = Callable[[NDArray[np.float32], NDArray[np.int8]], Any]
Player: TypeAlias = Policy | Function | str
Opponent: TypeAlias = tuple[Player, float]  # who, and how often relative to the others


@kernel
def _draw_lineups(seed: Any, matches: Any, rolls: Any) -> None:
    """Draw a number in [0, 1) for each seat of each match, which depends on these alone."""
    for k in range(rolls.shape[0]):
        for seat in range(rolls.shape[1]):
            start = open_stream(seed[0], matches[k], LINEUP + seat)
            rolls[k, seat] = (mix(start + GAMMA) >> np.uint64(11)) * 2.0**-53


class FunctionPolicy(Policy):
    """Plays by a function of (n, L) float32 observations in [0, 1] and (n, A) int8 masks."""

    name = "function"

    def __init__(self, rules: Rules, function: Function, seed: int = 0) -> None:
        super().__init__(rules, seed)
        self.function = function

    def act(self, observations: Observations, masks: Masks) -> Actions:
        """Return what the function answers: one action for each of n decisions."""
        if observations.dtype == np.uint8:
            observations = self.layout.scaled(observations)
        return as_array("actions", self.function(observations, masks), IllegalActionError)


class LearnerGames:
    """B games, one learner's seat in each; a step is one decision of the learner.

    - opponents: a policy, its name, or a function `f(observations, masks) -> actions` over n rows
      (float32 as the environments hand them out; masks (n, A) int8, 1 = legal); or a mixture,
      (one of these, weight) each: for every opposing seat and episode one of them is drawn, from
      the seed and the match number. Policy objects are copied (shallowly: weights are shared), so
      that each of these games has a generator of its own for them; `reset` with a seed seeds it.
    - seat: the learner's, or "rotate", which changes it with each episode of a game.
    - seed: of the batch; None draws one from the system.
    - episode, double, reward, reward_scale, forced: as in `BatchedGame`.
    - illegal: "raise" IllegalActionError, and nothing has changed then; or "penalty": the illegal
      action costs `illegal_reward`, and the legal action of the lowest id is played in its place.

    A reward is what the learner's seat was paid from its decision to its next one. An episode in
    which the learner has nothing to decide is passed over.

    Attributes: `game`, the batch; `seats` (B,) the learner's; `lineup` (B, P) which of `policies`
    plays each seat; `returns`, `lengths` (B,) rewards and decisions of the episode so far;
    `illegal_actions` (B,) whether the game's last action was illegal and replaced.

    Raises DominoErrors for opponents, seats and settings that cannot be.
    """

    def __init__(
        self,
        rules: Rules | Mapping[str, Any] | str,
        num_games: int,
        opponents: Player | Sequence[Opponent] = "random",
        *,
        seat: int | str = ROTATE,
        seed: int | None = None,
        episode: str = "round",
        double: int | None = None,
        reward: str = "zero_sum",
        reward_scale: float = 1 / POINTS_PER_REWARD,
        forced: str = "auto",
        illegal: str = "raise",
        illegal_reward: float = ILLEGAL_REWARD,
    ) -> None:
        self._seed = checked_seed(seed)
        self.game = BatchedGame(
            rules,
            num_games,
            self._seed,
            episode=episode,
            double=double,
            reward=reward,
            reward_scale=reward_scale,
            forced=forced,
            autoreset=False,
        )
        self.rules = self.game.rules
        self.seat = _checked_seat(seat, self.rules)
        self.policies, self._cumulative = _checked_opponents(opponents, self.rules)
        self._penalises = ILLEGAL[checked_choice("illegal", illegal, ILLEGAL)] == "penalty"
        self._illegal_reward = finite("illegal_reward", illegal_reward)
        self.num_games = size = self.game.num_games
        self._all = np.arange(size)
        self.seats = np.zeros(size, np.int64)
        self.lineup = np.zeros((size, self.rules.players), np.int64)
        self._paid = np.zeros(size, np.float32)  # to the learner since its last decision
        self.returns = np.zeros(size, np.float32)
        self.lengths = np.zeros(size, np.int64)
        self.illegal_actions = np.zeros(size, np.bool_)
        self._is_interrupted = False  # an exception has left other seats to move
        self.reset()
        self._is_fresh = True  # dealt, and neither asked for nor played yet

    # ------------------------------------------------------------------------------------- playing

    def reset(self, seed: int | None = None, match: int | None = None) -> None:
        """Begin a new episode in every game: game i plays match `match` + i (0 + i) of the seed.

        seed: None keeps the one given last. Raises DominoError for a seed or match that cannot be;
        nothing has changed then.
        """
        seed = self._seed if seed is None else checked_seed(seed)
        first = 0
        if match is not None:
            first = checked_index("match", match, MOST_MATCHES - self.num_games)
        self._seed, self._is_fresh = seed, False
        self.game.reset(seed, matches=first + self._all)
        entropy = [] if match is None else [first]  # other opponents' luck in another match
        for number, policy in enumerate(self.policies):
            policy.rng = np.random.default_rng([seed, number, *entropy])
        self._begin(self._all)

    def deal(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        """Begin an episode in every game, as Gymnasium's `reset` asks for it.

        Without a seed the next match of each game (the first one, if none was asked for yet);
        `options={"match": m}` as in `reset`, other keys are not looked at.
        """
        if not isinstance(options, Mapping | None):
            raise DominoError(f"options={options!r} must be a dict or None")
        match = (options or {}).get("match")
        if seed is not None or match is not None:
            self.reset(seed, match)
        elif not self._is_fresh:
            self.restart(self._all)
        self._is_fresh = False

    def restart(self, games: NDArray[np.int64]) -> None:
        """Begin the next episode in some games, whether theirs is over or not."""
        if games.size:
            self.game.restart(games)
            self._begin(games)

    def step(self, actions: Any, games: NDArray[np.int64] | None = None) -> NDArray[np.float32]:
        """Carry out the learner's actions; let the others play until it is to move again.

        actions: (n,) for all games, or for some `games`, distinct; returns (n,) rewards. Raises
        IllegalActionError, or GameOverError for a game whose episode is over; nothing has changed
        then. An opponent's illegal action is an IllegalActionError too; like any exception in an
        opponent it leaves the games in the middle of a step, and the next step is a DominoError.
        """
        if self._is_interrupted:
            raise DominoError("the last step broke off while an opponent was playing: call reset()")
        index = self._all if games is None else games
        chosen, illegal = self._replaced(actions, index)
        self._step(chosen, index)
        self._is_fresh = False
        if self._penalises:
            self.illegal_actions[index] = illegal
        self.lengths[index] += 1
        self._let_others_play(index)
        rewards = self._paid[index]
        self._paid[index] = 0
        if self._penalises:
            rewards[illegal] += np.float32(self._illegal_reward)
        self.returns[index] += rewards
        return rewards

    def _replaced(
        self, actions: Any, games: NDArray[np.int64]
    ) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """Return (n,) actions to carry out, and which of them stand for an illegal one."""
        chosen = as_array("actions", actions, IllegalActionError)
        illegal = np.zeros(games.shape, np.bool_)
        is_action = chosen.shape == games.shape and chosen.dtype.kind in "iu"
        if not self._penalises or not is_action:
            return chosen, illegal  # the game's own check says what is wrong
        chosen = chosen.astype(np.int64)
        masks = self.game.masks[games]
        known = (chosen >= 0) & (chosen < self.game.num_actions)
        legal = known & (masks[np.arange(games.size), np.where(known, chosen, 0)] != 0)
        illegal = ~legal & ~self.done[games]
        return np.where(illegal, masks.argmax(axis=1), chosen), illegal

    def _step(self, actions: NDArray[Any], games: NDArray[np.int64]) -> None:
        self.game.step(actions, games)
        self._paid[games] += self.game.rewards[games, self.seats[games]]

    def _let_others_play(self, games: NDArray[np.int64]) -> None:
        """Play the other seats until the learner is to move in these games, or they are over."""
        before, self._is_interrupted = self._is_interrupted, True
        while True:
            to_move = self.game.to_move[games]
            theirs = ~self.game.waiting[games] & (to_move != self.seats[games])
            if not theirs.any():
                self._is_interrupted = before
                return
            games = games[theirs]
            who = self.lineup[games, to_move[theirs]]
            for number, policy in enumerate(self.policies):
                some = games[who == number]
                if some.size:
                    self._play_opponent(policy, some)

    def _play_opponent(self, policy: Policy, games: NDArray[np.int64]) -> None:
        actions = policy.act(self.game.observations[games], self.game.masks[games])
        try:
            self._step(actions, games)
        except IllegalActionError as error:
            raise IllegalActionError(f"opponent {policy.name!r}: {error}") from None

    def _begin(self, games: NDArray[np.int64]) -> None:
        """Seat everybody for episodes just dealt; go on to the learner's first decision."""
        if games.size == self.num_games:
            self._is_interrupted = False
        while games.size:
            self._seat_players(games)
            self._paid[games] = self.returns[games] = 0
            self.lengths[games] = 0
            self.illegal_actions[games] = False
            self._let_others_play(games)
            games = games[self.game.waiting[games]]  # nothing was to decide
            if games.size:
                self.game.restart(games)

    def _seat_players(self, games: NDArray[np.int64]) -> None:
        matches = np.ascontiguousarray(self.game.states["match"][games], np.int64)
        players = self.rules.players
        if self.seat == ROTATE:  # the next seat in each game's next match, whatever B and P are
            self.seats[games] = (matches % self.num_games + matches // self.num_games) % players
        else:
            self.seats[games] = self.seat
        rolls = np.zeros((games.size, players))
        _draw_lineups(np.array([self._seed], np.uint64), matches, rolls)
        lineup = np.searchsorted(self._cumulative, rolls, side="right")
        self.lineup[games] = np.minimum(lineup, len(self.policies) - 1)

    # ------------------------------------------------------------------------------------- reading

    @property
    def done(self) -> NDArray[np.bool_]:
        """(B,) whether the game's episode is over; it waits for `restart` then."""
        return self.game.waiting

    def observations(self) -> NDArray[np.float32]:
        """Return (B, L) in [0, 1], what the learner may know; a finished game's as it ended."""
        rows = self.game.layout.scaled(self.game.observations)
        finished = np.flatnonzero(self.done)
        if finished.size:
            rows[finished] = self.views(finished)
        return rows

    def views(self, games: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return (n, L) in [0, 1], what the learner may know in some games, whoever is to move."""
        return self.game.layout.scaled(self.game.observe(self.seats[games], games))

    def masks(self) -> NDArray[np.int8]:
        """Return (B, A) what the learner may play now, 1 = legal; a copy.

        Rows of finished games are all 1: no action counts there, and who draws one by the mask all
        the same must not be at a loss.
        """
        masks, finished = self.game.masks.copy(), self.done
        if finished.any():
            masks[finished] = 1
        return masks

    def results(self, games: NDArray[np.int64]) -> dict[str, NDArray[Any]]:
        """Return what came out for the learner in some games that are over, (n,) each.

        `penalty`: its total of the episode; `others`: the mean of the other seats'; `won`: 1, a
        share for a tie, or 0.
        """
        seats, rows = self.seats[games], np.arange(games.size)
        scores, winners = self.game.scores[games], self.game.winners[games]
        own = scores[rows, seats].astype(np.int64)
        return {
            "penalty": own,
            "others": (scores.sum(axis=1) - own) / (self.rules.players - 1),
            "won": winners[rows, seats] / winners.sum(axis=1),
        }

    # --------------------------------------------------------------------------------------- state

    def get_state(self) -> dict[str, Any]:
        """Return all that play depends on, as plain arrays and one JSON text; see `set_state`."""
        rngs = [policy.rng.bit_generator.state for policy in self.policies]
        return {
            "states": self.game.states.view(np.uint8).reshape(self.num_games, -1).copy(),
            "seats": self.seats.copy(),
            "lineup": self.lineup.copy(),
            "paid": self._paid.copy(),
            "returns": self.returns.copy(),
            "lengths": self.lengths.copy(),
            "text": json.dumps({"seed": self._seed, "rngs": rngs}),
        }

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Put back what `get_state` of games made alike returned.

        Raises CheckpointError where they were made differently.
        """
        own = self.get_state()
        text = json.loads(state["text"])
        for name in own.keys() - {"text"}:
            if np.shape(state[name]) != np.shape(own[name]):
                raise CheckpointError(
                    f"the saved environment has {name} of shape {np.shape(state[name])}, this one "
                    f"{np.shape(own[name])}: make it with the same rules and number of games"
                )
        if len(text["rngs"]) != len(self.policies):
            raise CheckpointError(
                f"the saved environment has {len(text['rngs'])} opponents, this one "
                f"{len(self.policies)}: make it with the same ones"
            )
        self._seed, self._is_fresh = int(text["seed"]), False
        for policy, rng in zip(self.policies, text["rngs"], strict=True):
            policy.rng.bit_generator.state = rng
        self.seats[:], self.lineup[:] = state["seats"], state["lineup"]
        self._paid[:], self.returns[:] = state["paid"], state["returns"]
        self.lengths[:] = state["lengths"]
        self.illegal_actions[:] = False
        records = np.ascontiguousarray(state["states"], np.uint8).view(self.game.states.dtype)
        self.game.load(records.reshape(self.num_games))
        self._is_interrupted = False


# ------------------------------------------------------------------------------------------- checks


def _checked_seat(seat: int | str, rules: Rules) -> int | str:
    is_seat = isinstance(seat, int | np.integer) and 0 <= seat < rules.players
    is_name = isinstance(seat, str) and seat == ROTATE
    if not is_name and (isinstance(seat, bool) or not is_seat):
        last = rules.players - 1
        raise DominoError(f"seat={seat!r} must be 'rotate' or a seat 0 ... {last}")
    return seat


def _checked_opponents(
    opponents: Player | Sequence[Opponent], rules: Rules
) -> tuple[list[Policy], NDArray[np.float64]]:
    """Return the policies, and the sums of their shares up to each, the last one 1."""
    if isinstance(opponents, str | Policy) or callable(opponents):
        opponents = [(opponents, 1.0)]
    try:
        weights = np.array([weight for _, weight in opponents], np.float64)
    except (TypeError, ValueError):
        raise DominoError(
            f"opponents={opponents!r} must be a policy, the name of one, a function, or "
            "(one of these, weight) pairs"
        ) from None
    if not weights.size or not np.isfinite(weights).all() or weights.min() <= 0:
        raise DominoError(
            f"opponents need a weight above 0 each, and be at least one, not {list(opponents)}"
        )
    return [_as_policy(who, rules) for who, _ in opponents], np.cumsum(weights) / weights.sum()


def _as_policy(who: Player, rules: Rules) -> Policy:
    if isinstance(who, str):
        return make_policy(who, rules)
    if isinstance(who, Policy):
        if who.rules != rules:
            raise DominoError(f"opponent {who.name} plays {who.rules}, not {rules}")
        return copy(who)
    if isinstance(who, type) or not callable(who):
        raise DominoError(
            f"opponent {who!r} is neither a policy, nor the name of one or a function"
        )
    return FunctionPolicy(rules, who)
