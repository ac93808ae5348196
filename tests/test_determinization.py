"""Determinisation: possible, uniform, blind to the truth, and never against what a seat knows."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
import pytest

from dominoenv import (
    BatchedGame,
    DominoError,
    Game,
    PositionError,
    Recorder,
    RecordError,
    Rules,
    make_policy,
    make_rules,
)
from dominoenv.core.round import DRAWN
from dominoenv.core.tiles import tiles_of
from dominoenv.games import stepping
from dominoenv.search import determinization
from dominoenv.search.determinization import FREE, deal_bound
from tests.rule_sets import random_rules
from tests.test_leaks import permute_hidden

TABLES = [
    make_rules("mexican_train", preset="engine", players=4),
    make_rules("mexican_train", preset="station", players=6, first_starter="seed"),
    make_rules("mexican_train", preset="tournament", players=3, max_pip=6),
    make_rules("chicken_foot", players=5),
    make_rules("chicken_foot", players=3, max_pip=6),
]
each_table = pytest.mark.parametrize("rules", TABLES, ids=lambda r: f"{r.game}-{r.players}")

# Seat 1 has drawn and looks at its three tiles; what seats 1 and 2 lack is known.
DRAWN_POSITION: dict[str, Any] = {
    "game": "mexican_train",
    "rules": {"players": 3, "max_pip": 6},
    "engine": 6,
    "trains": [["6-1", "1-0"], [], []],
    "mexican_train": [],
    "hands": [["5-5"], ["3-2", "4-2", "6-0"], ["3-1", "3-3"]],
    "boneyard": ["6-4", "2-0"],
    "to_move": 1,
    "drew": True,
    "voids": [[], [0, 6], [2, 4]],
}
SECRET = ("hands", "boneyard", "seed", "stream")  # fields of a record that not all may know
KINDS = {"exact": 10**9, "mixed": 0}  # EXACT_COUNTS to have every deal made in one way


@pytest.fixture(params=KINDS)
def each_kind(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(determinization, "EXACT_COUNTS", KINDS[request.param])
    monkeypatch.setattr(determinization, "GROUP_CELLS", 1)  # groups of two


def hidden_tiles(rules: Rules, g: Any, viewer: int) -> list[int]:
    hands = [tiles_of(g["hands"][seat]) for seat in range(rules.players) if seat != viewer]
    return sorted([*itertools.chain(*hands), *g["boneyard"][: g["boneyard_size"]].tolist()])


def breaches(rules: Rules, g: Any, seat: int) -> int:
    """Return how many tiles of a hand have a pip that everybody knows it to lack."""
    hand = tiles_of(g["hands"][seat])
    pips = (1 << rules.tiles.low[hand].astype(int)) | (1 << rules.tiles.high[hand].astype(int))
    return int(np.count_nonzero(pips & g["voids"][seat]))


def check_possible(rules: Rules, old: Any, new: Any, viewer: int) -> None:
    """Check that one record is another with its hidden tiles dealt in a possible way."""
    assert {*SECRET} < {*old.dtype.names}
    for field in old.dtype.names:
        if field not in SECRET:
            assert np.array_equal(old[field], new[field]), field
    assert np.array_equal(old["hands"][viewer], new["hands"][viewer])
    assert hidden_tiles(rules, old, viewer) == hidden_tiles(rules, new, viewer)
    assert not new["boneyard"][new["boneyard_size"] :].any()
    for seat in range(rules.players):
        assert len(tiles_of(new["hands"][seat])) == new["hand_sizes"][seat]
        may_breach = new["drew"] == DRAWN and seat == new["to_move"]
        assert breaches(rules, new, seat) <= may_breach


def is_likely(counts: Mapping[Any, int], odds: Mapping[Any, int]) -> bool:
    """Return whether draws fit odds: chi-square within five standard deviations."""
    assert counts.keys() <= odds.keys()  # nothing impossible was drawn
    draws, total, df = sum(counts.values()), sum(odds.values()), len(odds) - 1
    expected = {outcome: draws * weight / total for outcome, weight in odds.items()}
    assert min(expected.values()) > 5
    chi = sum((counts.get(key, 0) - mean) ** 2 / mean for key, mean in expected.items())
    return abs(chi - df) < 5 * (2 * df) ** 0.5


# -------------------------------------------------------------------------------------- real games


@pytest.mark.parametrize("number", range(40))
def test_every_decision_of_random_games(number: int) -> None:
    rules = random_rules(random.Random(1000 + number))
    rng = np.random.default_rng(number)
    forced = "auto" if number % 3 == 0 else "explicit"
    game = BatchedGame(rules, 4, seed=number, autoreset=False, forced=forced, reward="penalty")
    chooser = make_policy("random", rules, seed=number)
    while (playing := game.masks.any(1)).any():
        seats = np.where(rng.random(4) < 0.5, game.to_move, rng.integers(rules.players, size=4))
        before = game.states.copy()
        other = game.redeal_hidden(seats, rng)
        stepping.end_blocked_games(other.states, rules.record)  # none is: the round goes on
        assert np.array_equal(game.states, before)
        assert np.array_equal(other.observe(seats), game.observe(seats))
        own = seats == game.to_move
        assert np.array_equal(other.masks[own], game.masks[own])
        for i in playing.nonzero()[0]:
            check_possible(rules, game.states[i], other.states[i], int(seats[i]))
        if rng.random() < 0.1:
            play_out(other, chooser)
        games = playing.nonzero()[0]
        game.step(chooser.act(game.observations[games], game.masks[games]), games)


def play_out(game: BatchedGame, chooser: Any) -> None:
    """Play every round to its end; all tiles are somewhere then."""
    tiles = [count_tiles(g) for g in game.states]
    while (games := game.masks.any(1).nonzero()[0]).size:
        game.step(chooser.act(game.observations[games], game.masks[games]), games)
    assert (game.states["ending"] != 0).all()
    assert [count_tiles(g) for g in game.states] == tiles


def count_tiles(g: Any) -> int:
    words = np.bitwise_or.reduce([*g["hands"], g["table"]])
    return len(tiles_of(words)) + int(g["boneyard_size"])


@each_table
def test_the_truth_changes_nothing(rules: Rules) -> None:
    rng = np.random.default_rng(8)
    game = BatchedGame(rules, 6, seed=5, episode="match")
    chooser = make_policy("random", rules, seed=1)
    twin = game.copy()
    for decision in range(60):
        seats = game.to_move.copy() if decision % 2 else rng.integers(rules.players, size=6)
        twin.load(game.states)
        for g, seat in zip(twin.states, seats.tolist(), strict=True):
            permute_hidden(rules, g, seat, rng)
            g["boneyard"][g["boneyard_size"] :] = 7  # where drawn tiles lay
        twin.states["seed"], twin.states["stream"] = 77, 78
        ours = game.redeal_hidden(seats, np.random.default_rng(decision))
        theirs = twin.redeal_hidden(seats, np.random.default_rng(decision))
        assert np.array_equal(ours.states, theirs.states)
        assert np.array_equal(ours.masks, theirs.masks)
        assert np.array_equal(ours.observations, theirs.observations)
        assert not np.array_equal(ours.states["hands"], game.states["hands"])
        assert not (ours.states["seed"] == game.states["seed"]).any()
        game.step(chooser.act(game.observations, game.masks))


@pytest.mark.parametrize("kind", KINDS)
def test_many_seats_with_large_hands(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways of dealing give possible deals of a crowded table, as blind to the truth."""
    monkeypatch.setattr(determinization, "EXACT_COUNTS", 200_000 if kind == "exact" else 0)
    rules = make_rules("chicken_foot", players=8, max_pip=12)
    game = BatchedGame(rules, 4, seed=2)
    chooser = make_policy("random", rules, seed=1)
    for decision in range(120):
        if decision % 20 == 19:
            seats = game.to_move.copy()
            other, twin = (game.redeal_hidden(seats, np.random.default_rng(1)) for _ in range(2))
            for i in range(4):
                check_possible(rules, game.states[i], other.states[i], int(seats[i]))
            again = other.redeal_hidden(seats, np.random.default_rng(1))
            assert np.array_equal(other.states, twin.states)
            assert np.array_equal(other.states["hands"], again.states["hands"])
        game.step(chooser.act(game.observations, game.masks))


