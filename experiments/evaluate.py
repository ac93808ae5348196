"""How good is a policy? Plays it against each baseline on held-out deals.

    dominoenv evaluate runs/quickstart/checkpoint.pt --deals 2000
    dominoenv evaluate model.zip --game mexican_train --rules preset=station players=6
    dominoenv evaluate my_agents:MyPolicy --game chicken_foot

An agent is a checkpoint, a model that Stable-Baselines3 saved, a class of your own (its module is
imported, so its code runs), or a baseline by name. Rules are those of the checkpoint; a model is
played under the default rules that it fits, unless others are named.

Every deal is one round, played once from each seat with the baseline in all other seats. The
measure is the policy's own penalty minus the mean of the others'; below 0 is better than they are.
Letters: D deals, P seats.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dominoenv.batch import HELD_OUT_MATCH
from dominoenv.core.files import write_atomically
from dominoenv.core.program import run_program
from dominoenv.core.rules import Rules
from dominoenv.errors import DominoError
from dominoenv.games.registry import GAMES
from dominoenv.opponents.baselines import make_policy
from dominoenv.opponents.references import find_policy
from dominoenv.policies import Policy

from .arena import play
from .cli import check_output, make_parser, named_rules
from .grid import Grid, print_grids
from .statistics import CONFIDENCE, MIN_DEALS, corrected, interval, p_value, probability

BASELINES = ("random", "heaviest", "lightest")
YARDSTICK = "heaviest"  # also played in the agent's place, for comparison


@dataclass(frozen=True)
class Comparison:
    """One agent against one baseline, in penalty points: a negative difference is better."""

    agent: str
    opponent: str
    difference: float
    """Mean of own penalty minus the mean of the others'."""
    low: float
    high: float
    """95 % confidence interval of the difference, Student's t over the deals."""
    p: float
    """p of no difference."""
    p_corrected: float
    """p with Holm's correction over all rows."""
    penalty: float
    others: float
    wins: float
    """Share of rounds won, ties shared."""
    fair: float
    """Share of rounds that one of P equals wins."""
    deals: int
    games: int


@dataclass(frozen=True)
class SeatResults:
    """The results of D deals, each played from P seats."""

    own: NDArray[np.float64]  # (D, P) penalty of the agent, by its seat
    others: NDArray[np.float64]  # (D, P) mean penalty of the other seats
    wins: NDArray[np.float64]  # (D, P) 1, a share for a tie, or 0

    @property
    def differences(self) -> NDArray[np.float64]:
        """(D,) own penalty minus the others', mean over the seats."""
        mean: NDArray[np.float64] = (self.own - self.others).mean(axis=1)
        return mean


def play_deals(agent: Policy, opponent: Policy, rules: Rules, deals: int, seed: int) -> SeatResults:
    """Play every held-out deal 0 ... deals-1 once from each seat."""
    players = rules.players
    deal, seat = np.divmod(np.arange(deals * players), players)
    lineups = np.ones((deals * players, players), np.int64)  # the opponent everywhere ...
    lineups[np.arange(len(seat)), seat] = 0  # ... but at the agent's seat
    games = play(rules, deal, lineups, (agent, opponent), seed)
    at_seat = (np.arange(len(seat)), seat)
    penalties, shape = games.penalties.astype(np.float64), (deals, players)
    own = penalties[at_seat]
    others = (penalties.sum(axis=1) - own) / (players - 1)
    return SeatResults(
        own.reshape(shape), others.reshape(shape), games.wins[at_seat].reshape(shape)
    )


def summarise(agent: str, opponent: str, played: SeatResults) -> Comparison:
    """Return the table row for the results."""
    deals, players = played.own.shape
    difference, p = interval(played.differences), p_value(played.differences)
    return Comparison(
        agent=agent,
        opponent=opponent,
        difference=difference.mean,
        low=difference.low,
        high=difference.high,
        p=p,
        p_corrected=p,
        penalty=float(played.own.mean()),
        others=float(played.others.mean()),
        wins=float(played.wins.mean()),
        fair=1 / players,
        deals=deals,
        games=deals * players,
    )


