"""What client libraries ask of the environments beyond their libraries' own checkers."""

from __future__ import annotations

import importlib.util
import warnings
from functools import partial
from types import ModuleType
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv, VectorEnv
from gymnasium.wrappers.vector import NormalizeReward, RecordEpisodeStatistics

import dominoenv
from dominoenv import DominoError, IllegalActionError, chicken_foot_v0, mexican_train_v0
from dominoenv.envs.vector import DominoVectorEnv

with warnings.catch_warnings():
    # With pygame installed, the checkers import a game of PettingZoo's own that is deprecated.
    warnings.simplefilter("ignore", DeprecationWarning)
    from pettingzoo.test import (
        api_test,
        parallel_api_test,
        parallel_seed_test,
        seed_test,
        state_test,
    )

assert dominoenv  # registers the ids
IDS = ["dominoenv/MexicanTrain-v0", "dominoenv/ChickenFoot-v0"]
MODULES = [mexican_train_v0, chicken_foot_v0]
MODES = list(AutoresetMode)
over_ids = pytest.mark.parametrize("name", IDS, ids=lambda name: name.split("/")[1])
over_modules = pytest.mark.parametrize("module", MODULES, ids=lambda m: m.__name__.split(".")[-1])
over_modes = pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.value)
needs_moviepy = pytest.mark.skipif(
    importlib.util.find_spec("moviepy") is None, reason="videos need moviepy"
)


def make_vec(name: str, num_envs: int = 3, **options: Any) -> DominoVectorEnv:
    env = gymnasium.make_vec(name, num_envs, players=3, **options)
    assert isinstance(env, DominoVectorEnv)
    return env


def masked(envs: DominoVectorEnv, rng: np.random.Generator) -> np.ndarray:
    return np.array([rng.choice(np.flatnonzero(mask)) for mask in envs.action_masks()])


# ------------------------------------------------------------------------------ making Gymnasium's


@over_ids
def test_keywords_of_make(name: str) -> None:
    env = gymnasium.make(name, render_mode=None, max_episode_steps=2, disable_env_checker=True)
    env.reset(seed=0)
    env.step(0)
    assert env.step(0)[3]
    made = partial(gymnasium.make, name, players=3)(render_mode="rgb_array_list")
    made.reset(seed=0)
    (frame,) = made.render()
    assert frame.ndim == 3
    with pytest.raises(TypeError, match=r"_v0 got an unexpected keyword argument 'frameskip'; "):
        gymnasium.make(name, frameskip=1)


@over_ids
@pytest.mark.parametrize("mode", [None, "sync", "vector_entry_point"])
def test_keywords_of_make_vec(name: str, mode: str | None) -> None:
    """Every way to make a vector environment takes the same keywords, truncation among them."""
    options = {"render_mode": "ansi", "max_episode_steps": 2, "opponents": "heaviest"}
    envs = gymnasium.make_vec(name, 2, mode, players=3, **options)
    envs.reset(seed=1)
    pictures = envs.render()
    assert pictures is not None and len(pictures) == 2
    rng, truncated = np.random.default_rng(0), np.zeros(2, bool)
    masks = np.ones((2, envs.single_action_space.n), bool)
    for _ in range(2):
        actions = np.array([rng.choice(np.flatnonzero(mask)) for mask in masks])
        *_, terminated, truncated, infos = envs.step(actions)
        masks = infos["action_mask"] != 0
    assert (terminated | truncated).all() and truncated.any()
    with pytest.raises(TypeError, match="unexpected keyword argument 'frameskip'"):
        gymnasium.make_vec(name, 2, mode, frameskip=1)
    envs.close()


@pytest.mark.parametrize("value", [0, -1, 1.5, "2"])
def test_a_limit_of_steps_is_a_whole_number(value: Any) -> None:
    with pytest.raises(DominoError, match="max_episode_steps="):
        gymnasium.make_vec(IDS[0], 2, "vector_entry_point", max_episode_steps=value)


# ------------------------------------------------------------------------- Gymnasium's VectorEnv


