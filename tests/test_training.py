"""Training: the environment for SB3, checkpoints, resuming, evaluation, the command line."""

import dataclasses
import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sb3_contrib")

import torch
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3.common.vec_env import VecMonitor

from dominoenv import (
    BatchedGame,
    CheckpointError,
    DominoError,
    IllegalActionError,
    make_policy,
    make_rules,
)
from dominoenv.core.container import write_container
from dominoenv.core.program import run_program
from dominoenv.envs.sb3 import DominoVecEnv
from dominoenv.opponents.trained import (
    CHECKPOINT,
    TrainedPolicy,
    load_policy,
    make_network,
    read_checkpoint,
    save_checkpoint,
)
from experiments import evaluate, figures, ppo, train
from experiments.config import Config, load_config
from experiments.curve import draw_learning_curve

ROOT = Path(__file__).resolve().parent.parent
GAMES = {
    "train": {"game": "mexican_train", "preset": "engine", "players": 4},
    "foot": {"game": "chicken_foot", "players": 4},
}
MIXED = (("random", 1.0), ("heaviest", 3.0))
TINY = [
    "threads=1",
    "environment.games=16",
    "ppo.steps=8",
    "ppo.batch_size=64",
    "ppo.decisions=512",  # four iterations
    "network.hidden=[16]",
    "checkpoints.every=1",
    "evaluation.deals=6",
]


@pytest.fixture(autouse=True)
def _one_thread_and_the_same_generators() -> Iterator[None]:
    threads, torch_state, numpy_state = (
        torch.get_num_threads(),
        torch.get_rng_state(),
        np.random.get_state(),
    )
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)
    torch.set_rng_state(torch_state)
    np.random.set_state(numpy_state)


def tiny(*overrides: str, name: str = "quickstart") -> Config:
    return load_config(ROOT / "configs" / f"{name}.yaml", [*TINY, *overrides])


def first_legal(env: DominoVecEnv) -> np.ndarray:
    return env.action_masks().argmax(axis=1)


# ---------------------------------------------------------------------------------- environment


@pytest.mark.parametrize("game", GAMES)
def test_vec_env_is_what_sb3_expects(game: str) -> None:
    env = DominoVecEnv(GAMES[game], 8, MIXED)
    assert is_masking_supported(env)
    observations = env.reset()
    finished = 0
    for _ in range(60):
        masks = get_action_masks(env)
        assert masks.shape == (8, env.action_space.n)
        assert masks.any(axis=1).all()
        assert (env.game.to_move == env.learner.seats).all()
        before = observations.copy()
        following, rewards, done, infos = env.step(masks.argmax(axis=1))
        assert (observations == before).all()  # what was handed out stays as it was
        observations = following
        assert all(env.observation_space.contains(row) for row in observations)
        assert rewards.shape == done.shape == (8,)
        assert rewards.dtype == np.float32
        assert len({id(info) for info in infos}) == 8
        for i, info in enumerate(infos):
            assert bool(info) == done[i]
        for info in (info for info in infos if info):
            finished += 1
            assert env.observation_space.contains(info["terminal_observation"])
            assert set(info["episode"]) == {"r", "l", "t"}
            assert info["episode"]["l"] >= 1
            assert info["episode"]["r"] == pytest.approx(
                (info["others"] - info["penalty"]) / 20, abs=1e-5
            )
    assert finished > 8
    assert VecMonitor(env).reset().shape == observations.shape
    env.close()
    env.close()


def test_vec_env_attributes() -> None:
    env = DominoVecEnv(GAMES["train"], 4)
    assert env.get_attr("render_mode") == [None] * 4
    assert env.get_attr("seat", [0, 2]) == ["rotate"] * 2
    assert len(env.env_method("action_masks", indices=1)) == 1
    assert env.env_is_wrapped(VecMonitor) == [False] * 4
    env.set_attr("note", 3)
    assert env.get_attr("note") == [3] * 4
    with pytest.raises(DominoError, match="shared by all games"):
        env.set_attr("note", 3, [1])
    with pytest.raises(AttributeError, match="no method 'render'"):
        env.env_method("render")
    assert not env.has_attr("nothing")


