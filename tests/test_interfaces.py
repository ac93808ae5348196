"""One contract over every door: what an environment may do to others, and what others to it.

A door is played by the legal action of the lowest id; `said` is all that a call handed out.
"""

from __future__ import annotations

import copy
import pickle
import random
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import data_equivalence

from dominoenv import chicken_foot_v0, make_rules, mexican_train_v0
from dominoenv.envs.single import DominoEnv
from dominoenv.envs.vector import DominoVectorEnv

MODULES = {"mexican_train": mexican_train_v0, "chicken_foot": chicken_foot_v0}
OPPONENTS = [("random", 1), ("heaviest", 2)]
TABLE = {"players": 3, "max_pip": 9}
DOUBLE = 4
STEPS = 40  # of the walks: over several ends of episodes in the batches, over one or two alone


class Door(NamedTuple):
    """How to make a door's environment of a game, begin, and go one step on."""

    make: Callable[..., Any]
    reset: Callable[[Any, int | None], Any]
    step: Callable[[Any], Any]
    masks: Callable[[Any], Any]  # (n, A) of the seats that are to act


# ------------------------------------------------------------------------------------ PettingZoo


def make_zoo(kind: str, game: str, **options: Any) -> Any:
    options = {"double": DOUBLE, **options}
    return getattr(MODULES[game], kind)(**TABLE, **options)


def look(env: Any) -> Any:
    """Observe every seat, whoever is to move."""
    return {agent: env.observe(agent) for agent in env.possible_agents}


def reset_cycle(env: Any, seed: int | None) -> Any:
    env.reset(seed=seed)
    return look(env)


def step_cycle(env: Any) -> Any:
    if not env.agents:
        env.reset()
    observation, reward, terminated, truncated, info = env.last()
    over = terminated or truncated
    env.step(None if over else int(observation["action_mask"].argmax()))
    return observation, reward, over, info, look(env)


def cycle_masks(env: Any) -> Any:
    acting = [agent for agent in env.agents if agent == env.agent_selection]
    alive = [agent for agent in acting if not (env.terminations[agent] or env.truncations[agent])]
    return [env.observe(agent)["action_mask"] for agent in alive]


def parallel_masks(env: Any) -> Any:
    return list(env._masks(env.game.mover() if env.agents else None))


def step_parallel(env: Any) -> Any:
    opened = env.reset() if not env.agents else None
    actions = zip(env.agents, parallel_masks(env), strict=True)
    return opened, env.step({agent: int(mask.argmax()) for agent, mask in actions})


# ----------------------------------------------------------------------------------- one learner


def make_single(game: str, **options: Any) -> DominoEnv:
    return DominoEnv(game, **TABLE, **{"double": DOUBLE, "opponents": OPPONENTS, **options})


def make_vector(mode: str, game: str, **options: Any) -> DominoVectorEnv:
    keywords = {"double": DOUBLE, "opponents": OPPONENTS, **options}
    return DominoVectorEnv(game, num_envs=4, autoreset_mode=mode, **TABLE, **keywords)


def step_single(env: DominoEnv) -> Any:
    opened = env.reset() if env.learner.done[0] else None
    return opened, env.step(int(env.action_masks().argmax()))


def step_vector(env: DominoVectorEnv) -> Any:
    over, opened = env.learner.done, None
    if env.metadata["autoreset_mode"].value == "Disabled" and over.any():
        opened = env.reset(options={"reset_mask": over})
    return opened, env.step(env.action_masks().argmax(axis=1))


def make_sb3(game: str, **options: Any) -> Any:
    sb3 = pytest.importorskip("dominoenv.envs.sb3", reason="needs stable_baselines3")
    options.pop("render_mode", None)
    return sb3.DominoVecEnv(make_rules(game, **TABLE, rounds=[DOUBLE]), 4, OPPONENTS, **options)


def reset_sb3(env: Any, seed: int | None) -> Any:
    if seed is not None:
        env.seed(seed)
    return env.reset()


