"""Gymnasium's and Stable-Baselines3's checkers and clients over the environments of one learner."""

from __future__ import annotations

import copy
import pickle
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env, data_equivalence, data_shares_objects
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers import TimeLimit
from gymnasium.wrappers.vector import DictInfoToList, RecordEpisodeStatistics

import dominoenv
from dominoenv import (
    BatchedGame,
    DominoError,
    GameOverError,
    IllegalActionError,
    Policy,
    RulesError,
    make_policy,
    make_rules,
)
from dominoenv.envs.learner import LearnerGames
from dominoenv.envs.single import DominoEnv
from dominoenv.envs.vector import DominoVectorEnv

assert dominoenv  # registers the environments
ROOT = Path(__file__).resolve().parent.parent
IDS = {
    "dominoenv/MexicanTrain-v0": {"preset": "engine", "players": 3},
    "dominoenv/ChickenFoot-v0": {"players": 3},
}
MIXED = [("random", 1.0), ("heaviest", 3.0)]
MODES = list(AutoresetMode)
over_ids = pytest.mark.parametrize("name", IDS, ids=lambda name: name.split("/")[1])


def make(name: str, **options: Any) -> DominoEnv:
    env = gymnasium.make(name, **{**IDS[name], **options}).unwrapped
    assert isinstance(env, DominoEnv)
    return env


def make_vec(name: str, num_envs: int = 4, **options: Any) -> DominoVectorEnv:
    env = gymnasium.make_vec(name, num_envs, "vector_entry_point", **{**IDS[name], **options})
    assert isinstance(env, DominoVectorEnv)
    return env


def first_legal(observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
    assert observations.dtype == np.float32 and observations.max(initial=0) <= 1
    assert len(observations) == len(masks) and masks.any(axis=1).all()
    return masks.argmax(axis=1)


def play_episode(env: gymnasium.Env[Any, Any], rng: np.random.Generator) -> list[Any]:
    """Play on to the episode's end; return all that the environment said."""
    said = []
    over = False
    while not over:
        mask = env.get_wrapper_attr("action_masks")()
        said.append(env.step(rng.choice(np.flatnonzero(mask))))
        over = said[-1][2] or said[-1][3]
    return said


def masked_actions(env: DominoVectorEnv, rng: np.random.Generator) -> np.ndarray:
    return np.array([rng.choice(np.flatnonzero(mask)) for mask in env.action_masks()])


# ------------------------------------------------------------------------------- checkers and doors


@over_ids
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"opponents": MIXED, "seat": 1, "episode": "match", "rounds": [3, 1]},
        {"opponents": first_legal, "forced": "explicit", "reward": "win", "players": 2},
    ],
    ids=["default", "match", "explicit"],
)
def test_gymnasiums_checker(name: str, options: dict[str, Any]) -> None:
    check_env(make(name, **options))


@over_ids
def test_stable_baselines3s_checker(name: str) -> None:
    checker = pytest.importorskip("stable_baselines3.common.env_checker")
    checker.check_env(make(name))
    checker.check_env(make(name, render_mode="ansi", seat=0), skip_render_check=False)


