"""BatchedGame: the same games as single ones, whatever runs beside them; rewards; bad input."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dominoenv import (
    BatchedGame,
    DominoError,
    Game,
    GameOverError,
    IllegalActionError,
    Rules,
    RulesError,
    make_rules,
)
from dominoenv.games.registry import kind_of

TABLES = [
    make_rules("mexican_train", preset="engine", players=4),
    make_rules("mexican_train", preset="station", players=3),
    make_rules("mexican_train", preset="engine", players=2, opening="whole_train", max_pip=6),
    make_rules("chicken_foot", players=4),
    make_rules("chicken_foot", players=6, dead_foot="released", max_pip=12),
]
each_table = pytest.mark.parametrize("rules", TABLES, ids=lambda r: f"{r.game}-{r.players}")


def lowest_legal(game: BatchedGame) -> np.ndarray[Any, Any]:
    """Choose by the mask alone, differently in each game and at each place."""
    salt = game.states["num_played"] * 7 + game.states["passes"] + game.states["seed"] % 5
    legal = [row.nonzero()[0] for row in game.masks]
    return np.array([ids[int(s) % len(ids)] for ids, s in zip(legal, salt, strict=True)])


@each_table
def test_game_i_of_a_batch_is_the_single_game(rules: Rules) -> None:
    batch = BatchedGame(rules, 5, seed=11, episode="match", autoreset=False)
    games = [Game(rules.game, rules, seed=11, match=i) for i in range(5)]
    text = kind_of(rules).observe.action_text
    while not batch.episode_over.any():
        actions = lowest_legal(batch)
        for i, game in enumerate(games):
            assert game.to_move == batch.to_move[i]
            assert len(game.legal_moves()) == batch.masks[i].sum()
            game.push(text(rules, game.to_move, actions[i]))
        batch.step(actions)
        for i, game in enumerate(games):
            assert game.round_over == batch.round_over[i]
            if game.round_over:
                assert game.penalties == batch.penalties[i].tolist()
                assert game.scores == batch.scores[i].tolist()
                assert game.over == batch.episode_over[i]
                if game.over:
                    assert game.winners == batch.winners[i].nonzero()[0].tolist()
                else:
                    game.next_round()


@each_table
def test_a_whole_match_ends_with_its_winners(rules: Rules) -> None:
    batch = BatchedGame(rules, 1, seed=3, episode="match", autoreset=False, forced="auto")
    rounds = 0
    totals = np.zeros(rules.players, int)
    while not batch.episode_over[0]:
        batch.step(lowest_legal(batch))
        if batch.round_over[0]:
            rounds += 1
            totals += batch.penalties[0]
    assert rounds == len(rules.rounds)
    assert batch.scores[0].tolist() == totals.tolist()
    assert batch.winners[0].tolist() == (totals == totals.min()).tolist()
    assert batch.masks.sum() == 0
    with pytest.raises(GameOverError, match="call restart or reset"):
        batch.step([0])


@each_table
def test_neither_size_nor_order_of_a_batch_matters(rules: Rules) -> None:
    large = BatchedGame(rules, 1000, seed=9)
    small = BatchedGame(rules, 3, seed=9)
    small.reset(9, matches=[731, 2, 417])
    for _ in range(60):
        large.step(lowest_legal(large))
        actions = lowest_legal(small)
        for i in (2, 0, 1):  # one at a time, in another order
            small.step(actions[i : i + 1], games=[i])
    fields = ("hands", "table", "boneyard_size", "to_move", "scores", "played", "match")
    alive = large.states["match"][[731, 2, 417]] < 1000
    for field in fields:
        ours, theirs = small.states[field][alive], large.states[field][[731, 2, 417]][alive]
        assert np.array_equal(ours, theirs), field


@each_table
def test_copies_go_on_identically(rules: Rules, tmp_path: Path) -> None:
    game = BatchedGame(rules, 16, seed=4, forced="auto")
    for _ in range(15):
        game.step(lowest_legal(game))
    loaded = BatchedGame(rules, 16, seed=99, forced="auto")
    np.save(tmp_path / "states.npy", game.states)
    loaded.load(np.load(tmp_path / "states.npy"))
    twins = [game.copy(), copy.deepcopy(game), pickle.loads(pickle.dumps(game)), loaded]
    for _ in range(40):
        actions = lowest_legal(game)
        for one in (game, *twins):
            one.step(actions)
    for twin in twins:
        assert np.array_equal(twin.states, game.states)
        assert np.array_equal(twin.observations, game.observations)
        assert np.array_equal(twin.masks, game.masks)


def test_seeds_are_the_same_in_another_process() -> None:
    program = (
        "import numpy as np; from dominoenv import BatchedGame, make_rules\n"
        "g = BatchedGame(make_rules('mexican_train', preset='station'), 20, seed=2)\n"
        "print(g.states['hands'].sum() % 10**9, g.states['boneyard'].sum())"
    )
    runs = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": str(salt)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for salt in (0, 1)
    }
    game = BatchedGame(make_rules("mexican_train", preset="station"), 20, seed=2)
    assert runs == {f"{game.states['hands'].sum() % 10**9} {game.states['boneyard'].sum()}\n"}


def test_a_seed_for_each_game() -> None:
    rules = TABLES[0]
    batch = BatchedGame(rules, 3, seed=[5, 6, 5], episode="match")
    assert np.array_equal(batch.states["hands"][0], batch.states["hands"][2])
    single = Game(rules.game, rules, seed=6)
    assert np.array_equal(batch.states["hands"][1], single.state["hands"][0])


@each_table
def test_forced_moves_change_no_game(rules: Rules) -> None:
    explicit = BatchedGame(rules, 8, seed=21, autoreset=False)
    auto = BatchedGame(rules, 8, seed=21, autoreset=False, forced="auto")
    ended = np.zeros(8, bool)
    while not ended.all():
        playing = (~ended).nonzero()[0]
        assert (auto.masks[playing].sum(1) > 1).all()
        actions = lowest_legal_of(auto, playing)
        auto.step(actions, playing)
        for i, action in zip(playing, actions, strict=True):
            while explicit.masks[i].sum() == 1:
                explicit.step(explicit.masks[i].nonzero()[0], [i])
            explicit.step([action], [i])
            while not explicit.episode_over[i] and explicit.masks[i].sum() == 1:
                explicit.step(explicit.masks[i].nonzero()[0], [i])
        ended = auto.episode_over.copy()
        assert np.array_equal(ended, explicit.episode_over)
        assert np.array_equal(auto.states["hands"], explicit.states["hands"])
    assert np.array_equal(auto.penalties, explicit.penalties)
    assert np.array_equal(auto.rewards[0], explicit.rewards[0])


def lowest_legal_of(game: BatchedGame, games: Any) -> np.ndarray[Any, Any]:
    return np.array([game.masks[i].nonzero()[0][0] for i in games])


@pytest.mark.parametrize("reward", ["zero_sum", "penalty", "win"])
def test_rewards(reward: str) -> None:
    rules = TABLES[0]
    game = BatchedGame(rules, 32, seed=1, reward=reward, reward_scale=0.1)
    ends = 0
    for _ in range(120):
        game.step(lowest_legal(game))
        assert not game.rewards[~game.round_over].any()
        for i in game.round_over.nonzero()[0]:
            ends += 1
            penalties = game.penalties[i].astype(float)
            others = (penalties.sum() - penalties) / (rules.players - 1)
            winners = penalties == penalties.min()
            expected = {
                "zero_sum": 0.1 * (others - penalties),
                "penalty": -0.1 * penalties,
                "win": winners / winners.sum(),
            }[reward]
            assert game.rewards[i] == pytest.approx(expected, abs=1e-5)
            assert game.winners[i].tolist() == winners.tolist()
    assert ends > 10


def test_win_in_a_match_is_paid_at_its_end() -> None:
    rules = make_rules("mexican_train", players=2, max_pip=6, rounds=[6, 3])
    game = BatchedGame(rules, 1, seed=0, reward="win", episode="match", autoreset=False)
    paid = 0.0
    while not game.episode_over[0]:
        assert paid == 0
        game.step(lowest_legal(game))
        paid += game.rewards[0].sum()
    assert paid == pytest.approx(1)


def test_a_fixed_double() -> None:
    game = BatchedGame(TABLES[0], 30, seed=1, double=6)
    for _ in range(100):
        assert set(game.states["engine"].tolist()) == {6}
        game.step(lowest_legal(game))
    drawn = BatchedGame(TABLES[0], 300, seed=1).states["engine"]
    assert set(drawn.tolist()) == set(range(10))


def test_illegal_steps_change_nothing() -> None:
    game = BatchedGame(TABLES[0], 4, seed=1)
    game.step(lowest_legal(game))
    before, masks = game.states.copy(), game.masks.copy()
    good = lowest_legal(game)
    illegal = int((game.masks[2] == 0).nonzero()[0][0])
    bad: list[tuple[Any, str]] = [
        ([*good[:2], illegal, good[3]], rf"game 2: action {illegal} \(.*\) is illegal; legal are "),
        ([*good[:3], 10**6], "game 3: action 1000000 .* is illegal"),
        ([*good[:3], -1], "game 3: action -1"),
        (good[:3], "4 whole numbers"),
        (good.astype(float), "dtype float64"),
        ([good], "shape"),
    ]
    for actions, says in bad:
        with pytest.raises(IllegalActionError, match=says):
            game.step(actions)
    for games, says in (([0, 0], "twice"), ([4], "lie in 0 ... 3"), ([0.5], "whole numbers")):
        with pytest.raises(DominoError, match=says):
            game.step(good[: len(games)], games)
    assert np.array_equal(game.states, before)
    assert np.array_equal(game.masks, masks)
    game.masks[:] = 1  # a mask is output: what stands in it decides nothing
    with pytest.raises(IllegalActionError):
        game.step([*good[:2], illegal, good[3]])


@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        ({"num_games": 0}, DominoError, "at least 1"),
        ({"num_games": 2.5}, DominoError, "at least 1"),
        ({"seed": -1}, DominoError, "must lie in"),
        ({"seed": "a"}, DominoError, "whole number"),
        ({"seed": [1, 2]}, DominoError, "2 entries for 4 games"),
        ({"episode": "rounds"}, DominoError, "did you mean 'round'"),
        ({"reward": "zerosum"}, DominoError, "did you mean 'zero_sum'"),
        ({"forced": True}, DominoError, "known: explicit, auto"),
        ({"double": 10}, RulesError, "not in rounds"),
        ({"double": 9, "episode": "match"}, DominoError, "whole match"),
        ({"reward_scale": float("nan")}, DominoError, "finite"),
        ({"reward_scale": "much"}, DominoError, "finite"),
        ({"rules": {"players": 4}}, RulesError, "a 'game'"),
        ({"rules": 3}, RulesError, "rules object"),
    ],
)
def test_bad_arguments(arguments: dict[str, Any], error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        BatchedGame(**{"rules": TABLES[0], "num_games": 4, "seed": 1, **arguments})


def test_rules_by_name_and_dict() -> None:
    assert BatchedGame("chicken_foot", 1, 0).rules == make_rules("chicken_foot")
    by_dict = BatchedGame({"game": "mexican_train", "preset": "station", "players": 3}, 1, 0)
    assert by_dict.rules == TABLES[1]


def test_hands_of_one_tile() -> None:
    with pytest.raises(RulesError, match="nothing to decide"):
        BatchedGame(make_rules("chicken_foot", hand_size=1), 2)
    game = Game("chicken_foot", hand_size=1, players=2, seed=1)
    assert game.round_over
    assert min(game.penalties or []) == -5
    batch = BatchedGame(make_rules("mexican_train", preset="station", hand_size=1), 50, seed=1)
    for _ in range(200):
        batch.step(lowest_legal(batch))


def test_saved_states_must_fit() -> None:
    game = BatchedGame(TABLES[0], 4, seed=1)
    with pytest.raises(DominoError, match="4 records of mexican_train"):
        game.load(game.states[:3])
    with pytest.raises(DominoError, match="4 records of mexican_train"):
        game.load(BatchedGame(TABLES[3], 4, seed=1).states)
