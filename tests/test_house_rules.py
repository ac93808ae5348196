"""House rules and deals: every option has a case that needs it, and every table is dealt right.

`tests/test_cases.py` runs the cases; here each is run again with an option taken back. The numbers
of the hand tables are typed out once more, from the rule books and not from the code.
"""

from __future__ import annotations

import json
import random
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from dominoenv import (
    DominoError,
    Game,
    MexicanTrainRules,
    Rules,
    RulesError,
    make_rules,
)
from dominoenv.games.registry import GAMES
from tests.reference import deal_round
from tests.test_cases import CASES, facts

TABLE = {"preset", "players", "max_pip"}  # who sits there with which set: no house rule
DEAL = {"hand_size", "rounds", "hand_table", "engine_tile", "first_starter"}  # tested below
HOUSE = json.loads(
    (Path(__file__).parent / "cases" / "house_rules.json").read_text(encoding="utf-8")
)
NAMED = [
    pytest.param(case, option, id=f"{case['id']}-{option}")
    for case in CASES
    for option in case["position"]["rules"]
    if option not in TABLE
]


# ------------------------------------------------------------------------------- no case is idle


def holds(case: dict[str, Any], rules: dict[str, Any]) -> bool:
    """Return whether a case's moves are legal and its expectation comes true under some rules."""
    game = Game.from_position({**case["position"], "rules": rules})
    try:
        for move in case["moves"]:
            game.push(move)
    except DominoError:
        return False
    found = facts(game)
    return bool({key: found[key] for key in case["expect"]} == case["expect"])


def default_of(game: str, option: str) -> Any:
    """Return what an option is when nobody has agreed on anything."""
    return next(spec.default for spec in fields(GAMES[game].rules) if spec.name == option)


@pytest.mark.parametrize(("case", "option"), NAMED)
def test_case_needs_the_option_it_names(case: dict[str, Any], option: str) -> None:
    rules = case["position"]["rules"]
    default = default_of(case["position"]["game"], option)
    assert holds(case, rules)
    assert not holds(case, {**rules, option: default})


@pytest.mark.parametrize("case", HOUSE, ids=[case["id"] for case in HOUSE])
def test_house_case_needs_its_house_rules(case: dict[str, Any]) -> None:
    """The game's default preset, on the same set, does not do what the case expects."""
    rules = make_rules(case["position"]["game"], case["position"]["rules"])
    plain = {"players": rules.players, "max_pip": rules.max_pip}
    assert rules != make_rules(rules.game, plain)
    assert not holds(case, plain)


PLAYED = [
    (game, spec.name, spec.metadata.get("choices"))
    for game, kind in GAMES.items()
    for spec in fields(kind.rules)
    if spec.name not in TABLE | DEAL
]


@pytest.mark.parametrize(
    ("game", "option", "choices"), PLAYED, ids=[f"{g}-{o}" for g, o, _ in PLAYED]
)
def test_every_option_has_a_house_case(
    game: str, option: str, choices: tuple[str, ...] | None
) -> None:
    tried = {
        case["position"]["rules"][option]
        for case in HOUSE
        if case["position"]["game"] == game and option in case["position"]["rules"]
    }
    assert tried
    assert default_of(game, option) not in tried
    if choices is not None:
        assert tried == set(choices) - {default_of(game, option)}


BUNDLED = [
    (game, preset, option)
    for game, kind in GAMES.items()
    for preset, options in kind.rules.presets.items()
    for option in options
    if option not in TABLE | DEAL
]


@pytest.mark.parametrize(("game", "preset", "option"), BUNDLED)
def test_every_rule_of_a_preset_shows_in_a_case(game: str, preset: str, option: str) -> None:
    cases = [
        case
        for case in CASES
        if case["position"]["game"] == game
        and case["position"]["rules"].get("preset") == preset
        and option not in case["position"]["rules"]
    ]
    back = {option: default_of(game, option)}
    assert not all(holds(case, {**case["position"]["rules"], **back}) for case in cases)


def test_empty_hand_draws_again_although_it_drew_this_turn() -> None:
    """go_out_on_double=False is stronger than draws="per_turn": an empty hand always draws."""
    game = Game.from_position(
        {
            "game": "mexican_train",
            "rules": {"players": 2, "go_out_on_double": False, "draws": "per_turn"},
            "engine": 9,
            "to_move": 0,
            "hands": [["5-5"], ["7-7"]],
            "boneyard": ["8-8", "6-6", "4-4"],
            "trains": [["9-5"], []],
            "mexican_train": ["9-8"],
        }
    )
    for move in ("5-5@0", "draw", "8-8@M", "draw"):
        game.push(move)
    assert game.legal_moves() == ["pass"]  # a hand again, and its one draw is spent


