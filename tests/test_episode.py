"""`EpisodeOptions`: its values and defaults, and that every interface takes every field of it."""

from __future__ import annotations

import typing
import warnings
from collections.abc import Callable
from dataclasses import fields, replace
from functools import partial
from typing import Any

import numpy as np
import pytest

from dominoenv import (
    BatchedGame,
    DominoError,
    EpisodeOptions,
    RulesError,
    UnknownKeywordError,
    chicken_foot_v0,
    make_rules,
)
from dominoenv.core.episode import (
    BATCH,
    DEFAULTS,
    DRAWN_ROUND,
    EPISODE_FIELDS,
    GYMNASIUM,
    LEARNER,
    PETTINGZOO,
    PETTINGZOO_WRAPPED,
    EpisodeKeywords,
)
from dominoenv.envs.learner import LearnerGames
from dominoenv.envs.single import DominoEnv
from dominoenv.envs.vector import DominoVectorEnv
from dominoenv.games.stepping import settings_record

RULES = make_rules("chicken_foot", players=3)


def make_sb3(**keywords: Any) -> Any:
    sb3 = pytest.importorskip("dominoenv.envs.sb3", reason="needs stable_baselines3")
    return sb3.DominoVecEnv(RULES, 2, **keywords)


def make_config(**keys: Any) -> Any:
    config = pytest.importorskip("experiments.config", reason="needs pydantic")
    environment = {"opponents": [{"kind": "baseline", "policy": "random"}], **keys}
    data = {"name": "x", "game": "chicken_foot", "environment": environment}
    return config.check_config({**data, "ppo": {"decisions": 1}}, "here").environment


Make = Callable[..., Any]
INTERFACES: dict[str, tuple[Make, EpisodeOptions]] = {
    "BatchedGame": (partial(BatchedGame, RULES, 2), BATCH),
    "raw_env": (partial(chicken_foot_v0.raw_env, RULES), PETTINGZOO),
    "parallel_env": (partial(chicken_foot_v0.parallel_env, RULES), PETTINGZOO),
    "env": (partial(chicken_foot_v0.env, RULES), PETTINGZOO_WRAPPED),
    "LearnerGames": (partial(LearnerGames, RULES, 2), LEARNER),
    "DominoEnv": (partial(DominoEnv, "chicken_foot", RULES), GYMNASIUM),
    "DominoVectorEnv": (partial(DominoVectorEnv, "chicken_foot", RULES), GYMNASIUM),
    "DominoVecEnv": (make_sb3, LEARNER),
    "configs": (make_config, LEARNER),
}
OTHER_VALUES: dict[str, Any] = {
    "episode": "match",
    "double": 4,
    "reward": "win",
    "reward_scale": 0.25,
    "forced": {"explicit": "auto", "auto": "explicit"},
    "illegal": "substitute",
    "illegal_reward": -0.5,
}
over_interfaces = pytest.mark.parametrize("name", INTERFACES)


def options_of(made: Any) -> EpisodeOptions:
    if hasattr(made, "episode_options"):
        return made.episode_options()
    holder = made.unwrapped if hasattr(made, "unwrapped") else made
    return getattr(holder, "learner", holder).options


# -------------------------------------------------------------------------------- the options alone


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"episode": "rounds"}, "episode='rounds': did you mean 'round'"),
        ({"episode": 1}, "episode=1: known: round, match"),
        ({"double": "9"}, "double='9' must be a whole number"),
        ({"double": True}, "double=True must be a whole number"),
        ({"double": 19}, r"double=19 must lie in 0 \.\.\. 18"),
        ({"double": 3, "episode": "match"}, "double=3 chooses a round"),
        ({"reward": "zerosum"}, "did you mean 'zero_sum'"),
        ({"reward_scale": 0}, "reward_scale=0 must be a finite number above 0"),
        ({"reward_scale": float("nan")}, "reward_scale=nan must be a finite number"),
        ({"forced": True}, "forced=True: known: explicit, auto"),
        ({"illegal": "ignore"}, "known: raise, penalty, substitute, terminate"),
        ({"illegal_reward": float("inf")}, "illegal_reward=inf must be a finite number"),
    ],
)
def test_invalid_values_are_named(options: dict[str, Any], says: str) -> None:
    with pytest.raises(DominoError, match=says):
        EpisodeOptions(**options)