def test_the_module_is_imported_by_the_long_name() -> None:
    code = """
import gymnasium, sys
env = gymnasium.make("dominoenv:dominoenv/ChickenFoot-v0", players=3)
env.reset(seed=1)
envs = gymnasium.make_vec("dominoenv:dominoenv/MexicanTrain-v0", num_envs=2, opponents="heaviest")
envs.reset(seed=1)
assert type(envs).__name__ == "DominoVectorEnv"
assert not {"torch", "stable_baselines3", "dominoenv.envs.aec"} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)


@over_ids
def test_wrappers_of_gymnasium(name: str) -> None:
    env = gymnasium.make(name, max_episode_steps=2, **IDS[name])
    assert isinstance(env, TimeLimit)
    observation, info = env.reset(seed=1)
    assert observation.dtype == np.float32 and env.observation_space.contains(observation)
    said = play_episode(env, np.random.default_rng(0))
    assert len(said) <= 2
    assert np.array_equal(info["action_mask"] != 0, info["action_mask"] == 1)


# ------------------------------------------------------------------------------------ one learner


@over_ids
def test_masks_seats_and_results(name: str) -> None:
    env = make(name, opponents=MIXED, seed=3)
    rng = np.random.default_rng(0)
    seats = []
    for _ in range(9):
        observation, info = env.reset()
        over, total = False, 0.0
        while not over:
            assert env.game.to_move[0] == info["seat"]
            assert info["action_mask"].any() and info["action_mask"].dtype == np.int8
            assert np.array_equal(info["action_mask"], env.action_masks())
            assert set(np.flatnonzero(info["action_mask"])) == set(env.game.legal_actions(0))
            row = env.game.layout.scaled(env.game.observe(info["seat"])[0])
            assert np.array_equal(observation, row)
            action = rng.choice(np.flatnonzero(info["action_mask"]))
            observation, reward, over, truncated, info = env.step(action)
            assert not truncated and not info["illegal_action"]
            assert isinstance(reward, float)
            total += reward
        assert env.observation_space.contains(observation)
        assert info["action_mask"].all()
        assert total == pytest.approx((info["others"] - info["penalty"]) / 20, abs=1e-5)
        assert 0 <= info["won"] <= 1
        with pytest.raises(GameOverError, match="reset"):
            env.step(0)
        seats.append(info["seat"])
    assert seats == [match % 3 for match in range(9)]


@over_ids
def test_seeds_and_matches(name: str) -> None:
    env, other = make(name, opponents=MIXED), make(name, opponents=MIXED, seed=5)
    opening = env.reset(seed=5)
    episodes = []
    for match in range(4):
        said = play_episode(env, np.random.default_rng(match))
        episodes.append((opening, said))
        assert env.game.states["match"][0] >= match
        opening = env.reset()
    assert not np.array_equal(episodes[0][0][0], episodes[1][0][0])
    for match, (opening, said) in enumerate(episodes):
        assert data_equivalence(other.reset(), opening, exact=True)  # seed given when made
        again = play_episode(other, np.random.default_rng(match))
        assert data_equivalence(tuple(again), tuple(said), exact=True)
    fixed = make(name, opponents=first_legal)
    for options in ({"match": 2}, {"match": 0}, {"other": 1}):
        match = options.get("match", 1)
        seed = 5 if options == {"match": 2} else None
        observation, info = fixed.reset(seed=seed, options=options)
        alone = LearnerGames(fixed.rules, 1, first_legal, seed=5)
        alone.reset(match=match)
        assert np.array_equal(observation, alone.observations()[0])
        assert info["seat"] == match % 3
    assert np.array_equal(fixed.reset(seed=5)[0], fixed.reset(seed=5, options={"match": 0})[0])


@over_ids
def test_options_survive_a_seeded_reset(name: str) -> None:
    options = {"players": 4, "seat": 2, "opponents": "heaviest", "double": 3, "max_pip": 12}
    env = make(name, **options)
    rules, pool = env.rules, env.pool
    spaces = env.observation_space, env.action_space
    for seed in (None, 3, 3, None):
        _, info = env.reset(seed=seed)
        assert info["seat"] == 2
        assert env.rules.players == 4 and env.rules.max_pip == 12 and env.rules is rules
        assert env.rules.rounds[env.game.states["round"][0]] == 3
        assert [member.name for member in env.pool.members] == ["heaviest"]
        play_episode(env, np.random.default_rng(0))
    assert env.pool is pool
    assert (env.observation_space, env.action_space) == spaces
    assert env.observation_space is spaces[0] and env.action_space is spaces[1]


@over_ids
def test_what_is_handed_out_is_fresh(name: str) -> None:
    env, envs = make(name), make_vec(name, autoreset_mode="SameStep")
    rng = np.random.default_rng(0)
    said: list[tuple[Any, Any]] = [env.reset(seed=1)]
    many: list[tuple[Any, Any]] = [envs.reset(seed=1)]
    kept = copy.deepcopy((said[0], many[0]))
    for _ in range(30):
        observation, _, over, _, info = env.step(rng.choice(np.flatnonzero(env.action_masks())))
        said.append((observation, info))
        if over:
            said.append(env.reset())
        step = envs.step(masked_actions(envs, rng))
        many.append((step[0], step[4]))
    assert "final_info" in {key for _, info in many for key in info}
    for calls in (said, many):
        for i, call in enumerate(calls):
            assert not any(data_shares_objects(call, other) for other in calls[:i])
    assert data_equivalence(kept, (said[0], many[0]), exact=True)
    env.action_masks()[:] = 0
    envs.action_masks()[:] = 0
    assert env.action_masks().any() and envs.action_masks().any(axis=1).all()


# ---------------------------------------------------------------------------------- illegal actions


@over_ids
def test_an_illegal_action_costs_and_the_lowest_legal_is_played(name: str) -> None:
    env = make(name, opponents=first_legal, illegal_reward=-0.25)
    env.reset(seed=2)
    for step in range(200):
        twin = copy.deepcopy(env)
        mask = env.action_masks()
        illegal = [int(np.flatnonzero(mask == 0)[-1]), -1, len(mask), 1 << 62][step % 4]
        got, expected = env.step(illegal), twin.step(int(mask.argmax()))
        assert got[4].pop("illegal_action") and not expected[4].pop("illegal_action")
        assert got[1] == pytest.approx(expected[1] - 0.25)
        assert data_equivalence((got[0], got[2:]), (expected[0], expected[2:]), exact=True)
        if got[2]:
            env.reset()


@over_ids
def test_an_illegal_action_may_raise(name: str) -> None:
    env, envs = make(name, illegal="raise"), make_vec(name, illegal="raise")
    env.reset(seed=2)
    envs.reset(seed=2)
    before, many = env.learner.get_state(), envs.learner.get_state()
    with pytest.raises(IllegalActionError, match="legal are"):
        env.step(int(env.action_masks().argmin()))
    actions = envs.action_masks().argmax(axis=1)
    actions[2] = envs.action_masks()[2].argmin()
    with pytest.raises(IllegalActionError, match="game 2"):
        envs.step(actions)
    for state, games in ((before, env.learner), (many, envs.learner)):
        assert all(np.array_equal(state[key], value) for key, value in games.get_state().items())


@over_ids
@pytest.mark.parametrize("illegal", ["raise", "penalty"])
def test_what_is_no_action_changes_nothing(name: str, illegal: str) -> None:
    env, envs = make(name, illegal=illegal), make_vec(name, illegal=illegal)
    env.reset(seed=2)
    envs.reset(seed=2)
    before, many = env.learner.get_state(), envs.learner.get_state()
    for junk in (None, 1.5, "3", [1], np.array([1]), 1 << 70, True, float("nan"), [[1], 2]):
        with pytest.raises(IllegalActionError):
            env.step(junk)
        for actions in (junk, [junk] * 4, [0, 0, 0], np.zeros((4, 1), int), np.zeros(4)):
            with pytest.raises(IllegalActionError):
                envs.step(actions)
    for state, games in ((before, env.learner), (many, envs.learner)):
        assert all(np.array_equal(state[key], value) for key, value in games.get_state().items())


# ---------------------------------------------------------------------------------------- opponents


@over_ids
def test_opponents_by_name_object_function_and_mixture(name: str) -> None:
    rules = make(name).rules
    asked: list[int] = []

    def heaviest(observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
        asked.append(len(masks))
        return made.act(observations, masks)

    made = make_policy("heaviest", rules)
    said = []
    for opponents in ("heaviest", make_policy("heaviest", rules, 99), [("heaviest", 2)], heaviest):
        env = make(name, opponents=opponents)
        made.rng = np.random.default_rng([7, 0])  # as the environment seeds its own
        env.reset(seed=7)
        said.append(play_episode(env, np.random.default_rng(1)))
    assert asked
    assert all(data_equivalence(tuple(said[0]), tuple(one), exact=True) for one in said[1:])
    envs = make_vec(name, 2000, opponents=[*MIXED, (first_legal, 4)])
    envs.reset(seed=1)
    shares = np.bincount(envs.learner.lineup.ravel(), minlength=3) / envs.learner.lineup.size
    assert shares == pytest.approx([1 / 8, 3 / 8, 4 / 8], abs=0.04)


def test_a_policy_object_serves_many_environments() -> None:
    name = next(iter(IDS))
    policy = make_policy("random", make(name).rules, 5)
    rng_state = copy.deepcopy(policy.rng.bit_generator.state)
    one, other = make(name, opponents=policy), make(name, opponents=policy)
    one.reset(seed=1)
    expected = play_episode(copy.deepcopy(one), np.random.default_rng(0))
    other.reset(seed=2)
    play_episode(other, np.random.default_rng(0))
    assert data_equivalence(
        tuple(play_episode(one, np.random.default_rng(0))), tuple(expected), exact=True
    )
    assert policy.rng.bit_generator.state == rng_state


@over_ids
def test_an_opponent_that_errs_is_named(name: str) -> None:
    def answer(actions: Any) -> Any:
        return lambda observations, masks: actions(masks)

    for opponents, reason in (
        (answer(lambda masks: masks.argmin(axis=1)), "opponent 'function': game 0: action"),
        (answer(lambda masks: masks.argmax(axis=1) * 1.0), "opponent 'function'.*whole numbers"),
        (answer(lambda masks: None), "opponent 'function'.*whole numbers"),
    ):
        with pytest.raises(IllegalActionError, match=reason):
            make(name, opponents=opponents, seat=2, seed=0).reset(seed=1)


@over_ids
def test_a_step_that_broke_off_is_not_gone_on_with(name: str) -> None:
    fails = [False]

    def moody(observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
        if fails[0]:
            raise KeyboardInterrupt
        return masks.argmax(axis=1)

    for env in (make(name, opponents=moody, seat=1), make_vec(name, opponents=moody, seat=1)):
        actions = env.reset(seed=1)[1]["action_mask"].argmax(axis=-1)
        fails[0] = True
        with pytest.raises(KeyboardInterrupt):
            env.step(actions)
        fails[0] = False
        with pytest.raises(DominoError, match="broke off"):
            env.step(actions)
        _, info = env.reset()
        env.step(info["action_mask"].argmax(axis=-1))


@pytest.mark.parametrize("size", [1, 2, 3, 5, 8])
def test_the_seat_rotates_in_every_game(size: int) -> None:
    games = LearnerGames(make_rules("chicken_foot", players=4), size, first_legal, seed=0)
    seen = []
    for _ in range(4):
        seen.append(games.seats.copy())
        games.restart(np.arange(size))
    assert all(set(seats) == {0, 1, 2, 3} for seats in np.array(seen).T.tolist())


@over_ids
@pytest.mark.parametrize(
    ("options", "error", "reason"),
    [
        ({"seat": 3}, DominoError, "'rotate' or a seat 0 ... 2"),
        ({"seat": None}, DominoError, "'rotate' or a seat"),
        ({"opponents": 3}, DominoError, "must be a policy, the name of one, a function, or"),
        ({"opponents": ["random"]}, DominoError, "weight"),
        ({"opponents": [("random", float("nan"))]}, DominoError, "weight above 0"),
        ({"opponents": "rndom"}, DominoError, "did you mean 'random'"),
        ({"opponents": [(3, 1)]}, DominoError, "neither a policy"),
        ({"opponents": [(Policy, 1)]}, DominoError, "neither a policy"),
        ({"illegal": "ignore"}, DominoError, "known: raise, penalty"),
        ({"illegal_reward": float("inf")}, DominoError, "finite"),
        ({"seed": -1}, DominoError, "seed=-1"),
        ({"render_mode": "rgb"}, DominoError, "render_mode='rgb'"),
        ({"oponents": "random"}, RulesError, "did you mean 'opponents'"),
        ({"max_pips": 9}, RulesError, "did you mean 'max_pip'"),
    ],
)
def test_what_cannot_be_is_named(
    name: str, options: dict[str, Any], error: type[Exception], reason: str
) -> None:
    keywords = {"game": gymnasium.spec(name).kwargs["game"], **IDS[name], **options}
    with pytest.raises(error, match=reason):
        DominoEnv(**keywords)
    with pytest.raises(error, match=reason):
        DominoVectorEnv(**keywords)


def test_the_hint_for_a_number_of_steps() -> None:
    with pytest.raises(TypeError, match="episodes end by the rules, with the round or the match"):
        DominoEnv("mexican_train", max_episode_steps=3)  # `gymnasium.make` has it


def test_bad_resets_change_nothing() -> None:
    name = next(iter(IDS))
    env, envs = make(name), make_vec(name)
    for one in (env, envs):
        one.reset(seed=3)
        before = one.learner.get_state()
        bad: list[dict[str, Any]] = [
            {"seed": -1},
            {"seed": "x"},
            {"seed": [1, 2]},
            {"options": 3},
            {"options": {"match": -1}},
            {"seed": 1, "options": {"match": 1.5}},
            {"options": {"match": 1 << 62}},
        ]
        if one is envs:
            full, half = np.ones(4, bool), np.array([True, False, True, False])
            masks = [None, [True] * 4, np.zeros(4, bool), np.ones(3, bool), np.ones(4, int)]
            bad += [{"options": {"reset_mask": mask}} for mask in masks]
            bad += [{"seed": 1, "options": {"reset_mask": full}}]
            bad += [{"options": {"reset_mask": half, "match": 3}}]
        for arguments in bad:
            with pytest.raises(DominoError):
                one.reset(**arguments)
        after = one.learner.get_state()
        assert all(np.array_equal(before[key], after[key]) for key in before)
    with pytest.raises(DominoError, match="did you mean 'SameStep'"):
        make_vec(name, autoreset_mode="same_step")
    with pytest.raises(DominoError, match="at least 1"):
        make_vec(name, 0)
    with pytest.raises(DominoError, match="game='domino'"):
        DominoEnv("domino")


# ---------------------------------------------------------------------------------- the vector form


@over_ids
@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.value)
def test_autoreset_is_that_of_gymnasiums_own_vector_env(name: str, mode: AutoresetMode) -> None:
    """One game, beside Gymnasium's vector environment of one `DominoEnv`: the same in all."""
    options = {"opponents": MIXED, "seed": 4}
    ours = make_vec(name, 1, autoreset_mode=mode, **options)
    theirs = SyncVectorEnv([lambda: make(name, **options)], autoreset_mode=mode)
    assert ours.metadata["autoreset_mode"] is mode
    assert ours.observation_space == theirs.observation_space
    assert ours.action_space == theirs.action_space
    assert same(ours.reset(), theirs.reset())
    assert same(ours.reset(seed=9), theirs.reset(seed=9))
    rng, ended = np.random.default_rng(0), 0
    for _ in range(150):
        mask = ours.action_masks()[0]
        action = [rng.choice(len(mask) if rng.random() < 0.1 else np.flatnonzero(mask))]
        step = ours.step(np.array(action))
        assert same(step, theirs.step(np.array(action)))
        if step[2][0]:
            ended += 1
            assert ("final_info" in step[4]) == (mode is AutoresetMode.SAME_STEP)
            if mode is AutoresetMode.DISABLED:
                with pytest.raises(GameOverError, match="reset_mask"):
                    ours.step(np.array(action))
                again = [env.reset(options={"reset_mask": step[2]}) for env in (ours, theirs)]
                assert same(*again)
    assert ended > 5
    ours.close()
    ours.close()