@over_ids
def test_it_has_the_attributes_of_gymnasiums_own(name: str) -> None:
    """Those of sub-environments aside: `envs`, `env_fns`, `copy`, `call` and the like."""
    sync = gymnasium.make_vec(name, 2, "sync", players=3)
    ours = make_vec(name, 2)
    inner = {"call", "get_attr", "set_attr", "envs", "env_fns", "copy", "observation_mode"}
    public = {key for key in dir(sync) if key[0] != "_"} - inner
    assert public <= set(dir(ours))
    for key in ("num_envs", "render_mode", "closed", "autoreset_mode", "metadata"):
        theirs, own = getattr(sync, key), getattr(ours, key)
        assert theirs == own or key == "metadata", key
    for key in ("single_observation_space", "observation_space", "action_space"):
        assert getattr(sync, key) == getattr(ours, key)
    assert ours.metadata["autoreset_mode"] is sync.metadata["autoreset_mode"]
    assert isinstance(ours, VectorEnv) and ours.spec and ours.spec.id == name


@over_ids
@over_modes
def test_truncated_episodes(name: str, mode: AutoresetMode) -> None:
    """They end as Gymnasium's own vector environments end them."""
    limit, rng = 3, np.random.default_rng(0)
    envs = make_vec(name, 4, autoreset_mode=mode, max_episode_steps=limit)
    observations, infos = envs.reset(seed=2)
    lengths, seen = np.zeros(4, int), 0
    over = np.zeros(4, bool)
    for _ in range(40):
        began = over & (mode is AutoresetMode.NEXT_STEP)
        observations, _, ended, truncated, infos = envs.step(masked(envs, rng))
        lengths = np.where(began, 0, lengths + 1)
        assert not (ended & truncated).any()
        assert np.array_equal(truncated, (lengths == limit) & ~ended)
        assert lengths.max() <= limit
        over = ended | truncated
        seen += int(truncated.sum())
        if mode is AutoresetMode.SAME_STEP and over.any():
            assert np.array_equal(infos["_final_obs"], over)
            assert all(row.shape == (envs.game.layout.size,) for row in infos["final_obs"][over])
            assert np.array_equal(infos["final_info"]["_action_mask"], over)
            assert "penalty" in infos["final_info"] or not ended.any()
            lengths[over] = 0
        elif over.any():
            assert (envs.action_masks()[over] == 1).all()
            assert np.array_equal(infos.get("_penalty", np.zeros(4, bool)), ended)
        if mode is AutoresetMode.DISABLED and over.any():
            with pytest.raises(DominoError, match="are over"):
                envs.step(masked(envs, rng))
            observations, infos = envs.reset(options={"reset_mask": over})
            assert np.array_equal(infos["action_mask"], envs.action_masks())  # of all games
            lengths[over] = 0
        assert envs.observation_space.contains(observations)
    assert seen > 5


@over_ids
@over_modes
def test_a_limit_changes_nothing_before_it(name: str, mode: AutoresetMode) -> None:
    plain, limited = (
        make_vec(name, autoreset_mode=mode, opponents="heaviest", max_episode_steps=limit)
        for limit in (None, 10_000)
    )
    rng = np.random.default_rng(0)
    for envs in (plain, limited):
        envs.reset(seed=3)
    for _ in range(40):
        actions = masked(plain, rng)
        (one, *rest), (other, *more) = plain.step(actions), limited.step(actions)
        assert np.array_equal(one, other)
        assert all(np.array_equal(a, b) for a, b in zip(rest[:3], more[:3], strict=True))
        if mode is AutoresetMode.DISABLED and rest[1].any():
            for envs in (plain, limited):
                envs.reset(options={"reset_mask": rest[1]})


@over_ids
@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_wrappers_count_truncated_episodes(name: str, mode: str) -> None:
    base = make_vec(name, autoreset_mode=mode, max_episode_steps=4)
    envs = NormalizeReward(RecordEpisodeStatistics(base))
    envs.reset(seed=0)
    rng, lengths = np.random.default_rng(0), []
    for _ in range(40):
        *_, infos = envs.step(masked(base, rng))
        if "episode" in infos:
            lengths += infos["episode"]["l"][infos["_episode"]].tolist()
    assert len(lengths) >= 12 and set(lengths) <= {1, 2, 3, 4} and 4 in lengths


@needs_moviepy
@over_ids
def test_videos_of_gymnasium(name: str, tmp_path: Any) -> None:
    from gymnasium.wrappers.vector import RecordVideo

    base = make_vec(name, render_mode="rgb_array", max_episode_steps=3)
    envs = RecordVideo(base, str(tmp_path / "videos"))
    envs.reset(seed=0)
    rng = np.random.default_rng(0)
    for _ in range(6):
        envs.step(masked(base, rng))
    envs.close()
    assert list(tmp_path.rglob("*.mp4"))


