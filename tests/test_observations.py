"""The layout of an observation: true to what is written, and to the documentation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dominoenv import BatchedGame, Rules, UnknownNameError, make_policy
from dominoenv.games.positions import position_of
from tests.rule_sets import every_table, name


@pytest.mark.parametrize("rules", every_table(), ids=name)
def test_rows_fit_their_layout(rules: Rules) -> None:
    game = BatchedGame(rules, 8, seed=3, episode="match")
    policy = make_policy("random", rules)
    for _ in range(60):
        rows, layout = game.observations, game.layout
        assert (rows <= layout.high).all()
        scaled = layout.scaled(rows)
        assert scaled.dtype == np.float32
        assert 0 <= scaled.min() <= scaled.max() <= 1
        assert np.array_equal(layout.raw(scaled), rows)
        assert layout.raw(rows) is rows
        game.step(policy.act(rows, game.masks))


def parts(game: BatchedGame, row: Any) -> dict[str, list[int]]:
    return {part.name: row[part.slice].tolist() for part in game.layout.parts}


def turned(values: list[Any], seat: int) -> list[Any]:
    """Return what lies in seat order as the seat sees it, its own first."""
    return values[seat:] + values[:seat]


def pips(bits: list[int]) -> list[int]:
    return [pip for pip, bit in enumerate(bits) if bit]


TABLES = [rules for rules in every_table() if rules.players in (2, 5) and rules.max_pip in (6, 12)]


@pytest.mark.parametrize("rules", TABLES, ids=name)
def test_every_part_says_what_the_position_says(rules: Rules) -> None:
    game = BatchedGame(rules, 1, seed=4, episode="match")
    policy = make_policy("random", rules)
    for decision in range(250):
        position = position_of(rules, game.states[0])
        seat = decision % rules.players
        seen = parts(game, game.observe(seat)[0])
        text = rules.tiles.text
        assert {text(tile) for tile in pips(seen["hand"])} == set(position["hands"][seat])
        assert seen["to_move"] == turned(
            [int(s == position["to_move"]) for s in range(rules.players)], seat
        )
        assert seen["drew"] == [position["drew"]]
        assert seen["passes"] == [position["passes"]]
        assert seen["hand_sizes"] == turned([len(hand) for hand in position["hands"]], seat)
        assert seen["boneyard"] == [len(position["boneyard"])]
        assert seen["round"] == [position["round"]]
        scores = position["scores"]
        behind = [min(score - min(scores), 255) for score in scores]
        assert seen["behind"] == turned(behind, seat)
        voids = turned(position.get("voids", [[]] * rules.players), seat)[1:]
        size = rules.max_pip + 1
        shown = [pips(seen["voids"][i : i + size]) for i in range(0, len(seen["voids"]), size)]
        assert shown == voids
        check = check_trains if rules.game == "mexican_train" else check_table
        check(rules, position, seat, seen)
        game.step(policy.act(game.observations, game.masks))


def check_trains(rules: Rules, position: dict[str, Any], seat: int, seen: dict[str, Any]) -> None:
    trains = [*turned(position["trains"], seat), position["mexican_train"]]
    names = [*turned(list(range(rules.players)), seat), "M"]
    size = rules.max_pip + 2
    for i, train in enumerate(trains):
        end = position["engine"]
        for tile in train:
            end = sum(map(int, tile.split("-"))) - end
        one_hot = seen["ends"][i * size : (i + 1) * size]
        assert pips(one_hot) == [end if train else size - 1]
    assert seen["lengths"] == [len(train) for train in trains]
    marked = [int(s in position["markers"]) for s in range(rules.players)]
    assert seen["markers"] == turned(marked, seat)
    places = {train: i + 1 for i, train in enumerate(position["pending"])}
    assert seen["pending"] == [places.get(train, 0) for train in names]
    first = [int(turns == 0) for turns in position["turns_taken"]]
    assert seen["first_turn"] == turned(first, seat)
    assert seen["owes_play"] == [position["owes_play"]]
    assert pips(seen["engine"]) == [position["engine"]]
    middle = [f"{position['engine']}-{position['engine']}"]
    on_table = {tile for train in [*trains, middle] for tile in train}
    assert {rules.tiles.text(tile) for tile in pips(seen["table"])} == on_table


def check_table(rules: Rules, position: dict[str, Any], seat: int, seen: dict[str, Any]) -> None:
    assert pips(seen["centre"]) == [position["centre"]]
    played = {entry[0] for entry in position["table"]}
    middle = f"{position['centre']}-{position['centre']}"
    assert {rules.tiles.text(tile) for tile in pips(seen["table"])} == {*played, middle}
    arms = sum(len(entry) == 1 for entry in position["table"])
    assert seen["arms_missing"] == [max(rules.to_dict()["centre_arms"] - arms, 0)]
    assert sum(seen["foot"]) <= 1
    assert bool(sum(seen["foot"])) == bool(seen["toes_missing"][0])
    if sum(seen["foot"]):
        toes = rules.to_dict()["toes"] - sum(seen["toe_pips"])
        assert seen["toes_missing"] == [toes]


def test_parts_by_name() -> None:
    game = BatchedGame("mexican_train", 1, 0)
    assert game.layout["hand"] == slice(0, 55)
    with pytest.raises(UnknownNameError, match="did you mean 'markers'"):
        game.layout["marker"]
    assert game.layout.table().count("\n") == len(game.layout.parts) + 3
