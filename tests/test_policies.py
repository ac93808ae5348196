"""The policy protocol and the policies that come with it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dominoenv import (
    BatchedGame,
    Policy,
    Rules,
    RulesError,
    UnknownNameError,
    make_policy,
    make_rules,
    policy_names,
    register_policy,
)
from dominoenv.policies import POLICIES, tile_weights

RULES = [make_rules("mexican_train", max_pip=12, players=5), make_rules("chicken_foot", players=3)]
each_game = pytest.mark.parametrize("rules", RULES, ids=lambda rules: rules.game)


def weight_of(rules: Rules, text: str) -> int:
    """Return what a move takes out of a hand, from its text."""
    tile, _, place = text.partition("@")
    if not place:
        return 0
    pips = sum(map(int, tile.split("-")))
    return rules.double_blank if tile == "0-0" else pips


@each_game
def test_weights(rules: Rules) -> None:
    game = BatchedGame(rules, 1, 0)
    texts = [game.action_text(action, 1) for action in range(game.num_actions)]
    assert tile_weights(rules).tolist() == [weight_of(rules, text) for text in texts]


@each_game
@pytest.mark.parametrize("dtype", [np.int8, bool, np.float32])
def test_choices_are_legal_and_by_weight(rules: Rules, dtype: Any) -> None:
    game = BatchedGame(rules, 64, seed=1)
    policies = {name: make_policy(name, rules, seed=3) for name in policy_names(rules.game)}
    for _ in range(60):
        for name, policy in policies.items():
            actions = policy.act(game.observations, game.masks.astype(dtype))
            assert game.masks[np.arange(64), actions].all()
            for i, action in enumerate(actions):
                legal = game.masks[i].nonzero()[0]
                weights = tile_weights(rules)[legal]
                pick = {"heaviest": weights.max(), "lightest": weights.min()}.get(name)
                assert pick is None or tile_weights(rules)[action] == pick
        game.step(policies["random"].act(game.observations, game.masks))


@pytest.mark.parametrize("name", ["random", "heaviest", "lightest"])
def test_ties_are_broken_evenly(name: str) -> None:
    rules = RULES[0]
    masks = np.zeros((30_000, BatchedGame(rules, 1, 0).num_actions), np.int8)
    same = rules.tiles.parse("5-4") + rules.tiles.size * np.array([0, 2, 5])  # on three trains
    masks[:, same] = 1
    actions = make_policy(name, rules, seed=1).act(np.zeros((30_000, 1)), masks)
    counts = [(actions == action).mean() for action in same]
    assert counts == pytest.approx([1 / 3] * 3, abs=0.015)


def test_same_seed_same_choices() -> None:
    game = BatchedGame(RULES[0], 200, seed=1)
    first, again, other = (make_policy("random", RULES[0], seed=s) for s in (4, 4, 5))
    rows = game.observations, game.masks
    assert np.array_equal(first.act(*rows), again.act(*rows))
    assert not np.array_equal(first.act(*rows), other.act(*rows))


def test_registry() -> None:
    assert {"random", "heaviest", "lightest"} <= set(policy_names())
    with pytest.raises(UnknownNameError, match="did you mean 'heaviest'"):
        make_policy("heavest", RULES[0])
    with pytest.raises(RulesError, match=r"policy 'random'.*depth"):
        make_policy("random", RULES[0], depth=3)


def test_ones_own_policy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(POLICIES, "first_legal_for_a_test", Policy)  # undone after the test

    @register_policy("first_legal_for_a_test")
    class FirstLegal(Policy):
        """Plays the lowest action id."""

        def act(self, observations: Any, masks: Any) -> Any:
            """Return one legal action for each of n decisions."""
            return masks.argmax(axis=1)

    policy = make_policy("first_legal_for_a_test", RULES[1])
    assert policy.name == "first_legal_for_a_test"
    assert policy.act(np.zeros((1, 1)), np.array([[0, 0, 1, 1]])).tolist() == [2]
    game = BatchedGame(RULES[1], 4, seed=0)
    for _ in range(30):
        game.step(policy.act(game.observations, game.masks))