def test_values_have_one_form_and_options_are_equal_by_value() -> None:
    options = EpisodeOptions(double=np.int8(3), reward_scale=2, illegal_reward=np.float32(-1))
    assert options == EpisodeOptions(double=3, reward_scale=2.0)
    assert hash(options) == hash(replace(options))
    assert [type(getattr(options, name)) for name in ("double", "reward_scale")] == [int, float]
    with pytest.raises(AttributeError):
        options.double = 4  # type: ignore[misc]


def test_a_double_belongs_to_a_round_of_the_rules() -> None:
    assert EpisodeOptions().round_in([5, 3]) == DRAWN_ROUND
    assert EpisodeOptions(double=3).round_in((5, 3)) == 1
    with pytest.raises(RulesError, match=r"double=4 is not in rounds=\[5, 3\]"):
        EpisodeOptions(double=4).round_in([5, 3])


def test_the_kernels_read_every_option_that_is_theirs() -> None:
    options = EpisodeOptions(double=RULES.rounds[2], reward="win", reward_scale=0.5, forced="auto")
    record = settings_record(options, RULES, 7, autoreset=True, observe=False)[0]
    assert record.tolist() == (0, 2, 2, 0.5, 1, 1, 0, 7)
    match = settings_record(
        EpisodeOptions(episode="match"), RULES, 1, autoreset=False, observe=True
    )
    assert match[0].tolist()[:3] == (1, DRAWN_ROUND, 0)


def test_typed_keywords_are_the_fields() -> None:
    hints = typing.get_type_hints(EpisodeKeywords)
    assert hints.pop("episode_options") is EpisodeOptions
    assert tuple(hints) == EPISODE_FIELDS
    for spec in fields(EpisodeOptions):
        if spec.metadata["choices"]:
            assert typing.get_args(hints[spec.name]) == spec.metadata["choices"]


# --------------------------------------------------------------------------------- every interface


def test_other_values_are_of_every_field() -> None:
    assert tuple(OTHER_VALUES) == EPISODE_FIELDS


def split(names: str) -> list[str]:
    return names.replace("`", "").split(", ")


def test_every_interface_has_its_line_in_the_table_of_defaults() -> None:
    for name, (_, defaults) in INTERFACES.items():
        listed = next(one for names, one in DEFAULTS.items() if name in split(names))
        assert listed is defaults, name


@over_interfaces
@pytest.mark.parametrize("field", EPISODE_FIELDS)
def test_every_interface_takes_every_field(name: str, field: str) -> None:
    make, defaults = INTERFACES[name]
    value = OTHER_VALUES[field]
    if isinstance(value, dict):
        value = value[getattr(defaults, field)]
    expected = replace(defaults, **{field: value})
    if name == "env" and expected.illegal == "terminate":  # the wrapper ends the episode
        expected = replace(expected, illegal="raise")
    assert options_of(make(**{field: value})) == expected


@pytest.mark.parametrize("name", [name for name in INTERFACES if name != "configs"])
def test_all_in_one_object_or_as_keywords(name: str) -> None:
    make, _ = INTERFACES[name]
    options = EpisodeOptions(episode="match", reward="penalty", illegal="substitute")
    assert options_of(make(episode_options=options)) == options
    both = make(episode_options=options, reward="win")
    assert options_of(both) == replace(options, reward="win")
    with pytest.raises(DominoError, match="must be an EpisodeOptions"):
        make(episode_options=0)


@pytest.mark.parametrize("name", [name for name in INTERFACES if name != "configs"])
def test_an_unknown_keyword_is_named_and_is_a_type_error(name: str) -> None:
    make, _ = INTERFACES[name]
    for error in (UnknownKeywordError, RulesError, TypeError):
        with pytest.raises(error, match="unexpected keyword argument 'reward_scal'; did you mean"):
            make(reward_scal=1)
    with pytest.raises(UnknownKeywordError, match="did you mean 'seed'"):
        make(sed=1)