# -------------------------------------------------------------------------------------- uniformity

PROBLEMS = [
    ([(0,), (1,), (0, 1), (0, 1), (), (1,)], [2, 2]),
    ([(0, 1, 2), (0, 1), (1, 2), (0, 2), (0, 1, 2), (2,)], [1, 2, 1]),
    ([(0, 1), (0, 1), (0, 1)], [2, 1]),  # nothing is left free
    ([(0,), (0,), (), ()], [1]),
]


@pytest.mark.usefixtures("each_kind")
@pytest.mark.parametrize(("may_hold", "room"), PROBLEMS)
def test_deals_are_uniform(may_hold: list[tuple[int, ...]], room: list[int]) -> None:
    choices = itertools.product(*[(FREE, *seats) for seats in may_hold])
    possible = {deal: 1 for deal in choices if [deal.count(h) for h in range(len(room))] == room}
    rng = np.random.default_rng(3)
    counts = Counter(tuple(deal_bound(may_hold, room, rng) or ()) for _ in range(2000))
    assert len(possible) > 1
    assert is_likely(counts, possible)


@pytest.mark.usefixtures("each_kind")
def test_a_position_is_dealt_as_by_a_fair_dealer_who_minds_the_proofs() -> None:
    """All orders in which the hidden tiles may lie, the drawn tile the last of its hand."""
    game = Game.from_position(DRAWN_POSITION)
    tiles, voids = game.rules.tiles, DRAWN_POSITION["voids"]
    hidden = hidden_tiles(game.rules, game.state[0], 0)
    fits = {
        (seat, tile): not {int(tiles.low[tile]), int(tiles.high[tile])} & set(voids[seat])
        for seat in (1, 2)
        for tile in hidden
    }
    odds: Counter[Hashable] = Counter()
    for a, b, drawn, c, d, *boneyard in itertools.permutations(hidden):
        if fits[1, a] and fits[1, b] and fits[2, c] and fits[2, d]:
            odds[frozenset((a, b, drawn)), frozenset((c, d)), tuple(boneyard)] += 1
    rng = np.random.default_rng(5)
    counts: Counter[Hashable] = Counter()
    for _ in range(12 * len(odds)):
        g = game.redeal_hidden(0, rng).state[0]
        hands = [frozenset(tiles_of(g["hands"][seat])) for seat in (1, 2)]
        counts[hands[0], hands[1], tuple(g["boneyard"][:2].tolist())] += 1
    assert (
        len(set(odds.values())) > 1
    )  # a hand that fits throughout may have drawn any of its tiles
    assert is_likely(counts, odds)


