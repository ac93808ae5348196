"""Loops over one game: `Game`, PettingZoo's API, and PettingZoo's own games in the same loop.

The classic environments come with the extra `bench`; missing ones are skipped.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from dominoenv.core.rules import Rules
from dominoenv.envs.aec import DominoAEC
from dominoenv.envs.parallel import DominoParallel
from dominoenv.game import Game

from .batches import TABLES
from .timing import Speed, race, timed_loop

Loop: TypeAlias = Callable[[Rules, int], Iterator[None]]

DECISIONS = 3_000  # of a repeat
CLASSIC_DECISIONS = 1_000
CLASSICS = (
    *("tictactoe_v3", "connect_four_v3", "leduc_holdem_v4", "texas_holdem_v4"),
    *("texas_holdem_no_limit_v6", "hanabi_v5", "go_v5", "chess_v6"),
)


def race_single(repeats: int) -> dict[str, dict[str, Speed]]:
    """Return decisions a second of `Game` and of the two PettingZoo environments, by table."""
    loops: dict[str, Loop] = {"game": _play_game, "aec": _play_aec, "parallel": _play_parallel}
    return {
        name: race(
            {kind: timed_loop(partial(loop, rules), DECISIONS) for kind, loop in loops.items()},
            repeats,
        )
        for name, rules in TABLES.items()
    }


def _play_aec(rules: Rules, seed: int) -> Iterator[None]:
    return play_aec(DominoAEC(rules.game, rules), seed)


def _play_game(rules: Rules, seed: int) -> Iterator[None]:
    """Play random moves by `legal_moves` and `push`."""
    draws = np.random.default_rng(seed).random(DECISIONS + 1).tolist()
    game = Game(rules.game, rules, seed=seed)
    yield
    for draw in draws:
        moves = game.legal_moves()
        game.push(moves[int(draw * len(moves))])
        if game.round_over:
            game = Game(rules.game, rules, seed=seed) if game.over else game
            if game.round_over:
                game.next_round()
        yield


def play_aec(env: Any, seed: int) -> Iterator[None]:
    """Play the first legal action of any AEC environment: `last`, then `step`."""
    env.reset(seed=seed)
    yield
    while True:
        observation, _, termination, truncation, info = env.last()
        if termination or truncation:
            env.reset()
            continue
        masks = observation if "action_mask" in observation else info
        env.step(int(masks["action_mask"].argmax()))
        yield


def _play_parallel(rules: Rules, seed: int) -> Iterator[None]:
    """Play the first legal action of every agent; a decision is a step, the others wait."""
    env = DominoParallel(rules.game, rules)
    observations, _ = env.reset(seed=seed)
    yield
    while True:
        observations, *_ = env.step(
            {agent: int(seen["action_mask"].argmax()) for agent, seen in observations.items()}
        )
        if not env.agents:
            observations, _ = env.reset()
        yield


def race_classics(repeats: int) -> dict[str, Speed]:
    """Return decisions a second of PettingZoo's classic environments that are installed."""
    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # their own warnings
        for name in CLASSICS:
            try:
                module = importlib.import_module(f"pettingzoo.classic.{name}")
                env = module.raw_env()
                env.reset(seed=0)
            except (ImportError, AttributeError):
                continue
            loop = timed_loop(partial(play_aec, env), CLASSIC_DECISIONS)
            found[name] = race({name: loop}, repeats)[name]
    return found
