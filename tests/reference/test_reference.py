"""The reference against the rule cases and against itself in random play."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from . import ChickenFoot, MexicanTrain, deal_round, resolve
from .deal import lead_order
from .tiles import full_set, parse_tile

CASES = sorted((Path(__file__).parents[1] / "cases").glob("*.json"))
Round = MexicanTrain | ChickenFoot


def load(position: dict[str, Any]) -> Round:
    position = position | {"rules": resolve(position["rules"])}
    return MexicanTrain(position) if position["game"] == "mexican_train" else ChickenFoot(position)


def all_cases() -> list[Any]:
    return [
        pytest.param(case, id=case["id"]) for path in CASES for case in json.loads(path.read_text())
    ]


def test_cases_are_there() -> None:
    assert {path.stem for path in CASES} >= {"mexican_train", "chicken_foot"}


@pytest.mark.parametrize("case", all_cases())
def test_rule_case(case: dict[str, Any]) -> None:
    game = load(case["position"])
    for move in case["moves"]:
        game.push(move)
    for key, wanted in case["expect"].items():
        assert observed(game, key) == wanted, key


def observed(game: Any, key: str) -> Any:
    """What a case expects, in the form in which the case files write it."""
    if key == "legal":
        return game.legal_moves()
    if key == "markers":
        return sorted(game.markers)
    if key == "open_ends":
        return {str(pip): count for pip, count in sorted(game.open_ends().items())}
    if key == "foot":
        return None if game.foot is None else list(game.foot)
    return getattr(game, key)


# --- random play ---

MEXICAN_TRAIN_RULES: list[dict[str, Any]] = [
    {"preset": "engine", "players": 2},
    {"preset": "engine", "players": 4, "max_pip": 6, "dead_double": "binds"},
    {"preset": "engine", "players": 4, "max_pip": 6, "blocked": "no_play"},
    {"preset": "engine", "players": 3, "double_followup": "cover_if_possible"},
    {"preset": "engine", "players": 3, "double_followup": "none"},
    {"preset": "engine", "players": 3, "double_followup": "none", "go_out_on_double": False},
    {"preset": "engine", "players": 4, "max_doubles_per_turn": 1, "draws": "per_turn"},
    {"preset": "engine", "players": 3, "go_out_on_double": False, "draws": "per_turn"},
    {"preset": "engine", "players": 4, "hand_size": 3, "go_out_on_double": False},
    {"preset": "engine", "players": 4, "opening": "whole_train"},
    {"preset": "engine", "players": 3, "opening": "whole_train", "double_followup": "none"},
    {
        "preset": "engine",
        "players": 4,
        "hand_size": 3,
        "opening": "whole_train",
        "go_out_on_double": False,
        "max_doubles_per_turn": 1,
        "blocked": "no_play",
    },
    {"preset": "engine", "players": 5, "own_train_first": True, "first_starter": "seed"},
    {"preset": "station", "players": 2},
    {"preset": "station", "players": 6, "dead_double": "binds"},
    {"preset": "station", "players": 10, "double_blank": 50},
    {"preset": "station", "players": 4, "hand_size": 1, "max_pip": 6},
    {
        "preset": "station",
        "players": 4,
        "double_followup": "cover_if_possible",
        "max_doubles_per_turn": 2,
        "go_out_on_double": False,
        "opening": "whole_train",
    },
]
CHICKEN_FOOT_RULES: list[dict[str, Any]] = [
    {"preset": "chicken_foot", "players": 2},
    {"preset": "chicken_foot", "players": 4},
    {"preset": "chicken_foot", "players": 4, "dead_foot": "released"},
    {"preset": "chicken_foot", "players": 8, "centre_arms": 8, "toes": 2},
    {"preset": "chicken_foot", "players": 3, "max_pip": 6, "toes": 6, "dead_foot": "released"},
    {"preset": "chicken_foot", "players": 6, "max_pip": 12, "centre_arms": 4, "out_bonus": 0},
    {"preset": "chicken_foot", "players": 4, "hand_size": 1},
]
ROUNDS = 12


def rules_id(rules: dict[str, Any]) -> str:
    return " ".join(str(value) for value in rules.values())


@pytest.mark.parametrize("rules", MEXICAN_TRAIN_RULES + CHICKEN_FOOT_RULES, ids=rules_id)
def test_random_rounds(rules: dict[str, Any]) -> None:
    game = "chicken_foot" if rules["preset"] == "chicken_foot" else "mexican_train"
    resolved = resolve(rules)
    rng = random.Random(1)
    for match in range(ROUNDS):
        k = match % len(resolved["rounds"])
        play_round(load(deal_round(game, resolved, seed=5, match=match, k=k)), rng)


def play_round(game: Round, rng: random.Random) -> None:
    max_pip, players = game.rules["max_pip"], game.players
    for _ in range(3000):
        assert sorted(tiles_in(game.position())) == sorted(full_set(max_pip))
        for seat in range(players):
            if seat == game.to_move and game.drew:
                continue  # whether the drawn tile stays in the hand is not settled yet
            held = {pip for tile in game.hands[seat] for pip in tile}
            assert not game.lacks(seat) & held, "a proved lack is held"
        if game.round_over:
            break
        legal = game.legal_moves()
        assert legal and legal == sorted(set(legal))
        if "draw" in legal or "pass" in legal:
            assert len(legal) == 1
        again = load(game.position())
        assert again.legal_moves() == legal and again.position() == game.position()
        game.push(rng.choice(legal))
    assert game.round_over and game.legal_moves() == []
    assert game.penalties is not None and len(game.penalties) == players
    assert (game.blocked is None) == any(not hand for hand in game.hands)


def tiles_in(position: dict[str, Any]) -> list[tuple[int, int]]:
    texts = [text for hand in position["hands"] for text in hand] + position["boneyard"]
    if position["game"] == "mexican_train":
        first = position["engine"]
        texts += [text for train in position["trains"] for text in train]
        texts += position["mexican_train"]
    else:
        first = position["centre"]
        texts += [entry[0] for entry in position["table"]]
    return [(first, first), *map(parse_tile, texts)]


# --- single points ---


def test_illegal_move_changes_nothing() -> None:
    game = load(deal_round("mexican_train", resolve({"preset": "engine", "players": 2}), 1, 0, 0))
    before = game.position()
    with pytest.raises(ValueError, match="legal moves"):
        game.push("pass")
    assert game.position() == before


def test_deal_depends_on_seed_match_and_round() -> None:
    rules = resolve({"preset": "engine", "players": 4})
    deals = [
        json.dumps(deal_round("mexican_train", rules, seed, match, k)["hands"])
        for seed in (0, 1)
        for match in (0, 1)
        for k in (0, 1)
    ]
    assert len(set(deals)) == len(deals)


def test_lead_order() -> None:
    assert lead_order(3, 5) == [3, 2, 1, 0, 4, 5]
    assert lead_order(1, 4) == [1, 2, 3, 4, 0]
    assert lead_order(0, 3) == [0, 1, 2, 3]


def mexican_train(**changes: Any) -> MexicanTrain:
    """A small position of two seats, engine 9; `rules` holds the options that differ."""
    position: dict[str, Any] = {
        "game": "mexican_train",
        "engine": 9,
        "to_move": 0,
        "trains": [["9-5"], ["9-4"]],
        "mexican_train": ["9-8"],
    } | changes
    position["rules"] = {"preset": "engine", "players": 2} | changes.get("rules", {})
    game = load(position)
    assert isinstance(game, MexicanTrain)
    return game


def test_cover_if_possible() -> None:
    game = mexican_train(
        rules={"double_followup": "cover_if_possible"},
        hands=[["5-5", "5-2", "8-1"], ["7-7"]],
        boneyard=["6-6"],
    )
    game.push("5-5@0")
    assert game.legal_moves() == ["5-2@0"]


def test_double_without_followup() -> None:
    game = mexican_train(
        rules={"double_followup": "none"}, hands=[["5-5", "8-1"], ["7-7"]], boneyard=["6-6"]
    )
    game.push("5-5@0")
    assert (game.to_move, game.pending, game.legal_moves()) == (1, [0], ["draw"])


def test_one_double_a_turn() -> None:
    game = mexican_train(
        rules={"max_doubles_per_turn": 1}, hands=[["5-5", "8-8", "7-7"], ["7-6"]], boneyard=["6-6"]
    )
    game.push("5-5@0")
    assert game.legal_moves() == ["draw"]
    game.push("draw")
    assert game.lacks(0) == {5}  # it may hold 8-8
    assert game.legal_moves() == ["pass"]


def test_one_draw_a_turn() -> None:
    game = mexican_train(
        rules={"draws": "per_turn"}, hands=[["7-7", "7-6"], ["7-3"]], boneyard=["5-5", "6-6"]
    )
    for move in ("draw", "5-5@0"):
        game.push(move)
    assert game.legal_moves() == ["pass"]
    game.push("pass")
    assert game.lacks(0) == {5, 8}


def test_not_out_on_a_double() -> None:
    game = mexican_train(
        rules={"go_out_on_double": False}, hands=[["5-5"], ["7-7"]], boneyard=["5-1"]
    )
    game.push("5-5@0")
    assert not game.round_over and game.legal_moves() == ["draw"]
    game.push("draw")
    game.push("5-1@0")
    assert game.penalties == [0, 14]
    game = mexican_train(rules={"go_out_on_double": False}, hands=[["5-5"], ["7-7"]], boneyard=[])
    game.push("5-5@0")
    assert game.penalties == [0, 14] and game.blocked is None


def test_whole_train_opening() -> None:
    game = mexican_train(
        rules={"opening": "whole_train"},
        hands=[["9-3", "3-3", "3-1", "8-2", "1-0"], ["9-7", "6-6"]],
        boneyard=["6-5"],
        trains=[[], []],
        turns_taken=[0, 0],
    )
    assert game.legal_moves() == ["9-3@0"]
    game.push("9-3@0")
    assert game.legal_moves() == ["3-1@0", "3-3@0", "stop"]
    game.push("3-3@0")
    assert game.legal_moves() == ["3-1@0"]
    game.push("3-1@0")
    assert game.legal_moves() == ["1-0@0", "stop"]
    game.push("1-0@0")
    assert (game.to_move, game.markers, game.legal_moves()) == (1, set(), ["9-7@1"])


def test_own_train_first() -> None:
    game = mexican_train(
        rules={"own_train_first": True},
        hands=[["9-3", "8-1"], ["7-7"]],
        boneyard=[],
        trains=[[], []],
    )
    assert game.legal_moves() == ["9-3@0"]


def test_dead_foot_released() -> None:
    table = [["6-0"], ["6-1"], ["6-2"], ["6-3"], ["6-4"], ["6-5"], ["5-1", 5]]
    table += [["5-0", 0], ["5-2", 2], ["5-3", 3], ["5-4", 4]]
    position = {
        "game": "chicken_foot",
        "centre": 6,
        "to_move": 0,
        "hands": [["5-5", "1-0"], ["4-3"]],
        "boneyard": [],
        "table": table,
    }
    rules: dict[str, Any] = {"preset": "chicken_foot", "players": 2, "max_pip": 6}
    game = load(position | {"rules": rules | {"dead_foot": "released"}})
    assert isinstance(game, ChickenFoot)
    game.push("5-5@5")
    assert game.foot is None and game.open_ends() == {1: 2, 5: 3}
    game = load(position | {"rules": rules})
    assert isinstance(game, ChickenFoot)
    game.push("5-5@5")
    assert game.foot == (5, 3) and game.legal_moves() == ["pass"]