def same(one: Any, other: Any) -> bool:
    """Return whether two answers hold the same values of the same types."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, np.ndarray) and one.dtype == object:
        return one.shape == other.shape and all(map(same, one, other))
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other)
    return type(one) is type(other) and one == other


@over_ids
def test_game_i_plays_match_i_and_every_bth_after_it(name: str) -> None:
    size, rng = 3, np.random.default_rng(0)
    options = {"opponents": first_legal, "seat": 1}
    envs = make_vec(name, size, autoreset_mode="SameStep", **options)
    alone = [make(name, **options) for _ in range(size)]
    matches = list(range(5, 5 + size))
    openings = [
        env.reset(seed=8, options={"match": match})
        for env, match in zip(alone, matches, strict=True)
    ]
    observations, infos = envs.reset(seed=8, options={"match": 5})
    for i, (row, info) in enumerate(openings):
        assert np.array_equal(observations[i], row)
        assert np.array_equal(infos["action_mask"][i], info["action_mask"])
    for _ in range(60):
        actions = masked_actions(envs, rng)
        observations, rewards, done, _, infos = envs.step(actions)
        for i, env in enumerate(alone):
            row, reward, over, _, info = env.step(actions[i])
            assert (rewards[i], done[i]) == (reward, over)
            if over:
                assert infos["_final_obs"][i] and infos["_final_info"][i]
                assert np.array_equal(infos["final_obs"][i], row)
                final = {key: infos["final_info"][key][i] for key in info}
                assert all(np.array_equal(final[key], info[key]) for key in info)
                assert all(infos["final_info"][f"_{key}"][i] for key in info)
                matches[i] = int(env.game.states["match"][0]) + size
                row, info = env.reset(options={"match": matches[i]})
            assert np.array_equal(observations[i], row)
            assert np.array_equal(infos["action_mask"][i], info["action_mask"])


@over_ids
def test_games_of_a_reset_mask_begin_anew(name: str) -> None:
    envs = make_vec(name, 4, autoreset_mode=AutoresetMode.DISABLED, opponents=MIXED)
    observations, _ = envs.reset(seed=0)
    done = np.zeros(4, bool)
    rng = np.random.default_rng(0)
    while not done.any():
        observations, _, done, _, infos = envs.step(masked_actions(envs, rng))
    assert infos["action_mask"].any(axis=1).all()
    assert infos["_penalty"].tolist() == done.tolist()
    mask, options = done.copy(), {"reset_mask": done}
    after, infos = envs.reset(options=options)
    assert options["reset_mask"] is done and (done == mask).all()
    assert infos["_action_mask"].all() and (infos["action_mask"] == envs.action_masks()).all()
    assert np.array_equal(after[~done], observations[~done])
    assert (after[done] != observations[done]).any(axis=1).all()
    envs.step(masked_actions(envs, rng))


@over_ids
@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_wrappers_of_vector_environments(name: str, mode: str) -> None:
    envs = RecordEpisodeStatistics(make_vec(name, 4, autoreset_mode=mode, opponents=MIXED))
    rng, lengths = np.random.default_rng(0), 0
    listed = DictInfoToList(envs)
    _, infos = listed.reset(seed=1)
    for _ in range(60):
        actions = [rng.choice(np.flatnonzero(info["action_mask"])) for info in infos]
        observations, _, done, _, infos = listed.step(np.array(actions))
        assert envs.observation_space.contains(observations)
        assert len(infos) == 4
        for info in (info for info, over in zip(infos, done, strict=True) if over):
            lengths += int(info["episode"]["l"])
    assert lengths > 60


@over_ids
def test_async_vector_env(name: str) -> None:
    options = {**IDS[name], "opponents": MIXED, "seat": 1}
    said = []
    for mode in ("sync", "async"):
        envs = gymnasium.make_vec(name, 2, vectorization_mode=mode, **options)
        step = envs.reset(seed=3)
        answers = [step]
        for _ in range(25):
            masks = step[-1]["action_mask"]
            step = envs.step(masks.argmax(axis=1))
            answers.append(step)
        said.append(tuple(answers))
        envs.close()
        envs.close()
    assert data_equivalence(said[0], said[1], exact=True)


# ------------------------------------------------------------------------- copies, pictures, random


@over_ids
def test_copies_go_on_alike(name: str) -> None:
    env, envs = make(name, opponents=MIXED), make_vec(name, opponents=MIXED)
    env.reset(seed=1)
    envs.reset(seed=1)
    env.step(env.action_masks().argmax())
    envs.step(envs.action_masks().argmax(axis=1))
    for twin in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        said = play_episode(twin, np.random.default_rng(2))
        alike = copy.deepcopy(env)
        assert data_equivalence(
            tuple(play_episode(alike, np.random.default_rng(2))), tuple(said), exact=True
        )
        assert data_equivalence(alike.reset(), twin.reset(), exact=True)
    for many in (copy.deepcopy(envs), pickle.loads(pickle.dumps(envs))):
        twin_envs = copy.deepcopy(envs)
        for _ in range(20):
            actions = many.action_masks().argmax(axis=1)
            assert data_equivalence(many.step(actions), twin_envs.step(actions), exact=True)


@over_ids
def test_pictures_and_closing(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    env = make(name, render_mode="ansi")
    env.reset(seed=1)
    assert "to move" in env.render()
    envs = make_vec(name, 2, render_mode="ansi")
    envs.reset(seed=1)
    assert len(envs.render()) == 2
    make(name, render_mode="human").reset(seed=1)
    assert "to move" in capsys.readouterr().out
    for one in (env, envs, make(name), make_vec(name)):
        one.close()
        one.close()
    for one in (make(name), make_vec(name)):
        with pytest.warns(UserWarning, match="no render_mode"):
            assert one.render() is None


@over_ids
def test_no_global_randomness(name: str) -> None:
    random.seed(1)
    np.random.seed(1)
    before = random.getstate(), np.random.get_state()[1].tobytes()
    env, envs = make(name, opponents=MIXED), make_vec(name, opponents=MIXED)
    openings = [env.reset()[0]]
    play_episode(env, np.random.default_rng(0))
    envs.reset()
    for _ in range(20):
        envs.step(envs.action_masks().argmax(axis=1))
    assert before == (random.getstate(), np.random.get_state()[1].tobytes())
    random.seed(1)
    np.random.seed(1)
    openings.append(make(name, opponents=MIXED).reset()[0])
    assert not np.array_equal(*openings)


def test_the_learner_plays_the_game_of_the_batch() -> None:
    env = DominoEnv("mexican_train", players=2, opponents=first_legal, seat=0, forced="explicit")
    env.reset(seed=6)
    game = BatchedGame(env.rules, 1, 6, autoreset=False)
    over = False
    while not over:
        while game.to_move[0] != 0:
            game.step(game.masks.argmax(axis=1))
        assert np.array_equal(game.masks[0], env.action_masks())
        action = game.masks.argmax(axis=1)
        *_, over, _, info = env.step(action[0])
        game.step(action)
    while not game.waiting[0]:
        game.step(game.masks.argmax(axis=1))
    assert info["penalty"] == game.penalties[0, 0] and info["others"] == game.penalties[0, 1]


# ----------------------------------------------------------------------------------------- training


def test_masked_ppo_learns_on_one_table() -> None:
    contrib = pytest.importorskip("sb3_contrib")
    env = gymnasium.make("dominoenv/ChickenFoot-v0", players=2, opponents="heaviest")
    model = contrib.MaskablePPO("MlpPolicy", env, n_steps=64, batch_size=32, n_epochs=1, seed=1)
    model.learn(128)
    evaluation = pytest.importorskip("sb3_contrib.common.maskable.evaluation")
    mean, _ = evaluation.evaluate_policy(model, model.get_env(), n_eval_episodes=2)
    assert np.isfinite(mean)


def test_algorithms_without_masks_learn_on_the_penalty_variant() -> None:
    sb3 = pytest.importorskip("stable_baselines3")
    from dominoenv.envs.sb3 import DominoVecEnv

    rules = make_rules("chicken_foot", players=2)
    env = DominoVecEnv(rules, 4, "heaviest", illegal="penalty", illegal_reward=-0.5)
    sb3.PPO("MlpPolicy", env, n_steps=16, batch_size=32, n_epochs=1, seed=1).learn(128)
    sb3.DQN("MlpPolicy", env, learning_starts=32, buffer_size=500, seed=1).learn(128)
    env.seed(3)
    env.reset()
    masks = env.action_masks()
    twin = DominoVecEnv(rules, 4, "heaviest", seed=3)
    expected = twin.step(masks.argmax(axis=1))
    got = env.step(np.where(np.arange(4) % 2, masks.argmax(axis=1), masks.argmin(axis=1)))
    assert np.array_equal(got[0], expected[0]) and np.array_equal(got[2], expected[2])
    assert got[1] == pytest.approx(expected[1] - [0.5, 0, 0.5, 0])
    assert [info.get("illegal_action", False) for info in got[3]] == [True, False, True, False]


def test_masked_ppo_learns_against_a_function() -> None:
    contrib = pytest.importorskip("sb3_contrib")
    from dominoenv.envs.sb3 import DominoVecEnv

    env = DominoVecEnv(make_rules("mexican_train", players=2), 4, [("random", 1), (first_legal, 1)])
    model = contrib.MaskablePPO("MlpPolicy", env, n_steps=16, batch_size=32, n_epochs=1, seed=1)
    model.learn(64)
