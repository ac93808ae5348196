"""`DominoVectorEnv`: many tables with one learner each, as a native Gymnasium `VectorEnv`.

`gymnasium.make_vec("dominoenv/MexicanTrain-v0", num_envs=64)`. Letters: B games, L entries of an
observation, A actions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from dominoenv.core.arguments import as_array, checked_choice, checked_seed, positive
from dominoenv.envs.keywords import RulesLike
from dominoenv.envs.pettingzoo_base import Info
from dominoenv.envs.single import make_games, picture
from dominoenv.errors import DominoError, GameOverError, IllegalActionError
from dominoenv.opponents.pool import Opponent, OpponentPool, Player
from dominoenv.render.modes import RENDER_FPS, Picture, Renderer, warn_of_no_mode
from dominoenv.render.view import Reveal

MODES = ("ansi", "rgb_array", "svg")  # no window for each of many games
Observations = NDArray[np.float32]
Flags = NDArray[np.bool_]
Results = tuple[Observations, NDArray[np.float64], Flags, Flags, Info]


class DominoVectorEnv(VectorEnv[Observations, NDArray[np.int64], NDArray[Any]]):
    """B games in one batch, one learner's seat in each.

    Arguments are those of `DominoEnv`, and:

    - num_envs: B. Game i plays match i of the seed, afterwards match i + B, and so on.
    - autoreset_mode: Gymnasium's `AutoresetMode` or its value. "NextStep" (default): the step after
      an episode's end begins the next one, whatever the action; "SameStep": the step that ends an
      episode begins the next one, the end is in `infos["final_obs"]` and `infos["final_info"]`;
      "Disabled": call `reset(options={"reset_mask": ended})`.
    - max_episode_steps: decisions of the learner after which an episode is truncated.
    - render_mode: "ansi", "rgb_array" or "svg": `render` returns a picture of each game.

    Observations are (B, L) float32, masks (B, A) int8 in `infos["action_mask"]` and from
    `action_masks()`; infos hold what those of `DominoEnv` hold, as arrays, each with a mask
    `_<name>` of the games that have it. A game whose episode is over has a mask of all 1.

    `reset(seed=...)` begins match i of another seed in game i, `reset()` goes on to the next
    matches, `options={"match": m}` begins match m + i, `options={"reset_mask": (B,) bool}` goes on
    to the next match in the games named.
    """

    def __init__(
        self,
        game: str,
        rules: RulesLike = None,
        *,
        num_envs: int = 1,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        max_episode_steps: int | None = None,
        render_mode: str | None = None,
        reveal: Reveal = None,
        **keywords: Any,
    ) -> None:
        self.autoreset_mode = _checked_mode(autoreset_mode)
        limit = max_episode_steps
        self.max_episode_steps = None if limit is None else positive("max_episode_steps", limit)
        self.render_mode = render_mode
        self.learner = make_games(DominoVectorEnv, game, rules, num_envs, keywords)
        self._renderer = Renderer(self.learner.rules, render_mode, reveal, MODES)
        self.game, self.rules = self.learner.game, self.learner.rules
        self.num_envs = self.game.num_games
        self.metadata = {
            "render_modes": list(MODES),
            "render_fps": RENDER_FPS,
            "autoreset_mode": self.autoreset_mode,
        }
        self.single_observation_space = spaces.Box(0.0, 1.0, (self.game.layout.size,), np.float32)
        self.single_action_space = spaces.Discrete(self.game.num_actions)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)

    # ------------------------------------------------------------------------------------- playing

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observations, Info]:
        """Begin episodes, in all games or in those of a mask; see the class.

        The infos are of all games, after a `reset_mask` too. Raises DominoError for an invalid
        seed, match or mask; the state is left unchanged then.
        """
        seed = None if seed is None else checked_seed(seed)
        if isinstance(options, dict) and "reset_mask" in options:
            self.learner.restart(self._masked(options, seed))
        else:
            self.learner.deal(seed, options)
        super().reset(seed=seed)
        return self.learner.observations(), self._infos(np.arange(self.num_envs))

    def _masked(self, options: dict[str, Any], seed: int | None) -> NDArray[np.int64]:
        """Return the games of a reset mask."""
        mask = options["reset_mask"]
        is_mask = isinstance(mask, np.ndarray) and mask.dtype == np.bool_
        if not is_mask or mask.shape != (self.num_envs,) or not mask.any():
            raise DominoError(
                f"reset_mask={mask!r} must be an array of {self.num_envs} bools, not all False"
            )
        if seed is not None or options.get("match") is not None:
            raise DominoError(
                "the games of a batch share one seed: give a seed or a match without a reset_mask"
            )
        return np.flatnonzero(mask)

    def step(self, actions: Any) -> Results:
        """Carry out the learner's action in each game; the others play until it is to move again.

        Rewards are (B,) float64, terminations and truncations (B,) bool. Raises IllegalActionError
        as `DominoEnv` does, GameOverError with autoreset "Disabled" while an episode is over; the
        state is left unchanged then.
        """
        chosen = as_array("actions", actions, IllegalActionError)
        if chosen.shape != (self.num_envs,):
            raise IllegalActionError(
                f"actions must be {self.num_envs} whole numbers, not an array of {chosen.shape}"
            )
        learner, ended = self.learner, self._over()
        if self.autoreset_mode is AutoresetMode.DISABLED and ended.any():
            raise GameOverError(
                f"the episodes of games {np.flatnonzero(ended).tolist()} are over: call "
                "reset(options={'reset_mask': terminations | truncations})"
            )
        played = np.flatnonzero(~ended)
        rewards = np.zeros(self.num_envs)
        if played.size:
            rewards[played] = learner.step(chosen[played], played)
        learner.restart(np.flatnonzero(ended))
        over, terminated = self._over(), learner.done
        infos = self._finish(over) if self.autoreset_mode is AutoresetMode.SAME_STEP else {}
        stepped = np.setdiff1d(played, np.flatnonzero(over)) if infos else played
        infos |= self._infos(np.arange(self.num_envs), stepped)
        return learner.observations(), rewards, terminated, over & ~terminated, infos

    def _over(self) -> Flags:
        """Return (B,) which episodes are over, terminated or truncated."""
        limit = np.inf if self.max_episode_steps is None else self.max_episode_steps
        over: Flags = self.learner.done | (self.learner.lengths >= limit)
        return over

    def _finish(self, over: Flags) -> Info:
        """Begin the next episode where one has ended; return what is to be said of the end."""
        games = np.flatnonzero(over)
        if not games.size:
            return {}
        last = np.full(self.num_envs, None, object)
        for game, row in zip(games, self.learner.views(games), strict=True):
            last[game] = row.copy()
        infos: Info = {"final_obs": last, "_final_obs": over.copy()}
        infos |= {"final_info": self._infos(games, games), "_final_info": over.copy()}
        self.learner.restart(games)
        return infos

    @property
    def pool(self) -> OpponentPool:
        """The opponents; they may be changed at any time."""
        return self.learner.pool

    def set_opponents(self, opponents: Player | Sequence[Opponent]) -> None:
        """Put others in the place of all opponents; episodes that have begun keep theirs."""
        self.pool.replace(opponents)

    def action_masks(self) -> NDArray[np.int8]:
        """Return (B, A) what the learner may play now, 1 = legal; a copy."""
        masks = self.learner.masks()
        masks[self._over()] = 1
        return masks

    def _infos(
        self, games: NDArray[np.int64], stepped: NDArray[np.int64] | None = None
    ) -> dict[str, Any]:
        """Return the infos of some games, as arrays; `stepped`: those that have made a step."""
        learner = self.learner
        infos = self._spread({"action_mask": self.action_masks()[games]}, games)
        infos |= self._spread({"seat": learner.seats[games]}, games)
        if stepped is not None and stepped.size:
            illegal = learner.illegal_actions[stepped]
            infos |= self._spread({"illegal_action": illegal}, stepped)
            ended = stepped[learner.done[stepped]]
            if ended.size:
                infos |= self._spread(learner.results(ended), ended)
        return infos

    def _spread(self, values: dict[str, NDArray[Any]], games: NDArray[np.int64]) -> dict[str, Any]:
        """Return (B, ...) arrays with the values at their games, and who has one."""
        infos: dict[str, Any] = {}
        for name, rows in values.items():
            infos[name] = np.zeros((self.num_envs, *rows.shape[1:]), rows.dtype)
            infos[name][games] = rows
            infos[f"_{name}"] = np.zeros(self.num_envs, np.bool_)
            infos[f"_{name}"][games] = True
        return infos

    def render(self) -> tuple[Picture | None, ...] | None:  # type: ignore[override]
        """Return a picture of every game, as `render_mode` asks for it (`docs/rendering.md`)."""
        if self.render_mode is None:
            warn_of_no_mode()
            return None
        return tuple(picture(self._renderer, self.learner, game) for game in range(self.num_envs))


def _checked_mode(mode: AutoresetMode | str) -> AutoresetMode:
    if isinstance(mode, AutoresetMode):
        return mode
    values = [known.value for known in AutoresetMode]
    return list(AutoresetMode)[checked_choice("autoreset_mode", mode, values)]