# ---------------------------------------------------------------------------------- small and hard


def test_a_drawn_tile_may_be_anything() -> None:
    game = Game.from_position(DRAWN_POSITION)
    rng = np.random.default_rng(0)
    redealt = [game.redeal_hidden(0, rng).state[0] for _ in range(100)]
    assert {breaches(game.rules, g, 1) for g in redealt} == {0, 1}
    assert {breaches(game.rules, g, 2) for g in redealt} == {0}


def test_a_viewers_own_drawn_tile_stays() -> None:
    game = Game.from_position(DRAWN_POSITION)
    rng = np.random.default_rng(0)
    for _ in range(20):
        redealt = game.redeal_hidden(1, rng)
        assert redealt.position()["hands"][1] == game.position()["hands"][1]
        assert redealt.legal_moves() == game.legal_moves()


def test_tiles_out_of_play_stay_out_of_play() -> None:
    game = Game.from_position(DRAWN_POSITION)
    rng = np.random.default_rng(1)
    for seat in range(3):
        redealt = game.redeal_hidden(seat, rng).state[0]
        assert hidden_tiles(game.rules, redealt, seat) == hidden_tiles(
            game.rules, game.state[0], seat
        )
        assert count_tiles(redealt) == count_tiles(game.state[0]) < game.rules.tiles.size


@pytest.mark.usefixtures("each_kind")
def test_proofs_that_allow_no_deal() -> None:
    game = BatchedGame("mexican_train", 2, seed=1)
    game.states["voids"][1, 2] = (1 << game.rules.max_pip + 1) - 1  # not a tile is left for seat 2
    with pytest.raises(PositionError, match="voids: no deal"):
        game.redeal_hidden(0, np.random.default_rng(0))


# ------------------------------------------------------------------------------------------- doors


def test_bad_input() -> None:
    game, batch = Game(players=3, seed=1), BatchedGame("mexican_train", 4, seed=1)
    rng = np.random.default_rng(0)
    for seat in (3, -1, 1.5, None):
        with pytest.raises(DominoError, match="seat"):
            game.redeal_hidden(seat, rng)  # type: ignore[arg-type]
    for seats in (4, [0, 1, 2, -1], [0.5] * 4):
        with pytest.raises(DominoError, match="seats"):
            batch.redeal_hidden(seats, rng)
    for bad in (None, 7, np.random):
        with pytest.raises(DominoError, match="numpy Generator"):
            game.redeal_hidden(0, bad)  # type: ignore[arg-type]


@each_table
def test_a_match_goes_on_with_new_deals(rules: Rules) -> None:
    """Later rounds come from another seed, but seats start them in the order that all know."""
    game = Game(rules.game, rules, seed=4)
    finish_round(game)
    game.next_round()
    moves = [game.legal_moves()[0]]
    game.push(moves[0])
    redealt = game.redeal_hidden(0, np.random.default_rng(3))
    assert redealt.seed != game.seed
    assert redealt.moves == moves
    assert redealt.record().rounds == []  # finished rounds would tell the seed
    for one in (game, redealt):
        finish_round(one)
    with pytest.raises(RecordError):
        redealt.record()
    for one in (game, redealt):
        one.next_round()
    assert redealt.position()["hands"] != game.position()["hands"]
    if rules.game == "mexican_train":
        assert redealt.state["starter"][0] == game.state["starter"][0]
    assert Game.from_position(redealt.position()).legal_moves() == redealt.legal_moves()


def finish_round(game: Game) -> None:
    while not game.round_over:
        game.push(game.legal_moves()[0])


def test_a_round_that_is_over_lies_open() -> None:
    game = Game(players=3, seed=6)
    finish_round(game)
    redealt = game.redeal_hidden(0, np.random.default_rng(0))
    assert redealt.position() == game.position()
    assert redealt.seed != game.seed


def test_a_redealt_batch_is_not_recorded() -> None:
    game = BatchedGame("chicken_foot", 2, seed=1)
    recorder = Recorder(game)
    other = game.redeal_hidden(0, np.random.default_rng(0))
    chooser = make_policy("random", game.rules, seed=1)
    for _ in range(200):
        other.step(chooser.act(other.observations, other.masks))
    assert len(recorder) == 0
    for _ in range(200):
        game.step(chooser.act(game.observations, game.masks))
    assert len(recorder) > 0
    assert len(list(recorder.take())) > 0
