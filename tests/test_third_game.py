"""A game that `dominoenv` has never heard of plays through all of it: `tests/block_dominoes`.

`tests/test_games.py` holds it to the contract of every game; its legal moves are those of
OpenSpiel's `python_block_dominoes`.
"""

from __future__ import annotations

import random
import re
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from pettingzoo.utils.conversions import parallel_to_aec

from dominoenv import (
    BatchedGame,
    DominoError,
    Game,
    Observation,
    PositionError,
    Recorder,
    RecordError,
    Rules,
    RulesError,
    UnknownNameError,
    make_policy,
    make_rules,
    playouts,
    policy_names,
    read_records,
    verify_record,
    write_record,
)
from dominoenv.core.tiles import tiles_of
from dominoenv.envs.aec import DominoAEC, wrapped
from dominoenv.envs.parallel import DominoParallel
from dominoenv.envs.single import DominoEnv
from dominoenv.envs.vector import DominoVectorEnv
from dominoenv.games.registry import GAMES, register_game
from dominoenv.render.placement import place_table
from dominoenv.render.view import view_table
from dominoenv.replay import page, write_page
from tests.block_dominoes import GAME
from tests.browser import open_browser
from tests.test_leaks import permute_hidden

with warnings.catch_warnings():
    # With pygame installed, the checkers import a game of PettingZoo's own that is deprecated.
    warnings.simplefilter("ignore", DeprecationWarning)
    from pettingzoo.test import (
        api_test,
        max_cycles_test,
        parallel_api_test,
        parallel_seed_test,
        render_test,
        seed_test,
        state_test,
    )

pytestmark = pytest.mark.usefixtures("registered_block_dominoes")

NAME = "block_dominoes"
ROOT = Path(__file__).resolve().parent.parent
TABLES = [
    GAME.rules.preset("block"),
    GAME.rules.preset("block", players=4),
    GAME.rules.preset("draw"),
    GAME.rules.preset("draw", players=3, hand_size=5),
    GAME.rules.preset("draw", players=4, max_pip=9, rounds=[9, 3, 1]),
]
every_table = pytest.mark.parametrize(
    "rules", TABLES, ids=lambda rules: f"{rules.draws}-{rules.players}-d{rules.max_pip}"
)


def choose(rng: np.random.Generator, masks: np.ndarray) -> np.ndarray:
    """Draw one legal action of each row."""
    return (masks * rng.random(masks.shape)).argmax(axis=1)


def played_game(rules: Rules, seed: int, rounds: int = 1) -> Game:
    """Play rounds at random."""
    game, rng = Game(NAME, rules, seed=seed), random.Random(seed)
    for index in range(rounds):
        if index:
            game.next_round()
        while not game.round_over:
            game.push(rng.choice(game.legal_moves()))
    return game


# ---------------------------------------------------------------------------------- the registry


def test_the_library_does_not_know_it() -> None:
    for path in (ROOT / "dominoenv").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert "block_dominoes" not in text
        assert "BlockDominoes" not in text


def test_registering() -> None:
    register_game(GAME)  # again: nothing happens
    assert make_rules(NAME, "draw").draws == "draw"
    with pytest.raises(DominoError, match="block_dominoes"):
        register_game(replace(GAME))
    del GAMES[NAME]
    with pytest.raises(UnknownNameError, match="block_dominoes"):
        make_rules(NAME)
    register_game(GAME)


def test_rules_that_cannot_be() -> None:
    for options in ({"players": 5}, {"draws": "never"}, {"hand_size": 15}, {"max_pip": 7}):
        with pytest.raises(RulesError):
            make_rules(NAME, **options)
    with pytest.raises(RulesError, match="nothing to decide"):
        BatchedGame(make_rules(NAME, hand_size=1), 1)


# -------------------------------------------------------------------------------------- the rules


@every_table
def test_rounds_end_and_cost_what_is_left(rules: Rules) -> None:
    endings = set()
    for seed in range(60):
        game = played_game(rules, seed)
        g, position = game.state[0], game.position()
        pips = [[sum(map(int, text.split("-"))) for text in hand] for hand in position["hands"]]
        went_out = g["hand_sizes"][: rules.players].min() == 0
        assert g["ending"] == (1 if went_out else 2)
        assert went_out or game.moves[-rules.players :] == ["pass"] * rules.players
        blanks = rules.record[0]["cost"][0]
        assert blanks == 0
        assert game.penalties == [sum(hand) for hand in pips]
        endings.add(int(g["ending"]))
    assert endings == {1, 2}


