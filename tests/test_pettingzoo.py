"""PettingZoo's own checkers over both games, and what they do not look at."""

from __future__ import annotations

import copy
import pickle
import random
import subprocess
import sys
import warnings
from functools import partial
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pettingzoo
import pytest
from pettingzoo.utils.conversions import parallel_to_aec

from dominoenv import (
    BatchedGame,
    DominoError,
    GameOverError,
    IllegalActionError,
    MexicanTrainRules,
    RulesError,
    UnknownNameError,
    chicken_foot_v0,
    make_rules,
    mexican_train_v0,
)

with warnings.catch_warnings():
    # With pygame installed, the checkers import a game of PettingZoo's own that is deprecated.
    warnings.simplefilter("ignore", DeprecationWarning)
    from pettingzoo.test import (
        api_test,
        max_cycles_test,
        parallel_api_test,
        parallel_seed_test,
        render_test,
        seed_test,
        state_test,
    )

# What the checkers warn about needlessly:
pytestmark = [
    # ... PettingZoo lists its own games with dict observations by name, nobody else's.
    pytest.mark.filterwarnings("ignore:Observation is not a NumPy array"),
    pytest.mark.filterwarnings("ignore:Observation space for each agent probably should be"),
    # ... An agent whose episode is over has no legal action, so that its mask must be empty.
    pytest.mark.filterwarnings("ignore:Action mask numpy array is all zeros"),
]

MODULES = [mexican_train_v0, chicken_foot_v0]
TABLES = [
    pytest.param(module, {"preset": preset, "players": players}, id=f"{preset}-{players}")
    for module, preset in [
        (mexican_train_v0, "engine"),
        (mexican_train_v0, "station"),
        (chicken_foot_v0, "chicken_foot"),
    ]
    for players in (2, 4, 8)
]
over_tables = pytest.mark.parametrize(("module", "rules"), TABLES)
over_modules = pytest.mark.parametrize("module", MODULES, ids=lambda m: m.__name__.split(".")[-1])


def game_of(module: ModuleType) -> str:
    return module.__name__.split(".")[-1].removesuffix("_v0")


def choose(rng: np.random.Generator, mask: np.ndarray) -> int:
    return int(rng.choice(np.flatnonzero(mask)))


def play_on(env: Any, rng: np.random.Generator, decisions: int = 10**6) -> list[Any]:
    """Play at random; return what happened: agent, observation, reward, flags, action."""
    happened = []
    for agent in env.agent_iter(decisions):
        observation, reward, terminated, truncated, _ = env.last()
        over = terminated or truncated
        action = None if over else choose(rng, observation["action_mask"])
        row = observation["observation"].tobytes(), observation["action_mask"].tobytes()
        happened.append((agent, row, reward, terminated, truncated, action))
        env.step(action)
    return happened


# ------------------------------------------------------------------------ PettingZoo's own checkers


@over_tables
def test_api(module: ModuleType, rules: dict[str, Any]) -> None:
    api_test(module.env(**rules))
    api_test(module.raw_env(**rules))


@over_modules
def test_api_of_matches(module: ModuleType) -> None:
    api_test(module.env(episode="match", rounds=[3, 1], forced="auto", reward="win"))


@over_tables
def test_seeds(module: ModuleType, rules: dict[str, Any]) -> None:
    seed_test(partial(module.env, **rules))
    seed_test(partial(module.raw_env, **rules))
    parallel_seed_test(partial(module.parallel_env, illegal="substitute", **rules))


@over_tables
# The checker samples actions without their mask, which ends the episode.
@pytest.mark.filterwarnings("ignore:.*Illegal move made")
def test_state(module: ModuleType, rules: dict[str, Any]) -> None:
    state_test(module.env(**rules), module.parallel_env(**rules))


