"""The agents: legal everywhere, deciding by what they see and their seed, parameters checked."""

from __future__ import annotations

import random
from dataclasses import fields
from functools import cache
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents import agent
from agents.agent import Agent
from agents.features import none_of
from dominoenv import (
    BatchedGame,
    DominoError,
    Rules,
    RulesError,
    make_policy,
    make_rules,
)
from dominoenv.opponents.baselines import policy_names
from dominoenv.policies import POLICIES
from tests.rule_sets import every_table, random_rules

AGENTS = {name: kind for name, kind in POLICIES.items() if issubclass(kind, Agent)}
NAMES = [
    *("heaviest", "lightest", "doubles_first", "doubles_avoided", "random"),
    *("longest_train", "double_chaining", "blocker", "opportunist"),
    *("flexible", "blank_hunter", "foot_counter"),
]
each_agent = pytest.mark.parametrize("name", sorted(AGENTS))
each_game = pytest.mark.parametrize("game", ["mexican_train", "chicken_foot"])
SETTINGS = [(name, spec) for name, kind in AGENTS.items() for spec in fields(kind) if spec.metadata]
each_parameter = pytest.mark.parametrize(
    ("name", "spec"), SETTINGS, ids=[f"{name}-{spec.name}" for name, spec in SETTINGS]
)


@cache
def some_rules(name: str) -> Rules:
    """Return rules that an agent plays."""
    return make_rules(POLICIES[name].games[0], players=3, max_pip=9)


def test_every_idea_is_there() -> None:
    assert set(NAMES) <= set(policy_names())
    assert {"longest_train", "random"} <= set(policy_names("mexican_train"))
    assert "longest_train" not in policy_names("chicken_foot")
    with pytest.raises(DominoError, match="did you mean 'chicken_foot'"):
        policy_names("chickenfoot")


@each_agent
def test_a_choice_does_not_depend_on_what_others_left_in_the_scratch(name: str) -> None:
    """All agents of a thread share it, those of the other game too."""
    rules = some_rules(name)
    batch = BatchedGame(rules, 40, seed=4)
    policy = make_policy(name, rules, seed=1)
    for step in range(20):
        said = []
        for byte in (0, 0x5A, 0xFF):
            agent._scratch.features.view(np.uint8)[:] = byte
            actions = policy.copy(step).act(batch.observations, batch.masks)
            said.append((actions, policy.scores(batch.observations[:4], batch.masks[:4])))
        for actions, scores in said:
            assert np.array_equal(actions, said[0][0]) and np.array_equal(scores, said[0][1])
        batch.step(said[0][0])


@each_agent
def test_no_agent_plays_the_other_game(name: str) -> None:
    (game,) = AGENTS[name].games
    other = {"mexican_train": "chicken_foot", "chicken_foot": "mexican_train"}[game]
    with pytest.raises(RulesError, match=f"'{name}' does not play {other}; these do: .*heaviest"):
        make_policy(name, make_rules(other))


def assert_all_play_legally(rules: Rules, games: int, steps: int, seed: int) -> None:
    game = BatchedGame(rules, games, seed)
    policies = [make_policy(name, rules, seed) for name in policy_names(rules.game)]
    for step in range(steps):
        chosen = [policy.act(game.observations, game.masks) for policy in policies]
        for actions in chosen:
            assert game.masks[np.arange(games), actions].all()
        game.step(chosen[step % len(chosen)])


def test_legal_at_every_table() -> None:
    for rules in every_table():
        assert_all_play_legally(rules, games=3, steps=24, seed=rules.players)


def test_legal_under_every_rule() -> None:
    rng = random.Random(11)
    for seed in range(150):
        assert_all_play_legally(random_rules(rng), games=2, steps=60, seed=seed)


@each_game
def test_both_forms_of_an_observation_give_the_same_choice(game: str) -> None:
    rules = make_rules(game, players=4)
    batch = BatchedGame(rules, 64, seed=3)
    for step in range(60):
        for name in policy_names(game):
            raw, scaled = (make_policy(name, rules, seed=step) for _ in range(2))
            actions = raw.act(batch.observations, batch.masks)
            rows = batch.layout.scaled(batch.observations)
            assert np.array_equal(scaled.act(rows, batch.masks.astype(bool)), actions)
        batch.step(make_policy("random", rules, seed=step).act(batch.observations, batch.masks))


@each_game
def test_a_choice_depends_on_its_row_alone(game: str) -> None:
    """A decision is the same alone and in a batch: nothing is carried over from row to row."""
    rules = make_rules(game, players=4, max_pip=12)
    batch = BatchedGame(rules, 40, seed=4)
    for step in range(50):
        for name in policy_names(game):
            together = make_policy(name, rules, seed=step).act(batch.observations, batch.masks)
            policy = make_policy(name, rules, seed=step)
            for i in range(40):
                row = slice(i, i + 1)
                alone = policy.act(batch.observations[row], batch.masks[row])
                assert alone[0] == together[i]
        batch.step(together)


