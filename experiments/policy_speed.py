"""Measure how many decisions a second each policy makes, in a batch on one core.

    python -m experiments.policy_speed --games 1024

Each figure is the median of several repeats. The positions are those of rounds that the policy
plays against itself; only its choices are timed.
"""

from __future__ import annotations

import argparse
import statistics
import time

from rich.console import Console
from rich.table import Table
from tqdm import tqdm

import agents  # noqa: F401  makes the names of the baselines known
from dominoenv import BatchedGame, DominoError, Rules, make_policy, make_rules, policy_names
from experiments.cli import run_program

RULES = (
    make_rules("mexican_train", preset="engine", players=4),
    make_rules("mexican_train", preset="engine", players=4, max_pip=12),
    make_rules("mexican_train", preset="station", players=8),
    make_rules("chicken_foot", players=4),
)
DECISIONS = 50_000  # of a repeat


def decision_rate(rules: Rules, name: str, games: int, repeats: int) -> float:
    """Return the median of decisions a second of a policy."""
    batch = BatchedGame(rules, games, seed=0, forced="auto")
    policy = make_policy(name, rules, seed=0)
    steps = max(DECISIONS // games, 1)
    rates = []
    for _ in range(repeats + 1):  # the first compiles
        spent = 0.0
        for _ in range(steps):
            start = time.perf_counter()
            actions = policy.act(batch.observations, batch.masks)
            spent += time.perf_counter() - start
            batch.step(actions)
        rates.append(steps * games / spent)
    return statistics.median(rates[1:])


def main() -> None:
    """Measure all policies from the command line."""
    parser = argparse.ArgumentParser(prog="python -m experiments.policy_speed", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--games", type=int, default=1024)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    if options.games < 1 or options.repeats < 1:
        raise DominoError("--games and --repeats must be 1 or more")
    table = Table(title=f"decisions a second, {options.games:,} games, one core")
    table.add_column("policy", no_wrap=True)
    names = policy_names()
    rows = {name: [name] for name in names}
    for rules in tqdm(RULES, unit="table", leave=False):
        heading = f"{rules.game} d{rules.max_pip} {rules.players} seats"
        table.add_column(heading, justify="right")
        for name in names:
            plays = name in policy_names(rules.game)
            rate = decision_rate(rules, name, options.games, options.repeats) if plays else 0.0
            rows[name].append(f"{rate:,.0f}" if plays else "")
    for row in rows.values():
        table.add_row(*row)
    Console(width=max(100, Console().width)).print(table)


if __name__ == "__main__":
    run_program(main)
