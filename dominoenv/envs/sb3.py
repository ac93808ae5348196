"""`DominoVecEnv`: one learning seat in many games at once, as Stable-Baselines3 wants it.

The other seats are played inside the environment, so that a step is one decision of the learner and
what is paid between two of its decisions is its own. Needs the extra: `pip install
"dominoenv[train]"`. Letters: B games, P seats, L entries of an observation, A actions.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, Unpack

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from dominoenv.core.arguments import checked_seed
from dominoenv.core.rules import Rules
from dominoenv.envs.learner import LearnerGames, LearnerKeywords
from dominoenv.envs.single import picture
from dominoenv.errors import DominoError
from dominoenv.opponents.pool import OpponentPool, Opponents
from dominoenv.render.modes import RENDER_FPS, Renderer
from dominoenv.render.view import Reveal

try:
    from stable_baselines3.common.vec_env import VecEnv
except ImportError as error:
    raise ImportError(
        'dominoenv.envs.sb3 needs stable_baselines3: pip install "dominoenv[train]"'
    ) from error


MODES = ("rgb_array",)  # the one mode whose pictures Stable-Baselines3 hands out


class DominoVecEnv(VecEnv):
    """B games, one learner's seat in each.

    The arguments are those of `dominoenv.envs.learner.LearnerGames`: opponents (a policy, its name,
    a function, a mixture with weights, or an `OpponentPool`), the learner's seat, the seed, and how
    episodes are played (`EpisodeOptions`). Algorithms that know no masks (PPO, DQN) take
    `illegal="penalty"`: an illegal action costs `illegal_reward`, and the legal action of the
    lowest id is played in its place.

    Observations are (B, L) float32 in [0, 1], laid out by `game.layout`; masks (B, A) int8 come
    from `action_masks()`. A reward is what the learner's seat was paid from its decision to its
    next one. An episode in which the learner has nothing to decide is passed over.

    At an episode's end `infos[i]` holds SB3's `terminal_observation` (the learner's view of the
    finished episode) and `episode`, also `penalty` (the learner's total of the episode), `others`
    (the mean of the other seats'), `won` (1, a share for a tie, or 0) and `seat`. After an illegal
    action that was replaced it holds `illegal_action`, True.

    render_mode: "rgb_array", or None. `render` returns one picture of all tables, `get_images` one
    of each. reveal: whose hands lie face up in them: "all", some seats, or the learner's (None).

    Raises DominoErrors for invalid arguments.
    """

    def __init__(
        self,
        rules: Rules | Mapping[str, Any] | str,
        num_games: int,
        opponents: Opponents = "random",
        *,
        render_mode: str | None = None,
        reveal: Reveal = None,
        **keywords: Unpack[LearnerKeywords],
    ) -> None:
        self.learner = LearnerGames(rules, num_games, opponents, **keywords)
        self.game, self.rules = self.learner.game, self.learner.rules
        self.render_mode = render_mode
        self._renderer = Renderer(self.rules, render_mode, reveal, MODES)
        self._actions: Any = np.zeros(self.game.num_games, np.int64)
        self._start_time = time.time()
        super().__init__(
            self.game.num_games,
            spaces.Box(0.0, 1.0, (self.game.layout.size,), np.float32),
            spaces.Discrete(self.game.num_actions),
        )
        self.metadata["render_fps"] = RENDER_FPS  # type: ignore[assignment]  # typed as lists

    @property
    def seat(self) -> int | str:
        """The learner's seat, or "rotate"."""
        return self.learner.seat

    @property
    def pool(self) -> OpponentPool:
        """The opponents; they may be changed at any time."""
        return self.learner.pool

    # ------------------------------------------------------------------------------------- playing

    def reset(self) -> NDArray[np.float32]:
        """Begin a new episode in every game, of the seed given last; return (B, L)."""
        seed = None if self._seeds[0] is None else checked_seed(self._seeds[0])
        self._reset_seeds()
        self._reset_options()
        self.learner.reset(seed)
        return self.learner.observations()

    def step_async(self, actions: NDArray[Any]) -> None:
        """Take the learner's actions, (B,), for `step_wait`."""
        self._actions = np.asarray(actions)

    def step_wait(
        self,
    ) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]:
        """Carry the actions out and let the others play until the learner is to move again.

        Raises IllegalActionError; the state is left unchanged then.
        """
        rewards = self.learner.step(self._actions)
        done = self.learner.done
        finished = np.flatnonzero(done)
        infos = self._infos(finished)
        self.learner.restart(finished)
        return self.learner.observations(), rewards, done, infos

    def _infos(self, finished: NDArray[np.int64]) -> list[dict[str, Any]]:
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for i in np.flatnonzero(self.learner.illegal_actions):
            infos[i]["illegal_action"] = True
        if not finished.size:
            return infos
        learner = self.learner
        last, results = learner.views(finished), learner.results(finished)
        now = round(time.time() - self._start_time, 6)
        for k, i in enumerate(finished.tolist()):
            infos[i] |= {
                "terminal_observation": last[k],
                "episode": {"r": float(learner.returns[i]), "l": int(learner.lengths[i]), "t": now},
                **{name: values[k].item() for name, values in results.items()},
                "seat": int(learner.seats[i]),
            }
        return infos

    def action_masks(self) -> NDArray[np.int8]:
        """Return (B, A) what the learner may play now, 1 = legal; a copy."""
        return self.learner.masks()

    # --------------------------------------------------------------------------------------- state

    def get_state(self) -> dict[str, Any]:
        """Return all that play depends on, as plain arrays and one JSON text; see `set_state`."""
        return self.learner.get_state()

    def set_state(self, state: Mapping[str, Any]) -> NDArray[np.float32]:
        """Put back what `get_state` of an environment made alike returned; return (B, L).

        Raises CheckpointError where the environments were made differently.
        """
        self.learner.set_state(state)
        return self.learner.observations()

    # ------------------------------------------------------------------------- what VecEnv asks for

    def get_images(self) -> list[Any]:
        """Return a picture of each table, (height, width, 3); None without a render mode."""
        return [picture(self._renderer, self.learner, game) for game in range(self.num_envs)]

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
