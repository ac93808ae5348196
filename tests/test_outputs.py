"""Arrays of the caller, threads, all seats at once: the same games, and no memory a step."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
import tracemalloc

import numpy as np
import pytest

from dominoenv import (
    BatchedGame,
    DominoError,
    IllegalActionError,
    make_policy,
    make_rules,
)
from dominoenv.core.threads import map_slices

RULES = make_rules("mexican_train", players=4)


def same(one: BatchedGame, other: BatchedGame) -> bool:
    return all(
        np.array_equal(getattr(one, field), getattr(other, field))
        for field in ("states", "masks", "observations", "rewards", "penalties", "episode_over")
    )


def test_outputs_are_written_into_the_callers_arrays() -> None:
    plain = BatchedGame(RULES, 8, seed=1)
    rollout = np.zeros((3, 8, plain.layout.size), np.uint8)
    out = {
        "masks": np.full((8, plain.num_actions), 7, np.int8),
        "observations": rollout[1],
        "rewards": np.full((8, 4), 7, np.float32),
    }
    game = BatchedGame(RULES, 8, seed=1, out=out)
    policy = make_policy("random", RULES, seed=2)
    for _ in range(150):
        assert all(getattr(game, name) is array for name, array in out.items())
        assert same(game, plain)
        actions = policy.act(game.observations, game.masks)
        game.step(actions)
        plain.step(actions)
    assert not rollout[0].any() and not rollout[2].any()
    twin = copy.deepcopy(game)
    twin.step(policy.act(twin.observations, twin.masks))
    assert same(game, plain)


@pytest.mark.parametrize(
    ("out", "what"),
    [
        ({"mask": np.zeros((8, 4))}, "out: 'mask'.*masks"),
        ({"rewards": np.zeros((8, 4))}, "rewards must be float32"),
        ({"rewards": np.zeros((4, 8), np.float32).T}, "rewards must be C-contiguous"),
        ({"rewards": np.zeros((8, 3), np.float32)}, r"shape \(8, 4\)"),
        ({"observations": [[0]]}, "observations must be uint8.*list"),
        ({"rewards": np.broadcast_to(np.float32(0), (8, 4))}, "rewards must be C-contiguous"),
    ],
)
def test_arrays_that_cannot_be_written_are_refused(out: dict[str, object], what: str) -> None:
    with pytest.raises(DominoError, match=what):
        BatchedGame(RULES, 8, seed=1, out=out)  # type: ignore[arg-type]


def test_arrays_that_overlap_are_refused() -> None:
    plain = BatchedGame(RULES, 8, seed=1)
    masks, rows = 8 * plain.num_actions, 8 * plain.layout.size
    memory = np.zeros(masks + rows, np.uint8)

    def outputs(start: int) -> dict[str, np.ndarray]:
        return {
            "masks": memory[:masks].view(np.int8).reshape(8, -1),
            "observations": memory[start : start + rows].reshape(8, -1),
        }

    for start in (0, 8, masks - 1):
        with pytest.raises(DominoError, match="masks and observations overlap: give each"):
            BatchedGame(RULES, 8, seed=1, out=outputs(start))
    game = BatchedGame(RULES, 8, seed=1, out=outputs(masks))  # next to each other
    game.step(game.masks.argmax(1))
    plain.step(plain.masks.argmax(1))
    assert same(game, plain)


def test_what_a_step_is_given_must_not_overlap_its_outputs() -> None:
    rewards = np.zeros((8, 4), np.float32)
    game = BatchedGame(RULES, 8, seed=1, out={"rewards": rewards})
    before, inside = game.copy(), rewards.view(np.int64).ravel()
    with pytest.raises(DominoError, match="actions and out: rewards overlap"):
        game.step(inside[:8])
    with pytest.raises(DominoError, match="games and out: rewards overlap"):
        game.step(game.masks[:1].argmax(1), inside[:1])
    assert same(game, before)


def test_a_subclass_is_written_as_the_plain_array_that_it_is() -> None:
    plain = BatchedGame(RULES, 8, seed=1)
    matrix = np.zeros((8, plain.num_actions), np.int8).view(np.matrix)
    game = BatchedGame(RULES, 8, seed=1, out={"masks": matrix})
    game.step(game.masks.argmax(1))
    plain.step(plain.masks.argmax(1))
    assert same(game, plain) and np.array_equal(np.asarray(matrix), plain.masks)


def test_a_step_allocates_nothing_that_grows_with_the_batch() -> None:
    game = BatchedGame(RULES, 4096, seed=0)
    policy = make_policy("random", RULES)
    choices = []
    for _ in range(30):
        choices.append(policy.act(game.observations, game.masks))
        game.step(choices[-1])
    game.reset(0)
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        for actions in choices:
            game.step(actions)
        peak = tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()
    assert peak < 4096  # a byte a game would show


@pytest.mark.parametrize("game", ["mexican_train", "chicken_foot"])
def test_threads_play_the_same_games(game: str) -> None:
    rules = make_rules(game, players=3)
    one, three = (BatchedGame(rules, 1000, seed=1, num_threads=n) for n in (1, 3))
    policy = make_policy("random", rules, seed=2)
    for step in range(60):
        some = np.arange(1000) if step % 3 else np.arange(0, 1000, 3)
        actions = policy.act(one.observations[some], one.masks[some])
        one.step(actions, some)
        three.step(actions, some)
        assert same(one, three)
    twin = pickle.loads(pickle.dumps(three))
    assert same(one, twin) and twin.num_threads == 3


def test_an_illegal_action_in_any_thread_changes_nothing() -> None:
    game = BatchedGame(RULES, 1000, seed=1, num_threads=2)
    before = copy.deepcopy(game)
    actions = make_policy("random", RULES).act(game.observations, game.masks)
    for place in (3, 700):
        bad = actions.copy()
        bad[place] = int(game.masks[place].argmin())
        with pytest.raises(IllegalActionError, match=f"game {place}:"):
            game.step(bad)
        assert same(game, before)


def test_an_exception_in_a_thread_is_raised_once_all_are_done() -> None:
    done = []

    def work(part: slice) -> int:
        if part.start:
            raise KeyError(part.start)
        done.append(part)
        return 1

    with pytest.raises(KeyError):
        map_slices(10_000, 2, work)
    assert len(done) == 1
    assert map_slices(10, 2, lambda part: part.stop) == [10]  # too few to map_slices


def _step_in_child(states: bytes, results: multiprocessing.Queue) -> None:  # type: ignore[type-arg]
    game = BatchedGame(RULES, 1000, seed=1, num_threads=2)
    game.step(game.masks.argmax(1))
    results.put(game.states.tobytes() == states)


def test_threads_work_on_after_a_fork() -> None:
    game = BatchedGame(RULES, 1000, seed=1, num_threads=2)
    game.step(game.masks.argmax(1))
    context = multiprocessing.get_context("fork")
    results = context.Queue()
    child = context.Process(target=_step_in_child, args=(game.states.tobytes(), results))
    child.start()
    assert results.get(timeout=600)
    child.join()


def test_all_seats_are_observed_at_once() -> None:
    game = BatchedGame(RULES, 5, seed=3)
    views = game.observe_all()
    assert views.shape == (5, 4, game.layout.size)
    for seat in range(4):
        assert np.array_equal(views[:, seat], game.observe(seat))
    assert np.array_equal(views[np.arange(5), game.to_move], game.observations)