def test_an_illegal_action_changes_nothing() -> None:
    env = DominoVecEnv(GAMES["train"], 4)
    before = env.get_state()
    actions = first_legal(env)
    actions[2] = env.action_masks()[2].argmin()
    with pytest.raises(IllegalActionError, match="game 2"):
        env.step(actions)
    assert all(np.array_equal(before[key], value) for key, value in env.get_state().items())


def recorded(env: DominoVecEnv) -> list[list[int]]:
    """Make an environment note every action that anybody takes, game by game."""
    log: list[list[int]] = [[] for _ in range(env.num_envs)]
    step = env.game.step

    def noting(actions: Any, games: Any) -> None:
        step(actions, games)
        for game, action in zip(games, actions, strict=True):
            log[game].append(int(action))

    env.game.step = noting  # type: ignore[method-assign]
    return log


@pytest.mark.parametrize("episode", ["round", "match"])
@pytest.mark.parametrize("game", GAMES)
def test_rewards_are_what_the_learners_seat_was_paid(game: str, episode: str) -> None:
    rules = {**GAMES[game], "rounds": [6, 2, 1]}
    size, steps = 6, 80
    env = DominoVecEnv(rules, size, MIXED, seed=5, episode=episode)
    opening = env.get_state()
    log = recorded(env)
    paid: list[list[float]] = [[] for _ in range(size)]
    total = np.zeros(size)
    for _ in range(steps):
        _, rewards, done, infos = env.step(first_legal(env))
        for i in range(size):
            paid[i].append(float(rewards[i]))
            if done[i]:
                assert infos[i]["episode"]["l"] > 0
        total += rewards
    states = np.ascontiguousarray(opening["states"]).view(env.game.states.dtype).reshape(size)
    for i in range(size):
        expected = replayed_payments(rules, episode, states[i], opening["seats"][i], log[i], size)
        assert paid[i] == pytest.approx(expected[: len(paid[i])], abs=1e-5)
        assert len(expected) >= steps
    assert np.abs(total).sum() > 0