# ------------------------------------------------------------------------------- worker processes


@pytest.mark.parametrize("name", IDS[:1])
def test_processes_that_are_spawned_find_the_long_name(name: str) -> None:
    makers = [partial(gymnasium.make, f"dominoenv:{name}", players=3)]
    envs = AsyncVectorEnv(makers, context="spawn")
    there, _ = envs.reset(seed=4)
    envs.close()
    here, _ = SyncVectorEnv(makers).reset(seed=4)
    assert np.array_equal(there, here)


def test_subproc_vec_env_finds_the_long_name() -> None:
    vec_env = pytest.importorskip("stable_baselines3.common.vec_env")
    maker = partial(gymnasium.make, f"dominoenv:{IDS[1]}", players=3)
    envs = vec_env.SubprocVecEnv([maker], start_method="spawn")
    envs.seed(1)
    assert envs.reset().shape == (1, *envs.observation_space.shape)
    (mask,) = envs.env_method("action_masks")
    assert mask.any()
    envs.close()


# ----------------------------------------------------------------------------------- PettingZoo's

# The checkers list PettingZoo's own games by name where they warn, nobody else's.
quiet = pytest.mark.filterwarnings("ignore:.*Illegal move made")


@over_modules
def test_checkers_that_know_no_masks(module: ModuleType) -> None:
    """They sample any action; `illegal="substitute"` is what they need."""
    make = partial(module.parallel_env, players=3, illegal="substitute")
    parallel_seed_test(make, num_cycles=60)
    env = make(max_cycles=5)  # as RLlib's check of environments does
    env.reset(seed=0)
    steps = 0
    while env.agents:
        env.step({agent: env.action_space(agent).sample() for agent in env.agents})
        steps += 1
    assert steps <= 5


@over_modules
def test_the_error_names_the_option_they_need(module: ModuleType) -> None:
    env = module.parallel_env(players=3)
    env.reset(seed=0)
    with pytest.raises(IllegalActionError, match="illegal='substitute'"):
        env.step(dict.fromkeys(env.agents, env.wait))
    with pytest.raises(IllegalActionError, match="illegal='substitute'"):
        parallel_seed_test(partial(module.parallel_env, players=3), num_cycles=60)
    raw = module.raw_env(players=3)
    raw.reset(seed=0)
    with pytest.raises(IllegalActionError) as raised:
        raw.step(-1)
    assert "substitute" not in str(raised.value)


@over_modules
@quiet
def test_box_observations_pass_the_checkers(module: ModuleType) -> None:
    options = {"players": 3, "observation": "box"}
    api_test(module.env(**options), num_cycles=200)
    api_test(module.raw_env(**options), num_cycles=200)
    seed_test(partial(module.env, **options), num_cycles=60)
    parallel_env = partial(module.parallel_env, illegal="substitute", **options)
    parallel_api_test(parallel_env(), num_cycles=100)
    parallel_seed_test(parallel_env, num_cycles=60)
    state_test(module.env(**options), parallel_env())


@over_modules
def test_box_observations_are_the_rows_of_the_others(module: ModuleType) -> None:
    """The same game, with the mask in the infos alone."""
    box, full = (module.raw_env(players=3, observation=form) for form in ("box", "dict"))
    for env in (box, full):
        env.reset(seed=3)
    for agent in full.agent_iter(60):
        row, reward, over, _, info = box.last()
        other, *rest = full.last()
        assert box.agent_selection == agent and [reward, over] == rest[:2]
        assert isinstance(row, np.ndarray) and np.array_equal(row, other["observation"])
        assert box.observation_space(agent).contains(row)
        assert np.array_equal(info["action_mask"], other["action_mask"])
        action = None if over else int(info["action_mask"].argmax())
        box.step(action)
        full.step(action)
    box, full = (module.parallel_env(players=3, observation=form) for form in ("box", "dict"))
    (rows, infos), (others, _) = box.reset(seed=1), full.reset(seed=1)
    for _ in range(20):
        for agent in full.agents:
            assert np.array_equal(rows[agent], others[agent]["observation"])
            assert np.array_equal(infos[agent]["action_mask"], others[agent]["action_mask"])
        actions = {agent: int(infos[agent]["action_mask"].argmax()) for agent in full.agents}
        (rows, *_, infos), (others, *_) = box.step(actions), full.step(actions)
        if not full.agents:
            (rows, infos), (others, _) = box.reset(), full.reset()


