"""What play looked like in version 0.1.0, as hashes: `python -m tests.golden` prints them anew.

Everything goes through the public interface, so that the same program runs on any version. The
hashes in `golden.json` were taken before the package was put in order; `test_golden.py` compares.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import dominoenv
from dominoenv import BatchedGame, Game, make_policy, make_rules, policy_names

FILE = Path(__file__).with_name("golden.json")

TABLES: dict[str, dict[str, Any]] = {
    "mt engine d9 4": {"game": "mexican_train", "players": 4},
    "mt engine d6 2": {"game": "mexican_train", "players": 2, "max_pip": 6},
    "mt station d12 6": {"game": "mexican_train", "preset": "station", "players": 6},
    "mt pagat d12 10": {"game": "mexican_train", "preset": "pagat", "players": 10},
    "mt tournament d9 3": {"game": "mexican_train", "preset": "tournament", "players": 3},
    "mt openings d9 4": {
        "game": "mexican_train",
        "opening": "whole_train",
        "draws": "per_turn",
        "first_starter": "seed",
        "double_blank": 25,
    },
    "mt binds d18 8": {
        "game": "mexican_train",
        "players": 8,
        "max_pip": 18,
        "dead_double": "binds",
        "double_followup": "none",
        "own_train_first": True,
    },
    "cf d9 4": {"game": "chicken_foot", "players": 4},
    "cf d12 7": {"game": "chicken_foot", "players": 7, "max_pip": 12},
    "cf pagat d9 2": {"game": "chicken_foot", "preset": "pagat", "players": 2},
    "cf released d6 3": {
        "game": "chicken_foot",
        "players": 3,
        "max_pip": 6,
        "toes": 4,
        "dead_foot": "released",
        "rounds": [6, 1, 0],
    },
}


class Digest:
    """A hash over arrays and plain values."""

    def __init__(self) -> None:
        self._hash = hashlib.sha256()

    def add(self, *values: Any) -> None:
        for value in values:
            if isinstance(value, np.ndarray):
                self._hash.update(f"{value.dtype.str}{value.shape}".encode())
                self._hash.update(np.ascontiguousarray(value).tobytes())
            else:
                self._hash.update(json.dumps(value, sort_keys=True).encode())

    def __str__(self) -> str:
        return self._hash.hexdigest()[:24]


def table(name: str) -> Any:
    options = dict(TABLES[name])
    return make_rules(options.pop("game"), **options)


def pick(masks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw one legal action of each row."""
    return (masks * rng.random(masks.shape)).argmax(axis=1)


def stepping(name: str) -> str:
    """Observations, masks, rewards, penalties, scores and winners of random play."""
    digest = Digest()
    for episode, reward, forced in (("round", "zero_sum", "explicit"), ("match", "win", "auto")):
        game = BatchedGame(table(name), 16, seed=5, episode=episode, reward=reward, forced=forced)
        rng = np.random.default_rng(1)
        for _ in range(300):
            game.step(pick(game.masks, rng))
            digest.add(game.observations, game.masks, game.rewards, np.array(game.to_move))
            digest.add(np.array(game.penalties), np.array(game.scores), np.array(game.winners))
        parts = [(part.start, part.size, part.high) for part in game.layout.parts]
        digest.add(parts, game.num_actions)
    return str(digest)


def choices(name: str) -> str:
    """Choices, scores and probabilities of every agent at the same decisions."""
    digest, rules = Digest(), table(name)
    for policy_name in policy_names(rules.game):
        game = BatchedGame(rules, 8, seed=9, forced="auto")
        policy = make_policy(policy_name, rules, seed=3)
        rng = np.random.default_rng(2)
        for step in range(60):
            chosen = policy.act(game.observations, game.masks)
            digest.add(policy_name, chosen.astype(np.int64))
            if step % 20 == 0:
                for found in (
                    policy.scores(game.observations, game.masks),
                    policy.probabilities(game.observations, game.masks),
                ):
                    digest.add(None if found is None else np.where(game.masks, found, 0.0))
            mixed = np.where(rng.random(8) < 0.5, chosen, pick(game.masks, rng))
            game.step(mixed)
    return str(digest)


def texts(name: str) -> str:
    """Moves, positions and pictures in text of a match, and its record."""
    digest, rng = Digest(), np.random.default_rng(4)
    game = Game(TABLES[name]["game"], table(name), seed=11)
    for _ in range(2):
        while not game.round_over:
            moves = game.legal_moves()
            digest.add(moves, position_of(game), game.text("all"))
            game.push(moves[int(rng.integers(len(moves)))])
        digest.add(position_of(game), game.penalties, game.scores)
        if game.over:
            break
        game.next_round()
    record = game.record()
    header, *lines = [json.loads(line) for line in record.lines()]
    del header["library"]
    digest.add(header, *lines)
    return str(digest)


def position_of(game: Game) -> dict[str, Any]:
    """Return a position under the names of version 0.1.0, which called voids "lacks"."""
    position = game.position()
    if "voids" in position:
        position["lacks"] = position.pop("voids")
    return position


def pictures(name: str) -> str:
    """SVG pictures on the way through a round."""
    digest, rng = Digest(), np.random.default_rng(6)
    game = Game(TABLES[name]["game"], table(name), seed=12)
    while not game.round_over:
        if len(game.moves) % 10 == 0:
            digest.add(game.svg("all"))
        moves = game.legal_moves()
        game.push(moves[int(rng.integers(len(moves)))])
    digest.add(game.svg())
    return str(digest)


def search(name: str) -> str:
    """Playouts, and what a seat cannot see dealt anew."""
    digest, rules = Digest(), table(name)
    game, rng = BatchedGame(rules, 4, seed=7), np.random.default_rng(8)
    for _ in range(20):
        game.step(pick(game.masks, rng))
    for policy in ("random", "heaviest"):
        found = dominoenv.playouts(rules, game.states, 3, policy=policy, seed=1)
        digest.add(found.penalties, found.decisions)
    other = game.redeal_hidden(1, np.random.default_rng(5))
    digest.add(other.observe(1), other.states["boneyard"], other.states["hands"])
    return str(digest)


PARTS: dict[str, Callable[[str], str]] = {
    part.__name__: part for part in (stepping, choices, texts, pictures, search)
}


def all_hashes() -> dict[str, str]:
    return {f"{part}: {name}": PARTS[part](name) for part in PARTS for name in TABLES}


if __name__ == "__main__":
    json.dump(all_hashes(), sys.stdout, indent=1)