@every_table
def test_who_cannot_play_passes_or_draws(rules: Rules) -> None:
    draws = 0
    for seed in range(30):
        game = Game(NAME, rules, seed=seed)
        rng, pile = random.Random(seed), len(game.position()["boneyard"])
        while not game.round_over:
            moves, left = game.legal_moves(), len(game.position()["boneyard"])
            if "draw" in moves:
                assert moves == ["draw"]
                assert rules.draws == "draw"
                assert left > 0
                draws += 1
            elif "pass" in moves:
                assert moves == ["pass"]
                assert rules.draws == "block" or left == 0
            game.push(rng.choice(moves))
        assert rules.draws == "draw" or len(game.position()["boneyard"]) == pile
    assert (draws > 0) == (rules.draws == "draw" and pile > 0)


def test_the_start_goes_round() -> None:
    rules = make_rules(NAME, players=3, rounds=[0] * 5)
    starts, game = [], Game(NAME, rules, seed=1)
    while True:
        starts.append(game.to_move)
        while not game.round_over:
            game.push(game.legal_moves()[0])
        if game.over:
            break
        game.next_round()
    assert starts == [0, 1, 2, 0, 1]


def test_proofs_are_true() -> None:
    """A pass and a draw prove what the hand lacks; what is drawn ends older proofs."""
    proofs = 0
    for rules in TABLES:
        rng, game = np.random.default_rng(3), BatchedGame(rules, 16, seed=2)
        for _ in range(150):
            for g in game.states:
                for seat in range(rules.players):
                    if g["drew"] and seat == g["to_move"]:
                        continue
                    hand = tiles_of(g["hands"][seat])
                    pips = {*rules.tiles.low[hand].tolist(), *rules.tiles.high[hand].tolist()}
                    lacking = {pip for pip in range(19) if g["voids"][seat] >> pip & 1}
                    proofs += len(lacking)
                    assert not pips & lacking
            game.step(choose(rng, game.masks))
    assert proofs > 1000


# -------------------------------------------------------------------------------------- OpenSpiel


def openspiel() -> Any:
    """Return OpenSpiel's game; skip the test, saying why, where it cannot be installed."""
    pyspiel = pytest.importorskip("pyspiel", reason="OpenSpiel has no wheel for this system")
    from open_spiel.python.games import block_dominoes

    assert block_dominoes  # importing it makes the game known
    return pyspiel.load_game("python_block_dominoes")


def move_of(text: str) -> str:
    """Return an action of OpenSpiel, `p0 tile:(3.0, 6.0) pip:6.0`, as a move of ours."""
    found = re.fullmatch(r"p\d tile:\((\d)\.0, (\d)\.0\) pip:(None|(\d)\.0)", text)
    assert found is not None, text
    low, high, _, pip = found.groups()
    return f"{high}-{low}@{'lead' if pip is None else pip}"


def dealt(state: Any) -> Game:
    """Return our game of a deal of OpenSpiel's."""
    hands = [[f"{int(high)}-{int(low)}" for low, high in hand] for hand in state.hands]
    boneyard = [f"{int(high)}-{int(low)}" for low, high in state.deck]
    empty: dict[str, Any] = {"lead": None, "left": [], "right": []}
    position = {"game": NAME, "rules": {}, "to_move": 0, "hands": hands, "boneyard": boneyard}
    return Game.from_position({**position, **empty})


def passed(game: Game) -> None:
    """Make the passes that OpenSpiel makes without a word."""
    while game.legal_moves() == ["pass"]:
        game.push("pass")


def test_legal_moves_are_openspiels() -> None:
    spiel, rng, endings = openspiel(), random.Random(1), set()
    for _ in range(200):
        state = spiel.new_initial_state()
        while state.is_chance_node():
            state.apply_action(rng.choice(state.chance_outcomes())[0])
        game = dealt(state)
        while not state.is_terminal():
            mover, legal = state.current_player(), state.legal_actions()
            texts = {move_of(state.action_to_string(mover, one)): one for one in legal}
            assert game.to_move == mover
            assert game.legal_moves() == sorted(texts)
            move = rng.choice(sorted(texts))
            state.apply_action(texts[move])
            game.push(move)
            passed(game)
        assert game.round_over
        first, second = game.penalties or (0, 0)
        paid = 0 if first == second else second if first < second else -first
        assert state.returns() == [paid, -paid]
        endings.add(int(game.state["ending"][0]))
    assert endings == {1, 2}


# ------------------------------------------------------------------------------------- interfaces


