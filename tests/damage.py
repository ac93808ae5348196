"""Damage to files of every kind: bits flipped, ends cut off. `tests/soak.py` does more of it."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np

from dominoenv.core.cache import KERNEL
from dominoenv.core.container import read_container, write_container
from dominoenv.errors import CheckpointError
from experiments.config import load_config
from experiments.tournament import TournamentConfig
from experiments.tournament.run import play_block
from experiments.tournament.schedule import Block, blocks
from experiments.tournament.store import Store

CONFIGS = Path(__file__).resolve().parent.parent / "configs"
SELF_PLAY = ["threads=1", "environment.games=8", "ppo.steps=4", "ppo.batch_size=32"]
SELF_PLAY += ["ppo.decisions=64", "network.hidden=[4]", "checkpoints.every=1"]
SELF_PLAY += ["environment.opponents.2.every=1", "rules={players: 3, max_pip: 6, hand_size: 4}"]
SMALL = ["rules={players: 3, max_pip: 6, hand_size: 4}", "pair_deals=20", "block=20"]


@dataclass(frozen=True)
class Victim:
    """A whole file, and how it is read: None, or a CheckpointError, where it is refused."""

    path: Path
    read: Callable[[], Any]


def make_checkpoint(folder: Path) -> Victim:
    """Train for two iterations with self-play; return the last checkpoint, with its snapshots."""
    from experiments import ppo

    config = load_config(CONFIGS / "mexican_train_selfplay.yaml", SELF_PLAY)
    model = ppo.make_model(config, ppo.make_env(config))
    path = folder / ppo.NEWEST
    ppo.learn(config, model, folder, Mock())

    def read() -> Any:
        content = ppo.read_checkpoint(path)  # before the model: quicker where it is refused
        resumed = ppo.make_model(config, ppo.make_env(config))
        ppo.unpack_training(resumed, content, path)
        return [resumed.policy.state_dict(), ppo.pack_training(resumed)]

    return Victim(path, read)


def block_of(folder: Path, *overrides: str) -> tuple[TournamentConfig, Store, Block]:
    """Return a small tournament's config, its store and its first block, of 120 games."""
    config = load_config(CONFIGS / "tournament_quick.yaml", [*SMALL, *overrides], TournamentConfig)
    return config, Store(config, folder), blocks(config)[0]


def make_block(folder: Path) -> Victim:
    """Play a block of a tournament."""
    config, store, block = block_of(folder)
    store.write(block, *play_block(config, block))

    def read() -> Any:
        found = store.read(block)
        return found and [found[0].arrays(), found[1]]

    return Victim(store.path(block), read)


def make_kernel(folder: Path) -> Victim:
    """Write what the compile cache writes, with other content than machine code."""
    path = folder / "kernel.nbc"
    write_container(path, KERNEL, np.arange(5000).view(np.uint8), mode=0o600)
    return Victim(path, lambda: read_container(path, KERNEL, private=True))


MAKERS = {"checkpoint": make_checkpoint, "block": make_block, "kernel": make_kernel}


def damage(victim: Victim, flips: int, cuts: int, seed: int) -> int:
    """Damage a file in many ways, one after another; return how often it was read as it was.

    Raises AssertionError where other content is read, and whatever else than a refusal comes.
    """
    rng = random.Random(seed)
    whole, expected = victim.path.read_bytes(), flat(victim.read())
    same = 0
    for number in range(flips + cuts):
        spoilt = bytearray(whole)
        where = rng.randrange(min(len(whole), rng.choice([100, 2000, len(whole)])))
        if number < flips:
            spoilt[where] ^= 1 << rng.randrange(8)
        else:
            del spoilt[where:]
        victim.path.write_bytes(spoilt)
        try:
            found = victim.read()
        except CheckpointError:
            found = None
        assert found is None or flat(found) == expected, (number, where)
        same += found is not None
    victim.path.write_bytes(whole)
    assert flat(victim.read()) == expected
    return same


def flat(content: Any) -> Any:
    """Return content such that == compares all of it."""
    if isinstance(content, dict):
        return {key: flat(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [flat(value) for value in content]
    if hasattr(content, "__array__"):
        array = np.asarray(content)
        array = array.astype(array.dtype.newbyteorder("="))
        return array.dtype.str, array.shape, array.tobytes()
    return content