@each_agent
def test_same_seed_same_choices(name: str) -> None:
    rules = some_rules(name)
    batch = BatchedGame(rules, 400, seed=1)
    first, again = (make_policy(name, rules, seed=4) for _ in range(2))
    rows = batch.observations, batch.masks
    assert np.array_equal(first.act(*rows), again.act(*rows))


@pytest.mark.parametrize("name", ["longest_train", "flexible"])
def test_ties_are_broken_evenly(name: str) -> None:
    """Of moves that score alike each is played equally often, by the seed."""
    rules = some_rules(name)
    batch = BatchedGame(rules, 1, seed=0)
    blind = np.zeros((20_000, batch.layout.size), np.uint8)  # a row that shows nothing
    masks = np.zeros((20_000, batch.num_actions), np.int8)
    masks[:, -2:] = 1  # draw and pass, which no rule ever offers together, score alike
    actions = make_policy(name, rules, seed=1).act(blind, masks)
    assert (actions == batch.num_actions - 1).mean() == pytest.approx(0.5, abs=0.02)


@each_agent
def test_what_an_agent_refuses(name: str) -> None:
    rules = some_rules(name)
    batch = BatchedGame(rules, 4, seed=0)
    policy = make_policy(name, rules)
    with pytest.raises(DominoError, match="4 observations and 3 masks"):
        policy.act(batch.observations, batch.masks[:3])
    with pytest.raises(DominoError, match="row 1 allows nothing"):
        policy.act(batch.observations, batch.masks * np.array([[1], [0], [1], [1]], np.int8))
    with pytest.raises(DominoError, match="observations must be"):
        policy.act(batch.observations[:, 1:], batch.masks)
    assert policy.act(batch.observations[:0], batch.masks[:0]).shape == (0,)


# --------------------------------------------------------------------------------------- settings


@each_parameter
def test_a_parameter_is_checked(name: str, spec: Any) -> None:
    bad: list[Any] = [None, [1], "much"]
    if not isinstance(spec.default, str | bool):
        bad += [True, spec.metadata["low"] - 1, spec.metadata["high"] + 1, float("nan"), "3"]
    if isinstance(spec.default, bool):
        bad += [1, "true"]
    for value in bad:
        with pytest.raises(RulesError, match=f"{spec.name}="):
            make_policy(name, some_rules(name), **{spec.name: value})


@each_parameter
def test_a_parameter_is_visible_and_kept(name: str, spec: Any) -> None:
    default = make_policy(name, some_rules(name))
    assert getattr(default, spec.name) == spec.default
    value = {
        str: lambda: spec.metadata.get("choices", ("",))[-1],
        bool: lambda: not spec.default,
        int: lambda: spec.default + 1,
        float: lambda: spec.default + 0.5,
    }[type(spec.default)]()
    changed = make_policy(name, some_rules(name), **{spec.name: value})
    assert getattr(changed, spec.name) == value
    assert f"{spec.name}={value!r}" in repr(changed)
    assert AGENTS[name].parameters()[spec.name] == spec.default


def test_numbers_of_a_config_are_taken() -> None:
    rules = some_rules("blocker")
    assert repr(make_policy("blocker", rules, double=3)) == repr(
        make_policy("blocker", rules, double=np.float32(3.0))
    )
    with pytest.raises(RulesError, match="seats=2"):
        make_policy("blocker", rules, seats=2.5)
    with pytest.raises(RulesError, match="did you mean 'pips'"):
        make_policy("longest_train", rules, objective="pip")
    with pytest.raises(RulesError, match=r"policy 'blocker'.*depth"):
        make_policy("blocker", rules, depth=3)


def test_the_chance_that_nobody_holds_a_tile() -> None:
    chance_of_none = getattr(none_of, "py_func", none_of)  # what kernels compile
    for tiles, taken, wanted in [(10, 5, 0), (10, 5, 1), (10, 7, 3), (4, 2, 2), (4, 2, 3)]:
        exact = comb(tiles - wanted, taken) / comb(tiles, taken)
        assert chance_of_none(wanted, tiles, taken) == pytest.approx(exact)


@each_agent
def test_the_docs_show_the_parameters(name: str) -> None:
    page = (Path(__file__).parent.parent / "docs" / "agents.md").read_text(encoding="utf-8")
    assert f"### `{name}`\n" in page
    assert AGENTS[name].table() in page
