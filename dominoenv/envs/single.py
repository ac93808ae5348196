"""`DominoEnv`: one learner at one table, as Gymnasium wants it.

`gymnasium.make("dominoenv/MexicanTrain-v0")` and `"dominoenv/ChickenFoot-v0"`, once `dominoenv` is
imported. Letters: L entries of an observation, A actions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from dominoenv.core.arguments import checked_choice, checked_seed
from dominoenv.core.episode import EPISODE_KEYWORDS, GYMNASIUM, Owner
from dominoenv.envs.keywords import RulesLike, split_keywords
from dominoenv.envs.learner import LEARNER_KEYWORDS, LearnerGames
from dominoenv.envs.pettingzoo_base import Info
from dominoenv.errors import GameOverError
from dominoenv.games.positions import position_of
from dominoenv.games.registry import GAMES
from dominoenv.opponents.pool import Opponent, OpponentPool, Player
from dominoenv.render.modes import RENDER_FPS, RENDER_MODES, Picture, Renderer
from dominoenv.render.view import Reveal

METADATA: dict[str, Any] = {"render_modes": list(RENDER_MODES), "render_fps": RENDER_FPS}


def make_games(
    owner: Owner,
    game: str,
    rules: RulesLike,
    num_games: int,
    keywords: Mapping[str, Any],
) -> LearnerGames:
    """Make the games of an environment, the owner, from the keywords that it did not name."""
    checked_choice("game", game, tuple(GAMES))
    made, others = split_keywords(owner, game, rules, keywords, LEARNER_KEYWORDS)
    given = {name: others.pop(name) for name in EPISODE_KEYWORDS if name in others}
    options = GYMNASIUM.changed(owner, given)
    return LearnerGames(made, num_games, episode_options=options, **others)


def picture(renderer: Renderer, games: LearnerGames, game: int) -> Picture | None:
    """Return one game's table, or show it; the learner's hand lies face up unless others do."""
    position = position_of(games.rules, games.game.states[game])
    return renderer.draw(position, [int(games.seats[game])])


class DominoEnv(gymnasium.Env[NDArray[np.float32], np.int64]):
    """One learner; agents play the other seats inside, so that a step is one decision of its own.

    An observation is (L,) float32 in [0, 1], laid out by `env.unwrapped.game.layout`. What is legal
    stands in `info["action_mask"]`, (A,) int8, 1 = legal, and comes from `action_masks()`, as
    sb3-contrib asks for it. An info also holds the learner's `seat`, after a step whether it was an
    `illegal_action`, at the end `penalty` (the learner's total of the episode), `others` (the mean
    of the other seats') and `won` (1, a share for a tie, or 0). Once the episode is over no action
    counts any more, and the mask is all 1.

    Arguments:

    - rules: a rules object, a preset's name or options by name; or the options as keywords
      (`preset="station", players=6`).
    - opponents: "random"; a policy, its name, a function `f(observations, masks) -> actions` over n
      rows, (one of these, weight) pairs to draw each opposing seat from, or an `OpponentPool`.
    - seat: the learner's, or "rotate" (default), which changes it with each match.
    - how episodes are played: `EpisodeOptions` as keywords (`episode="match"`), or all in one
      object (`episode_options=`). By default moves without a choice are made for the learner, and
      an illegal action costs `illegal_reward` and the lowest legal one is played in its place.
    - render_mode: "ansi" (text), "rgb_array" (pixels), "svg", or "human" to show the table after
      every step, in a window where there is one. reveal: whose hands lie face up in it: "all", some
      seats, or the learner's (None).
    - seed: of the first episode. `reset(seed=...)` begins match 0 of another seed, `reset()` goes
      on to the next match, `reset(options={"match": m})` begins match m.

    Raises UnknownKeywordError for an unknown keyword, other DominoErrors for invalid arguments.
    """

    metadata = METADATA

    def __init__(
        self,
        game: str,
        rules: RulesLike = None,
        *,
        render_mode: str | None = None,
        reveal: Reveal = None,
        **keywords: Any,
    ) -> None:
        self.render_mode = render_mode
        self.learner = make_games(DominoEnv, game, rules, 1, keywords)
        self._renderer = Renderer(self.learner.rules, render_mode, reveal)
        self.game, self.rules = self.learner.game, self.learner.rules
        self.observation_space = spaces.Box(0.0, 1.0, (self.game.layout.size,), np.float32)
        self.action_space = spaces.Discrete(self.game.num_actions)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], Info]:
        """Begin an episode; see the class for what seed and options mean."""
        seed = None if seed is None else checked_seed(seed)
        self.learner.deal(seed, options)
        super().reset(seed=seed)
        self._show()
        return self.learner.observations()[0], self._info()

    def step(self, action: Any) -> tuple[NDArray[np.float32], float, bool, bool, Info]:
        """Carry out the learner's action; the others play until it is to move again.

        Raises GameOverError when the episode is over, IllegalActionError for an action that is no
        whole number, and for any illegal one with `illegal="raise"`; the state is left unchanged
        then.
        """
        learner = self.learner
        if learner.done[0]:
            raise GameOverError("the episode is over: call reset()")
        reward = float(learner.step([action])[0])
        info = {**self._info(), "illegal_action": bool(learner.illegal_actions[0])}
        over = bool(learner.done[0])
        if over:
            results = learner.results(np.zeros(1, np.int64))
            info |= {name: values[0].item() for name, values in results.items()}
        self._show()
        return learner.observations()[0], reward, over, False, info

    @property
    def pool(self) -> OpponentPool:
        """The opponents; they may be changed at any time."""
        return self.learner.pool

    def set_opponents(self, opponents: Player | Sequence[Opponent]) -> None:
        """Put others in the place of all opponents; episodes that have begun keep theirs.

        For environments in other processes: `envs.call("set_opponents", "heaviest")`.
        """
        self.pool.replace(opponents)

    def action_masks(self) -> NDArray[np.int8]:
        """Return (A,) what the learner may play now, 1 = legal; a copy."""
        masks = self.learner.masks()
        return masks.reshape(-1)

    def render(self) -> Picture | None:
        """Return the table as `render_mode` asks for it, or show it (`docs/rendering.md`)."""
        return picture(self._renderer, self.learner, 0)

    def close(self) -> None:
        """Close the window, if there is one. May be called at any time."""
        self._renderer.close()

    def _info(self) -> Info:
        return {"action_mask": self.action_masks(), "seat": int(self.learner.seats[0])}

    def _show(self) -> None:
        if self.render_mode == "human":
            self.render()
