"""Maskable PPO on `DominoVecEnv`: setup, callbacks, checkpoints and resuming.

The state of a run is complete at only one point of SB3's loop: at the start of an iteration, after
the previous update. Checkpoints are written there, and a resumed run continues there with the same
games and random streams, so it reaches the same weights as an uninterrupted one.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import KVWriter, Logger
from torch.utils.tensorboard import SummaryWriter

from dominoenv.envs.sb3 import DominoVecEnv
from dominoenv.errors import CheckpointError
from dominoenv.opponents.baselines import make_policy
from dominoenv.opponents.pool import OpponentPool, Tally
from dominoenv.opponents.references import load_file, make_from
from dominoenv.opponents.selfplay import SelfPlay
from dominoenv.opponents.trained import (
    TrainedPolicy,
    make_network,
    network_options,
    read_checkpoint,
    save_checkpoint,
    take_snapshot,
)
from dominoenv.policies import Policy

from .config import Baseline, Checkpoint, Config, Python, Snapshots


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
    """Return the state of a run without the weights, as tensors, numbers and strings."""
    env = model.get_env()
    assert isinstance(env, DominoVecEnv)
    kind, keys, *rest = np.random.get_state()  # SB3 shuffles minibatches with it
    state = env.get_state()
    return {
        "decisions": model.num_timesteps,
        "updates": model._n_updates,
        "optimizer": model.policy.optimizer.state_dict(),
        "episode_starts": torch.from_numpy(np.array(model._last_episode_starts, dtype=bool)),
        "torch_rng": torch.get_rng_state(),
        "numpy_rng": json.dumps([kind, np.asarray(keys).tolist(), *rest]),
        "env": {
            name: torch.from_numpy(value) if isinstance(value, np.ndarray) else value
            for name, value in state.items()
        },
    }


def unpack_training(model: MaskablePPO, content: dict[str, Any], path: Path) -> None:
    """Restore the state from `pack_training`. Raises CheckpointError."""
    env = model.get_env()
    assert isinstance(env, DominoVecEnv)
    try:
        training = content["training"]
        model.policy.load_state_dict(content["weights"])
        model.policy.optimizer.load_state_dict(training["optimizer"])
        model.num_timesteps, model._n_updates = training["decisions"], training["updates"]
        model._last_obs = env.set_state(
            {
                name: value.numpy() if isinstance(value, torch.Tensor) else value
                for name, value in training["env"].items()
            }
        )
        model._last_episode_starts = training["episode_starts"].numpy()
        torch.set_rng_state(training["torch_rng"])
        kind, keys, *rest = json.loads(training["numpy_rng"])
    except (KeyError, TypeError, ValueError, RuntimeError) as error:
        reason = str(error).splitlines()[0]
        raise CheckpointError(f"{path} cannot be resumed from: {reason}") from error
    np.random.set_state((kind, np.array(keys, np.uint32), *rest))


def save_training(config: Config, model: MaskablePPO, folder: Path) -> None:
    """Write checkpoint.pt and a copy named by its number of decisions; remove the oldest copy."""
    numbered = folder / "checkpoints" / f"{model.num_timesteps:012d}.pt"
    training = pack_training(model)
    for path in (numbered, folder / "checkpoint.pt"):
        save_checkpoint(
            path,
            config.make_rules(),
            config.network.model_dump(mode="json"),
            model.policy.state_dict(),
            config=config.to_yaml(),
            training=training,
        )
    for old in sorted(numbered.parent.glob("[0-9]*.pt"))[: -config.checkpoints.keep]:
        old.unlink()


def load_training(model: MaskablePPO, folder: Path) -> int:
    """Restore the newest checkpoint of a run; return its number of decisions."""
    path = folder / "checkpoint.pt"
    unpack_training(model, read_checkpoint(path), path)
    return int(model.num_timesteps)


# --------------------------------------------------------------------------------------- watching


class TensorBoardWriter(KVWriter):
    """Writes SB3's metrics for TensorBoard, without those after the point of resuming."""

    def __init__(self, folder: Path, purge_step: int | None) -> None:
        self.writer = SummaryWriter(str(folder), purge_step=purge_step)

    def write(
        self, key_values: dict[str, Any], key_excluded: dict[str, tuple[str, ...]], step: int = 0
    ) -> None:
        """Write one number for each key."""
        for key, value in key_values.items():
            if "tensorboard" not in (key_excluded.get(key) or ()):
                self.writer.add_scalar(key, float(value), step)
        self.writer.flush()

    def close(self) -> None:
        """Close the file."""
        self.writer.close()


class Watcher(BaseCallback):
    """Collects results of episodes, reports iterations, saves checkpoints, takes snapshots.

    pool: the opponents; report: called with the metrics of every iteration; save: called when a
    checkpoint is due.
    """

    def __init__(
        self,
        config: Config,
        pool: OpponentPool,
        report: Callable[[dict[str, float]], None],
        save: Callable[[], None],
    ) -> None:
        super().__init__()
        self.config, self.report, self.save = config, report, save
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
        return True

    def _on_rollout_end(self) -> None:
        figures = self._figures()
        for name, value in figures.items():
            if name != "decisions":
                self.logger.record(f"rounds/{name}", value)
        self.report(figures)
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


def learn(
    config: Config,
    model: MaskablePPO,
    folder: Path,
    report: Callable[[dict[str, float]], None],
) -> None:
    """Train until the config's number of decisions is reached."""
    done = int(model.num_timesteps)
    writer = TensorBoardWriter(folder / "tensorboard", purge_step=done or None)
    model.set_logger(Logger(str(folder), [writer]))
    env = model.get_env()
    assert isinstance(env, DominoVecEnv)
    watcher = Watcher(config, env.pool, report, lambda: save_training(config, model, folder))
    watcher.saved_at = done if done else -1
    try:
        if done < config.ppo.decisions:
            # SB3 adds the finished decisions, so schedules see the same total after resuming
            model.learn(config.ppo.decisions - done, watcher, reset_num_timesteps=not done)
    finally:
        model.logger.close()
