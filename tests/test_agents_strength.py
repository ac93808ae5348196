"""Which agents beat which: steps so wide that fixed deals show them."""

from __future__ import annotations

import numpy as np
import pytest

from dominoenv import BatchedGame, Rules, make_policy, make_rules
from dominoenv.core.round import PLAYING

TRAIN = make_rules("mexican_train", preset="engine", players=4)
FOOT = make_rules("chicken_foot", players=4)


def difference(rules: Rules, agent: str, other: str, deals: int) -> tuple[float, float]:
    """Return own penalty minus the others' mean, and the standard error over deals.

    Every deal is played from each seat, the other policy in all other seats.
    """
    players = rules.players
    deal, seat = np.divmod(np.arange(deals * players), players)
    game = BatchedGame(rules, deals * players, 77, forced="auto", autoreset=False)
    game.reset(77, matches=deal, rounds=deal % len(rules.rounds))
    policies = [make_policy(agent, rules, seed=1), make_policy(other, rules, seed=2)]
    while (live := game.states["ending"] == PLAYING).any():
        own_turn = game.to_move == seat
        for policy, games in zip(policies, (live & own_turn, live & ~own_turn), strict=True):
            if (some := np.flatnonzero(games)).size:
                game.step(policy.act(game.observations[some], game.masks[some]), some)
    penalties = game.states["penalties"][:, :players].astype(float)
    own = penalties[np.arange(deals * players), seat]
    others = (penalties.sum(axis=1) - own) / (players - 1)
    values = (own - others).reshape(deals, players).mean(axis=1)
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(deals))


@pytest.mark.parametrize(
    ("rules", "better", "worse", "least"),
    [
        (TRAIN, "heaviest", "random", 3.0),
        (TRAIN, "longest_train", "heaviest", 6.0),
        (TRAIN, "opportunist", "longest_train", 0.5),
        (TRAIN, "doubles_first", "heaviest", 1.0),
        (TRAIN, "double_chaining", "doubles_avoided", 3.0),
        (TRAIN, "blocker", "heaviest", 0.5),
        (FOOT, "heaviest", "random", 8.0),
        (FOOT, "flexible", "heaviest", 1.0),
        (FOOT, "blank_hunter", "heaviest", 1.0),
        (FOOT, "foot_counter", "heaviest", 1.0),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_better_agent_is_better(rules: Rules, better: str, worse: str, least: float) -> None:
    mean, error = difference(rules, better, worse, deals=500)
    assert mean < -least
    assert mean + 3 * error < 0


def test_avoiding_doubles_is_ruinous_in_chicken_foot() -> None:
    mean, _ = difference(FOOT, "doubles_avoided", "heaviest", deals=200)
    assert mean > 12


def test_a_policy_among_its_equals_is_no_better() -> None:
    mean, error = difference(TRAIN, "longest_train", "longest_train", deals=500)
    assert abs(mean) < 3 * error
