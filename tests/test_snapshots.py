"""Snapshots of a learner, and which of them self-play keeps in a pool."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from dominoenv import (
    BatchedGame,
    CheckpointError,
    DominoError,
    make_policy,
    make_rules,
)
from dominoenv.envs.learner import LearnerGames
from dominoenv.opponents.pool import OpponentPool
from dominoenv.opponents.selfplay import SelfPlay
from dominoenv.opponents.snapshot import Snapshot

RULES = make_rules("chicken_foot", players=3, max_pip=6)
PROBE = make_policy("random", RULES)


def layers(seed: int = 0, hidden: tuple[int, ...] = (8,)) -> list[tuple[np.ndarray, np.ndarray]]:
    rng = np.random.default_rng(seed)
    sizes = (PROBE.layout.size, *hidden, PROBE.num_actions)
    return [(rng.normal(size=shape), rng.normal(size=shape[1])) for shape in pairwise(sizes)]


def snapshot(taken_at: int, **options: Any) -> Snapshot:
    return Snapshot(RULES, layers(taken_at), taken_at=taken_at, **options)


# --------------------------------------------------------------------------------------- snapshots


@pytest.mark.parametrize("hidden", [(), (5,), (7, 6)])
def test_a_snapshot_plays_by_its_perceptron(hidden: tuple[int, ...]) -> None:
    given = layers(1, hidden)
    game = BatchedGame(RULES, 40, 1)
    rows = game.layout.scaled(game.observations)
    for activation, function in (("tanh", np.tanh), ("relu", lambda x: np.maximum(x, 0))):
        expected = rows.astype(np.float64)
        for weights, biases in given[:-1]:
            expected = function(expected @ weights + biases)
        expected = expected @ given[-1][0] + given[-1][1]
        policy = Snapshot(RULES, given, activation, deterministic=True)
        assert policy.logits(rows) == pytest.approx(expected, abs=1e-3)
        assert np.array_equal(policy.logits(rows), policy.logits(game.observations))
        best = np.where(game.masks, policy.logits(rows), -np.inf).argmax(axis=1)
        assert np.array_equal(policy.act(rows, game.masks), best)
        assert np.array_equal(policy.act(game.observations, game.masks != 0), best)
    assert policy.act(rows[:0], game.masks[:0]).shape == (0,)


def test_a_drawn_action_follows_the_probabilities() -> None:
    game = BatchedGame(RULES, 40, 1, forced="auto")
    at = int(game.masks.sum(axis=1).argmax())
    rows, masks = game.observations[at : at + 1], game.masks[at : at + 1]
    legal = np.flatnonzero(masks[0])
    assert legal.size > 2
    policy = Snapshot(RULES, [(w / 4, b) for w, b in layers(3, ())], seed=4)
    logits = policy.logits(rows)[0, legal].astype(np.float64)
    expected = np.exp(logits) / np.exp(logits).sum()
    size = 20_000
    drawn = policy.act(rows.repeat(size, axis=0), masks.repeat(size, axis=0))
    shares = np.bincount(drawn, minlength=PROBE.num_actions)[legal] / size
    assert shares.sum() == 1
    assert shares == pytest.approx(expected, abs=0.016)  # more than 4 standard errors


def test_the_generator_decides_what_is_drawn() -> None:
    game = BatchedGame(RULES, 200, 1)
    one, other = (Snapshot(RULES, layers(), seed=seed) for seed in (3, 4))
    first = one.act(game.observations, game.masks)
    assert not np.array_equal(first, other.act(game.observations, game.masks))
    one.rng = np.random.default_rng(3)
    assert np.array_equal(first, one.act(game.observations, game.masks))


def test_a_snapshot_owns_its_weights() -> None:
    given = layers()
    given32 = [(w.astype(np.float32), b.astype(np.float32)) for w, b in given]
    policy = Snapshot(RULES, given32)
    rows = BatchedGame(RULES, 5, 1).observations
    before = policy.logits(rows)
    for weights, biases in given32:
        weights[:], biases[:] = 0, 0
    assert np.array_equal(before, policy.logits(rows))


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ([], "must lead from"),
        (layers()[:1], "must lead from"),
        (layers()[::-1], "must lead from"),
        ([(w.T, b) for w, b in layers()], "must lead from"),
        ([(w, b[:, None]) for w, b in layers()], "must lead from"),
        ([(w * np.inf, b) for w, b in layers()], "finite"),
        ([(w, "b") for w, _ in layers()], "arrays of numbers"),
        ([1, 2], "arrays of numbers"),
    ],
)
def test_layers_that_cannot_be_are_named(given: Any, reason: str) -> None:
    with pytest.raises(DominoError, match=reason):
        Snapshot(RULES, given)


def test_settings_that_cannot_be_are_named() -> None:
    with pytest.raises(DominoError, match="did you mean 'relu'"):
        Snapshot(RULES, layers(), "relo")
    with pytest.raises(CheckpointError, match="cannot be restored"):
        Snapshot.from_state(RULES, {"activation": "relu", "age": 3}, {})
    settings, arrays = Snapshot(RULES, layers()).get_state()
    with pytest.raises(CheckpointError, match=r"layout version 2 .* version 1"):
        Snapshot.from_state(RULES, {**settings, "layout": 2}, arrays)
    del settings["layout"]  # as in states that were saved before
    assert Snapshot.from_state(RULES, settings, arrays).layout.version == 1
    pool = OpponentPool(RULES, "random")
    for options, reason in (
        ({"keep": 0}, "keep=0"),
        ({"keep": 2.0}, "keep=2.0"),
        ({"which": "spacd"}, "did you mean 'spaced'"),
        ({"draw": "priority"}, "did you mean 'prioritised'"),
        ({"weight": 0}, "above 0"),
        ({"weight": float("nan")}, "finite"),
    ):
        with pytest.raises(DominoError, match=reason):
            SelfPlay(pool, **options)


# --------------------------------------------------------------------------------- which, how often


def times(selfplay: SelfPlay) -> list[int]:
    return [int(member.name.removeprefix("snapshot-")) for member in selfplay.snapshots]


def test_the_newest_are_kept() -> None:
    pool = OpponentPool(RULES, "random")
    selfplay = SelfPlay(pool, weight=3, keep=3)
    for time in range(0, 60, 10):
        selfplay.take(snapshot(time))
        assert len(pool) == 1 + len(selfplay.snapshots) <= 4
        assert sum(member.weight for member in selfplay.snapshots) == pytest.approx(3)
        assert pool["random"].weight == 1
    assert times(selfplay) == [30, 40, 50]


@pytest.mark.parametrize("keep", [1, 2, 3, 8])
def test_spaced_ones_cover_the_whole_training(keep: int) -> None:
    selfplay = SelfPlay(OpponentPool(RULES), keep=keep, which="spaced")
    for time in range(100):
        selfplay.take(snapshot(time))
        kept = times(selfplay)
        assert kept[-1] == time and len(kept) == min(keep, time + 1)
        assert kept[0] == 0 or keep == 1
        if keep > 2 and time > keep:
            assert np.diff(kept).max() <= 3 * time / (keep - 1)


def test_what_is_older_cannot_follow() -> None:
    selfplay = SelfPlay(OpponentPool(RULES, "random"))
    selfplay.take(snapshot(5))
    for late in (5, 4):
        with pytest.raises(DominoError, match="cannot follow one taken at 5"):
            selfplay.take(snapshot(late))
    assert times(selfplay) == [5]


def test_prioritised_ones_are_those_that_the_learner_beats_least() -> None:
    pool = OpponentPool(RULES, "random")
    selfplay = SelfPlay(pool, weight=2, keep=4, draw="prioritised")
    for time, beaten in ((1, 0.9), (2, 0.5), (3, 0.2), (4, 1.0)):
        selfplay.take(snapshot(time))
        pool.note(pool[f"snapshot-{time}"], 1_000_000, 1_000_000 * beaten)
    selfplay.weigh()
    weights = np.array([member.weight for member in selfplay.snapshots])
    chances = np.array([(1 - member.beaten_share) ** 2 for member in selfplay.snapshots])
    assert weights == pytest.approx(2 * np.maximum(chances, 1e-3) / chances.sum(), rel=0.01)
    assert (weights > 0).all() and weights.sum() == pytest.approx(2)
    assert weights.argmax() == 2
    selfplay.draw = "uniform"
    selfplay.weigh()
    assert [member.weight for member in selfplay.snapshots] == [0.5] * 4


def test_games_are_played_against_snapshots_while_they_come_and_go() -> None:
    games = LearnerGames(RULES, 16, "heaviest", seed=2)
    selfplay = SelfPlay(games.pool, weight=5, keep=2, draw="prioritised")
    for time in range(6):
        selfplay.take(snapshot(time))
        for _ in range(10):
            games.step(games.masks().argmax(axis=1))
            games.restart(np.flatnonzero(games.done))
    totals = games.pool.totals
    assert totals["snapshot"].seats > 2 * totals["heaviest"].seats > 0
