"""PettingZoo's parallel form: every agent acts in every cycle; those that wait have one action."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pettingzoo import ParallelEnv

from dominoenv.envs.pettingzoo_base import Info, Observation, PettingZooBase
from dominoenv.errors import GameOverError, IllegalActionError

Observations = dict[str, Observation]
Infos = dict[str, Info]
Flags = dict[str, bool]
WITHOUT_MASKS = "programs that sample without masks take illegal='substitute'"


class DominoParallel(PettingZooBase, ParallelEnv[str, Observation, int]):  # type: ignore[misc]
    """A game in which all agents act in every cycle; `parallel_env` of both games.

    The seat to move plays with actions 0 ... A-1 as in `DominoAEC`. Action A is `wait`, the one
    action of everybody else; what they choose is ignored. `step` returns PettingZoo's five
    dicts, each with all agents, those of the last step included; `agents` is empty after that.

    Arguments are those of `DominoAEC`; `max_cycles` truncates after that many steps. Programs that
    sample actions without their mask take `illegal="substitute"`.
    """

    _cycles = 0

    @property
    def wait(self) -> int:
        """The action of everybody who is not to move."""
        return self.game.num_actions

    def _extra_actions(self) -> int:
        return 1

    def reset(
        self, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[Observations, Infos]:
        """Begin an episode; returns observations and infos of all agents."""
        self._deal(seed, options)
        self._cycles = 0
        self._show()
        masks = self._masks(self.game.mover())
        return self._observations(masks), self._infos(masks)

    def step(
        self, actions: Mapping[str, int]
    ) -> tuple[Observations, dict[str, float], Flags, Flags, Infos]:
        """Play one cycle; returns observations, rewards, terminations, truncations and infos.

        actions: of all agents; only the one of the seat to move counts. Raises IllegalActionError
        naming the legal actions, GameOverError when no agent is left; the state is left unchanged
        then.
        """
        if not self.agents:
            raise GameOverError("no agent is left to step: the episode is over, call reset()")
        mover = self._play(actions)
        self._cycles += 1
        agents, terminated = self.agents, not self.game.is_playing()
        truncated = not terminated and self._is_cut_off()
        over = terminated or truncated
        masks = self._masks(None if over else self.game.mover())
        infos = self._infos(masks, with_results=terminated)
        if self.game.was_illegal:
            infos[mover]["illegal_action"] = True
        self.agents = [] if over else agents
        self._show()
        return (
            self._observations(masks),
            dict(zip(agents, self.game.rewards[0].tolist(), strict=True)),
            dict.fromkeys(agents, terminated),
            dict.fromkeys(agents, truncated),
            infos,
        )

    def _is_cut_off(self) -> bool:
        return self.max_cycles is not None and self._cycles >= self.max_cycles

    def _play(self, actions: Mapping[str, int]) -> str:
        """Carry out the action of the agent to move; return its name."""
        mover = self.possible_agents[self.game.mover()]
        if not isinstance(actions, Mapping) or mover not in actions:
            named = list(actions) if isinstance(actions, Mapping) else actions
            raise IllegalActionError(f"{mover} is to move, but actions has {named!r} only")
        try:
            self.game.play(actions[mover])
        except IllegalActionError as error:
            raise IllegalActionError(f"{error}; {WITHOUT_MASKS}") from None
        return mover

    def _masks(self, mover: int | None) -> NDArray[np.int8]:
        """Return (P, A + 1): all wait but the seat to move."""
        masks = np.zeros((self.rules.players, self.num_actions), np.int8)
        masks[:, self.wait] = 1
        if mover is not None:
            masks[mover, : self.wait] = self.game.masks[0]
            masks[mover, self.wait] = 0
        return masks

    def _observations(self, masks: NDArray[np.int8]) -> Observations:
        rows = self.game.layout.scaled(self.game.views())
        return {
            agent: self._observation(rows[seat], masks[seat].copy())
            for seat, agent in enumerate(self.possible_agents)
        }

    def _infos(self, masks: NDArray[np.int8], with_results: bool = False) -> Infos:
        return {
            agent: {"action_mask": masks[seat], **(self._results(seat) if with_results else {})}
            for seat, agent in enumerate(self.possible_agents)
        }

    def _show(self) -> None:
        if self.render_mode == "human":
            self.render()