@over_interfaces
def test_only_the_wrapper_ends_an_episode_at_an_illegal_action(name: str) -> None:
    make, _ = INTERFACES[name]
    if name == "env":
        make(illegal="terminate")
        return
    with pytest.raises(DominoError, match="is for PettingZoo's `env`"):
        make(illegal="terminate")


# --------------------------------------------------------------------------------- illegal actions


@pytest.mark.parametrize(("illegal", "price"), [("penalty", -0.5), ("substitute", 0.0)])
def test_a_batch_replaces_illegal_actions(illegal: Any, price: float) -> None:
    game = BatchedGame(RULES, 6, 3, illegal=illegal, illegal_reward=-0.5)
    twin = BatchedGame(RULES, 6, 3)
    for _ in range(60):
        lowest, movers = game.masks.argmax(axis=1), game.to_move.copy()
        chosen = np.where(np.arange(6) % 2, lowest, [-1, 0, game.masks[2].argmin(), 0, 10**9, 0])
        is_illegal = chosen != lowest
        game.step(chosen)
        twin.step(lowest)
        expected = twin.rewards.copy()
        expected[is_illegal, movers[is_illegal]] += price
        assert np.array_equal(game.rewards, expected)
        assert np.array_equal(game.illegal_actions, is_illegal)
        assert np.array_equal(game.masks, twin.masks)
        assert not twin.illegal_actions.any()


def test_a_batch_replaces_in_some_games_only() -> None:
    game = BatchedGame(RULES, 4, 3, illegal="penalty", autoreset=False)
    before = game.states[[0, 2]].copy()
    game.step([-1, -1], [3, 1])
    assert game.illegal_actions.tolist() == [False, True, False, True]
    assert game.rewards.sum() == -2.0
    assert np.array_equal(game.states[[0, 2]], before)


@pytest.mark.parametrize(("illegal", "price"), [("penalty", -0.5), ("substitute", 0.0)])
def test_pettingzoo_replaces_illegal_actions(illegal: str, price: float) -> None:
    env = chicken_foot_v0.raw_env(RULES, illegal=illegal, illegal_reward=-0.5)
    parallel = chicken_foot_v0.parallel_env(RULES, illegal=illegal, illegal_reward=-0.5)
    env.reset(seed=1)
    parallel.reset(seed=1)
    paid = dict.fromkeys(env.agents, 0.0)
    for _ in range(20):
        mover = env.agent_selection
        env.step(env.num_actions)
        _, rewards, _, _, infos = parallel.step(dict.fromkeys(parallel.agents, parallel.wait))
        assert env.infos[mover]["illegal_action"] and infos[mover]["illegal_action"]
        assert sum("illegal_action" in info for info in infos.values()) == 1
        paid[mover] += price
        assert rewards == {agent: price * (agent == mover) for agent in env.agents}
        assert rewards == env.rewards
        assert np.array_equal(env.game.states, parallel.game.states)
    mover = env.agent_selection
    env.step(int(env.observe(mover)["action_mask"].argmax()))
    assert "illegal_action" not in env.infos[mover]


@pytest.mark.parametrize("name", ["raw_env", "env"])
def test_a_replaced_action_is_told_at_the_agents_next_turn(name: str) -> None:
    env = getattr(chicken_foot_v0, name)(RULES, illegal="penalty")
    env.reset(seed=1)
    offender = env.agent_selection
    env.step(int((env.observe(offender)["action_mask"] == 0).argmax()))
    while env.agent_selection != offender:
        env.step(int(env.last()[0]["action_mask"].argmax()))
    _, reward, *_, info = env.last()
    assert reward == -1.0 and info["illegal_action"]


def test_the_wrapper_pays_the_illegal_reward() -> None:
    env = chicken_foot_v0.env(RULES, illegal_reward=-3.0)
    env.reset(seed=1)
    offender = env.agent_selection
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PettingZoo warns of the move
        env.step(int((env.observe(offender)["action_mask"] == 0).argmax()))
    assert env.terminations[offender] and env.rewards[offender] == -3.0