def replayed_payments(
    rules: dict[str, Any],
    episode: str,
    state: np.void,
    seat: int,
    actions: list[int],
    stride: int,
) -> list[float]:
    """Play one game's actions again on its own; return what its learner got for each decision."""
    game = BatchedGame(rules, 1, 0, episode=episode, forced="auto", autoreset=False)
    players = game.rules.players
    game.load(np.array([state]))
    payments: list[float] = []
    owed = 0.0  # paid before the learner's first decision of an episode: for that decision
    decided = False
    for action in actions:
        if game.to_move[0] == seat:
            payments.append(owed)
            owed, decided = 0.0, True
        game.step([action])
        gain = float(game.rewards[0, seat])
        if decided:
            payments[-1] += gain
        else:
            owed += gain
        while game.states["ending"][0] != 0:
            match = int(game.states["match"][0]) + stride
            game.reset(int(game.states["seed"][0]), matches=[match])
            seat = (match % stride + match // stride) % players
            owed, decided = 0.0, False
    return payments


def test_the_learners_seat_rotates_or_stays() -> None:
    rotating, staying = DominoVecEnv(GAMES["train"], 8), DominoVecEnv(GAMES["train"], 8, seat=2)
    seen: list[list[int]] = [[] for _ in range(8)]
    for _ in range(120):
        for i, info in enumerate(rotating.step(first_legal(rotating))[3]):
            if info:
                seen[i].append(info["seat"])
        assert all(info.get("seat", 2) == 2 for info in staying.step(first_legal(staying))[3])
    for seats in seen:
        assert len(seats) >= 4
        assert set(seats[:4]) == {0, 1, 2, 3}


def test_lineups_depend_on_seed_and_match_alone() -> None:
    small, large = (DominoVecEnv(GAMES["train"], size, MIXED, seed=9) for size in (16, 4096))
    assert (small.learner.lineup == large.learner.lineup[:16]).all()
    assert abs((large.learner.lineup == 1).mean() - 0.75) < 0.02
    other = DominoVecEnv(GAMES["train"], 4096, MIXED, seed=10)
    assert (other.learner.lineup != large.learner.lineup).any()
    assert (large.learner.lineup[:, 0] != large.learner.lineup[:, 1]).any()


def test_a_seed_gives_the_same_games() -> None:
    def play(env: DominoVecEnv) -> list[np.ndarray]:
        return [env.step(first_legal(env))[0] for _ in range(20)]

    env = DominoVecEnv(GAMES["foot"], 8, MIXED, seed=3)
    first = play(env)
    env.seed(3)
    env.reset()
    assert np.array_equal(first, play(env))
    env.seed(4)
    env.reset()
    assert not np.array_equal(first, play(env))


def test_a_saved_environment_goes_on_identically() -> None:
    env = DominoVecEnv(GAMES["train"], 8, MIXED, seed=3)
    for _ in range(15):
        env.step(first_legal(env))
    saved = env.get_state()
    expected = [env.step(first_legal(env)) for _ in range(30)]
    other = DominoVecEnv(GAMES["train"], 8, MIXED, seed=77)
    other.set_state(saved)
    for observations, rewards, done, infos in expected:
        got = other.step(first_legal(other))
        assert np.array_equal(got[0], observations)
        assert np.array_equal(got[1], rewards)
        assert np.array_equal(got[2], done)
        for mine, theirs in zip(got[3], infos, strict=True):
            assert mine.get("penalty") == theirs.get("penalty")
            assert mine.get("episode", {}).get("l") == theirs.get("episode", {}).get("l")
            assert mine.get("episode", {}).get("r") == theirs.get("episode", {}).get("r")
    with pytest.raises(CheckpointError, match="same rules and number of games"):
        DominoVecEnv(GAMES["train"], 9, MIXED).set_state(saved)
    with pytest.raises(CheckpointError, match="has an opponent 'heaviest', which this one lacks"):
        DominoVecEnv(GAMES["train"], 8).set_state(saved)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"seat": 4}, "'rotate' or a seat 0 ... 3"),
        ({"seat": True}, "'rotate' or a seat"),
        ({"seat": "any"}, "'rotate' or a seat"),
        ({"opponents": []}, "at least one"),
        ({"opponents": [("random", 0)]}, "weight above 0"),
        ({"opponents": [("rndom", 1)]}, "did you mean 'random'"),
        ({"reward": "zero"}, "did you mean 'zero_sum'"),
        ({"opponents": [(make_policy("random", make_rules("chicken_foot")), 1)]}, "plays Chicken"),
    ],
)
def test_what_cannot_be_is_named(options: dict[str, Any], reason: str) -> None:
    with pytest.raises(DominoError, match=reason):
        DominoVecEnv(GAMES["train"], 2, **options)


# ---------------------------------------------------------------------------- policies and files


def test_a_policy_survives_its_file_and_plays_legally(tmp_path: Path) -> None:
    rules = make_rules("chicken_foot")
    network = {"hidden": [8, 4], "activation": "tanh"}
    original = TrainedPolicy(rules, make_network(rules, network))
    save_checkpoint(tmp_path / "a.pt", rules, network, original.network.state_dict())
    loaded = load_policy(tmp_path / "a.pt", rules)
    game = BatchedGame(rules, 64, 1)
    actions = loaded.act(game.observations, game.masks)
    assert np.array_equal(actions, original.act(game.observations, game.masks))
    scaled = game.layout.scaled(game.observations)
    assert np.array_equal(actions, loaded.act(scaled, game.masks))
    expected, _ = original.network.predict(scaled, deterministic=True, action_masks=game.masks)
    assert np.array_equal(actions, expected)
    sampling = load_policy(tmp_path / "a.pt", deterministic=False, seed=3)
    for _ in range(30):
        game.step(sampling.act(game.observations, game.masks))
    assert not list(tmp_path.glob(".*tmp"))


