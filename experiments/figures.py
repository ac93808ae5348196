"""Reproduce the figures that docs/rules.md gives for random and heaviest-first play.

    dominoenv figures --rounds 40000

Mean penalty per seat and round, and the share of blocked rounds, with standard errors over rounds,
beside the published values of two independent implementations (about ± 0.4 and ± 1 %).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from tqdm import tqdm

from dominoenv.batch import BatchedGame
from dominoenv.core.program import run_program
from dominoenv.core.round import PLAYING
from dominoenv.errors import DominoError
from dominoenv.games.registry import make_rules
from dominoenv.opponents.baselines import make_policy

from .cli import make_parser
from .grid import Grid, print_grids

SIDE_BY_SIDE = 2_000  # games side by side
BLOCKED = 2  # `BatchedGame.endings`: nobody could play


@dataclass(frozen=True)
class Published:
    """One cell of the table: rules, policy and the published values."""

    game: str
    options: dict[str, Any]
    policy: str
    penalty: float
    blocked: float  # %

    @property
    def label(self) -> str:
        """A short description of the rules."""
        extra = [f"{k}={v}" for k, v in self.options.items() if k not in ("preset", "players")]
        return " ".join([self.options["preset"], *extra])


def _by_seats(game: str, options: dict[str, Any], cells: str) -> Iterator[Published]:
    """Read `seats penalty blocked` triples of uniform random play."""
    for cell in cells.split(","):
        seats, penalty, blocked = cell.split()
        all_options = {**options, "players": int(seats)}
        yield Published(game, all_options, "random", float(penalty), float(blocked))


TRAIN, FOOT = "mexican_train", "chicken_foot"
PUBLISHED = (
    *_by_seats(TRAIN, {"preset": "engine"}, "2 25.4 46, 4 18.2 18, 6 17.8 1.4, 8 17.7 .1"),
    *_by_seats(TRAIN, {"preset": "engine", "dead_double": "binds"}, "4 22.1 39.5"),
    *_by_seats(TRAIN, {"preset": "engine", "max_pip": 12}, "4 27.4 6"),
    *_by_seats(TRAIN, {"preset": "station"}, "2 27.8 33, 4 27.2 3.3, 6 28.2 .6, 8 28.6 .1"),
    *_by_seats(FOOT, {"preset": "chicken_foot"}, "4 37.0 65, 6 26.7 49, 8 23.0 27"),
    Published(TRAIN, {"preset": "engine", "players": 4}, "heaviest", 12.8, 20),
    Published(TRAIN, {"preset": "station", "players": 6}, "heaviest", 19.6, 0.5),
    Published(FOOT, {"preset": "chicken_foot", "players": 4}, "heaviest", 17.6, 47),
)


@dataclass(frozen=True)
class Measured:
    """Means and standard errors over the rounds played."""

    penalty: float
    penalty_error: float
    blocked: float  # %
    blocked_error: float


def measure(cell: Published, rounds: int, seed: int) -> Measured:
    """Play at least so many rounds, all engines in turn, with one policy at every seat."""
    rules = make_rules(cell.game, cell.options)
    game = BatchedGame(
        rules, min(rounds, SIDE_BY_SIDE), seed, forced="auto", autoreset=False, observe=False
    )
    policy = make_policy(cell.policy, rules, seed=seed)
    penalties, blocked = [], []
    for first in range(0, rounds, game.num_games):
        matches = first + np.arange(game.num_games)
        game.reset(seed, matches=matches, rounds=matches % len(rules.rounds))
        while (some := np.flatnonzero(game.states["ending"] == PLAYING)).size:
            game.step(policy.act(game.observations[some], game.masks[some]), some)
        penalties.append(game.states["penalties"][:, : rules.players].mean(axis=1))
        blocked.append(game.states["ending"] == BLOCKED)
    points, shares = np.concatenate(penalties), np.concatenate(blocked) * 100.0
    root = np.sqrt(len(points))
    return Measured(
        points.mean(), points.std(ddof=1) / root, shares.mean(), shares.std(ddof=1) / root
    )


def print_table(results: list[tuple[Published, Measured]], rounds: int) -> None:
    """Print measured values beside published ones."""
    cells = tuple(
        (
            cell.label,
            cell.policy,
            str(cell.options["players"]),
            f"{measured.penalty:.2f} ± {measured.penalty_error:.2f}",
            f"{cell.penalty:g}",
            f"{measured.blocked:.1f} ± {measured.blocked_error:.1f}",
            f"{cell.blocked:g}",
        )
        for cell, measured in results
    )
    headings = ("rules", "policy", "seats", "penalty", "published", "blocked %", "published %")
    title = f"At least {rounds:,} rounds each"
    print_grids([Grid(title, headings, cells, "±: one standard error.", texts=2)])


def main(
    arguments: Sequence[str] | None = None, prog: str = "python -m experiments.figures"
) -> None:
    """Measure the whole table from the command line."""
    parser = make_parser(prog, __doc__)
    parser.add_argument("--rounds", type=int, default=40_000, help="rounds per row")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    if options.rounds < 2:
        raise DominoError(f"--rounds {options.rounds} must be at least 2")
    results = []
    for cell in tqdm(PUBLISHED, unit="row", leave=False):
        results.append((cell, measure(cell, options.rounds, options.seed)))
    print_table(results, options.rounds)


if __name__ == "__main__":
    run_program(main)
