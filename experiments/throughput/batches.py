"""Batches: `step` beside the C yardstick, by size, seats and threads; policies; playouts."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dominoenv.batch import BatchedGame
from dominoenv.core.rules import Rules
from dominoenv.games.registry import GAMES, make_rules
from dominoenv.opponents.baselines import make_policy, policy_names
from dominoenv.policies import Policy
from dominoenv.search.playouts import playouts

from .timing import Speed, Timed, race
from .yardstick import Yardstick, compiler, yardstick_rules

DECISIONS = 100_000  # of a repeat
CHOICES = 30_000  # of a repeat, with policies
WARM_UP = 100  # steps: until the games of a batch are at different stages of their rounds
SEAT_COUNTS = (2, 4, 6, 8, 10)
PLAYOUTS = 4  # of each position

TABLES: dict[str, Rules] = {
    "Mexican Train, double-12, 4 seats": yardstick_rules(),
    "Mexican Train, double-9, 4 seats": make_rules("mexican_train", players=4),
    "Mexican Train `station`, double-12, 8 seats": make_rules(
        "mexican_train", preset="station", players=8
    ),
    "Chicken Foot, double-12, 4 seats": make_rules("chicken_foot", players=4, max_pip=12),
    "Chicken Foot, double-9, 4 seats": make_rules("chicken_foot", players=4),
}
C = "the same game in plain C"


def _stepper(batch: Any, policy: Policy) -> Timed:
    """Time `step` alone; choosing actions is not timed."""
    steps = max(DECISIONS // batch.num_games, 10)
    for _ in range(WARM_UP):
        batch.step(policy.act(batch.observations, batch.masks))

    def work() -> tuple[float, int]:
        seconds = 0.0
        for _ in range(steps):
            actions = policy.act(batch.observations, batch.masks)
            start = time.perf_counter()
            batch.step(actions)
            seconds += time.perf_counter() - start
        return seconds, steps * batch.num_games

    return work


def race_sizes(sizes: Iterable[int], repeats: int) -> dict[int, dict[str, Speed]]:
    """Return the speed of `step` by size of the batch and table, the C yardstick among them."""
    found = {}
    for size in sizes:
        contestants = {
            name: _stepper(BatchedGame(rules, size, seed=0), make_policy("random", rules))
            for name, rules in TABLES.items()
        }
        if compiler():
            policy = make_policy("random", yardstick_rules())
            contestants = {C: _stepper(Yardstick(size, seed=0), policy)} | contestants
        found[size] = race(contestants, repeats)
    return found


def race_seats(games: int, repeats: int) -> dict[int, dict[str, tuple[Speed, int]]]:
    """Return speed and bytes written (mask and observation) by seats, double-12, both games."""
    found: dict[int, dict[str, tuple[Speed, int]]] = {}
    for seats in SEAT_COUNTS:
        for game in GAMES:
            rules = make_rules(game, players=seats, max_pip=12)
            batch = BatchedGame(rules, games, seed=0)
            speed = race({game: _stepper(batch, make_policy("random", rules))}, repeats)[game]
            size = batch.num_actions + batch.layout.size
            found.setdefault(seats, {})[game] = speed, size
    return found


def race_threads(games: int, repeats: int) -> dict[str, tuple[Speed, Speed]]:
    """Return the speeds of one and of two threads: ours, the yardstick's, playouts'."""
    rules = yardstick_rules()
    policy = make_policy("random", rules)
    pairs: dict[str, Callable[[int], Timed]] = {
        "`BatchedGame.step`": lambda n: _stepper(
            BatchedGame(rules, games, seed=0, num_threads=n), policy
        ),
        "`playouts`": lambda n: _playing_out(rules, "random", games, n),
    }
    if compiler():
        pairs[C] = lambda n: _stepper(_InThreads(games, n), policy)
    found = {}
    for name, make in pairs.items():
        speeds = race({"1": make(1), "2": make(2)}, repeats)
        found[name] = speeds["1"], speeds["2"]
    return found


class _InThreads:
    """The C yardstick in two halves, one thread each, to show the gain on this machine."""

    def __init__(self, num_games: int, num_threads: int) -> None:
        self.num_games = num_games
        size = num_games // num_threads
        self._parts = [Yardstick(size, seed) for seed in range(num_threads)]
        self._helpers = ThreadPoolExecutor(num_threads)
        self.observations = self._parts[0].observations

    @property
    def masks(self) -> NDArray[np.int8]:
        return np.concatenate([part.masks for part in self._parts])

    def step(self, actions: NDArray[np.int64]) -> None:
        each = np.split(actions, len(self._parts))
        for _ in self._helpers.map(Yardstick.step, self._parts, each):
            pass


def race_playouts(games: int, repeats: int) -> dict[str, dict[str, Speed]]:
    """Return moves a second of playouts from dealt rounds, by table and policy."""
    contestants = {
        (name, policy): _playing_out(rules, policy, games, 1)
        for name, rules in TABLES.items()
        for policy in ("random", "heaviest")
    }
    speeds = race({" ".join(key): work for key, work in contestants.items()}, repeats)
    found: dict[str, dict[str, Speed]] = {}
    for name, policy in contestants:
        found.setdefault(name, {})[policy] = speeds[f"{name} {policy}"]
    return found


def _playing_out(rules: Rules, policy: str, games: int, num_threads: int) -> Timed:
    states = BatchedGame(rules, games, seed=0).states

    def work() -> tuple[float, int]:
        start = time.perf_counter()
        found = playouts(
            rules, states, PLAYOUTS, policy=policy, seed=0, num_threads=num_threads, trusted=True
        )
        return time.perf_counter() - start, int(found.decisions.sum())

    return work


def race_policies(games: int, repeats: int) -> dict[str, dict[str, Speed]]:
    """Return how many choices a second each policy makes, by policy and table.

    The positions come from rounds that the policy plays against itself.
    """
    found: dict[str, dict[str, Speed]] = {}
    for table, rules in TABLES.items():
        for name in policy_names(rules.game):
            work = _choosing(make_policy(name, rules, seed=0), games)
            found.setdefault(name, {})[table] = race({name: work}, repeats)[name]
    return found


def _choosing(policy: Policy, games: int) -> Timed:
    batch = BatchedGame(policy.rules, games, seed=0, forced="auto")
    steps = max(CHOICES // games, 1)

    def work() -> tuple[float, int]:
        seconds = 0.0
        for _ in range(steps):
            start = time.perf_counter()
            actions = policy.act(batch.observations, batch.masks)
            seconds += time.perf_counter() - start
            batch.step(actions)
        return seconds, steps * games

    return work
