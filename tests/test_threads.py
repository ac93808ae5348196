"""Threads: environments in several give what they give alone; one object lets in one thread.

What could end the process is played in a process of its own.
"""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from dominoenv import (
    BatchedGame,
    DominoError,
    Game,
    make_policy,
    make_rules,
    playouts,
    policy_names,
)
from dominoenv.envs.learner import LearnerGames
from dominoenv.games import stepping
from dominoenv.mexican_train_v0 import raw_env
from dominoenv.opponents import baselines
from dominoenv.opponents.pool import OpponentPool
from dominoenv.policies import POLICIES, HeaviestPolicy, RandomPolicy

RULES = make_rules("mexican_train", players=3, max_pip=6)

# Each line of its output is a failure.
TOGETHER = """
import sys, threading
from itertools import pairwise
import numpy as np
from dominoenv import BatchedGame, Game, make_policy, make_rules, playouts, policy_names
from dominoenv.envs.learner import LearnerGames

sys.setswitchinterval(1e-5)

def in_threads(works):
    found = [None] * len(works)
    def run(i):
        try:
            found[i] = works[i]()
        except Exception as error:
            found[i] = repr(error)
    threads = [threading.Thread(target=run, args=[i]) for i in range(len(works))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found

def compare(what, works):
    alone = [work() for work in works]
    together = in_threads(works)
    for one, other in zip(alone, together):
        if one != other:
            print(what, other if isinstance(other, str) else "another result")

def played(rules, opponents, seed, steps):
    games, seen = LearnerGames(rules, 200, opponents, seed=seed), []
    for _ in range(steps):
        rewards = games.step(games.masks().argmax(1))
        games.restart(np.flatnonzero(games.done))
        seen += [rewards.tobytes(), games.observations().tobytes(), games.lineup.tobytes()]
    return seen
"""
POLICIES_TOGETHER = """
for game in ("mexican_train", "chicken_foot"):
    rules = make_rules(game, players=3, max_pip=9)
    for name in policy_names(game):
        shared = make_policy(name, rules, seed=1)
        compare(name, [lambda i=i: played(rules, shared, i, 10) for i in range(3)])

        def asked(seed):  # the object itself: whoever draws in it, its actions are legal
            batch = BatchedGame(rules, 64, seed=seed)
            for _ in range(12):
                batch.step(shared.act(batch.observations, batch.masks))
                shared.scores(batch.observations[:4], batch.masks[:4])
            return True

        compare(name + " itself", [lambda i=i: asked(i) for i in range(3)])
"""
POOL_TOGETHER = """
import gymnasium
import torch
import dominoenv
from dominoenv.envs.sb3 import DominoVecEnv
from dominoenv.envs.single import DominoEnv
from dominoenv.envs.vector import DominoVectorEnv
from dominoenv.opponents.pool import OpponentPool
from dominoenv.opponents.snapshot import Snapshot
from dominoenv.opponents.trained import TrainedPolicy, make_network

torch.manual_seed(0)
torch.set_num_threads(1)
rules = make_rules("mexican_train", players=3, max_pip=9)
network = make_network(rules, {"hidden": [8], "activation": "tanh"})
probe, rng = make_policy("random", rules), np.random.default_rng(0)
sizes = probe.layout.size, 8, probe.num_actions
layers = [(rng.normal(size=(m, n)), rng.normal(size=n)) for m, n in pairwise(sizes)]
members = ["random", "longest_train", "opportunist", Snapshot(rules, layers)]
members += [Snapshot(rules, layers, deterministic=True), TrainedPolicy(rules, network)]
members += [TrainedPolicy(rules, network, deterministic=False), lambda o, m: m.argmax(1)]
pool = OpponentPool(rules, [(member, 1) for member in members])

def single():
    env = DominoEnv("mexican_train", rules, opponents=pool, seed=3)
    (row, info), seen = env.reset(), []
    for _ in range(30):
        row, reward, ended, cut, info = env.step(int(info["action_mask"].argmax()))
        seen += [row["observation"].tobytes() if isinstance(row, dict) else row.tobytes(), reward]
        if ended or cut:
            row, info = env.reset()
    return seen

def vector():
    env = DominoVectorEnv("mexican_train", rules, num_envs=100, opponents=pool, seed=4)
    (rows, info), seen = env.reset(), []
    for _ in range(10):
        rows, rewards, *_ = env.step(env.action_masks().argmax(1))
        seen.append(rewards.tobytes())
    return seen

def vec():
    env = DominoVecEnv(rules, 100, opponents=pool, seed=5)
    env.reset()
    def step():
        return env.step(np.stack(env.env_method("action_masks")).argmax(1))
    return [step()[1].tobytes() for _ in range(10)]

def game():
    match = Game("mexican_train", rules, seed=6)
    while not match.round_over:
        match.push(match.legal_moves()[0])
    return [*match.moves, *match.penalties]

def searched():
    batch = BatchedGame(rules, 8, seed=7)
    hidden = batch.redeal_hidden(0, np.random.default_rng(1))
    return playouts(rules, hidden.states, 3, seed=2).penalties.tolist()

learners = [lambda i=i: played(rules, pool, i, 10) for i in range(2)]
compare("pool", [single, vector, vec, *learners, game, game, searched])
"""
ONE_BATCH = """
from dominoenv import DominoError, IllegalActionError
from dominoenv.games.state_checks import check_states

for num_games, num_threads in ((1, 1), (300, 1), (600, 2)):
    rules = make_rules("mexican_train", players=3, max_pip=6)
    batch = BatchedGame(rules, num_games, seed=1, num_threads=num_threads)

    def hammer():
        for step in range(40):
            try:
                batch.step(batch.masks.argmax(1))
                if step % 10 == 0:
                    batch.observe_all(), batch.copy(), batch.load(batch.states.copy())
                    batch.redeal_hidden(1, np.random.default_rng(0)), batch.restart([0])
            except DominoError:  # in use, or stepped on by the other thread
                pass
        return True

    compare("one batch", [hammer] * 3)
    check_states(rules, batch.states)
    batch.step(batch.masks.argmax(1))  # nobody is left in it
game = Game("mexican_train", rules, seed=1)

def push():
    for _ in range(100):
        try:
            game.push(game.legal_moves()[0])
            game.observation()
        except (DominoError, IndexError):  # the round is over
            pass
    return True

compare("one game", [push] * 3)
"""


