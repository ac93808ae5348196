"""First use, later starts, memory, and the environment's share of training time."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from dominoenv.batch import BatchedGame
from dominoenv.core.rules import Rules
from dominoenv.opponents.baselines import make_policy

from ..config import load_config

QUICKSTART = Path("configs/quickstart.yaml")
ITERATIONS = 3  # of training
GAMES_OF_GROWTH = 1024
FIRST_STEP = """
import dominoenv
game = dominoenv.BatchedGame("{game}", 64, seed=0)
game.step(game.masks.argmax(1))
"""


def first_use(game: str) -> float:
    """Return the seconds from starting Python to the first step with nothing compiled yet."""
    with tempfile.TemporaryDirectory() as folder:
        return _start(game, folder)


def later_start(game: str, repeats: int) -> float:
    """Return the same with everything compiled: the median of some starts."""
    with tempfile.TemporaryDirectory() as folder:
        _start(game, folder)
        return statistics.median(_start(game, folder) for _ in range(repeats))


def _start(game: str, cache: str) -> float:
    start = time.perf_counter()
    subprocess.run(
        [sys.executable, "-c", FIRST_STEP.format(game=game)],
        env={**os.environ, "NUMBA_CACHE_DIR": cache},
        check=True,
        stderr=subprocess.DEVNULL,
    )
    return time.perf_counter() - start


def bytes_per_game(rules: Rules) -> dict[str, int]:
    """Return the bytes of a game in a batch, by array; there is nothing else."""
    batch = BatchedGame(rules, 2, seed=0)
    arrays: dict[str, np.ndarray[Any, Any]] = {
        "record": batch.states,
        "mask": batch.masks,
        "observation": batch.observations,
        "rewards and results": batch.rewards,
    }
    sizes = {name: array.nbytes // 2 for name, array in arrays.items()}
    sizes["rewards and results"] += batch._outcomes.itemsize
    return sizes


def growth(rules: Rules, decisions: int) -> int:
    """Return by how many bytes the process's peak memory grew over so many decisions."""
    import resource  # here: Windows has none

    batch, policy = BatchedGame(rules, GAMES_OF_GROWTH, seed=0), make_policy("random", rules)

    def play(steps: int) -> None:
        for _ in range(steps):
            batch.step(policy.act(batch.observations, batch.masks))

    play(200)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    play(decisions // GAMES_OF_GROWTH)
    kilobytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    return kilobytes * (1 if sys.platform == "darwin" else 1024)


class _Timer:
    """Adds up the seconds that calls of a function take; nested calls count once."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._depth = 0

    def around(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*arguments: Any, **keywords: Any) -> Any:
            start = time.perf_counter()
            self._depth += 1
            try:
                return function(*arguments, **keywords)
            finally:
                self._depth -= 1
                if self._depth == 0:
                    self.seconds += time.perf_counter() - start

        return timed


def training_share() -> tuple[float, float]:
    """Return the environment's share of the quickstart's training, and decisions a second.

    It includes steps, opponents, observations and masks.
    """
    import torch

    from .. import ppo

    config = load_config(QUICKSTART)
    torch.set_num_threads(config.threads)
    env = ppo.make_env(config)
    timer = _Timer()
    for name in ("reset", "step_async", "step_wait", "env_method", "action_masks"):
        setattr(env, name, timer.around(getattr(env, name)))
    model = ppo.make_model(config, env)
    each = model.n_steps * env.num_envs
    model.learn(each)  # warm-up, not counted
    timer.seconds = 0.0
    start = time.perf_counter()
    model.learn(ITERATIONS * each, reset_num_timesteps=False)
    wall = time.perf_counter() - start
    return timer.seconds / wall, ITERATIONS * each / wall
