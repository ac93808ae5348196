"""What the PettingZoo environments share: one game, its agents' names, spaces and pictures.

Letters: P seats, L entries of an observation, A actions, T tiles.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
from gymnasium import spaces
from gymnasium.utils import seeding
from numpy.typing import NDArray

from dominoenv.batch import BatchedGame
from dominoenv.core.arguments import checked_choice, checked_seed, positive
from dominoenv.core.episode import PETTINGZOO, EpisodeOptions
from dominoenv.core.round import PLAYING
from dominoenv.core.rules import Rules
from dominoenv.core.threads import one_thread
from dominoenv.envs.keywords import RulesLike, split_keywords
from dominoenv.errors import DominoError, IllegalActionError, UnknownNameError, nearest
from dominoenv.games import stepping
from dominoenv.games.positions import position_of
from dominoenv.render.modes import RENDER_FPS, RENDER_MODES, Picture, Renderer
from dominoenv.render.view import Reveal

# {"observation": (L,) float32, "action_mask": int8}; as a box the first of these alone
Observation: TypeAlias = Any
Info: TypeAlias = dict[str, Any]

DICT, BOX = OBSERVATIONS = ("dict", "box")


class OneGame(BatchedGame):
    """A batch of one game that waits at the end of its episode, with scalar arguments."""

    def __init__(self, rules: Rules, seed: int | None, options: EpisodeOptions) -> None:
        super().__init__(rules, 1, seed, autoreset=False, episode_options=options)
        self.replaces = options.replaces_illegal
        self.was_illegal = False  # the last action, which was replaced
        self._action = np.zeros(1, np.int64)
        self._seat = np.zeros(1, np.int64)
        self._skip_empty_episodes()
        self._is_fresh = True  # dealt, and no episode asked for yet

    @one_thread
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

        Raises IllegalActionError naming the legal actions, unless illegal ones are replaced; the
        state is left unchanged then.
        """
        try:
            number = operator.index(action)
        except TypeError:
            raise IllegalActionError(
                f"action {action!r} is no whole number; take one of {self.legal_actions(0)}"
            ) from None
        if self.replaces:
            return self._play_replaced(number)
        if not 0 <= number < self.num_actions:
            raise self._illegal(0, number)
        return self._play(number)

    def _play_replaced(self, number: int) -> bool:
        """Play a legal action in place of an illegal one, which has its price."""
        mover, legal = self.mover(), self.legal_actions(0)
        self.was_illegal = number not in legal
        round_over = self._play(legal[0] if self.was_illegal else number)
        if self.was_illegal:
            self.rewards[0, mover] += np.float32(self.options.illegal_price)
        return round_over

    def _play(self, number: int) -> bool:
        self._action[0] = number
        if self._drive(self._all, self._action, stepping.CHECK_AND_MOVE) >= 0:
            raise self._illegal(0, number)
        if self._recorder is not None:
            self._recorder.stepped(self._all, self._action)
        return self._outcomes["round_over"].item(0)  # type: ignore[no-any-return]

    @one_thread
    def view(self, seat: int) -> Any:
        """Return (L,) uint8, what a seat may know, whoever is to move."""
        self._seat[0] = seat
        return self._rows(self._all, self._seat)[0]

    @one_thread
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
    _np_random: np.random.Generator | None = None

    def __init__(
        self,
        game: str,
        rules: RulesLike = None,
        *,
        max_cycles: int | None = None,
        observation: str = DICT,
        render_mode: str | None = None,
        reveal: Reveal = None,
        seed: int | None = None,
        **keywords: Any,
    ) -> None:
        self.rules, episode = split_keywords(PettingZooBase, game, rules, keywords)
        self.options = PETTINGZOO.changed(PettingZooBase, episode)
        self.max_cycles = None if max_cycles is None else positive("max_cycles", max_cycles)
        self.observation = OBSERVATIONS[checked_choice("observation", observation, OBSERVATIONS)]
        self.render_mode = render_mode
        self._renderer = Renderer(self.rules, render_mode, reveal)
        self.game = OneGame(self.rules, seed, self.options)
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

    def _extra_actions(self) -> int:
        return 0

    def _make_spaces(self) -> None:
        length, truth = self.game.layout.size, self.rules.players * self.game.layout.size
        self.num_actions = self.game.num_actions + self._extra_actions()
        self.observation_spaces: dict[str, spaces.Space[Any]] = {
            agent: self._observation_space(length) for agent in self.possible_agents
        }
        self.action_spaces = {
            agent: spaces.Discrete(self.num_actions) for agent in self.possible_agents
        }
        self.state_space = spaces.Box(0.0, 1.0, (truth + self.rules.tiles.size,), np.float32)

    def _observation_space(self, length: int) -> spaces.Space[Any]:
        row = spaces.Box(0.0, 1.0, (length,), np.float32)
        if self.observation == BOX:
            return row
        mask = spaces.Box(0, 1, (self.num_actions,), np.int8)
        return spaces.Dict({"observation": row, "action_mask": mask})

    def _observation(self, row: NDArray[np.float32], mask: NDArray[np.int8]) -> Observation:
        """Return what an agent observes, in the form that was asked for."""
        return row if self.observation == BOX else {"observation": row, "action_mask": mask}

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """Return an agent's observation space, the same object every time."""
        return self.observation_spaces[self.possible_agents[self._seat_of(agent)]]

    def action_space(self, agent: str) -> Any:
        """Return an agent's action space, the same object every time."""
        return self.action_spaces[self.possible_agents[self._seat_of(agent)]]

    def _seat_of(self, agent: str) -> int:
        try:
            return self._seats[agent]
        except (KeyError, TypeError):
            raise UnknownNameError(f"agent {agent!r}: {nearest(agent, self._seats)}") from None

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

    @property
    def np_random(self) -> np.random.Generator:
        """A generator that `reset(seed=...)` seeds. For wrappers: games draw nothing from it."""
        if self._np_random is None:
            self._np_random = seeding.np_random()[0]
        return self._np_random

    def _deal(self, seed: int | None, options: Mapping[str, Any] | None) -> None:
        if not isinstance(options, Mapping | None):
            raise DominoError(f"options={options!r} must be a dict or None")
        match = (options or {}).get("match")
        self.game.deal(seed, match)
        if seed is not None:
            self._np_random = seeding.np_random(checked_seed(seed))[0]
        self.agents = self.possible_agents[:]

    def _results(self, seat: int) -> Info:
        """Return what the infos of a finished episode say beside the mask."""
        return {
            "score": int(self.game.scores[0, seat]),
            "won": bool(self.game.winners[0, seat]),
        }