ACTION_MASKS = lambda env: env.action_masks().reshape(-1, env.game.num_actions)  # noqa: E731
DOORS = {
    "raw_env": Door(partial(make_zoo, "raw_env"), reset_cycle, step_cycle, cycle_masks),
    "env": Door(partial(make_zoo, "env"), reset_cycle, step_cycle, cycle_masks),
    "parallel": Door(
        partial(make_zoo, "parallel_env"),
        lambda env, seed: env.reset(seed=seed),
        step_parallel,
        parallel_masks,
    ),
    "single": Door(make_single, lambda e, seed: e.reset(seed=seed), step_single, ACTION_MASKS),
    **{
        mode: Door(
            partial(make_vector, mode),
            lambda env, seed: env.reset(seed=seed),
            step_vector,
            ACTION_MASKS,
        )
        for mode in ("NextStep", "SameStep", "Disabled")
    },
    "sb3": Door(
        make_sb3, reset_sb3, lambda env: env.step(env.action_masks().argmax(1)), ACTION_MASKS
    ),
}
over_doors = pytest.mark.parametrize("name", DOORS)
over_games = pytest.mark.parametrize("game", MODULES)


def walk(door: Door, env: Any, steps: int = STEPS) -> list[Any]:
    """Return copies of what was said in some steps (without the clock of SB3's episodes)."""
    said = [copy.deepcopy(door.step(env)) for _ in range(steps)]
    for step in said:
        for info in step[-1] if isinstance(step[-1], list) else []:
            info.get("episode", {}).pop("t", None)
    return said


def same(one: list[Any], other: list[Any]) -> bool:
    return data_equivalence(tuple(one), tuple(other), exact=True)


def truth(env: Any) -> list[bytes]:
    states = env.unwrapped.game.states
    return [states[field].tobytes() for field in states.dtype.names]  # without padding


def spaces_of(env: Any) -> list[Any]:
    if hasattr(env, "possible_agents"):
        kinds = env.observation_space, env.action_space
        return [space(agent) for agent in env.possible_agents for space in kinds]
    return [env.observation_space, env.action_space]


def arrays_in(said: Any) -> list[np.ndarray[Any, Any]]:
    if isinstance(said, np.ndarray):
        return [said]
    parts = said.values() if isinstance(said, dict) else said
    inside = parts if isinstance(said, dict | list | tuple) else ()
    return [array for part in inside for array in arrays_in(part)]


# ------------------------------------------------------------------------------------ the contract


@over_doors
@over_games
def test_copies_go_on_alike(name: str, game: str) -> None:
    door = DOORS[name]
    env = door.make(game)
    door.reset(env, 3)
    walk(door, env, 5)
    twins = [copy.deepcopy(env), pickle.loads(pickle.dumps(env))]
    expected = walk(door, env)
    for twin in twins:
        assert same(walk(door, twin), expected)
        assert truth(twin) == truth(env)


@over_doors
@over_games
def test_no_global_random_state(name: str, game: str) -> None:
    door = DOORS[name]
    worlds = []
    for luck in (1, 2):
        random.seed(luck)
        np.random.seed(luck)
        before = random.getstate(), np.random.get_state()[1].tobytes()
        env = door.make(game, seed=7)
        worlds.append([copy.deepcopy(door.reset(env, None)), *walk(door, env)])
        assert (random.getstate(), np.random.get_state()[1].tobytes()) == before
    assert same(*worlds)


@over_doors
@over_games
def test_closing_twice_at_any_time(name: str, game: str) -> None:
    door = DOORS[name]
    for begun in (False, True):
        env = door.make(game)
        if begun:
            door.reset(env, 1)
            door.step(env)
        assert env.close() is None
        assert env.close() is None


@over_doors
@over_games
def test_options_survive_resets_and_spaces_stay_the_same_objects(name: str, game: str) -> None:
    door = DOORS[name]
    env = door.make(game, reward="penalty")
    spaces, settings = spaces_of(env), env.unwrapped.game._settings.copy()
    rules = env.unwrapped.rules
    for seed in (5, None, 5, 6):
        door.reset(env, seed)
        for _ in range(5):
            door.step(env)
        assert all(one is other for one, other in zip(spaces_of(env), spaces, strict=True))
        played = env.unwrapped.game.states
        assert {rules.rounds[number] for number in played["round"]} == {DOUBLE}
        assert env.unwrapped.rules is rules and rules.players == TABLE["players"]
        assert np.array_equal(env.unwrapped.game._settings, settings)


@over_doors
@over_games
def test_what_is_handed_out_is_the_callers(name: str, game: str) -> None:
    """Nothing is handed out twice, and scribbling over it changes no game."""
    door = DOORS[name]
    env, twin = door.make(game), door.make(game)
    said = [copy.copy(door.reset(env, 2))]
    door.reset(twin, 2)
    for _ in range(STEPS):
        said.append(copy.copy(door.step(env)))
    arrays = arrays_in(said)
    assert len({id(array) for array in arrays}) == len(arrays)
    walk(door, twin)
    for array in arrays + arrays_in(door.masks(env)):
        if array.flags.writeable and array.dtype != object:
            array[...] = 1 - array if array.dtype != bool else ~array
    assert truth(env) == truth(twin)
    assert same(walk(door, env), walk(door, twin))