@over_modules
@quiet
def test_box_observations_and_the_wrapper_that_ends_episodes(module: ModuleType) -> None:
    env = module.env(players=3, observation="box")
    env.reset(seed=0)
    agent, mask = env.agent_selection, env.last()[-1]["action_mask"]
    env.step(int(mask.argmin()))
    assert env.terminations[agent] and env.rewards[agent] == -1


@pytest.mark.parametrize("value", ["Box", None, "array"])
def test_forms_of_observations(value: Any) -> None:
    with pytest.raises(DominoError, match=r"observation=.*box"):
        mexican_train_v0.env(observation=value)


@over_modules
@pytest.mark.parametrize("kind", ["raw_env", "parallel_env"])
def test_np_random_for_wrappers(module: ModuleType, kind: str) -> None:
    """SuperSuit's frame skip draws from it; games do not."""
    env, twin = getattr(module, kind)(), getattr(module, kind)()
    assert isinstance(env.np_random, np.random.Generator)
    for one in (env, twin):
        one.reset(seed=np.int64(5))
    assert env.np_random.integers(1 << 60) == twin.np_random.integers(1 << 60)
    twin.np_random.random(100)
    for one in (env, twin):
        one.reset()
    assert np.array_equal(env.state(), twin.state())


@over_modules
def test_supersuit(module: ModuleType) -> None:
    supersuit = pytest.importorskip("supersuit")
    env = module.parallel_env(players=3, observation="box", illegal="substitute")
    env = supersuit.frame_stack_v1(supersuit.dtype_v0(env, np.float32), 3)
    envs = supersuit.concat_vec_envs_v1(supersuit.pettingzoo_env_to_vec_env_v1(env), 2)
    observations, _ = envs.reset(seed=1)
    assert observations.shape == (6, 3 * module.raw_env(players=3).game.layout.size)
    envs.step(np.zeros(6, int))


# -------------------------------------------------------------------------- Stable-Baselines3's


def test_pictures_of_a_vec_env() -> None:
    sb3 = pytest.importorskip("dominoenv.envs.sb3")
    options = {"double": 3, "forced": "explicit", "seed": 1, "opponents": "heaviest"}
    env = sb3.DominoVecEnv({"game": "chicken_foot"}, 3, render_mode="rgb_array", **options)
    assert env.render_mode == "rgb_array" and env.get_attr("render_mode") == ["rgb_array"] * 3
    assert "rgb_array" in env.metadata["render_modes"] and env.metadata["render_fps"] > 0
    env.reset()
    images = env.get_images()
    assert {(image.shape, image.dtype) for image in images} == {(images[0].shape, np.dtype("u1"))}
    height, width, _ = images[0].shape
    tiled = env.render()
    assert np.array_equal(tiled[:height, :width], images[0])
    env.step(env.action_masks().argmax(axis=1))
    assert not np.array_equal(env.render(), tiled)
    single = gymnasium.make("dominoenv/ChickenFoot-v0", render_mode="rgb_array", **options)
    single.reset(seed=1)
    assert np.array_equal(single.render(), images[0])  # the learner's hand lies face up in both
    blind = sb3.DominoVecEnv({"game": "chicken_foot"}, 1)
    assert blind.render_mode is None
    with pytest.warns(UserWarning, match="render"):
        assert blind.render() is None
    with pytest.raises(DominoError, match="render_mode='human'"):
        sb3.DominoVecEnv({"game": "chicken_foot"}, 1, render_mode="human")
    with pytest.raises(DominoError, match="reveal"):
        sb3.DominoVecEnv({"game": "chicken_foot"}, 1, render_mode="rgb_array", reveal=[9])


@needs_moviepy
def test_videos_of_stable_baselines3(tmp_path: Any) -> None:
    sb3 = pytest.importorskip("dominoenv.envs.sb3")
    from stable_baselines3.common.vec_env import VecVideoRecorder

    env = sb3.DominoVecEnv("mexican_train", 2, render_mode="rgb_array", seed=1)
    video = VecVideoRecorder(env, str(tmp_path), lambda step: step == 0, video_length=3)
    video.reset()
    for _ in range(4):
        video.step(env.action_masks().argmax(axis=1))
    video.close()
    assert list(tmp_path.glob("*.mp4"))