@every_table
@pytest.mark.parametrize("forced", ["explicit", "auto"])
def test_batches(rules: Rules, forced: str) -> None:
    rng = np.random.default_rng(1)
    for episode in ("round", "match"):
        options = {"game": NAME, **rules.to_dict()}
        game = BatchedGame(options, 16, seed=2, episode=episode, forced=forced)
        finished = 0
        for _ in range(600):
            game.step(choose(rng, game.masks))
            assert (game.masks.sum(axis=1) > (forced == "auto")).all()
            assert np.allclose(game.rewards.sum(axis=1), 0, atol=1e-4)
            finished += int(game.episode_over.sum())
        assert finished > 10
        saved = game.states.copy()
        game.load(saved)
        assert game.copy().observations.tobytes() == game.observations.tobytes()


def test_a_batch_plays_the_games_of_the_seed() -> None:
    rules = TABLES[3]
    batch = BatchedGame(rules, 4, seed=5, episode="match")
    for match in range(4):
        game = Game(NAME, rules, seed=5, match=match)
        assert np.array_equal(game.observation()[0][0], batch.observations[match])


# What PettingZoo's checkers warn about needlessly: see tests/test_pettingzoo.py.
@pytest.mark.filterwarnings("ignore:Observation is not a NumPy array")
@pytest.mark.filterwarnings("ignore:Observation space for each agent probably should be")
@pytest.mark.filterwarnings("ignore:Action mask numpy array is all zeros")
@pytest.mark.filterwarnings("ignore:.*Illegal move made")
@every_table
def test_pettingzoos_checkers(rules: Rules, capsys: pytest.CaptureFixture[str]) -> None:
    def aec(**keywords: Any) -> Any:
        return wrapped(NAME, rules, **keywords)

    def parallel(**keywords: Any) -> DominoParallel:
        return DominoParallel(NAME, rules, illegal="substitute", **keywords)

    api_test(aec())
    api_test(DominoAEC(NAME, rules))
    seed_test(aec)
    state_test(aec(), parallel())
    render_test(aec)
    parallel_api_test(parallel(), num_cycles=100)
    parallel_seed_test(parallel)
    turns = SimpleNamespace(
        parallel_env=parallel, env=lambda **keywords: parallel_to_aec(parallel(**keywords))
    )
    max_cycles_test(turns)
    assert "to move" in capsys.readouterr().out


def test_gymnasiums_checker() -> None:
    for options in ({}, {"preset": "draw", "players": 3, "seat": 1, "episode": "match"}):
        check_env(DominoEnv(NAME, **options), skip_render_check=True)
    env = DominoEnv(NAME, render_mode="rgb_array", opponents="heaviest")
    env.reset(seed=1)
    assert env.render().shape[2] == 3  # type: ignore[union-attr]


def test_vector_environments() -> None:
    envs = DominoVectorEnv(NAME, num_envs=8, preset="draw", players=4, opponents="heaviest")
    assert isinstance(envs, gymnasium.vector.VectorEnv)
    rng, ended = np.random.default_rng(4), 0
    _, info = envs.reset(seed=3)
    for _ in range(80):
        rows, _, terminations, _, info = envs.step(choose(rng, info["action_mask"]))
        assert rows.dtype == np.float32
        assert envs.observation_space.contains(rows)
        ended += int(terminations.sum())
    assert ended > 8


def test_an_observation_as_plain_values() -> None:
    rules = GAME.rules.preset("block")
    game = Game(NAME, rules, seed=3)
    assert Observation(rules, game.observation()[0]).ends == []
    game.push(game.legal_moves()[0])
    row, mask = game.observation()
    seen = Observation(rules, row)
    assert seen.ends == sorted(map(int, game.moves[0].partition("@")[0].split("-")))
    assert [move.text for move in seen.legal_moves(mask)] != []
    assert {move.place for move in seen.legal_moves(mask)} <= {*seen.ends, None}


def test_policies() -> None:
    assert {"random", "heaviest"} <= set(policy_names(NAME))
    for rules in TABLES:
        game = BatchedGame(rules, 64, seed=3)
        heaviest = make_policy("heaviest", rules)
        weights = heaviest.scores(game.observations, game.masks)
        assert weights is not None
        actions = heaviest.act(game.observations, game.masks)
        best = np.where(game.masks, weights, -1).max(axis=1)
        assert np.array_equal(weights[np.arange(64), actions], best)


# ---------------------------------------------------------------------------------- what is hidden