def evaluate(
    policy: Policy,
    rules: Rules,
    *,
    opponents: Sequence[str] = BASELINES,
    deals: int = 1000,
    seed: int = 0,
    label: str = "trained",
    progress: Callable[[], object] = lambda: None,
) -> list[Comparison]:
    """Compare a policy with each opponent, and the yardstick on the same deals.

    opponents: as in `find_policy`. seed: of the deals, which are matches from HELD_OUT_MATCH on.
    progress: called after each of the 2 * len(opponents) comparisons. Returns the policy's rows,
    then the yardstick's.
    """
    if deals < MIN_DEALS:
        raise DominoError(f"deals={deals} must be at least 2: one deal has no interval")
    rows = []
    yardstick = make_policy(YARDSTICK, rules, seed=seed + 1)
    for name, agent in ((label, policy), (YARDSTICK, yardstick)):
        for number, opponent in enumerate(opponents):
            other = find_policy(opponent, rules, seed=seed + 2 + number)
            rows.append(summarise(name, opponent, play_deals(agent, other, rules, deals, seed)))
            progress()
    p_values = corrected([row.p for row in rows])
    return [replace(row, p_corrected=p) for row, p in zip(rows, p_values, strict=True)]


# -------------------------------------------------------------------------------------- reporting


def grid(rows: Sequence[Comparison], rules: Rules) -> Grid:
    """Return the comparison as a table."""
    return Grid(
        f"{rules}: {rows[0].deals:,} held-out deals, each played from every seat",
        ("agent", "against", "difference", "p (Holm)", "penalty", "others'", "rounds won"),
        tuple(
            (
                row.agent,
                row.opponent,
                f"{row.difference:+.2f} ± {(row.high - row.low) / 2:.2f}",
                probability(row.p_corrected),
                f"{row.penalty:.2f}",
                f"{row.others:.2f}",
                f"{row.wins:.1%}",
            )
            for row in rows
        ),
        f"difference: own penalty minus the mean of the others', with its {CONFIDENCE:.0%} "
        "confidence interval, each for itself; below 0 speaks for the agent. p: of no difference, "
        f"with Holm's correction for the {len(rows)} rows. Fair share of wins: {rows[0].fair:.1%}.",
        texts=2,
        sections=frozenset(n for n in range(1, len(rows)) if rows[n].agent != rows[n - 1].agent),
    )


def print_table(rows: Sequence[Comparison], rules: Rules) -> None:
    """Print the comparison as a table."""
    print_grids([grid(rows, rules)])


def as_json(rows: Sequence[Comparison], rules: Rules, seed: int) -> dict[str, Any]:
    """Return the comparison for a JSON file."""
    return {
        "rules": {"game": rules.game, **rules.to_dict()},
        "seed": seed,
        "first_match": HELD_OUT_MATCH,
        "confidence": CONFIDENCE,
        "rows": [asdict(row) for row in rows],
    }


def main(
    arguments: Sequence[str] | None = None, prog: str = "python -m experiments.evaluate"
) -> None:
    """Evaluate an agent from the command line."""
    parser = make_parser(prog, __doc__)
    parser.add_argument("agent", help="checkpoint.pt, model.zip, module:Class, or a name")
    parser.add_argument("--game", choices=GAMES)
    parser.add_argument("--rules", nargs="+", action="extend", metavar="OPTION=VALUE", default=[])
    parser.add_argument("--deals", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0, help="of the deals")
    parser.add_argument(
        "--opponents", default=",".join(BASELINES), help="agents, separated by commas"
    )
    parser.add_argument("--sampled", action="store_true", help="draw actions by probability")
    parser.add_argument("--json", type=Path, help="also write the rows to this file")
    options = parser.parse_args(arguments)
    if options.json:
        check_output(options.json)
    import torch  # here: --help should not wait for it

    torch.set_num_threads(1)  # as in training: more of them mostly wait for each other
    rules = named_rules(options.game, options.rules)
    policy = find_policy(options.agent, rules, deterministic=not options.sampled)
    rows = evaluate(
        policy,
        policy.rules,
        opponents=options.opponents.split(","),
        deals=options.deals,
        seed=options.seed,
        label=policy.name or options.agent.rpartition(":")[2],
    )
    print_table(rows, policy.rules)
    if options.json:
        text = json.dumps(as_json(rows, policy.rules, options.seed), indent=1)
        write_atomically(options.json, text.encode())


if __name__ == "__main__":
    run_program(main)
