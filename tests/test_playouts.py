"""Playouts: the law of the policies they claim to be, on positions that they leave alone."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from scipy import stats

from dominoenv import (
    BatchedGame,
    DominoError,
    Game,
    Rules,
    make_policy,
    make_rules,
    playouts,
)
from dominoenv.core.compiling import kernel
from dominoenv.games.verbs import heaviest_action, random_action
from tests.rule_sets import every_table, name, random_rules


@kernel
def _choices(states: Any, rules: Any, heaviest: bool, actions: Any) -> None:
    for i in range(len(states)):
        g, r = states[i], rules[0]
        for j in range(actions.shape[1]):
            actions[i, j] = heaviest_action(g, r) if heaviest else random_action(g, r)


def positions(rules: Rules, number: int, moves: int, seed: int) -> BatchedGame:
    """Return a batch in which some random moves were made."""
    game, policy = BatchedGame(rules, number, seed=seed), make_policy("random", rules, seed=seed)
    for _ in range(moves):
        game.step(policy.act(game.observations, game.masks))
    return game


def tables() -> list[Rules]:
    rng = random.Random(5)
    return every_table()[::9] + [random_rules(rng) for _ in range(25)]


@pytest.mark.parametrize("policy", ["random", "heaviest"])
@pytest.mark.parametrize("rules", tables(), ids=name)
def test_every_choice_has_the_chance_that_the_policy_gives_it(rules: Rules, policy: str) -> None:
    game = positions(rules, 24, 14, seed=1)
    actions = np.zeros((24, 600), np.int64)
    states = game.states.copy()
    states["stream"] = np.arange(24)
    _choices(states, rules.record, policy == "heaviest", actions)
    weights = getattr(make_policy(policy, rules), "_weights", np.zeros(game.num_actions))
    for mask, drawn in zip(game.masks, actions, strict=True):
        legal = np.flatnonzero(mask)
        best = legal[weights[legal] == weights[legal].max()]
        assert set(drawn.tolist()) <= set(best.tolist())
        counts = np.array([(drawn == action).sum() for action in best])
        if len(best) > 1:
            assert stats.chisquare(counts).pvalue > 1e-6


@pytest.mark.parametrize("policy", ["random", "heaviest"])
@pytest.mark.parametrize("rules", tables()[::4], ids=name)
def test_penalties_are_those_of_games_played_by_the_policy(rules: Rules, policy: str) -> None:
    game = BatchedGame(rules, 400, seed=3, autoreset=False)
    found = playouts(rules, game.states, 5, policy=policy, seed=4)
    player = make_policy(policy, rules, seed=5)
    length = np.zeros(400, np.int64)
    while not game.waiting.all():
        going = np.flatnonzero(~game.waiting)
        game.step(player.act(game.observations[going], game.masks[going]), going)
        length[going] += 1
    for ours, theirs in (
        (found.penalties.mean(1), game.penalties),
        (found.decisions.mean(1)[:, None], length[:, None]),
    ):
        difference = ours - theirs  # on the same deals
        error = difference.std(0, ddof=1) / np.sqrt(len(difference))
        assert (np.abs(difference.mean(0)) <= 4.5 * error + 1e-9).all()


def test_a_playout_depends_on_seed_and_places_alone() -> None:
    rules = make_rules("mexican_train", players=4)
    game = positions(rules, 700, 20, seed=2)
    before = game.states.copy()
    first = playouts(rules, game.states, 3, seed=9)
    assert (game.states == before).all()
    for threads in (1, 2, 3):
        again = playouts(rules, game.states, 3, seed=9, num_threads=threads)
        assert np.array_equal(first.penalties, again.penalties)
        assert np.array_equal(first.decisions, again.decisions)
    fewer = playouts(rules, game.states[:10], 2, seed=9)
    assert np.array_equal(first.penalties[:10, :2], fewer.penalties)
    other = playouts(rules, game.states, 3, seed=10)
    assert (first.penalties != other.penalties).any()
    assert (first.penalties[:, 0] != first.penalties[:, 1]).any()


def test_a_round_that_is_over_gives_its_penalties() -> None:
    game = Game("chicken_foot", players=3, seed=4)
    while not game.round_over:
        game.push(game.legal_moves()[0])
    found = playouts(game.rules, game._states, 2, seed=0)
    assert not found.decisions.any()
    assert found.penalties.tolist() == [[game.penalties] * 2]


def test_what_cannot_be_played_out_is_told() -> None:
    rules = make_rules("mexican_train", players=3)
    states = BatchedGame(rules, 4, seed=0).states
    with pytest.raises(DominoError, match="states must be records of mexican_train"):
        playouts(rules, BatchedGame("chicken_foot", 4, seed=0).states)
    broken = states.copy()
    broken["to_move"][2] = 7
    with pytest.raises(DominoError, match="to_move=7 of game 2"):
        playouts(rules, broken)
    for bad in ({"policy": "best"}, {"repeats": 0}, {"seed": -1}, {"num_threads": 0}):
        with pytest.raises(DominoError, match=next(iter(bad))):
            playouts(rules, states, **bad)
    assert playouts(rules, states[:0]).penalties.shape == (0, 1, 3)