@every_table
def test_hidden_tiles_change_nothing_that_a_seat_sees(rules: Rules) -> None:
    rng = np.random.default_rng(8)
    game = BatchedGame(rules, 8, seed=5, episode="match")
    other = game.copy()
    for decision in range(60):
        for seat in (game.to_move.copy(), np.full(8, decision % rules.players)):
            other.states[:] = game.states
            for i in range(8):
                permute_hidden(rules, other.states[i], int(seat[i]), rng)
            assert np.array_equal(other.observe(seat), game.observe(seat))
        game.step(choose(rng, game.masks))


@every_table
def test_redealing_keeps_what_a_seat_sees(rules: Rules) -> None:
    rng, game = np.random.default_rng(2), BatchedGame(rules, 8, seed=6, episode="match")
    changed = 0
    for _ in range(60):
        other = game.redeal_hidden(game.to_move, rng)
        assert np.array_equal(other.observations, game.observations)
        assert np.array_equal(other.masks, game.masks)
        changed += not np.array_equal(other.states["hands"], game.states["hands"])
        game.step(choose(rng, game.masks))
    assert changed > 30


@every_table
def test_playouts_leave_positions_alone(rules: Rules) -> None:
    game = BatchedGame(rules, 6, seed=9)
    before = game.states.copy()
    for policy in ("random", "heaviest"):
        found = playouts(rules, game.states, 3, policy=policy, seed=1)
        assert found.penalties.shape == (6, 3, rules.players)
        assert (found.penalties.min(axis=2) >= 0).all()
        assert found.decisions.min() >= rules.hand_size
    assert np.array_equal(before, game.states)


# ------------------------------------------------------------------------------ positions, records


def test_positions_that_cannot_be() -> None:
    good = played_game(TABLES[0], 3).position()
    assert good["lead"] is not None
    assert Game.from_position(good).position() == good
    tile = good["hands"][0][0] if good["hands"][0] else good["hands"][1][0]
    for changes, what in (
        ({"lead": None}, "lead=None"),
        ({"right": [*good["right"], tile]}, "right|lies"),
        ({"left": "6-6"}, "left"),
        ({"lead": "9-9"}, "lead"),
        ({"passes": 5}, "passes"),
    ):
        with pytest.raises(PositionError, match=what):
            Game.from_position({**good, **changes})


def test_passes_count_where_nobody_draws() -> None:
    """In the block game the boneyard lies there all the time."""
    game = Game(NAME, seed=0)
    while game.legal_moves() != ["pass"]:
        game.push(game.legal_moves()[0])
    game.push("pass")
    position = game.position()
    assert position["passes"] == 1
    assert position["boneyard"]
    assert Game.from_position(position).legal_moves() == game.legal_moves()
    draws = {**position, "rules": {"preset": "draw"}}
    with pytest.raises(PositionError, match="passes=1"):
        Game.from_position(draws)


@every_table
def test_records_of_games(rules: Rules, tmp_path: Path) -> None:
    game = played_game(rules, 4, rounds=len(rules.rounds))
    path = tmp_path / "games.jsonl"
    write_record(path, [game.record(["a"] * rules.players), game.record(episode="round")])
    match, last = read_records(path)
    assert match == game.record(["a"] * rules.players)
    assert match.rounds[1]["starter"] == 1
    assert last.rounds[0]["moves"] == game.moves
    verify_record(match)


def test_records_that_are_wrong() -> None:
    record = played_game(TABLES[0], 4).record(episode="round")
    (line,) = record.rounds
    for changes, what in (
        ({"starter": 1}, "starter"),
        ({"starter": "0"}, "starter"),
        ({"hands": line["hands"][::-1]}, "hands"),
        ({"boneyard": line["boneyard"][1:]}, "missing tiles"),
        ({"moves": line["moves"][:-1]}, "not over"),
        ({"moves": ["pass", *line["moves"]]}, "illegal"),
        ({"penalties": [1, 1]}, "penalties"),
        ({"engine": 6}, "engine"),
    ):
        wrong = replace(record, rounds=[{**line, **changes}])
        with pytest.raises(RecordError, match=what):
            verify_record(wrong)


@every_table
@pytest.mark.parametrize("forced", ["explicit", "auto"])
def test_records_of_batches(rules: Rules, forced: str) -> None:
    game = BatchedGame(rules, 8, seed=2, forced=forced)
    recorder, rng = Recorder(game), np.random.default_rng(7)
    for _ in range(150):
        recorder.annotate(probability=game.masks / game.masks.sum(axis=1, keepdims=True))
        game.step(choose(rng, game.masks))
    records = list(recorder.take())
    assert len(records) > 8
    for record in records:
        verify_record(record)
        assert any(record.rounds[0]["annotations"])


