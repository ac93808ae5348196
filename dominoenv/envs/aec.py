"""PettingZoo's agent-environment cycle: one seat moves at a time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from pettingzoo import AECEnv
from pettingzoo.utils import wrappers

from dominoenv.core.episode import EPISODE_KEYWORDS, PETTINGZOO_WRAPPED
from dominoenv.envs.keywords import RulesLike
from dominoenv.envs.pettingzoo_base import Info, Observation, PettingZooBase
from dominoenv.errors import GameOverError, IllegalActionError


class DominoAEC(PettingZooBase, AECEnv[str, Observation, int]):  # type: ignore[misc]
    """A game as PettingZoo plays it; `mexican_train_v0.raw_env` and `chicken_foot_v0.raw_env`.

    Agents are `player_0` ... by seat. An observation is `{"observation": (L,) float32 in [0, 1],
    "action_mask": (A,) int8}`, laid out by `env.game.layout`. The mask stands in
    `infos[agent]["action_mask"]` too; that of a seat that waits is all zeros. Any seat can be
    observed at any time, after the end as well. When the episode has ended, each agent's info holds
    its `score` (points, lowest wins) and whether it `won`.

    Arguments:

    - rules: a rules object, a preset's name or options by name; or the options as keywords
      (`preset="station", players=6`).
    - how episodes are played: `EpisodeOptions` as keywords (`episode="match"`), or all in one
      object (`episode_options=`).
    - observation: "dict" (default), or "box" for tools that take arrays alone: the (L,) float32,
      with the mask in the infos only.
    - max_cycles: truncate after that many decisions of each seat on average (times P in all).
    - render_mode: "ansi" (text), "rgb_array" (pixels), "svg", or "human" to show the table after
      every step, in a window where there is one. reveal: whose hands lie face up in it: "all", some
      seats, or nobody's (None).
    - seed: of the first episode. `reset(seed=...)` begins match 0 of another seed, `reset()` goes
      on to the next match; `reset(options={"match": m})` deals match m. The deal depends on seed
      and match alone. Other keys of `options` are ignored.

    After an illegal action that was replaced, its agent's info holds `illegal_action`, True.

    Raises UnknownKeywordError for an unknown keyword, other DominoErrors for invalid arguments.
    """

    _decisions = 0
    _mover = -1  # the seat to move, -1 when the episode is over

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        """Begin an episode; see the class for what seed and options mean."""
        self._deal(seed, options)
        self._decisions = 0
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, Info] = {agent: self._waiting() for agent in self.agents}
        self._skip_agent_selection = None
        self._paid = False  # whether `rewards` holds anything
        self._select()
        self._show()

    def observe(self, agent: str) -> Observation:
        """Return what an agent may know now. Raises UnknownNameError for an unknown agent."""
        seat, game = self._seat_of(agent), self.game
        if seat == self._mover:
            row, mask = game.observations[0], game.masks[0].copy()
        else:
            row, mask = game.view(seat), np.zeros(self.num_actions, np.int8)
        # `layout.scaled` without its checks, which cost as much as scaling
        return self._observation(row * game.layout.scale, mask)

    def step(self, action: int | None) -> None:
        """Carry out the action of `agent_selection`; None for an agent whose episode is over.

        Raises IllegalActionError naming the legal actions, GameOverError when no agent is left;
        the state is left unchanged then.
        """
        if not self.agents:
            raise GameOverError("no agent is left to step: the episode is over, call reset()")
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            if action is not None:
                raise IllegalActionError(f"{agent} is out of the episode: its one step is None")
            self._was_dead_step(None)
            return
        round_over, was_illegal = self.game.play(action), self.game.was_illegal
        self._decisions += 1
        self._cumulative_rewards[agent] = 0.0
        self.infos[agent] = self._waiting()
        if was_illegal:
            self.infos[agent]["illegal_action"] = True
        if self._paid or round_over or was_illegal:
            self._pay()
        if self._is_over(round_over):
            self._finish()
        else:
            self._select()
        self._show()

    def _waiting(self) -> Info:
        return {"action_mask": np.zeros(self.num_actions, np.int8)}

    def _select(self) -> None:
        """Give the turn to the seat to move."""
        self._mover = self.game.mover()
        self.agent_selection = agent = self.possible_agents[self._mover]
        info = {"action_mask": self.game.masks[0].copy()}
        self.infos[agent] = {**self.infos[agent], **info} if self.game.replaces else info

    def _pay(self) -> None:
        """Take the rewards of the last step over; they add up until their agent acts."""
        self.rewards = dict(zip(self.agents, self.game.rewards[0].tolist(), strict=True))
        self._paid = any(self.rewards.values())
        self._accumulate_rewards()

    def _is_over(self, round_over: bool) -> bool:
        """Note whether the episode has ended with this step, or is cut off after it."""
        if round_over and not self.game.is_playing():
            self.terminations = dict.fromkeys(self.agents, True)
            return True
        if self.max_cycles is None or self._decisions < self.max_cycles * len(self.agents):
            return False
        self.truncations = dict.fromkeys(self.agents, True)
        return True

    def _finish(self) -> None:
        """Let the agents leave one after another, each with a step of None."""
        self._mover = -1
        self.agent_selection = self.agents[0]
        if self.terminations[self.agent_selection]:
            for agent in self.agents:
                self.infos[agent].update(self._results(self._seats[agent]))

    def _deads_step_first(self) -> str:
        """Let the dead step first: PettingZoo's wrappers call it after ending an episode."""
        self._mover = -1
        self.infos = {agent: self._waiting() for agent in self.agents}
        first: str = super()._deads_step_first()
        return first

    def _show(self) -> None:
        if self.render_mode == "human":
            self.render()


def wrapped(game: str, rules: RulesLike = None, **keywords: Any) -> AECEnv[str, Observation, int]:
    """Return a game in the wrappers of PettingZoo's classic games; arguments as `DominoAEC`.

    By default (`illegal="terminate"`) an illegal action ends the episode, and who chose it gets
    `illegal_reward`. An action outside of the space, and calls in the wrong order, are
    AssertionErrors.
    """
    given = {name: keywords.pop(name) for name in EPISODE_KEYWORDS if name in keywords}
    options = PETTINGZOO_WRAPPED.changed(DominoAEC, given)
    terminates = options.illegal == "terminate"
    strict = replace(options, illegal="raise") if terminates else options
    env = DominoAEC(game, rules, episode_options=strict, **keywords)
    if terminates:
        env = wrappers.TerminateIllegalWrapper(env, illegal_reward=options.illegal_reward)
    return wrappers.OrderEnforcingWrapper(wrappers.AssertOutOfBoundsWrapper(env))
