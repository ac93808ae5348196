"""What the PettingZoo environments share: one game, its agents' names, spaces and pictures.

Letters: P seats, L entries of an observation, A actions, T tiles.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, TypeAlias

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from dominoenv.batch import POINTS_PER_REWARD, BatchedGame
from dominoenv.core.arguments import positive
from dominoenv.core.round import PLAYING
from dominoenv.core.rules import Rules
from dominoenv.errors import (
    DominoError,
    IllegalActionError,
    RulesError,
    UnknownNameError,
    nearest,
)
from dominoenv.games import stepping
from dominoenv.games.positions import position_of
from dominoenv.games.registry import GAMES, make_rules
from dominoenv.render.modes import RENDER_FPS, RENDER_MODES, Picture, Renderer
from dominoenv.render.view import Reveal

Observation: TypeAlias = dict[str, NDArray[Any]]  # "observation": (L,) float32, "action_mask": int8
Info: TypeAlias = dict[str, Any]
RulesLike: TypeAlias = Rules | Mapping[str, Any] | str | None

# The keywords of an environment that are no rules; an unknown keyword is told from all of them.
SETTINGS = (
    *("rules", "episode", "double", "reward", "reward_scale", "forced"),
    *("max_cycles", "render_mode", "reveal", "seed"),
)


class OneGame(BatchedGame):
    """A batch of one game that waits at the end of its episode, with doors for single values."""

    def __init__(self, rules: Rules, seed: int | None, **settings: Any) -> None:
        super().__init__(rules, 1, seed, autoreset=False, **settings)
        self._action = np.zeros(1, np.int64)
        self._seat = np.zeros(1, np.int64)
        self._skip_empty_episodes()
        self._is_fresh = True  # dealt, and no episode asked for yet

    def deal(self, seed: int | None, match: int | None) -> None:
        """Begin an episode: of a seed, of a match of the seed, or the one that comes next."""
        if seed is not None or match is not None:
            base = int(self.states["seed"][0]) if seed is None else seed
            self.reset(base, matches=[0 if match is None else match])
        elif not self._is_fresh:
            self.restart()
        self._is_fresh = False
        self._skip_empty_episodes()

    def _skip_empty_episodes(self) -> None:
        """Pass over episodes that end before anybody is to move (tiny hands)."""
        while not self.is_playing():
            self.restart()

    def is_playing(self) -> bool:
        """Return whether the episode goes on."""
        return bool(self.states["ending"][0] == PLAYING)

    def mover(self) -> int:
        """Return the seat to move."""
        return self.states["to_move"].item(0)  # type: ignore[no-any-return]

    def play(self, action: Any) -> bool:
        """Carry out one action, checked; return whether a round has ended with it.

        Raises IllegalActionError naming the legal actions; nothing has changed then.
        """
        try:
            number = operator.index(action)
        except TypeError:
            raise IllegalActionError(
                f"action {action!r} is no whole number; take one of {self.legal_actions(0)}"
            ) from None
        if not 0 <= number < self.num_actions:
            raise self._illegal(0, number)
        self._action[0] = number
        illegal = self._drive(self._all, self._action, stepping.CHECK_AND_MOVE)
        if illegal >= 0:
            raise self._illegal(0, number)
        if self._recorder is not None:
            self._recorder.stepped(self._all, self._action)
        return self._outcomes["round_over"].item(0)  # type: ignore[no-any-return]

    def view(self, seat: int) -> Any:
        """Return (L,) uint8, what a seat may know, whoever is to move."""
        self._seat[0] = seat
        return self._rows(self._all, self._seat)[0]

    def views(self) -> Any:
        """Return (P, L) uint8, what each seat may know."""
        seats = np.arange(self.rules.players)
        return self._rows(np.zeros_like(seats), seats)

    def _rows(self, games: NDArray[np.int64], seats: NDArray[np.int64]) -> Any:
        rows = np.zeros((len(seats), self.layout.size), np.uint8)
        stepping.observe_games(self.states, self.rules.record, games, seats, rows)
        return rows


class PettingZooBase:
    """Base of the two environments; see `DominoAEC` for the arguments."""

    metadata: dict[str, Any]
    num_actions: int

    def __init__(
        self,
        game: str,
        rules: RulesLike = None,
        *,
        episode: str = "round",
        double: int | None = None,
        reward: str = "zero_sum",
        reward_scale: float = 1 / POINTS_PER_REWARD,
        forced: str = "explicit",
        max_cycles: int | None = None,
        render_mode: str | None = None,
        reveal: Reveal = None,
        seed: int | None = None,
        **options: Any,
    ) -> None:
        self.rules = table_rules(game, rules, options, self._setting_names())
        self.max_cycles = None if max_cycles is None else positive("max_cycles", max_cycles)
        self.render_mode = render_mode
        self._renderer = Renderer(self.rules, render_mode, reveal)
        self.game = OneGame(
            self.rules,
            seed,
            episode=episode,
            double=double,
            reward=reward,
            reward_scale=reward_scale,
            forced=forced,
        )
        self.metadata = {
            "name": f"{game}_v0",
            "render_modes": list(RENDER_MODES),
            "render_fps": RENDER_FPS,
            "is_parallelizable": False,
        }
        self.possible_agents = [f"player_{seat}" for seat in range(self.rules.players)]
        self.agents: list[str] = []
        self._seats = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        self._make_spaces()

    def _setting_names(self) -> tuple[str, ...]:
        return SETTINGS

    def _extra_actions(self) -> int:
        return 0

    def _make_spaces(self) -> None:
        length, truth = self.game.layout.size, self.rules.players * self.game.layout.size
        self.num_actions = self.game.num_actions + self._extra_actions()
        self.observation_spaces = {
            agent: spaces.Dict(
                {
                    "observation": spaces.Box(0.0, 1.0, (length,), np.float32),
                    "action_mask": spaces.Box(0, 1, (self.num_actions,), np.int8),
                }
            )
            for agent in self.possible_agents
        }
        self.action_spaces = {
            agent: spaces.Discrete(self.num_actions) for agent in self.possible_agents
        }
        self.state_space = spaces.Box(0.0, 1.0, (truth + self.rules.tiles.size,), np.float32)

    def observation_space(self, agent: str) -> spaces.Dict:
        """Return an agent's observation space, the same object every time."""
        return self.observation_spaces[self._known(agent)]

    def action_space(self, agent: str) -> Any:
        """Return an agent's action space, the same object every time."""
        return self.action_spaces[self._known(agent)]

    def _known(self, agent: str) -> str:
        if not isinstance(agent, str) or agent not in self._seats:
            raise UnknownNameError(f"agent {agent!r}: {nearest(agent, self._seats)}")
        return agent

    def state(self) -> NDArray[np.float32]:
        """Return the full truth, for centralised critics: (P * L + T,) float32 in [0, 1].

        First every seat's own observation, seat 0's first, each laid out and scaled by
        `game.layout`; then the boneyard in the order in which it will be drawn: (tile id + 1) / T,
        and 0 where there is none any more.
        """
        game, size = self.game, self.rules.tiles.size
        truth = np.zeros(self.state_space.shape, np.float32)
        rows = game.layout.scaled(game.views())
        truth[: rows.size] = rows.ravel()
        left = int(game.states["boneyard_size"][0])
        pile = game.states["boneyard"][0, :left][::-1]
        truth[rows.size : rows.size + left] = (pile + 1) / np.float32(size)
        return truth

    def render(self) -> Picture | None:
        """Return the table as `render_mode` asks for it, or show it (`docs/rendering.md`)."""
        return self._renderer.draw(position_of(self.rules, self.game.states[0]))

    def close(self) -> None:
        """Close the window, if there is one. May be called at any time."""
        self._renderer.close()

    def _deal(self, seed: int | None, options: Mapping[str, Any] | None) -> None:
        if not isinstance(options, Mapping | None):
            raise DominoError(f"options={options!r} must be a dict or None")
        match = (options or {}).get("match")
        self.game.deal(seed, match)
        self.agents = self.possible_agents[:]

    def _results(self, seat: int) -> Info:
        """Return what the infos of a finished episode say beside the mask."""
        return {
            "score": int(self.game.scores[0, seat]),
            "won": bool(self.game.winners[0, seat]),
        }


def table_rules(
    game: str,
    rules: RulesLike,
    options: Mapping[str, Any],
    settings: tuple[str, ...],
) -> Rules:
    """Make the rules of an environment; an unknown keyword is told from settings and options."""
    if isinstance(rules, Mapping) and rules.get("game") == game:
        rules = {key: value for key, value in rules.items() if key != "game"}
    known = ["preset", *(spec.name for spec in fields(GAMES[game].rules)), *settings]
    for key in options:
        if key not in known:
            raise RulesError(f"keyword {key!r} of {game}_v0: {nearest(key, known)}")
    return make_rules(game, rules, **options)