# ---------------------------------------------------------------------------------- sizes of hands

HANDS = [  # game, preset, set, options, hands of 2, 3, 4 ... seats
    ("mexican_train", "engine", 9, {}, [15, 15, 11, 9, 8, 7, 6]),
    ("mexican_train", "engine", 12, {}, [16, 16, 15, 14, 12, 10, 9]),
    ("mexican_train", "engine", 9, {"hand_table": "published"}, [15, 13, 10]),
    ("mexican_train", "tournament", 9, {}, [15, 15, 11, 9, 8, 7, 6]),
    ("mexican_train", "station", 12, {}, [12, 12, 12, 12, 12, 10, 10, 8, 8]),
    ("mexican_train", "pagat", 12, {}, [15, 15, 15, 12, 12, 10, 10, 8, 8]),
    ("chicken_foot", "chicken_foot", 9, {}, [20, 15, 11, 9, 8, 7, 6]),
    ("chicken_foot", "pagat", 9, {}, [20, 15, 11, 9, 8, 7, 6]),
    # no table: the largest hand up to 16 that leaves max(players, 5) tiles
    ("mexican_train", "engine", 6, {}, [11, 7, 5, 4, 3]),  # of 27 tiles
    ("mexican_train", "station", 6, {}, [11, 7, 5, 4, 3, 3]),  # of 28
    ("mexican_train", "station", 9, {}, [16, 16, 12, 10, 8, 6, 5, 5, 4]),  # of 55
    ("mexican_train", "pagat", 9, {}, [16, 16, 12, 10, 8, 6, 5, 5, 4]),
    ("mexican_train", "engine", 15, {}, [16, 16, 16, 16, 16, 16, 15, 14, 12]),  # of 135
    ("mexican_train", "engine", 18, {}, [16, 16, 16, 16, 16, 16, 16, 16, 16]),  # of 189
    # no table: (T - 13) / players, between 4 and 20
    ("chicken_foot", "chicken_foot", 6, {}, [7, 5, 4, 4, 4, 4]),  # of 28
    ("chicken_foot", "chicken_foot", 12, {}, [20, 20, 19, 15, 13, 11, 9, 8, 7]),  # of 91
    ("chicken_foot", "chicken_foot", 18, {}, [20, 20, 20, 20, 20, 20, 20, 19, 17]),  # of 190
]


@pytest.mark.parametrize(("game", "preset", "max_pip", "options", "hands"), HANDS)
def test_hands(
    game: str, preset: str, max_pip: int, options: dict[str, Any], hands: list[int]
) -> None:
    made = [
        make_rules(game, preset=preset, max_pip=max_pip, players=players, **options).hand_size
        for players in range(2, 2 + len(hands))
    ]
    assert made == hands


def test_hands_of_more_seats_than_the_table_has() -> None:
    def size(game: str, **options: Any) -> int:
        return make_rules(game, **options).hand_size

    assert [size("mexican_train", players=p, max_pip=9) for p in (9, 10)] == [5, 4]
    assert [size("mexican_train", players=p, max_pip=12) for p in (9, 10)] == [9, 8]
    assert [size("chicken_foot", players=p) for p in (9, 10)] == [4, 4]


def test_default_sets() -> None:
    sets = {
        (game, preset): make_rules(game, preset=preset).max_pip
        for game, kind in GAMES.items()
        for preset in kind.rules.presets
    }
    assert sets == {
        ("mexican_train", "engine"): 9,
        ("mexican_train", "station"): 12,
        ("mexican_train", "pagat"): 12,
        ("mexican_train", "tournament"): 9,
        ("chicken_foot", "chicken_foot"): 9,
        ("chicken_foot", "pagat"): 9,
    }


@pytest.mark.parametrize(
    ("game", "options", "words"),
    [
        ("mexican_train", {"players": 4, "hand_size": 14}, ["56 tiles", "54 to deal"]),
        (
            "mexican_train",
            {"preset": "station", "players": 10, "hand_size": 10},
            ["100 tiles", "91 to deal"],
        ),
        ("mexican_train", {"players": 7, "max_pip": 6}, ["players=7", "27 tiles"]),
        ("mexican_train", {"preset": "pagat", "players": 8, "max_pip": 6}, ["28 tiles"]),
        ("chicken_foot", {"players": 4, "hand_size": 14}, ["56 tiles", "55 to deal"]),
        ("chicken_foot", {"players": 8, "max_pip": 6}, ["players=8", "28"]),
    ],
)
def test_hands_that_the_set_cannot_deal(
    game: str, options: dict[str, Any], words: list[str]
) -> None:
    with pytest.raises(RulesError) as caught:
        make_rules(game, options)
    assert all(word in str(caught.value) for word in words)


