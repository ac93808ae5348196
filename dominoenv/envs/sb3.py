"""`DominoVecEnv`: one learning seat in many games at once, as Stable-Baselines3 wants it.

The other seats are played inside the environment, so that a step is one decision of the learner and
what is paid between two of its decisions is its own. Needs the extra: `pip install
"dominoenv[train]"`. Letters: B games, P seats, L entries of an observation, A actions.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from dominoenv._jit import kernel
from dominoenv.batch import BatchedGame, checked_seed
from dominoenv.errors import CheckpointError, DominoError
from dominoenv.policies import Policy, make_policy
from dominoenv.rules import Rules
from dominoenv.streams import GAMMA, LINEUP, mix, open_stream

try:
    from stable_baselines3.common.vec_env import VecEnv
except ImportError as error:
    raise ImportError(
        'dominoenv.envs.sb3 needs stable_baselines3: pip install "dominoenv[train]"'
    ) from error

ROTATE = "rotate"

Opponent = tuple[Policy | str, float]  # who, and how often relative to the others


@kernel
def _draw_lineups(seed: Any, matches: Any, rolls: Any) -> None:
    """Draw a number in [0, 1) for each seat of each match, which depends on these alone."""
    for k in range(rolls.shape[0]):
        for seat in range(rolls.shape[1]):
            start = open_stream(seed[0], matches[k], LINEUP + seat)
            rolls[k, seat] = (mix(start + GAMMA) >> np.uint64(11)) * 2.0**-53


class DominoVecEnv(VecEnv):
    """B games, one learner's seat in each.

    opponents: (policy or its name, weight) each; for every opposing seat and episode one of them is
    drawn, from the seed and the match number; `reset` seeds their generators too. seat: the
    learner's, or "rotate", which changes it with each episode. Observations are (B, L) float32 in
    [0, 1], laid out by `game.layout`; masks (B, A) int8 come from `action_masks()`. A reward is
    what the learner's seat was paid from its decision to its next one. An episode in which the
    learner has nothing to decide is passed over.

    At an episode's end `infos[i]` holds SB3's `terminal_observation` (the learner's view of the
    finished episode) and `episode`, also `penalty` (the learner's total of the episode), `others`
    (the mean of the other seats'), `won` (1, a share for a tie, or 0) and `seat`.

    Raises DominoErrors for opponents, seats and rules that cannot be.
    """

    render_mode: str | None = None

    def __init__(
        self,
        rules: Rules | Mapping[str, Any] | str,
        num_games: int,
        opponents: Sequence[Opponent] = (("random", 1.0),),
        *,
        seat: int | str = ROTATE,
        seed: int | None = 0,
        episode: str = "round",
        reward: str = "zero_sum",
        reward_scale: float = 1 / 20,
    ) -> None:
        self.game = BatchedGame(
            rules,
            num_games,
            seed,
            episode=episode,
            reward=reward,
            reward_scale=reward_scale,
            forced="auto",
            autoreset=False,
        )
        self.rules = self.game.rules
        self.seat = self._checked_seat(seat)
        self.policies, self._cumulative = self._checked_opponents(opponents)
        size, players = self.game.num_games, self.rules.players
        self._all = np.arange(size)
        self._seats = np.zeros(size, np.int64)  # the learner's
        self._lineup = np.zeros((size, players), np.int64)  # which policy plays each seat
        self._paid = np.zeros(size, np.float32)  # to the learner since its last decision
        self._returns = np.zeros(size, np.float32)  # sum of the episode's rewards so far
        self._lengths = np.zeros(size, np.int64)  # decisions of the learner in the episode
        self._actions = np.zeros(size, np.int64)
        self._start_time = time.time()
        self._seed = checked_seed(seed)
        shape = (self.game.layout.size,)
        super().__init__(
            size,
            spaces.Box(0.0, 1.0, shape, np.float32),
            spaces.Discrete(self.game.num_actions),
        )
        self.reset()

    def _checked_seat(self, seat: int | str) -> int | str:
        is_seat = isinstance(seat, int | np.integer) and 0 <= seat < self.rules.players
        if seat != ROTATE and (isinstance(seat, bool) or not is_seat):
            last = self.rules.players - 1
            raise DominoError(f"seat={seat!r} must be 'rotate' or a seat 0 ... {last}")
        return seat

    def _checked_opponents(
        self, opponents: Sequence[Opponent]
    ) -> tuple[list[Policy], NDArray[np.float64]]:
        try:
            weights = np.array([weight for _, weight in opponents], np.float64)
        except (TypeError, ValueError):
            raise DominoError(f"opponents={opponents!r} must be (policy, weight) pairs") from None
        if not weights.size or not np.isfinite(weights).all() or weights.min() <= 0:
            raise DominoError(
                f"opponents need a weight above 0 each, and be at least one, not {list(opponents)}"
            )
        policies = [
            make_policy(who, self.rules) if isinstance(who, str) else who for who, _ in opponents
        ]
        for policy in policies:
            if not isinstance(policy, Policy):
                raise DominoError(f"opponent {policy!r} is neither a policy nor the name of one")
            if policy.rules != self.rules:
                raise DominoError(f"opponent {policy.name} plays {policy.rules}, not {self.rules}")
        return policies, np.cumsum(weights) / weights.sum()

    # ------------------------------------------------------------------------------------- playing

    def reset(self) -> NDArray[np.float32]:
        """Begin a new episode in every game, of the seed given last; return (B, L)."""
        if self._seeds[0] is not None:
            self._seed = checked_seed(self._seeds[0])
        self._reset_seeds()
        self._reset_options()
        self.game.reset(self._seed)
        for number, policy in enumerate(self.policies):
            policy.rng = np.random.default_rng([self._seed, number])
        self._begin(self._all)
        return self._observations()

    def step_async(self, actions: NDArray[Any]) -> None:
        """Take the learner's actions, (B,), for `step_wait`."""
        self._actions = np.asarray(actions)

    def step_wait(
        self,
    ) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]:
        """Carry the actions out and let the others play until the learner is to move again.

        Raises IllegalActionError; nothing has changed then.
        """
        self._step(self._actions, self._all)
        self._lengths += 1
        self._let_others_play(self._all)
        rewards = self._paid.copy()
        self._paid[:] = 0
        self._returns += rewards
        done = self.game.waiting
        finished = np.flatnonzero(done)
        infos = self._infos(finished)
        if finished.size:
            self.game.restart(finished)
            self._begin(finished)
        return self._observations(), rewards, done, infos

    def _step(self, actions: NDArray[Any], games: NDArray[np.int64]) -> None:
        self.game.step(actions, games)
        self._paid[games] += self.game.rewards[games, self._seats[games]]

    def _let_others_play(self, games: NDArray[np.int64]) -> None:
        """Play the other seats until the learner is to move in these games, or they are over."""
        states = self.game.states
        while True:
            to_move = states["to_move"][games]
            theirs = ~self.game.waiting[games] & (to_move != self._seats[games])
            if not theirs.any():
                return
            games = games[theirs]
            who = self._lineup[games, to_move[theirs]]
            for number, policy in enumerate(self.policies):
                some = games[who == number]
                if some.size:
                    actions = policy.act(self.game.observations[some], self.game.masks[some])
                    self._step(actions, some)

    def _begin(self, games: NDArray[np.int64]) -> None:
        """Seat everybody for episodes just dealt; go on to the learner's first decision."""
        while games.size:
            self._seat_players(games)
            self._paid[games] = self._returns[games] = 0
            self._lengths[games] = 0
            self._let_others_play(games)
            games = games[self.game.waiting[games]]  # nothing was to decide
            if games.size:
                self.game.restart(games)

    def _seat_players(self, games: NDArray[np.int64]) -> None:
        matches = np.ascontiguousarray(self.game.states["match"][games], np.int64)
        players = self.rules.players
        if self.seat == ROTATE:  # the second term: also where B is a multiple of P
            self._seats[games] = (matches + matches // self.num_envs) % players
        else:
            self._seats[games] = self.seat
        rolls = np.zeros((games.size, players))
        _draw_lineups(np.array([self._seed], np.uint64), matches, rolls)
        lineup = np.searchsorted(self._cumulative, rolls, side="right")
        self._lineup[games] = np.minimum(lineup, len(self.policies) - 1)

    def _observations(self) -> NDArray[np.float32]:
        return self.game.layout.scaled(self.game.observations)

    def _infos(self, finished: NDArray[np.int64]) -> list[dict[str, Any]]:
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        if not finished.size:
            return infos
        seats = self._seats[finished]
        last = self.game.layout.scaled(self.game.observe(seats, finished))
        scores, winners = self.game.scores[finished], self.game.winners[finished]
        now = round(time.time() - self._start_time, 6)
        for k, (i, seat) in enumerate(zip(finished.tolist(), seats.tolist(), strict=True)):
            own = int(scores[k, seat])
            infos[i] = {
                "terminal_observation": last[k],
                "episode": {"r": float(self._returns[i]), "l": int(self._lengths[i]), "t": now},
                "penalty": own,
                "others": float(scores[k].sum() - own) / (self.rules.players - 1),
                "won": float(winners[k, seat]) / int(winners[k].sum()),
                "seat": seat,
            }
        return infos

    def action_masks(self) -> NDArray[np.int8]:
        """Return (B, A) what the learner may play now, 1 = legal; a copy."""
        return self.game.masks.copy()

    # --------------------------------------------------------------------------------------- state

    def get_state(self) -> dict[str, Any]:
        """Return all that play depends on, as plain arrays and one JSON text; see `set_state`."""
        rngs = [policy.rng.bit_generator.state for policy in self.policies]
        return {
            "states": self.game.states.view(np.uint8).reshape(self.num_envs, -1).copy(),
            "seats": self._seats.copy(),
            "lineup": self._lineup.copy(),
            "paid": self._paid.copy(),
            "returns": self._returns.copy(),
            "lengths": self._lengths.copy(),
            "text": json.dumps({"seed": self._seed, "rngs": rngs}),
        }

    def set_state(self, state: Mapping[str, Any]) -> NDArray[np.float32]:
        """Put back what `get_state` of an environment made alike returned; return (B, L).

        Raises CheckpointError where the environments were made differently.
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
        self._seed = int(text["seed"])
        for policy, rng in zip(self.policies, text["rngs"], strict=True):
            policy.rng.bit_generator.state = rng
        for name in ("seats", "lineup", "paid", "returns", "lengths"):
            getattr(self, f"_{name}")[:] = state[name]
        records = np.ascontiguousarray(state["states"], np.uint8).view(self.game.states.dtype)
        self.game.load(records.reshape(self.num_envs))
        return self._observations()

    # ------------------------------------------------------------------------- what VecEnv asks for

    def close(self) -> None:
        """Do nothing: there are no processes or files to close."""

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """Return an attribute once for each game; all games share it."""
        return [getattr(self, attr_name)] * len(self._chosen(indices))

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Set an attribute for all games. Raises DominoError for some games only."""
        if len(self._chosen(indices)) != self.num_envs:
            raise DominoError(f"attribute {attr_name!r} is shared by all games; leave out indices")
        setattr(self, attr_name, value)

    def env_method(
        self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any
    ) -> list[Any]:
        """Return the rows of `action_masks`; there are no other methods of single games."""
        if method_name != "action_masks":
            raise AttributeError(f"single games have no method {method_name!r}, but action_masks")
        return list(self.action_masks()[self._chosen(indices)])

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        """Return False for each game: there is nothing that could be wrapped."""
        return [False] * len(self._chosen(indices))

    def _chosen(self, indices: Any) -> list[int]:
        return list(self._get_indices(indices))
