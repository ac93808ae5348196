"""Measure how many decisions a second the library makes: random legal play on one core.

    python -m experiments.throughput --games 64 1024 16384

Each figure is the median of several repeats. `step` is `BatchedGame.step`, mask and observation of
the next decision included; `policy` is the choice of a random legal action from the masks; `game`
is `Game.push` with `legal_moves`, `aec` a PettingZoo loop of `last` and `step` without wrappers.
"""

from __future__ import annotations

import argparse
import platform
import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any

import numba
import numpy as np
from rich.console import Console
from rich.table import Table
from tqdm import tqdm

from dominoenv import BatchedGame, DominoError, Game, Rules, __version__, make_policy, make_rules
from dominoenv.envs.aec import DominoAEC
from experiments.cli import run_program

RULES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("mexican_train", {"preset": "engine", "players": 4}),
    ("mexican_train", {"preset": "engine", "players": 4, "max_pip": 12}),
    ("mexican_train", {"preset": "station", "players": 8}),
    ("chicken_foot", {"players": 4}),
)
DECISIONS = 200_000  # of a repeat with a batch
SINGLE_DECISIONS = 3_000  # of a repeat with one game


def batch_rates(rules: Rules, games: int, repeats: int) -> tuple[float, float]:
    """Return the medians of decisions a second of `step` and of the random policy."""
    batch = BatchedGame(rules, games, seed=0)
    policy = make_policy("random", rules)
    steps = max(DECISIONS // games, 20)
    rates = [_time_batch(batch, policy, steps) for _ in range(repeats + 1)][1:]
    stepping, choosing = zip(*rates, strict=True)
    return statistics.median(stepping), statistics.median(choosing)


def _time_batch(batch: BatchedGame, policy: Any, steps: int) -> tuple[float, float]:
    stepping = choosing = 0.0
    for _ in range(steps):
        start = time.perf_counter()
        actions = policy.act(batch.observations, batch.masks)
        chosen = time.perf_counter()
        batch.step(actions)
        stepping += time.perf_counter() - chosen
        choosing += chosen - start
    decisions = steps * batch.num_games
    return decisions / stepping, decisions / choosing


def single_rate(play: Callable[[int], Iterator[None]], repeats: int) -> float:
    """Return the median of decisions a second of a loop over one game."""
    rates = []
    for repeat in range(repeats + 1):
        start = time.perf_counter()
        for _ in play(repeat):
            pass
        rates.append(SINGLE_DECISIONS / (time.perf_counter() - start))
    return statistics.median(rates[1:])


def play_game(rules: Rules) -> Callable[[int], Iterator[None]]:
    """Return a loop of `legal_moves` and `push`."""

    def play(repeat: int) -> Iterator[None]:
        game, rng = Game(rules.game, rules, seed=repeat), np.random.default_rng(repeat)
        draws = rng.random(SINGLE_DECISIONS)
        for draw in draws:
            moves = game.legal_moves()
            game.push(moves[int(draw * len(moves))])
            if game.round_over:
                game = Game(rules.game, rules, seed=repeat) if game.over else game
                if game.round_over:
                    game.next_round()
            yield

    return play


def play_aec(rules: Rules) -> Callable[[int], Iterator[None]]:
    """Return a loop of `last` and `step` that takes the first legal action."""

    def play(repeat: int) -> Iterator[None]:
        env = DominoAEC(rules.game, rules)
        env.reset(seed=repeat)
        for _ in range(SINGLE_DECISIONS):
            observation, _, termination, truncation, _ = env.last()
            if termination or truncation:
                env.reset()
            else:
                env.step(int(observation["action_mask"].argmax()))
            yield

    return play


def main() -> None:
    """Measure the whole table from the command line."""
    parser = argparse.ArgumentParser(prog="python -m experiments.throughput", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--games", type=int, nargs="+", default=[64, 1024, 16384])
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    if min(options.games) < 1 or options.repeats < 1:
        raise DominoError("--games and --repeats must be at least 1")
    table = Table(title=f"decisions a second, median of {options.repeats}; {machine()}")
    table.add_column("rules", no_wrap=True)
    for heading in ("seats", "games", "step", "policy", "game", "aec"):
        table.add_column(heading, justify="right", no_wrap=True)
    for game, rule_options in tqdm(RULES, unit="row", leave=False):
        add_rows(table, make_rules(game, rule_options), options.games, options.repeats)
    Console(width=max(100, Console().width)).print(table)


def add_rows(table: Table, rules: Rules, sizes: list[int], repeats: int) -> None:
    """Measure one set of rules: a row for each size of a batch, and one for single games."""
    short = rules.short_dict()
    name = f"{rules.game} {short['preset']} d{rules.max_pip}"
    for games in sizes:
        step, policy = batch_rates(rules, games, repeats)
        rates = f"{step / 1e6:.2f} M", f"{policy / 1e6:.2f} M"
        table.add_row(name, str(rules.players), f"{games:,}", *rates, "", "")
    singles = (single_rate(play(rules), repeats) for play in (play_game, play_aec))
    table.add_row(name, str(rules.players), "1", "", "", *(f"{r / 1e3:.0f} k" for r in singles))


def machine() -> str:
    """Return what the figures depend on."""
    return (
        f"{platform.machine()}, Python {platform.python_version()}, numpy {np.__version__}, "
        f"numba {numba.__version__}, dominoenv {__version__}"
    )


if __name__ == "__main__":
    run_program(main)
