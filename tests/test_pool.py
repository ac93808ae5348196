"""Pools of opponents: drawing, changing while games run, results, saving."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import gymnasium
import numpy as np
import pytest

from dominoenv import (
    CheckpointError,
    DominoError,
    UnknownNameError,
    make_policy,
    make_rules,
)
from dominoenv.envs.learner import LearnerGames
from dominoenv.envs.single import DominoEnv
from dominoenv.opponents.pool import WINDOW, FunctionPolicy, OpponentPool
from dominoenv.opponents.snapshot import Snapshot

RULES = make_rules("chicken_foot", players=4, max_pip=6)
Function = Callable[[np.ndarray, np.ndarray], np.ndarray]


def first_legal(observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
    return masks.argmax(axis=1)


def snapshot(seed: int, taken_at: int = 0) -> Snapshot:
    rng = np.random.default_rng(seed)
    probe = make_policy("random", RULES)
    sizes = (probe.layout.size, 8, probe.num_actions)
    layers = [(rng.normal(size=(m, n)), rng.normal(size=n)) for m, n in pairwise(sizes)]
    return Snapshot(RULES, layers, "tanh", taken_at=taken_at)


def counting(calls: list[int]) -> Function:
    def play(observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
        calls.append(len(masks))
        return masks.argmax(axis=1)

    return play


def play_on(games: LearnerGames, steps: int) -> list[np.ndarray]:
    """Play the first legal action; return all that the learner gets to know."""
    said = []
    for _ in range(steps):
        rewards = games.step(games.masks().argmax(axis=1))
        ended = games.done
        games.restart(np.flatnonzero(ended))
        said += [rewards, ended, games.observations(), games.lineup.copy()]
    return said


def same(one: list[np.ndarray], other: list[np.ndarray]) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


# ---------------------------------------------------------------------------------------- drawing


def test_members_are_drawn_in_proportion_to_their_weights() -> None:
    pool = OpponentPool(RULES, [("random", 1), ("heaviest", 2), (first_legal, 5)])
    drawn = pool.draw(3, np.arange(20_000))
    assert drawn.shape == (20_000, 4)
    for seat in range(4):
        shares = np.bincount(drawn[:, seat], minlength=3) / len(drawn)
        assert shares == pytest.approx([1 / 8, 2 / 8, 5 / 8], abs=0.015)  # 4 standard errors
    together = (drawn[:, 0] == 2) & (drawn[:, 1] == 2)
    assert together.mean() == pytest.approx(25 / 64, abs=0.015)  # seats are independent
    pool.reweigh({"heaviest": 1e6})
    assert (pool.draw(3, np.arange(1000)) == 1).mean() > 0.99


def test_a_draw_depends_on_seed_match_and_pool_alone() -> None:
    matches = np.arange(500)
    pool = OpponentPool(RULES, [("random", 1), ("heaviest", 2)])
    drawn = pool.draw(3, matches)
    assert np.array_equal(drawn[::-7], pool.draw(3, matches[::-7]))
    assert not np.array_equal(drawn, pool.draw(4, matches))
    pool.add(first_legal, 4)
    assert not np.array_equal(drawn, pool.draw(3, matches))
    pool.remove("function")
    assert np.array_equal(drawn, pool.draw(3, matches))
    assert np.array_equal(
        drawn, OpponentPool(RULES, [("random", 3), ("heaviest", 6)]).draw(3, matches)
    )


def test_a_mixture_is_the_simplest_pool() -> None:
    mixture = [("random", 1), ("heaviest", 3)]
    direct = LearnerGames(RULES, 16, mixture, seed=1)
    pooled = LearnerGames(RULES, 16, OpponentPool(RULES, mixture), seed=1)
    assert same(play_on(direct, 40), play_on(pooled, 40))


# ------------------------------------------------------------------------------------- changing


def test_games_that_are_played_keep_their_line_up() -> None:
    old, new = [], []
    games = LearnerGames(RULES, 32, counting(old), seed=1, seat=0)
    games.pool.replace([(counting(new), 1)])
    before = games.lineup.copy()
    seen = len(old)
    running = np.ones(32, bool)
    while running.any():
        assert (games.lineup[running] == before[running]).all() and not new
        ended = games.done
        index = np.flatnonzero(~ended)
        games.step(games.masks()[index].argmax(axis=1), index)
        running &= ~games.done
    assert len(old) > seen
    seen = len(old)
    games.restart(np.arange(32))
    play_on(games, 5)
    assert len(old) == seen and new
    assert [member.name for member in games.pool.members] == ["function"]
    assert set(np.unique(games.lineup)) == {games.pool["function"].number}


def test_former_members_are_forgotten_once_nobody_needs_them() -> None:
    def saved_names(games: LearnerGames) -> list[str]:
        members = json.loads(games.get_state()["text"])["pool"]["members"]
        return [member["name"] for member in members]

    games = LearnerGames(RULES, 8, "random", seed=1)
    for number in range(5):
        games.pool.add(snapshot(number), 3, name=f"new-{number}")
        play_on(games, 3)
        if number:
            games.pool.remove(f"new-{number - 1}")
    assert len(saved_names(games)) > 2
    play_on(games, 60)
    assert saved_names(games) == ["random", "new-4"]
    assert len([name for name in games.get_state() if name.startswith("member")]) == 4


def test_a_newcomer_that_raises_is_named_and_can_be_removed() -> None:
    def broken(observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
        raise ZeroDivisionError("no plan")

    def illegal(observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
        return masks.argmin(axis=1)

    games = LearnerGames(RULES, 4, "random", seed=1)
    for bad, error, reason in (
        (broken, ZeroDivisionError, "no plan"),
        (illegal, DominoError, "opponent 'newcomer'"),
    ):
        games.pool.add(bad, 1e6, name="newcomer")
        with pytest.raises(error, match=reason):
            play_on(games, 60)
        with pytest.raises(DominoError, match="broke off"):
            games.step(games.masks().argmax(axis=1))
        games.pool.remove("newcomer")
        games.reset()
        play_on(games, 30)


def test_an_opponent_may_change_the_pool_it_is_in() -> None:
    def restless(observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
        games.pool.replace([("random", 1), (restless, 1)])
        return masks.argmax(axis=1)

    games = LearnerGames(RULES, 4, [("random", 1)], seed=1)
    games.pool.add(restless)
    play_on(games, 60)
    assert len(json.loads(games.get_state()["text"])["pool"]["members"]) <= 2 + 4 * 4


def test_names_are_given_once_at_a_time() -> None:
    pool = OpponentPool(RULES, [("random", 1), ("random", 2), (first_legal, 1)])
    assert repr(pool) == "OpponentPool(random 1, random-2 2, function 1)"
    assert pool.add("random").name == "random-3"
    pool.remove("random-2")
    again = pool.add("random")
    assert (again.name, again.number) == ("random-2", 4)
    assert len(pool) == 4 and "random" in pool and "random-9" not in pool
    with pytest.raises(UnknownNameError, match="did you mean 'random'"):
        pool.remove("rndom")

    class Nameless(type(make_policy("random", RULES))):  # type: ignore[misc]
        name = ""

    assert pool.add(Nameless(RULES)).name == pool["Nameless"].kind == "Nameless"


def test_what_cannot_be_changes_nothing() -> None:
    pool = OpponentPool(RULES, "random")
    before = pool.add("heaviest").number
    stranger = make_policy("random", make_rules("mexican_train"))
    changes: list[tuple[Callable[[], Any], str]] = [
        (lambda: pool.add("rndom"), "did you mean 'random'"),
        (lambda: pool.add(stranger), "plays Mexican Train"),
        (lambda: pool.add(Snapshot), "neither a policy"),  # type: ignore[arg-type]
        (lambda: pool.add("random", name="heaviest"), "not taken"),
        (lambda: pool.add("random", name=""), "not taken"),
        (lambda: pool.reweigh({"random": 3, "heaviest": 0}), "weight above 0"),
        (lambda: pool.reweigh({"random": 3, "nobody": 1}), "opponent 'nobody'"),
        (lambda: pool.replace([]), "at least one"),
        (lambda: pool.replace([("heaviest", 1), ("random", -1)]), "weight above 0"),
        (lambda: pool.replace(["random"]), "weight"),  # type: ignore[list-item]
        (lambda: pool.replace(7), "must be a policy, the name"),  # type: ignore[arg-type]
    ]
    changes += [
        (lambda weight=weight: pool.add("random", weight), "weight above 0")
        for weight in (0, -1, float("nan"), float("inf"), 1e308, "1", None)
    ]
    for change, reason in changes:
        with pytest.raises(DominoError, match=reason):
            change()
        assert repr(pool) == "OpponentPool(random 1, heaviest 1)"
    assert pool.add("random").number == before + 1


def test_a_pool_is_never_emptied() -> None:
    empty = OpponentPool(RULES)
    with pytest.raises(DominoError, match="the pool is empty: opponents must be at least one"):
        LearnerGames(RULES, 2, empty)
    empty.add("random")
    games = LearnerGames(RULES, 2, empty)
    with pytest.raises(DominoError, match="'random' is the last one in the pool"):
        games.pool.remove("random")
    play_on(games, 20)
    with pytest.raises(DominoError, match="members play Chicken Foot"):
        LearnerGames("mexican_train", 2, empty)


# ------------------------------------------------------------------------------------ environments


def test_environments_may_share_a_pool_but_no_generators() -> None:
    pool = OpponentPool(RULES, "random")
    one, other = (LearnerGames(RULES, 4, pool, seed=3) for _ in range(2))
    assert same(play_on(one, 30), play_on(other, 30))
    pool.replace("heaviest")
    assert same(play_on(one, 60), play_on(other, 60))
    assert set(np.unique(one.lineup)) == {pool["heaviest"].number}
    twin = copy.deepcopy(one)
    twin.pool.replace("random")
    assert "heaviest" in pool and "heaviest" not in twin.pool


def test_a_copied_environment_goes_on_identically() -> None:
    env = DominoEnv("chicken_foot", RULES, opponents=[("random", 1), (snapshot(1), 1)], seed=1)
    env.set_opponents([("heaviest", 1), (snapshot(2), 1)])
    for twin in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        twin.pool.add("random", 2)
        assert len(env.pool) == 2
    twins = [copy.deepcopy(env), pickle.loads(pickle.dumps(env))]
    assert same(play_on(twins[0].learner, 30), play_on(twins[1].learner, 30))


def test_opponents_change_in_other_processes_too() -> None:
    def make() -> DominoEnv:
        return DominoEnv("chicken_foot", RULES, opponents=OpponentPool(RULES, "random"))

    envs = gymnasium.vector.AsyncVectorEnv([make] * 2, context="spawn")
    try:
        envs.reset(seed=1)
        envs.call("set_opponents", [("heaviest", 1), ("random", 2)])
        assert [repr(pool) for pool in envs.get_attr("pool")] == [
            "OpponentPool(heaviest 1, random 2)"
        ] * 2
    finally:
        envs.close()


def test_gymnasium_takes_a_pool_and_keeps_it() -> None:
    pool = OpponentPool(RULES, "random")
    options = {"players": 4, "max_pip": 6, "opponents": pool}
    envs = gymnasium.make_vec("dominoenv/ChickenFoot-v0", num_envs=4, **options)
    envs.set_opponents("heaviest")  # type: ignore[attr-defined]
    assert "heaviest" in envs.pool  # type: ignore[attr-defined]
    env = gymnasium.make("dominoenv/ChickenFoot-v0", **options)
    env.get_wrapper_attr("set_opponents")("random")
    assert repr(env.unwrapped.pool) == "OpponentPool(random 1)"  # type: ignore[attr-defined]


# ----------------------------------------------------------------------------------------- results


@pytest.mark.parametrize("episode", ["round", "match"])
def test_results_are_counted_seat_by_seat(episode: str) -> None:
    rules = make_rules("chicken_foot", players=3, max_pip=6, rounds=[6, 2])
    games = LearnerGames(rules, 8, [("random", 1), ("heaviest", 1)], seed=2, episode=episode)
    expected = {"random": np.zeros(2), "heaviest": np.zeros(2)}
    names = {member.number: member.name for member in games.pool.members}
    for _ in range(60):
        games.step(games.masks().argmax(axis=1))
        for game in np.flatnonzero(games.done):
            scores = games.game.scores[game].tolist()
            own = scores[games.seats[game]]
            for seat in range(3):
                if seat != games.seats[game]:
                    won = 1.0 if own < scores[seat] else 0.5 if own == scores[seat] else 0.0
                    expected[names[games.lineup[game, seat]]] += (1, won)
        games.restart(np.flatnonzero(games.done))
    for name, (seats, beaten) in expected.items():
        member, total = games.pool[name], games.pool.totals[name]
        assert seats > 10
        assert (total.seats, total.beaten) == (member.recent.seats, member.recent.beaten)
        assert (total.seats, total.beaten) == (seats, beaten)
        assert member.beaten_share == pytest.approx((beaten + 10) / (seats + 20))


def test_recent_results_count_more_and_kinds_outlive_their_members() -> None:
    pool = OpponentPool(RULES, "random")
    member = pool.add(first_legal)
    assert member.beaten_share == 0.5
    for _ in range(50):
        pool.note(member, WINDOW // 10, 0.0)
    assert member.beaten_share < 0.01 and member.recent.seats == WINDOW
    for _ in range(50):
        pool.note(member, WINDOW // 10, WINDOW / 10)
    assert member.beaten_share > 0.97
    pool.remove("function")
    successor = pool.add(first_legal)
    pool.note(member, 10, 10.0)
    assert successor.beaten_share == 0.5
    assert pool.totals["function"].seats == 10 * WINDOW + 10


# ----------------------------------------------------------------------------------------- saving


def changing(games: LearnerGames, steps: range) -> list[np.ndarray]:
    """Play while the pool changes by a plan."""
    said = []
    for step in steps:
        if step % 7 == 0:
            games.pool.add(snapshot(step, step), 2, name=f"snapshot-{step}")
        if step % 14 == 7:
            games.pool.remove(f"snapshot-{step - 7}")
        if step == 10:
            games.pool.remove("heaviest")
        if step == 25:
            games.pool.reweigh({"random": 4})
        said += play_on(games, 1)
    return said


@pytest.mark.parametrize("at", [9, 12, 30])
def test_saved_games_go_on_identically_with_their_pool(at: int) -> None:
    mixture = [("random", 1), ("heaviest", 2)]
    games = LearnerGames(RULES, 8, mixture, seed=3, episode="match")
    games.reset(match=5)
    changing(games, range(at))
    saved = pickle.loads(pickle.dumps(games.get_state()))
    expected = changing(games, range(at, 60))
    other = LearnerGames(RULES, 8, mixture, seed=77, episode="match")
    other.set_state(saved)
    assert repr(other.pool) != "OpponentPool(random 1, heaviest 2)"
    again = other.get_state()
    assert again["text"] == saved["text"] and again.keys() == saved.keys()
    assert same(expected, changing(other, range(at, 60)))
    assert other.get_state()["text"] == games.get_state()["text"]


def test_states_that_do_not_fit_change_nothing() -> None:
    games = LearnerGames(RULES, 4, "random", seed=3)
    games.pool.add(snapshot(1))
    play_on(games, 20)
    saved = games.get_state()
    other = LearnerGames(RULES, 4, "heaviest", seed=4)
    with pytest.raises(CheckpointError, match="has an opponent 'random', which this one lacks"):
        other.set_state(saved)
    fresh = LearnerGames(RULES, 4, "random", seed=4)
    arrays = [name for name in saved if name.startswith("member")]
    bad: list[tuple[dict[str, Any], str]] = [
        ({arrays[0]: saved[arrays[0]][:-1]}, "cannot be restored: layers of shapes"),
        ({arrays[1]: saved[arrays[1]] * np.nan}, "cannot be restored: a snapshot needs finite"),
        ({"lineup": saved["lineup"] + 90}, "line-ups name opponents"),
        ({"seats": saved["seats"][:-1]}, "seats of shape"),
    ]
    for change, reason in bad:
        before, names = fresh.get_state(), repr(fresh.pool)
        with pytest.raises(CheckpointError, match=reason):
            fresh.set_state({**saved, **change})
        after = fresh.get_state()
        assert all(np.array_equal(before[name], after[name]) for name in before)
        assert repr(fresh.pool) == names
    missing = {name: value for name, value in saved.items() if name != arrays[0]}
    with pytest.raises(CheckpointError, match="cannot be restored"):
        fresh.set_state(missing)
    fresh.set_state(saved)


def test_a_function_is_put_back_under_its_name() -> None:
    games = LearnerGames(RULES, 4, "random", seed=3)
    games.pool.add(first_legal, 2, name="mine")
    play_on(games, 30)
    saved = games.get_state()
    other = LearnerGames(RULES, 4, "random", seed=4)
    other.pool.add(first_legal, 9, name="mine")
    other.set_state(saved)
    assert repr(other.pool) == repr(games.pool)
    assert isinstance(other.pool["mine"].policy, FunctionPolicy)
    assert same(play_on(games, 30), play_on(other, 30))