@over_modules
def test_render(module: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    render_test(module.env)
    render_test(module.raw_env)
    assert "to move" in capsys.readouterr().out


@over_tables
def test_max_cycles(module: ModuleType, rules: dict[str, Any]) -> None:
    # The checker samples without masks and wants every agent to act in every cycle.
    parallel_env = partial(module.parallel_env, illegal="substitute", **rules)
    max_cycles_test(
        SimpleNamespace(
            parallel_env=parallel_env,
            env=lambda **options: parallel_to_aec(parallel_env(**options)),
        )
    )


@over_tables
def test_parallel_api(module: ModuleType, rules: dict[str, Any]) -> None:
    parallel_api_test(module.parallel_env(**rules), num_cycles=600)


# --------------------------------------------------------------------------------- turns and masks


@over_tables
def test_plays_the_game_of_the_batch(module: ModuleType, rules: dict[str, Any]) -> None:
    env = module.raw_env(**rules)
    env.reset(seed=5)
    game = BatchedGame(make_rules(game_of(module), **rules), 1, seed=5, autoreset=False)
    rng, total = np.random.default_rng(0), np.zeros(game.num_players)
    while not game.episode_over[0]:
        observation, _, terminated, truncated, info = env.last()
        assert env.agent_selection == f"player_{game.to_move[0]}"
        assert np.array_equal(observation["observation"], game.layout.scaled(game.observations[0]))
        assert np.array_equal(observation["action_mask"], game.masks[0])
        assert np.array_equal(info["action_mask"], game.masks[0])
        assert not terminated and not truncated
        action = choose(rng, observation["action_mask"])
        env.step(action)
        game.step([action])
        total += game.rewards[0]
    assert [env.rewards[agent] for agent in env.agents] == pytest.approx(total)


@over_modules
def test_seats_that_wait_have_empty_masks_and_can_be_observed(module: ModuleType) -> None:
    env = module.raw_env(players=3)
    env.reset(seed=1)
    rng = np.random.default_rng(1)
    for _ in range(25):
        mover = env.agent_selection
        for seat, agent in enumerate(env.possible_agents):
            observation = env.observe(agent)
            assert env.observation_space(agent).contains(observation)
            row = env.game.layout.scaled(env.game.observe(seat)[0])
            assert np.array_equal(observation["observation"], row)
            assert observation["action_mask"].any() == (agent == mover)
            assert np.array_equal(observation["action_mask"], env.infos[agent]["action_mask"])
        env.step(choose(rng, env.observe(mover)["action_mask"]))


@over_modules
def test_arrays_are_fresh(module: ModuleType) -> None:
    env = module.raw_env()
    env.reset(seed=1)
    agent = env.agent_selection
    first, info = env.observe(agent), env.infos[agent]
    kept = copy.deepcopy((first, info))
    env.observe(agent)["observation"][:] = 7
    env.observe(agent)["action_mask"][:] = 7
    env.state()[:] = 7
    play_on(env, np.random.default_rng(0), 8)
    assert np.array_equal(first["observation"], kept[0]["observation"])
    assert np.array_equal(first["action_mask"], kept[0]["action_mask"])
    assert np.array_equal(info["action_mask"], kept[1]["action_mask"])


@over_modules
def test_forced_auto_leaves_only_choices(module: ModuleType) -> None:
    env = module.raw_env(forced="auto", episode="match", rounds=[3, 2])
    env.reset(seed=3)
    rng = np.random.default_rng(3)
    while not any(env.terminations.values()):
        mask = env.observe(env.agent_selection)["action_mask"]
        assert mask.sum() > 1
        env.step(choose(rng, mask))


# ------------------------------------------------------------------------------------- how it ends


@over_modules
@pytest.mark.parametrize("reward", ["zero_sum", "penalty", "win"])
def test_rewards_reach_every_seat(module: ModuleType, reward: str) -> None:
    env = module.raw_env(players=3, rounds=[4, 2], episode="match", reward=reward, reward_scale=0.5)
    env.reset(seed=2)
    received = dict.fromkeys(env.possible_agents, 0.0)
    penalties = np.zeros(3)
    rng = np.random.default_rng(2)
    for agent in env.agent_iter():
        observation, amount, terminated, _, _ = env.last()
        received[agent] += amount
        env.step(None if terminated else choose(rng, observation["action_mask"]))
        if env.game.round_over[0] and not terminated:
            penalties += env.game.penalties[0]
    expected = {
        "zero_sum": 0.5 * ((penalties.sum() - penalties) / 2 - penalties),
        "penalty": -0.5 * penalties,
        "win": (penalties == penalties.min()) / (penalties == penalties.min()).sum(),
    }[reward]
    assert list(received.values()) == pytest.approx(expected, abs=1e-4)


@over_modules
def test_agents_leave_with_a_step_of_none(module: ModuleType) -> None:
    env = module.raw_env(players=4)
    env.reset(seed=1)
    rng = np.random.default_rng(1)
    while not any(env.terminations.values()):
        env.step(choose(rng, env.observe(env.agent_selection)["action_mask"]))
    assert all(env.terminations.values()) and not any(env.truncations.values())
    assert {env.infos[agent]["score"] for agent in env.agents} == set(
        env.game.penalties[0].tolist()
    )
    assert any(env.infos[agent]["won"] for agent in env.agents)
    with pytest.raises(ValueError, match="None"):
        env.step(0)
    for left in (3, 2, 1, 0):
        assert not env.last()[0]["action_mask"].any()
        env.step(None)
        assert env.num_agents == left == len(env.infos) == len(env.rewards)
    with pytest.raises(GameOverError, match="reset"):
        env.step(None)
    for agent in env.possible_agents:
        assert env.observation_space(agent).contains(env.observe(agent))
    assert env.state_space.contains(env.state())
    env.reset()
    assert env.num_agents == 4 and not any(env.terminations.values())


@over_modules
def test_truncation(module: ModuleType) -> None:
    env = module.raw_env(players=3, max_cycles=2)
    for _ in range(2):
        env.reset(seed=1)
        happened = play_on(env, np.random.default_rng(1))
        assert [truncated for *_, truncated, _ in happened] == [False] * 6 + [True] * 3
        assert not any(terminated for *_, terminated, _, _ in happened)


@over_modules
def test_steps_before_reset(module: ModuleType) -> None:
    with pytest.raises(GameOverError, match="reset"):
        module.raw_env().step(0)
    with pytest.raises(GameOverError, match="reset"):
        module.parallel_env().step({})
    with pytest.raises(AssertionError, match="reset"):
        module.env().step(0)


@over_modules
def test_illegal_actions(module: ModuleType) -> None:
    env = module.raw_env()
    env.reset(seed=1)
    mask = env.observe(env.agent_selection)["action_mask"]
    before = env.game.states.copy()
    illegal = int(np.flatnonzero(mask == 0)[0])
    for action in (illegal, -1, env.num_actions, 10**30, 0.5, None, "draw", [int(mask.argmax())]):
        with pytest.raises(IllegalActionError, match=str(mask.argmax())):
            env.step(action)
    assert np.array_equal(env.game.states, before) and env.agents == env.possible_agents
    for kind in (int, np.int32, np.uint8 if mask.argmax() < 256 else np.uint16, np.int64):
        env.reset(seed=1)
        env.step(kind(mask.argmax()))


@over_modules
@pytest.mark.filterwarnings("ignore:.*Illegal move made")
def test_wrapped_env_ends_at_an_illegal_action(module: ModuleType) -> None:
    env = module.env()
    env.reset(seed=1)
    offender = env.agent_selection
    env.step(int(np.flatnonzero(env.observe(offender)["action_mask"] == 0)[0]))
    received = {}
    for agent in env.agent_iter():
        observation, received[agent], terminated, _, info = env.last()
        assert terminated and not observation["action_mask"].any()
        assert not info["action_mask"].any()
        env.step(None)
    assert received == {agent: -1.0 * (agent == offender) for agent in env.possible_agents}
    env.reset()
    with pytest.raises(AssertionError, match="action space"):
        env.step(10**6)


ENDS: dict[str, dict[str, Any]] = {
    "illegal": {},
    "illegal in mid-game": {"reward": "win"},
    "truncated": {"max_cycles": 2},
    "round": {},
    "replaced": {"illegal": "penalty"},
}


@over_modules
@pytest.mark.parametrize("end", ENDS)
@pytest.mark.filterwarnings("ignore:.*Illegal move made")
def test_every_agent_can_be_observed_after_any_end(module: ModuleType, end: str) -> None:
    """From the end until the last agent has left, and after; nothing is legal then."""
    env = module.env(players=3, max_pip=6, hand_size=4, **ENDS[end])
    env.reset(seed=1)
    rng, number = np.random.default_rng(1), 0
    while not (any(env.terminations.values()) or any(env.truncations.values())):
        mask = env.observe(env.agent_selection)["action_mask"]
        is_wrong = end in ("illegal", "replaced") or ("mid" in end and number == 5)
        env.step(int(mask.argmin()) if is_wrong else choose(rng, mask))
        number += 1
    left = env.num_agents
    while True:
        for agent in env.possible_agents:
            observation = env.observe(agent)
            assert env.observation_space(agent).contains(observation)
            assert not observation["action_mask"].any()
        assert env.state_space.contains(env.state())
        if not env.agents:
            break
        env.step(None)
        left -= 1
        assert env.num_agents == left
    assert left == 0


# --------------------------------------------------------------------------- seeds, copies, options


@over_modules
def test_resets_go_on_to_the_next_match(module: ModuleType) -> None:
    env = module.raw_env(seed=9)
    deals = []
    for options in (None, None, None, {"match": 1}, {"match": 1 << 40}):
        env.reset(options=options)
        deals.append((int(env.game.states["match"][0]), env.state().tobytes()))
    assert [match for match, _ in deals] == [0, 1, 2, 1, 1 << 40]
    assert deals[1] == deals[3]
    assert len(set(deals)) == 4
    env.reset(seed=9)
    assert env.state().tobytes() == deals[0][1]
    batch = BatchedGame(env.rules, 3, seed=9)
    for match in range(3):
        rows = [batch.layout.scaled(batch.observe(seat)[match]) for seat in range(4)]
        assert deals[match][1].startswith(np.concatenate(rows).tobytes())


@over_modules
def test_same_seed_same_episode(module: ModuleType) -> None:
    first, second = module.env(players=3), module.env(players=3, seed=4)
    for env in (first, second):
        env.reset(seed=8)
    assert play_on(first, np.random.default_rng(0)) == play_on(second, np.random.default_rng(0))


@over_modules
def test_options_survive_a_seeded_reset(module: ModuleType) -> None:
    env = module.raw_env(double=3, players=5, reward="penalty", max_cycles=4, forced="auto")
    settings = env.game._settings.copy()
    env.reset(seed=5)
    env.reset()
    assert np.array_equal(env.game._settings, settings)
    assert env.max_cycles == 4 and env.num_agents == 5
    assert env.rules.rounds[env.game.states["round"][0]] == 3


@over_modules
def test_copies_go_on_alike(module: ModuleType) -> None:
    for make in (module.raw_env, module.env):
        env = make(players=3)
        env.reset(seed=6)
        play_on(env, np.random.default_rng(0), 12)
        twins = [copy.deepcopy(env), pickle.loads(pickle.dumps(env))]
        expected = play_on(env, np.random.default_rng(1))
        for twin in twins:
            assert play_on(twin, np.random.default_rng(1)) == expected


@over_modules
def test_parallel_copies_go_on_alike(module: ModuleType) -> None:
    env = module.parallel_env(players=3, illegal="substitute")
    env.reset(seed=6)
    env.step(dict.fromkeys(env.agents, 0))
    for twin in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        while twin.agents:
            twin.step(dict.fromkeys(twin.agents, 0))
        again = copy.deepcopy(env)
        while again.agents:
            again.step(dict.fromkeys(again.agents, 0))
        assert np.array_equal(again.game.states, twin.game.states)


@over_modules
def test_no_global_randomness(module: ModuleType) -> None:
    random.seed(1)
    np.random.seed(1)
    before = random.getstate(), np.random.get_state()[1].tobytes()
    env = module.env(players=2)
    env.reset()
    play_on(env, np.random.default_rng(0))
    parallel = module.parallel_env(illegal="substitute")
    parallel.reset()
    parallel.step({agent: parallel.action_space(agent).sample() for agent in parallel.agents})
    assert (random.getstate(), np.random.get_state()[1].tobytes()) == before


@over_modules
@pytest.mark.parametrize("kind", ["raw_env", "parallel_env"])
def test_spaces_and_close(module: ModuleType, kind: str) -> None:
    env = getattr(module, kind)()
    env.reset(seed=1)
    for agent in env.possible_agents:
        assert env.observation_space(agent) is env.observation_space(agent)
        assert env.action_space(agent) is env.action_space(agent)
    assert len({id(env.action_space(agent)) for agent in env.possible_agents}) == 4
    with pytest.raises(UnknownNameError, match="did you mean 'player_1'"):
        env.action_space("playr_1")
    env.close()
    env.close()


@over_modules
def test_keywords(module: ModuleType) -> None:
    with pytest.raises(RulesError, match="did you mean 'players'"):
        module.env(playerz=3)
    with pytest.raises(RulesError, match="did you mean 'render_mode'"):
        module.env(render_mod="ansi")
    with pytest.raises(TypeError, match="did you mean 'illegal'"):
        module.raw_env(ilegal="raise")
    with pytest.raises(DominoError, match="is for PettingZoo's `env`"):
        module.raw_env(illegal="terminate")
    with pytest.raises(DominoError, match="did you mean 'substitute'"):
        module.parallel_env(illegal="subst")
    with pytest.raises(DominoError, match="did you mean 'human'"):
        module.parallel_env(render_mode="humane")
    with pytest.raises(DominoError, match="max_cycles"):
        module.raw_env(max_cycles=0)
    with pytest.raises(UnknownNameError, match="preset"):
        module.raw_env("statoin") if module is mexican_train_v0 else module.raw_env("chicken")


def test_forms_of_rules() -> None:
    rules = MexicanTrainRules.preset("station", players=3)
    for given in (rules, rules.to_dict(), {"game": "mexican_train", **rules.to_dict()}):
        assert mexican_train_v0.raw_env(rules=given).rules == rules
    assert mexican_train_v0.raw_env("station", players=3).rules == rules
    with pytest.raises(RulesError, match="mexican_train"):
        chicken_foot_v0.raw_env(rules=rules)


@pytest.mark.skipif(
    not hasattr(pettingzoo, "make"), reason="this PettingZoo has no registry (1.27 is the first)"
)
@over_modules
def test_pettingzoos_registry(module: ModuleType) -> None:
    name = "".join(word.title() for word in game_of(module).split("_"))
    keywords = {"players": 3, "reward": "penalty"}
    for form in (f"dominoenv/{name}-v0", f"dominoenv/{name}_v0", f"dominoenv/{name}"):
        env, direct = pettingzoo.make("aec", form, **keywords), module.env(**keywords)
        env.reset(seed=4)
        direct.reset(seed=4)
        rngs = np.random.default_rng(0), np.random.default_rng(0)
        assert play_on(env, rngs[0]) == play_on(direct, rngs[1])
    parallel = pettingzoo.make("parallel", form, max_cycles=1, illegal="substitute")
    assert isinstance(parallel, type(module.parallel_env()))
    parallel.reset(seed=4)
    *_, truncated, _ = parallel.step(dict.fromkeys(parallel.agents, 0))
    assert all(truncated.values())
    with pytest.raises(RulesError, match="did you mean 'players'"):
        pettingzoo.make("aec", form, player=3)


REGISTERS = """
import sys, pettingzoo, dominoenv
assert not [name for name in sys.modules if name.startswith("dominoenv.envs")]
for kind in ("aec", "parallel"):
    for name in ("MexicanTrain", "ChickenFoot"):
        pettingzoo.make(kind, f"dominoenv/{name}-v0").reset(seed=1)
for name in [name for name in sys.modules if name.startswith("dominoenv")]:
    del sys.modules[name]
import dominoenv  # a second time: no id is overridden
"""
OLDER = """
import pettingzoo
for name in ("register", "make", "aec_registry"):
    vars(pettingzoo).pop(name, None)
from dominoenv import mexican_train_v0
mexican_train_v0.env().reset(seed=1)
"""


@pytest.mark.parametrize("program", [REGISTERS, OLDER], ids=["registers", "older"])
def test_importing_the_library_registers_once_and_lazily(program: str) -> None:
    if program is REGISTERS and not hasattr(pettingzoo, "make"):
        pytest.skip("this PettingZoo has no registry (1.27 is the first)")
    subprocess.run([sys.executable, "-W", "error", "-c", program], check=True)


# --------------------------------------------------------------------------------------- rendering


@over_modules
def test_render_modes(module: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    env = module.raw_env(render_mode="ansi")
    env.reset(seed=1)
    text = env.render()
    assert "seat 3" in text and capsys.readouterr().out == ""
    human = module.parallel_env(render_mode="human")
    human.reset(seed=1)
    assert capsys.readouterr().out == text + "\n"
    assert human.render() is None and capsys.readouterr().out == text + "\n"
    with pytest.warns(UserWarning, match="render_mode"):
        assert module.raw_env().render() is None


# ----------------------------------------------------------------------------------- parallel form


@over_tables
def test_parallel_plays_the_game_of_raw_env(module: ModuleType, rules: dict[str, Any]) -> None:
    env, parallel = module.raw_env(**rules), module.parallel_env(**rules)
    env.reset(seed=3)
    observations, infos = parallel.reset(seed=3)
    rng = np.random.default_rng(3)
    wait = parallel.num_actions - 1
    while parallel.agents:
        mover = env.agent_selection
        for agent in parallel.agents:
            mask = observations[agent]["action_mask"]
            assert np.array_equal(mask, infos[agent]["action_mask"])
            assert np.array_equal(mask[:wait], env.observe(agent)["action_mask"])
            assert mask[wait] == (agent != mover)
            row = env.observe(agent)["observation"]
            assert np.array_equal(observations[agent]["observation"], row)
        action = choose(rng, observations[mover]["action_mask"])
        # what the others choose is ignored
        actions = {agent: action if agent == mover else -5 for agent in parallel.agents}
        observations, rewards, terminated, truncated, infos = parallel.step(actions)
        env.step(action)
        assert rewards == env.rewards
        assert terminated == env.terminations and truncated == env.truncations
        assert np.array_equal(parallel.state(), env.state())
    assert all(terminated.values()) and len(observations) == env.num_agents
    assert all(mask["action_mask"][wait] == 1 for mask in observations.values())
    assert [infos[agent]["score"] for agent in infos] == env.game.scores[0].tolist()


@over_modules
def test_parallel_illegal_actions(module: ModuleType) -> None:
    env = module.parallel_env()
    observations, _ = env.reset(seed=1)
    mover = next(a for a in env.agents if observations[a]["action_mask"][-1] == 0)
    before = env.game.states.copy()
    with pytest.raises(IllegalActionError, match=f"{mover} is to move"):
        env.step({})
    with pytest.raises(IllegalActionError, match="legal are"):
        env.step(dict.fromkeys(env.agents, env.wait))
    assert np.array_equal(env.game.states, before)
    lowest = int(observations[mover]["action_mask"].argmax())
    lax = module.parallel_env(illegal="substitute")
    lax.reset(seed=1)
    lax.step(dict.fromkeys(lax.agents, env.wait))
    env.step({mover: lowest})
    assert np.array_equal(lax.game.states, env.game.states)