@over_doors
@over_games
def test_who_acts_has_a_legal_action_and_a_mask_is_no_feature(name: str, game: str) -> None:
    door = DOORS[name]
    env = door.make(game)
    door.reset(env, 4)
    length = env.unwrapped.game.layout.size
    for _ in range(STEPS):
        masks = door.masks(env)
        assert all(mask.any() and set(np.unique(mask)) <= {0, 1} for mask in masks)
        door.step(env)
    for space in spaces_of(env)[::2]:
        rows = space["observation"] if isinstance(space, gymnasium.spaces.Dict) else space
        assert rows.shape[-1] == length and rows.dtype == np.float32


@pytest.mark.parametrize("name", [name for name in DOORS if name != "sb3"])  # it has none
@over_games
def test_pictures_need_no_display(
    name: str, game: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for variable in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(variable, raising=False)
    door = DOORS[name]
    env = door.make(game, render_mode="ansi")
    door.reset(env, 1)
    texts = [env.render(), (door.step(env), env.render())[1]]
    for text in texts:
        assert all("seat 0" in one for one in ([text] if isinstance(text, str) else text))
    assert texts[0] != texts[1] and capsys.readouterr().out == ""


# --------------------------------------------------------------------------------- turns, rewards


@pytest.mark.parametrize("kind", ["raw_env", "env"])
@over_games
def test_a_seat_may_keep_the_turn(kind: str, game: str) -> None:
    """A double, or a tile drawn that fits: the same agent again, and it alone may act."""
    env = make_zoo(kind, game)
    env.reset(seed=1)
    kept = plays = 0
    while plays < 60 and not any(env.terminations.values()):
        mover, observation = env.agent_selection, env.last()[0]
        waiting = [agent for agent in env.agents if agent != mover]
        assert not any(env.observe(agent)["action_mask"].any() for agent in waiting)
        env.step(int(observation["action_mask"].argmax()))
        kept += env.agent_selection == mover
        plays += 1
    assert kept > 0


@over_games
def test_a_learner_may_keep_the_turn(game: str) -> None:
    asked: list[int] = []

    def opponent(observations: Any, masks: Any) -> Any:
        asked.append(len(masks))
        return masks.argmax(axis=1)

    env = make_single(game, opponents=opponent, forced="explicit", seat=0)
    env.reset(seed=1)
    kept = 0
    for _ in range(60):
        asked.clear()
        *_, over, _, _ = env.step(int(env.action_masks().argmax()))
        kept += not asked and not over
        if over:
            env.reset()
    assert kept > 0


@over_games
def test_rewards_reach_seats_that_are_not_to_move_by_every_door(game: str) -> None:
    """What each seat was paid in a match, read as each door tells it."""
    options = {"episode": "match", "rounds": [3, 1], "reward": "penalty", "double": None}
    totals = []
    for kind in ("raw_env", "env"):
        env = make_zoo(kind, game, **options)
        env.reset(seed=2)
        received = dict.fromkeys(env.agents, 0.0)
        for agent in env.agent_iter():
            observation, reward, over, _, _ = env.last()
            received[agent] += reward
            env.step(None if over else int(observation["action_mask"].argmax()))
        totals.append(received)
    env = make_zoo("parallel_env", game, **options)
    env.reset(seed=2)
    received = dict.fromkeys(env.agents, 0.0)
    while env.agents:
        for agent, reward in step_parallel(env)[1][1].items():
            received[agent] += reward
    totals.append(received)
    first_legal = lambda observations, masks: masks.argmax(axis=1)  # noqa: E731
    for seat in range(TABLE["players"]):  # the learner's, one seat after another
        alone = make_single(game, opponents=first_legal, seat=seat, forced="explicit", **options)
        alone.reset(seed=2)
        paid = 0.0
        while not alone.learner.done[0]:
            paid += step_single(alone)[1][1]
        assert paid == pytest.approx(totals[0][f"player_{seat}"], abs=1e-5)
    assert totals[1] == totals[0] and totals[2] == totals[0]
    assert min(totals[0].values()) < 0