@pytest.mark.parametrize("program", [POLICIES_TOGETHER, POOL_TOGETHER, ONE_BATCH])
def test_threads_do_not_disturb_each_other(program: str) -> None:
    command = [sys.executable, "-c", TOGETHER + program]
    process = subprocess.run(command, capture_output=True, text=True)
    assert (process.returncode, process.stdout) == (0, ""), process.stderr


# -------------------------------------------------------------------------- one object, one thread


class Hold:
    """Holds the first thread that calls a function until it is let go."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function, self.is_in, self.go_on = function, threading.Event(), threading.Event()

    def __call__(self, *arguments: Any) -> Any:
        if not self.is_in.is_set():
            self.is_in.set()
            self.go_on.wait()
        return self.function(*arguments)


def refused_while(
    monkeypatch: pytest.MonkeyPatch, work: Callable[[], Any], others: list[Callable[[], Any]]
) -> None:
    """Check that all others are refused while a thread is at work in a kernel."""
    hold = Hold(stepping.advance_games)
    monkeypatch.setattr(stepping, "advance_games", hold)
    with ThreadPoolExecutor(1) as executor:
        working = executor.submit(work)
        hold.is_in.wait()
        try:
            for other in others:
                with pytest.raises(DominoError, match="in use by another thread"):
                    other()
        finally:
            hold.go_on.set()
        working.result()


@pytest.mark.parametrize("illegal", ["raise", "penalty"])
@pytest.mark.parametrize("num_threads", [1, 2])
def test_a_second_thread_in_a_batch_is_refused(
    monkeypatch: pytest.MonkeyPatch, num_threads: int, illegal: str
) -> None:
    game = BatchedGame(RULES, 600, seed=1, num_threads=num_threads, illegal=illegal)
    twin, states = game.copy(), game.states.copy()
    rng = np.random.default_rng(0)
    others = [
        lambda: game.step(game.masks.argmax(1)),
        lambda: game.reset(3),
        lambda: game.restart([1]),
        lambda: game.observe(0),
        game.observe_all,
        lambda: game.legal_actions(0),
        lambda: game.load(states),
        game.refresh,
        game.copy,
        lambda: game.redeal_hidden(0, rng),
    ]
    refused_while(monkeypatch, lambda: game.step(game.masks.argmax(1)), others)
    twin.step(twin.masks.argmax(1))
    assert np.array_equal(game.states, twin.states) and np.array_equal(game.masks, twin.masks)
    others[-1]()  # and goes on as before


def test_a_second_thread_in_an_environment_or_a_game_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    env = raw_env(rules=RULES, seed=1)
    env.reset()
    waits = next(agent for agent in env.agents if agent != env.agent_selection)
    action = int(env.last()[0]["action_mask"].argmax())
    others = [lambda: env.step(action), env.reset, env.state, lambda: env.observe(waits)]
    refused_while(monkeypatch, lambda: env.step(action), others)

    games = LearnerGames(RULES, 4, seed=1)
    actions, state = games.masks().argmax(1), games.get_state()
    others = [
        lambda: games.step(actions),
        games.reset,
        games.deal,
        lambda: games.restart(np.arange(2)),
        games.get_state,
        lambda: games.set_state(state),
    ]
    refused_while(monkeypatch, lambda: games.step(actions), others)

    match = Game("mexican_train", RULES, seed=1)
    move = match.legal_moves()[0]
    others = [lambda: match.push(move), match.next_round, match.observation, match.copy]
    refused_while(monkeypatch, lambda: match.push(move), others)
    assert match.moves == [move]


def test_a_move_that_another_thread_overtook_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    match = Game("mexican_train", RULES, seed=1)
    checked = match._checked_move

    def slow(move: str) -> int:
        action = checked(move)
        monkeypatch.undo()
        match.push(move)
        return action

    monkeypatch.setattr(match, "_checked_move", slow)
    move = next(move for move in match.legal_moves() if "@" in move)
    with pytest.raises(DominoError, match="in use by another thread"):
        match.push(move)
    assert match.moves == [move] and len(match.annotations) == 1


def test_copies_are_free_and_errors_leave_nobody_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    game = BatchedGame(RULES, 4, seed=1)
    hold = Hold(stepping.advance_games)
    monkeypatch.setattr(stepping, "advance_games", hold)
    with ThreadPoolExecutor(1) as executor:
        working = executor.submit(game.step, game.masks.argmax(1))
        hold.is_in.wait()
        twins = [copy.deepcopy(game), pickle.loads(pickle.dumps(game))]
        hold.go_on.set()
        working.result()
    for twin in twins:
        twin.step(twin.masks.argmax(1))

    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(stepping, "advance_games", interrupted)
    with pytest.raises(KeyboardInterrupt):
        game.step(game.masks.argmax(1))
    monkeypatch.undo()
    with ThreadPoolExecutor(1) as executor:  # another thread may go on
        executor.submit(game.step, game.masks.argmax(1)).result()


# -------------------------------------------------------------------------------- policies, pools


def test_a_copy_of_a_policy_has_chance_of_its_own() -> None:
    shared = RandomPolicy(RULES, seed=1)
    one, other, third = shared.copy(5), shared.copy(5), shared.copy([5, 6])
    masks = np.ones((50, shared.num_actions), np.int8)
    rows = np.zeros((50, shared.layout.size), np.uint8)
    first = one.act(rows, masks)
    shared.act(rows, masks)
    assert np.array_equal(first, other.act(rows, masks))
    assert not np.array_equal(first, third.act(rows, masks))
    assert one.layout is shared.layout


def play_on(games: LearnerGames, steps: int) -> list[bytes]:
    seen = []
    for _ in range(steps):
        games.step(games.masks().argmax(1))
        games.restart(np.flatnonzero(games.done))
        seen.append(games.observations().tobytes())
    return seen


def test_who_else_plays_with_a_policy_or_a_pool_makes_no_difference() -> None:
    pool = OpponentPool(RULES, [(RandomPolicy(RULES, seed=1), 1), ("heaviest", 1)])
    alone = play_on(LearnerGames(RULES, 8, pool, seed=3), 30)
    games, other = (LearnerGames(RULES, 8, pool, seed=seed) for seed in (3, 4))
    together = []
    for _ in range(30):
        play_on(other, 1)
        together += play_on(games, 1)
    assert together == alone


class Hasty(OpponentPool):
    """A pool that another thread changes right after each draw."""

    def draw(self, *arguments: Any) -> Any:
        drawn = super().draw(*arguments)
        self.add("random")
        self.remove(self.members[0].name)
        return drawn


def test_a_member_that_is_removed_right_after_the_draw_still_plays() -> None:
    games = LearnerGames(RULES, 16, Hasty(RULES, [("random", 1), ("heaviest", 1)]), seed=1)
    play_on(games, 40)
    assert len(games.pool) == 2


def test_a_pool_is_never_empty_or_half_changed_while_it_is_replaced() -> None:
    pool = OpponentPool(RULES, [("random", 1), ("heaviest", 1)])
    sizes = []

    class Watching(RandomPolicy):
        name = "watching"

        @property
        def rules(self) -> Any:
            sizes.append(len(pool))
            return RULES

        @rules.setter
        def rules(self, _: Any) -> None:
            pass

    pool.replace([(Watching(RULES), 1), (Watching(RULES), 1)])
    assert set(sizes) == {2} and [m.name for m in pool.members] == ["watching", "watching-2"]
    with pytest.raises(DominoError):
        pool.replace([("lightest", 1), ("nobody", 1)])
    assert [m.name for m in pool.members] == ["watching", "watching-2"]


def test_a_pool_may_change_in_one_thread_while_others_draw() -> None:
    pool = OpponentPool(RULES, [("random", 1), ("heaviest", 2)])
    done = threading.Event()

    def change() -> int:
        number = 0
        while not done.is_set():
            pool.add("lightest", name=f"{number}")
            pool.reweigh({f"{number}": 3, "random": 2})
            pool.remove(f"{number}")
            pool.replace([("random", 1), ("heaviest", 2)])
            copy.deepcopy(pool), pickle.dumps(pool), repr(pool), pool.get_state()
            number += 1
        return number

    with ThreadPoolExecutor(4) as executor:
        changing = executor.submit(change)
        try:
            games = [LearnerGames(RULES, 8, pool, seed=seed) for seed in range(2)]
            for played in [executor.submit(play_on, each, 40) for each in games]:
                played.result()
        finally:
            done.set()
        assert changing.result() > 0
    noted = sum(tally.seats for tally in pool.totals.values())
    assert noted > 0 and noted == int(noted)


def test_results_that_threads_note_at_once_all_count() -> None:
    pool = OpponentPool(RULES, "random")
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as executor:
            for _ in range(4):
                executor.submit(lambda: [pool.note(pool.members[0], 1, 1.0) for _ in range(2000)])
    finally:
        sys.setswitchinterval(before)
    assert pool.totals["random"].seats == 8000


def test_a_programs_own_name_keeps_its_meaning_while_baselines_are_imported(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Own(HeaviestPolicy):
        name = "blocker"

    theirs = POLICIES["blocker"]
    asked: list[type] = []

    def importing(name: str) -> None:  # what the import does, and a thread that asks meanwhile
        POLICIES["blocker"] = theirs
        thread = threading.Thread(target=lambda: asked.append(type(make_policy("blocker", RULES))))
        thread.start()
        thread.join(timeout=0.2)
        threads.append(thread)

    threads: list[threading.Thread] = []
    monkeypatch.setitem(POLICIES, "blocker", Own)
    monkeypatch.setattr(baselines, "import_companion", importing)
    policy_names()
    threads[0].join()
    assert asked == [Own]


def test_names_are_found_by_threads_that_start_at_once() -> None:
    program = (
        "import threading, dominoenv\n"
        "rules, made = dominoenv.make_rules('mexican_train'), []\n"
        "def make(): made.append(type(dominoenv.make_policy('blocker', rules)))\n"
        "threads = [threading.Thread(target=make) for _ in range(8)]\n"
        "[t.start() for t in threads], [t.join() for t in threads]\n"
        "print(len(made), len(set(made)))"
    )
    assert subprocess.check_output([sys.executable, "-c", program], text=True) == "8 1\n"


def test_states_that_change_under_a_check_are_not_trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is checked is what is played, even if another thread writes into it meanwhile."""
    for module in ("dominoenv.batch", "dominoenv.search.playouts"):
        game = BatchedGame(RULES, 2, seed=1)
        states = game.states.copy()
        check = sys.modules[module].check_states  # type: ignore[attr-defined]

        def and_spoil(rules: Any, checked: Any, check: Any = check, states: Any = states) -> None:
            check(rules, checked)
            states["to_move"] = 9

        monkeypatch.setattr(f"{module}.check_states", and_spoil)
        if module == "dominoenv.batch":
            game.load(states)
            assert (game.to_move < 3).all()
        else:
            fair = playouts(RULES, game.states, seed=1, trusted=True)
            assert np.array_equal(playouts(RULES, states, seed=1).penalties, fair.penalties)