def test_largest_hands_of_all() -> None:
    """A hand size of one's own may empty the boneyard; one tile more is too many."""
    assert not Game(players=2, hand_size=27, seed=1).position()["boneyard"]
    dealt = Game(players=5, hand_size=11, engine_tile="dealt", seed=1)
    assert not dealt.position()["boneyard"]
    with pytest.raises(RulesError):
        make_rules("mexican_train", players=5, hand_size=11)  # 54 tiles beside the engine
    assert not Game("chicken_foot", players=5, hand_size=11, seed=1).position()["boneyard"]


# --------------------------------------------------------------------------- Mexican Train: deals

SEEDS = range(30)


def sizes(game: Game) -> list[int]:
    return [len(hand) for hand in game.position()["hands"]]


def in_hands(game: Game) -> list[str]:
    return [tile for hand in game.position()["hands"] for tile in hand]


def finish_round(game: Game, rng: random.Random) -> None:
    while not game.round_over:
        game.push(rng.choice(game.legal_moves()))


@pytest.mark.parametrize("players", [2, 5])
def test_engine_set_aside(players: int) -> None:
    for seed in SEEDS:
        game = Game(players=players, first_starter=1, seed=seed)
        hand = game.rules.hand_size
        assert sizes(game) == [hand] * players
        assert len(game.position()["boneyard"]) == 54 - players * hand
        assert "9-9" not in in_hands(game) + game.position()["boneyard"]
        assert game.to_move == 1


def layer_of(game: Game, starter: int, engine_tile: str) -> tuple[int, int]:
    """Return who laid a dealt engine, and how many tiles were drawn to find it, by the sizes."""
    rules = game.rules
    drawn = rules.tiles.size - rules.players * rules.hand_size - len(game.position()["boneyard"])
    hands = [rules.hand_size] * rules.players
    for i in range(drawn):
        hands[(starter + i) % rules.players] += 1
    layers = [
        seat
        for seat in range(rules.players)
        if sizes(game) == [size - (seat == s) for s, size in enumerate(hands)]
    ]
    assert engine_tile not in in_hands(game) + game.position()["boneyard"]
    assert len(layers) == 1
    return layers[0], drawn


@pytest.mark.parametrize("preset", ["station", "pagat"])
@pytest.mark.parametrize("players", [2, 6])
def test_engine_dealt(preset: str, players: int) -> None:
    held = 0
    for seed in SEEDS:
        game = Game(preset=preset, players=players, first_starter=1, seed=seed)
        layer, drawn = layer_of(game, 1, "12-12")
        held += drawn == 0
        if drawn:  # the last to draw is the one that found it
            assert layer == (1 + drawn - 1) % players
        assert game.to_move == (layer + 1) % players
        assert game.position()["turns_taken"] == [0] * players  # its first turn is still to come
        assert game.position()["markers"] == []
    assert 0 < held < len(SEEDS)


def test_dealt_engine_of_every_round() -> None:
    game = Game(preset="station", players=3, hand_size=2, rounds=[12, 5, 0], seed=4)
    rng = random.Random(4)
    for k, engine in enumerate([12, 5, 0]):
        if k:
            game.next_round()
        assert game.position()["engine"] == engine
        layer, _ = layer_of(game, k % 3, f"{engine}-{engine}")  # seats draw from the starter on
        assert game.to_move == (layer + 1) % 3
        finish_round(game, rng)
    assert game.over


def test_layer_of_a_one_tile_hand_is_out() -> None:
    out = [Game(preset="station", players=4, hand_size=1, seed=seed) for seed in range(200)]
    over = [game for game in out if game.round_over]
    assert over  # the engine was somebody's only tile
    assert all(0 in (game.penalties or []) and sizes(game).count(0) == 1 for game in over)


def test_first_starter_goes_round_the_table() -> None:
    game = Game(players=4, first_starter=2, hand_size=2, rounds=[9, 8, 7, 6, 5], seed=1)
    rng, starters = random.Random(1), [game.to_move]
    while not game.over:
        finish_round(game, rng)
        if not game.over:
            game.next_round()
            starters.append(game.to_move)
    assert starters == [2, 3, 0, 1, 2]


def test_first_starter_from_the_seed() -> None:
    starters = [
        Game(players=4, first_starter="seed", seed=9, match=match).to_move for match in range(40)
    ]
    assert set(starters) == {0, 1, 2, 3}
    again = [
        Game(players=4, first_starter="seed", seed=9, match=match).to_move for match in range(40)
    ]
    assert again == starters
    game = Game(players=4, first_starter="seed", hand_size=2, seed=9, match=3)
    first = game.to_move
    finish_round(game, random.Random(1))
    game.next_round()
    assert game.to_move == (first + 1) % 4