class Bomb:
    def __reduce__(self) -> tuple[Any, ...]:
        return os.system, ("echo a stranger's code ran >&2; exit 1",)


def test_files_that_are_no_checkpoints(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    rules = make_rules("chicken_foot")
    network = {"hidden": [4], "activation": "relu"}
    good = tmp_path / "good.pt"
    save_checkpoint(good, rules, network, make_network(rules, network).state_dict())
    (tmp_path / "text.pt").write_text("hello")
    (tmp_path / "empty.pt").write_bytes(b"")
    (tmp_path / "cut.pt").write_bytes(good.read_bytes()[:-400])
    (tmp_path / "bomb.pt").write_bytes(pickle.dumps(Bomb()))
    torch.save(Bomb(), tmp_path / "torch_bomb.pt")
    torch.save({"weights": torch.zeros(3)}, tmp_path / "foreign.pt")
    for name in ("text", "empty", "cut", "bomb", "torch_bomb", "foreign"):
        with pytest.raises(CheckpointError, match=rf"{name}\.pt is damaged, or not a checkpoint"):
            load_policy(tmp_path / f"{name}.pt")
    assert "stranger" not in capfd.readouterr().err
    with pytest.raises(CheckpointError, match="does not exist"):
        load_policy(tmp_path / "missing.pt")
    with pytest.raises(CheckpointError, match=r"is a folder; name the checkpoint\.pt"):
        load_policy(tmp_path)
    with pytest.raises(CheckpointError, match=r"was trained for Chicken Foot.*not for Mexican"):
        load_policy(good, make_rules("mexican_train"))
    new = dataclasses.replace(CHECKPOINT, version=99)
    content = read_checkpoint(good)
    write_container(tmp_path / "new.pt", new, content)
    with pytest.raises(CheckpointError, match="version 99"):
        load_policy(tmp_path / "new.pt")
    assert content.pop("layout") == 1
    other = tmp_path / "other.pt"
    write_container(other, CHECKPOINT, content)  # it does not say which layout its network reads
    load_policy(other)
    write_container(other, CHECKPOINT, {**content, "layout": 2})
    with pytest.raises(CheckpointError, match=r"other\.pt reads layout version 2 .* version 1"):
        load_policy(other)
    write_container(other, CHECKPOINT, {**content, "weights": {}})
    with pytest.raises(CheckpointError, match="does not fit this version"):
        load_policy(other)


def python(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True, timeout=300
    )


def test_torch_stays_out_until_it_is_asked_for() -> None:
    code = """
import sys, dominoenv
assert "torch" not in sys.modules and "stable_baselines3" not in sys.modules
sys.modules["stable_baselines3"] = sys.modules["torch"] = None
for name in ("envs.sb3", "opponents.trained"):
    try:
        __import__("dominoenv." + name)
    except ImportError as error:
        assert 'pip install "dominoenv[train]"' in str(error), error
    else:
        raise AssertionError(name)
"""
    done = python("-c", code)
    assert done.returncode == 0, done.stderr


# ------------------------------------------------------------------------------------- training


def weights(folder: Path) -> dict[str, np.ndarray]:
    content = read_checkpoint(folder / "checkpoint.pt")
    saved: dict[str, np.ndarray] = content["weights"]
    return saved


def assert_same_weights(one: Path, other: Path) -> None:
    first, second = weights(one), weights(other)
    assert first.keys() == second.keys()
    assert all(np.array_equal(first[name], second[name]) for name in first)


def often(name: str) -> list[str]:
    """Return overrides by which a config with self-play changes its pool all the time."""
    place = "environment.opponents.2"
    return [f"{place}.every=1", f"{place}.keep=2"] if "selfplay" in name else []


@pytest.mark.parametrize("name", ["quickstart", "mexican_train_selfplay"])
def test_a_stopped_training_resumes_exactly(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tiny(*often(name), name=name)
    train.train(config, tmp_path / "straight")
    save = ppo.save_training

    def save_and_stop(config: Config, model: Any, folder: Path) -> None:
        save(config, model, folder)
        if model.num_timesteps == 256:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(ppo, "save_training", save_and_stop)
        with pytest.raises(KeyboardInterrupt):
            train.train(config, tmp_path / "stopped")
    assert read_checkpoint(tmp_path / "stopped" / "checkpoint.pt")["training"]["decisions"] == 256
    torch.manual_seed(99)
    np.random.seed(99)
    train.train(config, tmp_path / "stopped", resume=True)
    assert_same_weights(tmp_path / "straight", tmp_path / "stopped")
    straight, stopped = (
        train.read_progress(tmp_path / name / "progress.csv") for name in ("straight", "stopped")
    )
    assert [row["decisions"] for row in straight] == [128, 256, 384, 512]
    for one, other in zip(straight, stopped, strict=True):
        for key in one.keys() - {"decisions_per_second"}:
            assert one[key] == other[key] or np.isnan([one[key], other[key]]).all()
    kept = sorted(path.name for path in (tmp_path / "straight" / "checkpoints").iterdir())
    assert kept == [f"{decisions:012d}.pt" for decisions in (256, 384, 512)]
    train.train(config, tmp_path / "stopped", resume=True)  # nothing is left to do
    assert_same_weights(tmp_path / "straight", tmp_path / "stopped")
    (tmp_path / "stopped" / "checkpoint.pt").unlink()  # as after a kill before the first one
    train.train(config, tmp_path / "stopped", resume=True)
    assert_same_weights(tmp_path / "straight", tmp_path / "stopped")


@pytest.mark.parametrize("name", ["quickstart", "chicken_foot_selfplay"])
def test_a_killed_run_resumes_in_a_new_process(name: str, tmp_path: Path) -> None:
    config, out = str(ROOT / "configs" / f"{name}.yaml"), tmp_path / "killed"
    longer = ["ppo.decisions=5_120", "checkpoints.every=5", *often(name)]
    options = [*TINY, *longer, "evaluation.opponents=[random]"]
    command = ["-m", "experiments.train", config, "--out", str(out), *options]
    process = subprocess.Popen([sys.executable, *command], cwd=ROOT, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 200
    while len(list(out.glob("checkpoints/[0-9]*.pt"))) < 2 and time.monotonic() < deadline:
        assert process.poll() is None, process.stderr.read().decode()  # type: ignore[union-attr]
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    stopped_at = read_checkpoint(out / "checkpoint.pt")["training"]["decisions"]
    assert stopped_at < 5_120

    again = python(*command)
    assert again.returncode == 2
    assert "already holds a run: continue with --resume" in again.stderr
    done = python(*command, "--resume")
    assert done.returncode == 0, done.stderr
    assert "difference" in done.stdout
    for file in ("config.yaml", "evaluation.json", "learning_curve.png", "progress.csv"):
        assert (out / file).stat().st_size > 0
    assert list((out / "tensorboard").iterdir())
    decisions = [row["decisions"] for row in train.read_progress(out / "progress.csv")]
    assert decisions == list(range(128, 5_121, 128))
    train.train(tiny(*longer, name=name), tmp_path / "straight")
    assert_same_weights(out, tmp_path / "straight")


@pytest.mark.parametrize("name", ["chicken_foot", "mexican_train_station", "chicken_foot_selfplay"])
def test_the_other_configs_train(tmp_path: Path, name: str) -> None:
    model = train.train(tiny("ppo.decisions=128", name=name), tmp_path)
    assert model.num_timesteps == 128


def test_an_opponent_may_be_a_checkpoint(tmp_path: Path) -> None:
    train.train(tiny("ppo.decisions=128"), tmp_path / "first")
    path = tmp_path / "first" / "checkpoint.pt"
    config = tiny(
        "ppo.decisions=128", f"environment.opponents=[{{kind: checkpoint, path: {path}}}]"
    )
    train.train(config, tmp_path / "second")
    other = tiny(
        "rules.players=3", *[f"environment.opponents=[{{kind: checkpoint, path: {path}}}]"]
    )
    with pytest.raises(CheckpointError, match="was trained for"):
        train.train(other, tmp_path / "third")


def test_resuming_with_other_values_is_refused(tmp_path: Path) -> None:
    train.train(tiny("ppo.decisions=128"), tmp_path)
    other = tiny("ppo.decisions=128", "ppo.gamma=0.5", "evaluation.deals=9")
    with pytest.raises(DominoError, match=r"began with ppo\.gamma=1\.0: resume with the same"):
        train.train(other, tmp_path, resume=True)
    train.train(tiny("ppo.decisions=128", "ppo.gamma=0.5"), tmp_path, overwrite=True)


# --------------------------------------------------------------------------------- command line


def failing(main: Any, arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: Any) -> str:
    monkeypatch.setattr(sys, "argv", ["program", *map(str, arguments)])
    with pytest.raises(SystemExit) as caught:
        run_program(main)
    assert caught.value.code == 2
    error: str = capsys.readouterr().err
    assert error.startswith("error: ")
    assert error.count("\n") == 1
    return error


def test_bad_input_at_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    quickstart = ROOT / "configs" / "quickstart.yaml"
    foreign = tmp_path / "foreign.pt"
    foreign.write_bytes(b"not a checkpoint")
    resume = ["--resume", "--out", tmp_path / "nothing"]
    for main, arguments, reason in (
        (train.main, [tmp_path / "no.yaml"], "does not exist"),
        (train.main, [quickstart, "ppo.epoch=3"], "did you mean 'epochs'"),
        (train.main, [quickstart, *resume], "holds no run to resume"),
        (train.main, [quickstart, "--out", foreign], "cannot write to"),
        (evaluate.main, [tmp_path / "no.pt"], "does not exist"),
        (evaluate.main, [foreign], "is damaged, or not a checkpoint"),
        (figures.main, ["--rounds", "0"], "at least 2"),
    ):
        assert reason in failing(main, arguments, monkeypatch, capsys)
    shell = python("-m", "experiments.evaluate", str(foreign))
    assert shell.returncode == 2
    assert shell.stderr.count("\n") == 1
    assert "Traceback" not in shell.stderr


@pytest.mark.parametrize("damage", ["gone", "cut", "foreign"])
def test_the_newest_whole_checkpoint_is_resumed_from(
    damage: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tiny("ppo.decisions=384")
    train.train(config, tmp_path)
    whole = weights(tmp_path)
    newest, last, *_ = [tmp_path / "checkpoint.pt", *ppo.numbered_checkpoints(tmp_path)]
    last.write_bytes(last.read_bytes()[:-300])
    if damage == "gone":
        newest.unlink()
    elif damage == "cut":
        newest.write_bytes(newest.read_bytes()[:1000])
    else:  # of a policy: it has no state of a run
        rules, network = config.make_rules(), config.network.model_dump()
        save_checkpoint(newest, rules, network, make_network(rules, network).state_dict())
    train.train(config, tmp_path, resume=True)
    said = capsys.readouterr().err
    older = tmp_path / "checkpoints" / "000000000256.pt"
    assert f"continuing from {older}, the newest whole one" in said
    assert str(newest) in said
    again = weights(tmp_path)
    assert all(np.array_equal(whole[name], again[name]) for name in whole)
    for path in (newest, *ppo.numbered_checkpoints(tmp_path)):
        path.write_bytes(b"")
    with pytest.raises(
        CheckpointError, match=r"checkpoint\.pt is damaged.*start again with --over"
    ):
        train.train(config, tmp_path, resume=True)
    for path in (newest, *ppo.numbered_checkpoints(tmp_path)):
        path.unlink()
    train.train(config, tmp_path, resume=True)
    assert "holds no checkpoint yet: starting from the beginning" in capsys.readouterr().err


def test_progress_moves_with_every_step_and_keeps_its_text(tmp_path: Path) -> None:
    config = tiny("ppo.decisions=256")
    (tmp_path / "progress.csv").write_text("decisions,penalty\n128,9.5\n256,8.25\n384,7.0\n512,6.")
    with closing(train.Progress(config, tmp_path, 256)) as progress:
        assert (tmp_path / "progress.csv").read_text() == "decisions,penalty\n128,9.5\n256,8.25\n"
        assert [row["decisions"] for row in train.read_progress(progress.path)] == [128, 256]
    ticks: list[int] = []

    class Spy:
        def tick(self, decisions: int) -> None:
            ticks.append(decisions)

        def add(self, figures: dict[str, float]) -> None:
            assert isinstance(figures["decisions"], int)

    model = ppo.make_model(config, ppo.make_env(config))
    ppo.learn(config, model, tmp_path, Spy())
    assert ticks == list(range(16, 257, 16))


# ----------------------------------------------------------------------------------- evaluation


def test_equals_differ_by_nothing_that_is_significant() -> None:
    rules = make_rules("mexican_train", players=3)
    row = evaluate.evaluate(
        make_policy("random", rules, seed=50), rules, opponents=["random"], deals=400
    )[0]
    # one interval in twenty misses 0; tests/test_tournament.py counts how many of 200 do
    assert abs(row.difference) < row.high - row.low
    assert row.wins == pytest.approx(row.fair, abs=0.05)
    assert (row.deals, row.games) == (400, 1200)


def test_heaviest_beats_random_and_the_interval_is_students() -> None:
    rules = make_rules("chicken_foot")
    rows = evaluate.evaluate(make_policy("lightest", rules), rules, opponents=["random"], deals=150)
    assert [row.agent for row in rows] == ["trained", "heaviest"]
    assert rows[0].low > 0 > rows[1].high
    mean = evaluate.interval(np.array([1.0, 2.0, 3.0]))
    assert (mean.mean, mean.half) == pytest.approx((2, 4.302653 / np.sqrt(3)))  # t(.975, 2)
    assert mean.mean - mean.low == pytest.approx(mean.high - mean.mean)


def test_every_deal_is_played_from_every_seat() -> None:
    rules = make_rules("mexican_train", rounds=[9, 3])
    seen: list[np.ndarray] = []

    class Spy(type(make_policy("random", rules))):  # type: ignore[misc]
        def act(self, observations: Any, masks: Any) -> Any:
            seen.append(observations.copy())
            return super().act(observations, masks)

    players, deals = rules.players, 5
    played = evaluate.play_deals(Spy(rules), make_policy("random", rules), rules, deals, seed=3)
    assert played.own.shape == played.others.shape == played.wins.shape == (deals, players)
    assert played.differences == pytest.approx((played.own - played.others).mean(axis=1))
    alone = BatchedGame(rules, deals, 3, forced="auto", autoreset=False)
    alone.reset(3, matches=evaluate.HELD_OUT_MATCH + np.arange(deals), rounds=np.arange(deals) % 2)
    opening = {row.tobytes() for row in alone.observations}
    assert opening <= {row.tobytes() for rows in seen for row in rows}


def test_the_same_seed_gives_the_same_evaluation() -> None:
    rules = make_rules("mexican_train")
    first, second = (
        evaluate.evaluate(make_policy("random", rules, 4), rules, opponents=["random"], deals=10)
        for _ in range(2)
    )
    assert first == second


def test_the_learning_curve_is_drawn(tmp_path: Path) -> None:
    rules = make_rules("mexican_train")
    rows = evaluate.evaluate(make_policy("random", rules, 4), rules, deals=4)
    progress = [{"decisions": 10.0 * i, "penalty": 9.0, "others": float("nan")} for i in range(3)]
    draw_learning_curve(progress, rows, tmp_path / "curve.png", "test")
    assert (tmp_path / "curve.png").read_bytes().startswith(b"\x89PNG")


def test_figures_come_near_the_published_ones() -> None:
    cell = next(cell for cell in figures.PUBLISHED if cell.options["players"] == 4)
    measured = figures.measure(cell, 2000, seed=0)
    assert abs(measured.penalty - cell.penalty) < 4 * measured.penalty_error + 0.4
    assert abs(measured.blocked - cell.blocked) < 4 * measured.blocked_error + 1