# ---------------------------------------------------------------------------------------- pictures

LINE = {
    "game": NAME,
    "rules": {"preset": "block"},
    "to_move": 1,
    "hands": [["6-5", "1-0"], ["4-2", "2-2"]],
    "boneyard": ["0-0"],
    "lead": "6-3",
    "left": ["3-3", "4-3"],
    "right": [],
}


def test_text() -> None:
    text = Game.from_position(LINE).text([1], width=80)
    lines = [" ".join(line.split()) for line in text.splitlines()]
    assert lines[0] == "Block Dominoes · 2 players · double-6 · round 1 of 7 boneyard 1"
    assert lines[3:6] == [
        "┏━━━┯━━━┓ ╭─ left [3|3][3|4] end 4",
        "┃ 3 │ 6 ┃──┴─ right · end 6",
        "┗━━━┷━━━┛",
    ]
    assert lines[7:9] == ["seat 0 0 points 2 ▯▯", "▸ seat 1 0 points 2 [4|2][2|2]"]
    assert lines[-1] == "Seat 1 to move."


def test_text_of_an_empty_table() -> None:
    text = Game(NAME, seed=1).text()
    assert "┃   │   ┃" in text
    assert "Seat 0 to move." in text


@every_table
def test_pictures_of_all_of_a_round(rules: Rules) -> None:
    game, rng = Game(NAME, rules, seed=3), random.Random(2)
    while True:
        svg, number = game.svg(), int(game.state["num_played"][0])
        assert svg.count('stroke="#6d6a5c"') <= number  # ends and middle have other borders
        if game.round_over:
            break
        game.push(rng.choice(game.legal_moves()))
    assert game.pixels("all", width=600).shape == (400, 600, 3)


def test_svg_says_what_lies_there() -> None:
    svg = Game.from_position(LINE).svg()
    assert "6-3 in the middle." in svg
    assert "The left end has 2 tiles and ends in 4." in svg
    assert "The right end has 0 tiles and ends in 6." in svg
    assert "Double" not in Game(NAME, seed=1).svg()


def test_the_line_lies_from_left_to_right() -> None:
    position = {**LINE, "right": ["6-6"], "hands": [["6-5"], ["4-2"]]}
    lead, right, *left = place_table(view_table(position)).tiles
    assert (lead.inner, lead.outer) == (3, 6)
    assert lead.x == 0 < right.x
    assert right.inner == 6
    assert [tile.inner for tile in left] == [3, 3]
    assert all(tile.x < 0 for tile in left)
    assert all(abs(tile.y) < 1e-6 for tile in (right, *left))


# ------------------------------------------------------------------------------------- replay page


def test_the_page_of_a_match() -> None:
    game = played_game(TABLES[4], 5, rounds=3)
    html = page(game.record(["Ann", "Bo", "Cy", "Di"]))
    assert "<title>Block Dominoes: Ann, Bo, Cy, Di</title>" in html
    assert '"lead":"as the lead"' in html
    assert '"middle":""' in html
    for tile in (text for hand in game.position()["hands"] for text in hand):
        assert tile in html


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    driver = open_browser()
    yield driver
    driver.quit()


WALK = """
const tiles = () => [...document.querySelectorAll("#table .tile:not([hidden])")].length;
const seen = [[tiles(), document.getElementById("now").textContent]];
const next = document.querySelector('[data-do="next"]');
while (!next.hasAttribute("aria-disabled")) {
  next.click();
  seen.push([tiles(), document.getElementById("now").textContent]);
}
return seen;
"""


def test_the_page_in_a_browser(chromium: Any, tmp_path: Path) -> None:
    game = played_game(TABLES[3], 5)
    write_page(tmp_path / "page.html", game.record(episode="round"))
    chromium.get((tmp_path / "page.html").as_uri())
    seen = chromium.execute_script(WALK)
    laid = np.cumsum([0] + ["@" in move for move in game.moves]).tolist()
    assert [tiles for tiles, _ in seen] == laid
    assert "plays" in seen[1][1]
    assert "as the lead" in seen[1][1]
    assert "Round 1 of 1. " in seen[0][1]
    for (_, words), move in zip(seen[1:], game.moves, strict=True):
        assert "undefined" not in words
        assert ("draws a tile" in words) == (move == "draw")
        assert ("passes" in words) == (move == "pass")
    assert chromium.get_log("browser") == []
