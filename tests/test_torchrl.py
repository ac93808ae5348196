"""TorchRL's wrappers over the environments: specs, masks, rollouts, rewards, groups."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import gymnasium
import numpy as np
import pytest

from dominoenv import chicken_foot_v0, mexican_train_v0

torch = pytest.importorskip("torch", reason="TorchRL is tested where torch is installed")
pytest.importorskip("torchrl", reason='TorchRL is not installed: pip install "dominoenv[torchrl]"')

from torchrl.data import Binary, Composite  # noqa: E402
from torchrl.envs import ActionMask, TransformedEnv, default_info_dict_reader  # noqa: E402
from torchrl.envs.libs.gym import GymEnv, GymWrapper  # noqa: E402
from torchrl.envs.libs.pettingzoo import PettingZooWrapper  # noqa: E402
from torchrl.envs.utils import MarlGroupMapType, check_env_specs  # noqa: E402

MODULES = [mexican_train_v0, chicken_foot_v0]
PLAYERS = 3
SEATS = [f"player_{seat}" for seat in range(PLAYERS)]
GROUPS = {
    "default": None,
    "one": MarlGroupMapType.ALL_IN_ONE_GROUP,
    "each": MarlGroupMapType.ONE_GROUP_PER_AGENT,
    "own": {"us": ["player_2", "player_0"], "them": ["player_1"]},
}
over_modules = pytest.mark.parametrize("module", MODULES, ids=lambda m: m.__name__.split(".")[-1])
over_kinds = pytest.mark.parametrize("kind", ["raw_env", "env", "parallel_env"])


def wrap(module: ModuleType, kind: str, groups: Any = None, **options: Any) -> PettingZooWrapper:
    env = getattr(module, kind)(players=PLAYERS, **options)
    return PettingZooWrapper(env, use_mask=True, group_map=groups)


def by_seat(env: PettingZooWrapper, data: Any, key: str) -> Any:
    """Return (time, P, ...) an entry of all groups, in the order of the seats."""
    parts = {
        agent: data[group, key][:, place]
        for group, agents in env.group_map.items()
        for place, agent in enumerate(agents)
    }
    return torch.stack([parts[agent] for agent in SEATS], dim=1)


def moves(env: PettingZooWrapper, data: Any) -> Any:
    """Return (time, P) which seats have a move to choose; the others of a parallel form wait."""
    if env.parallel:
        return ~by_seat(env, data, "action_mask")[..., -1]
    return by_seat(env, data, "mask")


@over_modules
@over_kinds
@pytest.mark.parametrize("groups", GROUPS)
def test_a_rollout_over_ends_of_episodes(module: ModuleType, kind: str, groups: str) -> None:
    env = wrap(module, kind, GROUPS[groups])
    check_env_specs(env, seed=1)
    expected = {"one": 1, "each": PLAYERS, "own": 2}.get(groups, 1 if env.parallel else PLAYERS)
    assert len(env.group_map) == expected
    data = env.rollout(200, break_when_any_done=False)
    assert data.batch_size == (200,) and int(data["next", "done"].sum()) >= 2
    assert (moves(env, data).sum(dim=1) == 1).all()  # one seat chooses at a time
    masks, actions = by_seat(env, data, "action_mask"), by_seat(env, data, "action")
    assert masks.any(dim=-1).all()
    assert masks.gather(-1, actions.unsqueeze(-1)).all()  # every action was a legal one
    assert not data["next", "truncated"].any()
    assert torch.equal(data["next", "done"], data["next", "terminated"])
    seats_done = by_seat(env, data["next"], "done")
    assert torch.equal(seats_done.all(dim=1), data["next", "done"])
    assert torch.equal(seats_done.any(dim=1), data["next", "done"])
    env.close()
    env.close()


@over_modules
@over_kinds
def test_rewards_of_all_seats_arrive(module: ModuleType, kind: str) -> None:
    """The actions of a rollout, played on a bare environment: the same rewards and deals."""
    options = {"episode": "match", "rounds": [3, 1], "reward": "penalty", "reward_scale": 1.0}
    env, bare = wrap(module, kind, **options), module.raw_env(players=PLAYERS, **options)
    env.set_seed(5)
    bare.reset(seed=5)
    bare.reset()  # a rollout begins with a reset of its own, which goes on to the next match
    data = env.rollout(300, break_when_any_done=False)
    actions, rewards = by_seat(env, data, "action"), by_seat(env, data["next"], "reward")
    rows = by_seat(env, data, "observation")["observation"].numpy()
    paid, ends = 0, 0
    for time in range(300):
        seat = SEATS.index(bare.agent_selection)
        assert np.array_equal(rows[time, seat], bare.observe(SEATS[seat])["observation"])
        bare.step(int(actions[time, seat]))
        assert rewards[time, :, 0].tolist() == [bare.rewards[agent] for agent in SEATS]
        paid += any(bare.rewards.values())
        over = any(bare.terminations.values())
        assert bool(data["next", "done"][time]) == over
        if over:
            ends += 1
            bare.reset()
    assert paid > ends > 0  # rounds before the last one of a match are paid too


@over_modules
@over_kinds
def test_truncation_seeds_and_the_full_state(module: ModuleType, kind: str) -> None:
    def make() -> PettingZooWrapper:
        env = getattr(module, kind)(players=PLAYERS, max_cycles=4)
        return PettingZooWrapper(env, use_mask=True, return_state=True)

    env, twin = make(), make()
    rollouts = []
    for one in (env, twin):
        one.set_seed(3)
        torch.manual_seed(0)
        rollouts.append(one.rollout(40, break_when_any_done=False))
    assert (rollouts[0] == rollouts[1]).all()
    data = rollouts[0]
    length = 4 if env.parallel else 4 * PLAYERS
    assert data["next", "truncated"].flatten().nonzero().flatten().tolist() == list(
        range(length - 1, 40, length)
    )
    assert data["state"].shape == (40, *env._env.state_space.shape)
    assert (data["state"][0] != data["state"][length]).any()  # the next match, not the same again


@over_modules
def test_one_hot_actions(module: ModuleType) -> None:
    env = PettingZooWrapper(module.env(players=PLAYERS), use_mask=True, categorical_actions=False)
    data = env.rollout(60, break_when_any_done=False)
    masks, actions = by_seat(env, data, "action_mask"), by_seat(env, data, "action")
    assert (actions.sum(dim=-1) == 1).all() and masks[actions.bool()].all()


# ------------------------------------------------------------------------------------- Gymnasium's

IDS = ["dominoenv/MexicanTrain-v0", "dominoenv/ChickenFoot-v0"]
over_ids = pytest.mark.parametrize("name", IDS, ids=lambda name: name.split("/")[1])


def read_masks(env: Any) -> Any:
    """Return the environment with the mask that stands in its infos, for masked sampling."""
    shape, actions = env.batch_size, env.action_spec.space.n
    mask = Binary(actions, shape=(*shape, actions), dtype=torch.int8)
    reader = default_info_dict_reader(["action_mask"], Composite(action_mask=mask, shape=shape))
    env.set_info_dict_reader(reader)
    return TransformedEnv(env, ActionMask())


@over_ids
def test_gym_env_by_name(name: str) -> None:
    """It probes for a keyword, and goes by the words of the TypeError."""
    env = GymEnv(name, players=3, opponents="heaviest", categorical_action_encoding=True)
    check_env_specs(env)
    env = read_masks(env)
    check_env_specs(env)
    data = env.rollout(60, break_when_any_done=False)
    assert data["action_mask"].gather(-1, data["action"].unsqueeze(-1)).all()
    assert data["next", "done"].sum() >= 2


@over_ids
@pytest.mark.parametrize("mode", ["Disabled", "SameStep"])
def test_gym_wrapper_of_vector_environments(name: str, mode: str) -> None:
    options = {"players": 3, "autoreset_mode": mode, "max_episode_steps": 6, "seat": 0}
    envs, bare = (gymnasium.make_vec(name, num_envs=3, **options) for _ in range(2))
    env = GymWrapper(envs, categorical_action_encoding=True)
    if mode == "Disabled":  # the other one reads its infos itself
        env = read_masks(env)
    check_env_specs(env)
    env.set_seed(5)
    bare.reset(seed=5)
    bare.reset()  # a rollout begins with a reset of its own, which goes on to the next match
    data = env.rollout(30, break_when_any_done=False)
    if mode == "Disabled":
        assert data["action_mask"].gather(-1, data["action"].unsqueeze(-1)).all()
    ends = 0
    for time in range(30):
        rows, rewards, ended, truncated, infos = bare.step(data["action"][:, time].numpy())
        over = ended | truncated
        rows = rows.copy()
        if mode == "SameStep" and over.any():
            rows[over] = np.stack(infos["final_obs"][over])
        after = data["next"][:, time]
        assert np.array_equal(after["observation"].numpy(), rows)
        assert np.allclose(after["reward"][:, 0].numpy(), rewards)
        assert np.array_equal(after["truncated"][:, 0].numpy(), truncated)
        assert np.array_equal(after["done"][:, 0].numpy(), over)
        ends += int(over.sum())
        if mode == "Disabled" and over.any():
            bare.reset(options={"reset_mask": over})
        elif over.all():  # the wrapper resets once more then
            bare.reset()
    assert ends > 5


def test_gym_wrapper_wants_a_mode_that_it_knows() -> None:
    with pytest.raises(RuntimeError, match="SAME_STEP or DISABLED"):
        GymWrapper(gymnasium.make_vec(IDS[0], num_envs=2))


@over_modules
def test_box_observations(module: ModuleType) -> None:
    """The wrapper finds the mask in the infos."""
    env = wrap(module, "env", observation="box")
    data = env.rollout(60, break_when_any_done=False)
    masks, actions = by_seat(env, data, "action_mask"), by_seat(env, data, "action")
    assert masks.gather(-1, actions.unsqueeze(-1)).all()
