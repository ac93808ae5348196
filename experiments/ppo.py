"""Maskable PPO on `DominoVecEnv`: setup, callbacks, checkpoints and resuming.

The state of a run is complete at only one point of SB3's loop: at the start of an iteration, after
the previous update. Checkpoints are written there, and a resumed run continues there with the same
games and random streams, so it reaches the same weights as an uninterrupted one.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import KVWriter, Logger
from tensorboard.compat.proto.event_pb2 import Event, SessionLog
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.summary.writer.record_writer import RecordWriter

from dominoenv.core.arguments import checked_index
from dominoenv.core.container import DAMAGED
from dominoenv.core.files import write_atomically
from dominoenv.core.program import report
from dominoenv.envs.sb3 import DominoVecEnv
from dominoenv.errors import CheckpointError, DominoError
from dominoenv.games.registry import as_rules
from dominoenv.opponents.baselines import make_policy
from dominoenv.opponents.pool import OpponentPool, Tally
from dominoenv.opponents.references import load_file, make_from
from dominoenv.opponents.selfplay import SelfPlay
from dominoenv.opponents.trained import (
    TrainedPolicy,
    as_weights,
    make_network,
    network_options,
    read_checkpoint,
    save_checkpoint,
    take_snapshot,
)
from dominoenv.policies import Policy

from .config import Baseline, Checkpoint, Config, Python, Snapshots

MAX_DECISIONS = 1 << 53
NEWEST = "checkpoint.pt"


def make_opponent(opponent: Baseline | Checkpoint | Python, config: Config) -> Policy:
    """Return the policy that a config names."""
    rules = config.make_rules()
    if isinstance(opponent, Baseline):
        return make_policy(opponent.policy, rules, **opponent.parameters)
    if isinstance(opponent, Python):
        return make_from(opponent.target, rules, **opponent.parameters)
    return load_file(opponent.path, rules, opponent.deterministic)


def make_pool(config: Config) -> OpponentPool:
    """Return the opponents of a config; with self-play, the untrained learner is one."""
    rules = config.make_rules()
    pool = OpponentPool(rules)
    for one in config.environment.opponents:
        if not isinstance(one, Snapshots):
            pool.add(make_opponent(one, config), one.weight)
    settings = config.environment.snapshots
    if settings:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(config.seed)  # the same weights as the learner's
            network = make_network(rules, config.network.model_dump())
        untrained = take_snapshot(rules, network, 0, settings.deterministic)
        make_selfplay(settings, pool).take(untrained)
    return pool


def make_selfplay(settings: Snapshots, pool: OpponentPool) -> SelfPlay:
    """Return the `SelfPlay` that manages the snapshots of a pool."""
    return SelfPlay(
        pool,
        weight=settings.weight,
        keep=settings.keep,
        which=settings.which,
        draw=settings.draw,
    )


def make_env(config: Config) -> DominoVecEnv:
    """Return the games that a config describes."""
    environment = config.environment
    return DominoVecEnv(
        config.make_rules(),
        environment.games,
        make_pool(config),
        seat=environment.seat,
        seed=config.seed,
        episode_options=environment.episode_options(),
    )


def make_model(config: Config, env: DominoVecEnv) -> MaskablePPO:
    """Return a new learner. The network is small, so it runs on the CPU."""
    ppo = config.ppo
    first, last = ppo.learning_rate, ppo.final_learning_rate
    return MaskablePPO(
        "MlpPolicy",
        env,
        learning_rate=lambda remaining: last + (first - last) * remaining,
        n_steps=ppo.steps,
        batch_size=min(ppo.batch_size, ppo.steps * env.num_envs),
        n_epochs=ppo.epochs,
        gamma=ppo.gamma,
        gae_lambda=ppo.gae_lambda,
        clip_range=ppo.clip,
        ent_coef=ppo.entropy,
        vf_coef=ppo.value_weight,
        max_grad_norm=ppo.max_grad_norm,
        target_kl=ppo.target_kl,
        policy_kwargs=network_options(config.network.model_dump()),
        seed=config.seed,
        device="cpu",
    )


def trained_policy(config: Config, model: MaskablePPO) -> TrainedPolicy:
    """Return the learner as a deterministic policy."""
    return TrainedPolicy(config.make_rules(), model.policy)


# ------------------------------------------------------------------------------------ checkpoints


def pack_training(model: MaskablePPO) -> dict[str, Any]:
    """Return the state of a run without the weights, as arrays, numbers and texts."""
    env = model.get_env()
    assert isinstance(env, DominoVecEnv)
    moments = model.policy.optimizer.state_dict()["state"]  # the rest of it comes from the config
    _, keys, *rest = np.random.get_state()  # SB3 shuffles minibatches with it
    return {
        "decisions": model.num_timesteps,
        "updates": model._n_updates,
        "optimizer": {str(number): moments[number] for number in moments},
        "episode_starts": np.array(model._last_episode_starts, np.uint8),
        "torch_rng": torch.get_rng_state(),
        "numpy_rng": [keys, *rest],
        "env": env.get_state(),
    }


def unpack_training(model: MaskablePPO, content: dict[str, Any], path: Path) -> None:
    """Restore the state from `pack_training`. Raises CheckpointError."""
    env = model.get_env()
    assert isinstance(env, DominoVecEnv)
    try:
        if as_rules(content["rules"]) != env.rules:
            raise DominoError(f"it is of other rules than {env.rules}")
        weights = as_weights(env.rules, content["network"], content["weights"])
        training = content["training"]
        decisions = checked_index("decisions", training["decisions"], MAX_DECISIONS)
        updates = checked_index("updates", training["updates"], MAX_DECISIONS)
        moments = _moments(model.policy.optimizer, training["optimizer"])
        starts = training["episode_starts"].reshape(env.num_envs).astype(bool)
        keys, position, *gauss = training["numpy_rng"]
        checked_index("numpy_rng", position, len(keys) + 1)  # numpy does not check this
        model._last_obs = env.set_state(training["env"])
        model._last_episode_starts = starts
        model.policy.load_state_dict(weights)
        optimizer = model.policy.optimizer
        optimizer.load_state_dict({**optimizer.state_dict(), "state": moments})
        model.num_timesteps, model._n_updates = decisions, updates
        torch.set_rng_state(torch.from_numpy(training["torch_rng"]))
        np.random.set_state(("MT19937", keys, position, *gauss))
    except (*DAMAGED, AttributeError, RuntimeError) as error:
        reason = (str(error) or type(error).__name__).splitlines()[0]
        raise CheckpointError(f"{path} cannot be resumed from: {reason}") from error


def _moments(
    optimizer: torch.optim.Optimizer, saved: Mapping[str, Any]
) -> dict[int, dict[str, torch.Tensor]]:
    """Return Adam's moments of each parameter as tensors; none before the first update.

    Raises DominoError where they do not fit the parameters.
    """
    parameters = optimizer.param_groups[0]["params"]
    if saved.keys() not in (set(), set(map(str, range(len(parameters))))):
        raise DominoError("the optimizer's state is of another network")
    for number, one in saved.items():
        shape = tuple(parameters[int(number)].shape)
        shapes = {"step": (), "exp_avg": shape, "exp_avg_sq": shape}
        if {name: array.shape for name, array in one.items()} != shapes:
            raise DominoError("the optimizer's state is of another network")
        if any(array.dtype != np.float32 for array in one.values()) or (
            min(one["step"], one["exp_avg_sq"].min()) < 0
        ):
            raise DominoError("the optimizer's state is none of Adam's")
    return {
        int(number): {name: torch.from_numpy(array) for name, array in one.items()}
        for number, one in saved.items()
    }


def save_training(config: Config, model: MaskablePPO, folder: Path) -> None:
    """Write checkpoint.pt and a copy named by its number of decisions; remove the oldest copy."""
    numbered = folder / "checkpoints" / f"{model.num_timesteps:012d}.pt"
    training = pack_training(model)
    for path in (numbered, folder / NEWEST):
        save_checkpoint(
            path,
            config.make_rules(),
            config.network.model_dump(mode="json"),
            model.policy.state_dict(),
            config=config.to_yaml(),
            training=training,
        )
    # copies beyond are of a run that was set back: they are written again when it gets there
    so_far = [path for path in numbered_checkpoints(folder) if path.name <= numbered.name]
    for old in so_far[config.checkpoints.keep :]:
        old.unlink()


def numbered_checkpoints(folder: Path) -> list[Path]:
    """Return the checkpoints of a run that are named by their number of decisions, newest first."""
    return sorted((folder / "checkpoints").glob("[0-9]*.pt"), reverse=True)


def load_training(model: MaskablePPO, folder: Path) -> None:
    """Restore the newest whole checkpoint of a run, or leave a new model where there is none.

    Says so unless it is checkpoint.pt. Raises CheckpointError where all are damaged.
    """
    newest, older = folder / NEWEST, numbered_checkpoints(folder)
    failures = []
    for path in (newest, *older):
        try:
            unpack_training(model, read_checkpoint(path), path)
        except CheckpointError as error:
            failures.append(error)
            continue
        if failures:
            report(f"{failures[0]}; continuing from {path}, the newest whole one")
            write_atomically(newest, path.read_bytes())
        return
    if newest.exists() or older:
        raise CheckpointError(
            f"{failures[0]}; {folder} holds no whole one: start again with --overwrite"
        )
    report(f"{folder} holds no checkpoint yet: starting from the beginning")


# --------------------------------------------------------------------------------------- watching


class Progress(Protocol):
    """Where a training run reports how far it is."""

    def tick(self, decisions: int) -> None:
        """Show the number of decisions so far; called after each step of all games."""

    def add(self, figures: dict[str, float]) -> None:
        """Add the metrics of an iteration."""


class TensorBoardWriter(KVWriter):
    """Writes SB3's metrics for TensorBoard, which drops older ones after the point of resuming.

    It writes at once. TensorBoard's own writer has a thread, which prints a traceback when the disk
    is full.
    """

    def __init__(self, folder: Path, purge_step: int | None) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        name = f"events.out.tfevents.{time.time_ns()}.{socket.gethostname()}.{os.getpid()}"
        self.file = (folder / name).open("wb", buffering=0)
        self.records = RecordWriter(self.file)
        self._add(Event(file_version="brain.Event:2"))
        if purge_step:
            self._add(Event(step=purge_step, session_log=SessionLog(status=SessionLog.START)))

    def write(
        self, key_values: dict[str, Any], key_excluded: dict[str, tuple[str, ...]], step: int = 0
    ) -> None:
        """Write one number for each key."""
        numbers = [
            Summary.Value(tag=key, simple_value=float(value))
            for key, value in key_values.items()
            if "tensorboard" not in (key_excluded.get(key) or ())
        ]
        self._add(Event(step=step, summary=Summary(value=numbers)))

    def _add(self, event: Event) -> None:
        event.wall_time = time.time()
        self.records.write(event.SerializeToString())

    def close(self) -> None:
        """Close the file."""
        self.file.close()


class Watcher(BaseCallback):
    """Collects results of episodes, reports progress, saves checkpoints, takes snapshots.

    pool: the opponents; save: called when a checkpoint is due.
    """

    def __init__(
        self,
        config: Config,
        pool: OpponentPool,
        progress: Progress,
        save: Callable[[], None],
    ) -> None:
        super().__init__()
        self.config, self.progress, self.save = config, progress, save
        self.pool = pool
        self.kinds = list(dict.fromkeys(member.kind for member in pool.members))
        self.totals = deepcopy(pool.totals)
        self.episodes: list[dict[str, Any]] = []
        self.saved_at = -1
        self.began = time.monotonic()

    def _on_rollout_start(self) -> None:
        ppo, saving = self.config.ppo, self.config.checkpoints
        iteration = self.num_timesteps // (ppo.steps * self.training_env.num_envs)
        if iteration % saving.every == 0:
            self._save()
        settings = self.config.environment.snapshots
        if settings:  # after saving: a resumed run repeats this
            self._keep_snapshots(settings, iteration)

    def _keep_snapshots(self, settings: Snapshots, iteration: int) -> None:
        """Take a snapshot if one is due, otherwise update the weights."""
        selfplay, network = make_selfplay(settings, self.pool), self.model.policy
        if iteration == 0 or iteration % settings.every:
            selfplay.weigh()
            return
        assert isinstance(network, MaskableActorCriticPolicy)
        taken_at, rules = self.num_timesteps, self.pool.rules
        selfplay.take(take_snapshot(rules, network, taken_at, settings.deterministic))

    def _on_training_end(self) -> None:
        self._save()

    def _save(self) -> None:
        if self.saved_at != self.num_timesteps:  # not the checkpoint just resumed from
            self.saved_at = self.num_timesteps
            self.save()

    def _on_step(self) -> bool:
        infos = self.locals["infos"]
        self.episodes += [infos[i] for i in np.flatnonzero(self.locals["dones"])]
        self.progress.tick(self.num_timesteps)
        return True

    def _on_rollout_end(self) -> None:
        figures = self._figures()
        for name, value in figures.items():
            if name != "decisions":
                self.logger.record(f"rounds/{name}", value)
        self.progress.add(figures)
        self.episodes.clear()

    def _figures(self) -> dict[str, float]:
        """Return the means over the episodes that ended in this iteration."""
        now = time.monotonic()
        decisions = self.config.ppo.steps * self.training_env.num_envs
        speed, self.began = decisions / (now - self.began), now
        return {
            "decisions": self.num_timesteps,
            "penalty": _mean([info["penalty"] for info in self.episodes]),
            "others": _mean([info["others"] for info in self.episodes]),
            "won": _mean([info["won"] for info in self.episodes]),
            "reward": _mean([info["episode"]["r"] for info in self.episodes]),
            "episodes": len(self.episodes),
            "decisions_per_second": speed,
            **self._pool_figures(),
        }

    def _pool_figures(self) -> dict[str, float]:
        """Return the pool's size, and for each kind the share of seats that the learner beat."""
        figures: dict[str, float] = {"pool": len(self.pool)}
        for kind in self.kinds:
            now, before = (totals.get(kind, Tally()) for totals in (self.pool.totals, self.totals))
            seats, beaten = now.seats - before.seats, now.beaten - before.beaten
            figures[f"beaten_{kind}"] = beaten / seats if seats else float("nan")
        self.totals = deepcopy(self.pool.totals)
        return figures


def _mean(values: list[float]) -> float:
    return float(np.mean(values)) if values else float("nan")


def learn(config: Config, model: MaskablePPO, folder: Path, progress: Progress) -> None:
    """Train until the config's number of decisions is reached."""
    done = int(model.num_timesteps)
    writer = TensorBoardWriter(folder / "tensorboard", purge_step=done or None)
    model.set_logger(Logger(str(folder), [writer]))
    env = model.get_env()
    assert isinstance(env, DominoVecEnv)
    watcher = Watcher(config, env.pool, progress, lambda: save_training(config, model, folder))
    watcher.saved_at = done if done else -1
    try:
        if done < config.ppo.decisions:
            # SB3 adds the finished decisions, so schedules see the same total after resuming
            model.learn(config.ppo.decisions - done, watcher, reset_num_timesteps=not done)
    finally:
        model.logger.close()