@pytest.mark.parametrize("starter", [4, -1, "dealer", 1.5])
def test_first_starter_must_sit_at_the_table(starter: Any) -> None:
    with pytest.raises(RulesError, match="first_starter"):
        make_rules("mexican_train", players=4, first_starter=starter)


@pytest.mark.parametrize(
    ("game", "options", "rounds"),
    [
        ("mexican_train", {}, [9, 8, 7, 6, 5, 4, 3, 2, 1, 0]),
        ("mexican_train", {"preset": "station"}, [12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0]),
        ("mexican_train", {"rounds": [9, 5, 0]}, [9, 5, 0]),
        ("chicken_foot", {}, [9, 8, 7, 6, 5, 4, 3, 2, 1]),
        ("chicken_foot", {"max_pip": 6}, [6, 5, 4, 3, 2, 1]),
        ("chicken_foot", {"rounds": [9, 7, 5, 3, 1]}, [9, 7, 5, 3, 1]),
    ],
)
def test_rounds(game: str, options: dict[str, Any], rounds: list[int]) -> None:
    rules = make_rules(game, hand_size=3, **options)
    assert list(rules.rounds) == rounds
    match, rng = Game(game, rules, seed=2), random.Random(2)
    for k in range(len(rounds)):
        if k:
            assert not match.over
            match.next_round()
        assert match.round == k
        if game == "mexican_train":
            assert match.position()["engine"] == rounds[k]
        finish_round(match, rng)
    assert match.over


# --------------------------------------------------------------------------- Chicken Foot: leads

LEADS = {  # of a double-6 set: the doubles that are asked for, in order
    6: [6, 5, 4, 3, 2, 1, 0],
    4: [4, 3, 2, 1, 0, 5, 6],
    2: [2, 1, 0, 3, 4, 5, 6],
    1: [1, 2, 3, 4, 5, 6, 0],
    0: [0, 1, 2, 3, 4, 5, 6],
}


@pytest.mark.parametrize("pip", LEADS)
def test_lead(pip: int) -> None:
    led = set()
    for seed in range(150):
        game = Game("chicken_foot", max_pip=6, players=3, hand_size=3, rounds=[pip], seed=seed)
        centre = game.position()["centre"]
        leader = (game.to_move - 1) % 3
        assert sizes(game) == [3 - (seat == leader) for seat in range(3)]
        place = LEADS[pip].index(centre)
        wanted_before = {f"{p}-{p}" for p in LEADS[pip][:place]}
        assert not wanted_before & set(in_hands(game))  # nobody could have led an earlier one
        led.add(place)
    assert {0, 1, 2, 3} <= led


def test_lead_of_the_last_tile_is_out() -> None:
    game = Game("chicken_foot", max_pip=6, players=2, hand_size=1, seed=1)
    leader = (game.to_move - 1) % 2
    assert game.round_over
    assert game.penalties is not None
    assert game.penalties[leader] == -5  # no foot was open


def test_redeal_until_a_hand_holds_a_double() -> None:
    rules = make_rules("chicken_foot", max_pip=6, players=2, hand_size=2)
    resolved = {**rules.to_dict(), "preset": "chicken_foot"}
    redeals = []
    for seed in range(40):
        slow = deal_round("chicken_foot", resolved, seed, 0, 0)
        fast = Game("chicken_foot", rules, seed=seed).position()
        redeals.append(slow["redeals"])
        assert [set(hand) for hand in fast["hands"]] == [set(hand) for hand in slow["hands"]]
        assert fast["boneyard"] == slow["boneyard"]
        assert fast["centre"] == slow["centre"]
    assert {0, 1, 2} <= set(redeals)


# ------------------------------------------------------------------------------- rules as objects


def test_presets_are_their_options() -> None:
    """A preset is nothing but its options: spelled out, they make an equal rules object."""
    for game, kind in GAMES.items():
        for preset, options in kind.rules.presets.items():
            assert make_rules(game, preset=preset) == make_rules(game, **options)


def test_pagat_and_station_deal_different_hands() -> None:
    station: Rules = MexicanTrainRules.preset("station", players=2)
    pagat = MexicanTrainRules.preset("pagat", players=2)
    assert (station.hand_size, pagat.hand_size) == (12, 15)
    assert pagat.first_turn == "any"
    assert pagat.blocked == "lap"
    assert pagat.engine_tile == "dealt"
