"""`Observation` and its moves: the same as the position says, seen from each seat."""

from __future__ import annotations

import copy
import pickle
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pytest

from dominoenv import BatchedGame, DominoError, Game, MexicanTrainRules, Observation, Rules
from dominoenv.core.layout import Layout
from dominoenv.core.observe import shared_sections, tile_sections
from dominoenv.games.mexican_train import observe
from dominoenv.games.positions import position_of
from dominoenv.games.registry import GAMES
from tests import golden

DECISIONS = 250


def turned(values: list[Any], seat: int) -> list[Any]:
    """Return what lies in seat order as the seat sees it, its own first."""
    return values[seat:] + values[:seat]


@pytest.mark.parametrize("name", golden.TABLES)
def test_a_view_says_what_the_position_says(name: str) -> None:
    rules = golden.table(name)
    game, rng = BatchedGame(rules, 1, seed=4, episode="match"), np.random.default_rng(1)
    for decision in range(DECISIONS):
        position, seat = position_of(rules, game.states[0]), decision % rules.players
        row = game.observe(seat)[0]
        seen = Observation(rules, row)
        check_shared(rules, position, seat, seen)
        check = check_trains if rules.game == "mexican_train" else check_feet
        check(rules, position, seat, seen)
        assert str(Observation(rules, game.layout.scaled(row))) == str(seen)
        game.step(golden.pick(game.masks, rng))


def check_shared(rules: Rules, position: dict[str, Any], seat: int, seen: Observation) -> None:
    players = rules.players
    assert sorted(seen.hand) == sorted(position["hands"][seat])
    assert seen.hand_sizes == [len(hand) for hand in turned(position["hands"], seat)]
    others = [tile for hand in turned(position["hands"], seat)[1:] for tile in hand]
    assert sorted(seen.unseen) == sorted(position["boneyard"] + others)
    assert len({*seen.hand, *seen.table, *seen.unseen}) == rules.tiles.size
    assert seen.boneyard == len(position["boneyard"])
    assert seen.voids == [[], *turned(position.get("voids", [[]] * players), seat)[1:]]
    assert (seat + seen.to_move) % players == position["to_move"]
    assert (seen.drew, seen.passes) == (position["drew"], position["passes"])
    assert seen.round == position["round"]
    lowest = min(position["scores"])
    assert seen.behind == [min(one - lowest, 255) for one in turned(position["scores"], seat)]


def check_trains(rules: Rules, position: dict[str, Any], seat: int, seen: Observation) -> None:
    def relative(train: Any) -> Any:
        return train if train == "M" else (train - seat) % rules.players

    trains: dict[Any, list[str]] = dict(enumerate(turned(position["trains"], seat)))
    trains["M"] = position["mexican_train"]
    assert seen.engine == position["engine"]
    assert seen.ends == {train: outer_pip(seen.engine, tiles) for train, tiles in trains.items()}
    assert seen.lengths == {train: len(tiles) for train, tiles in trains.items()}
    assert seen.markers == sorted(map(relative, position["markers"]))
    assert seen.pending == [relative(train) for train in position["pending"]]
    turns = turned(position["turns_taken"], seat)
    assert seen.first_turn == [one for one, taken in enumerate(turns) if taken == 0]
    assert seen.owes_play == position["owes_play"]


def outer_pip(engine: int, tiles: list[str]) -> int:
    for tile in tiles:
        engine = sum(map(int, tile.split("-"))) - engine
    return engine


def check_feet(rules: Rules, position: dict[str, Any], seat: int, seen: Observation) -> None:
    board = GAMES["chicken_foot"].table.board(rules, position)
    assert board.tree is not None
    assert seen.centre == position["centre"]
    assert seen.ends == sorted(board.tree.open.values())
    assert sorted(seen.toe_pips) == sorted(board.tree.closed.values())
    foot = board.tree.waiting
    assert seen.foot == (None if foot is None else board.tree.links[foot][1])
    assert seen.toes_missing == (0 if foot is None else board.tree.missing[foot])
    assert seen.arms_missing == board.tree.missing.get(-1, 0)


# ------------------------------------------------------------------------------------------ moves


@pytest.mark.parametrize("name", golden.TABLES)
def test_legal_moves_are_those_of_the_seat(name: str) -> None:
    rules = golden.table(name)
    game, rng = Game(rules.game, rules, seed=6), np.random.default_rng(2)
    while not game.round_over:
        row, mask = game.observation()
        seen, seat = Observation(rules, row), game.to_move
        moves = seen.legal_moves(mask)
        assert seen.to_move == 0
        assert [move.action for move in moves] == mask[0].nonzero()[0].tolist()
        assert sorted(game.move_text(move.action) for move in moves) == game.legal_moves()
        for move in moves:
            assert absolute(rules, seat, move.text) == game.move_text(move.action)
            assert_fits(seen, move)
        game.push(game.move_text(moves[int(rng.integers(len(moves)))].action))
    assert Observation(rules, game.observation()[0]).legal_moves(game.observation()[1]) == []


def absolute(rules: Rules, seat: int, text: str) -> str:
    tile, _, place = text.partition("@")
    if rules.game == "mexican_train" and place.isdigit():
        return f"{tile}@{(int(place) + seat) % rules.players}"
    return text


def assert_fits(seen: Observation, move: Any) -> None:
    if move.tile is None:
        assert (move.place, move.pips) == (None, ())
        return
    assert move.tile in seen.hand
    assert move.tile == "-".join(map(str, move.pips))
    assert f"{move.tile}@{move.place}" == move.text
    fits = seen.ends[move.place] if isinstance(seen.ends, dict) else move.place
    assert fits in move.pips


# --------------------------------------------------------------------------------- any other game


class OtherRules(MexicanTrainRules):
    """Rules of a game whose rows have parts that nobody knows."""

    game: ClassVar[str] = "other"


def other_layout(rules: Rules) -> Layout:
    own = [("crown", 1, 9, "a number"), ("piles", 3, 9, "some numbers")]
    return Layout.of(*tile_sections(rules), *own, *shared_sections(rules))


def test_a_game_is_seen_by_its_layout_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    own = SimpleNamespace(**{**vars(observe), "layout": other_layout})
    own.plain_values = lambda rules, parts: {}
    kind = replace(GAMES["mexican_train"], rules=OtherRules, observe=own)
    monkeypatch.setitem(GAMES, "other", kind)
    rules = OtherRules(players=3)
    layout = other_layout(rules)
    row = np.zeros(layout.size, np.uint8)
    row[[0, layout["to_move"].start + 2, layout["voids"].start + 4]] = 1
    row[layout["crown"]], row[layout["piles"]], row[layout["boneyard"]] = 7, (1, 2, 3), 5
    seen = Observation(rules, row)
    assert (seen.crown, seen.piles, seen.boneyard, seen.hand) == (7, [1, 2, 3], 5, ["0-0"])
    assert (seen.to_move, seen.voids, seen.drew) == (2, [[], [4], []], False)


# ----------------------------------------------------------------------------------- odds and ends


def test_values_are_plain() -> None:
    for name in ("mexican_train", "chicken_foot"):
        game = Game(name, seed=1)
        seen = Observation(game.rules, game.observation()[0])
        kinds = Counter(type(one) for value in vars(seen).values() for one in flat(value))
        assert set(kinds) <= {int, str, bool, type(None), type(game.rules)}


@pytest.mark.parametrize("name", ["mexican_train", "chicken_foot"])
def test_the_docs_list_every_value(name: str) -> None:
    page = (Path(__file__).parent.parent / "docs" / "observations.md").read_text(encoding="utf-8")
    title = name.replace("_", " ").title()
    rows = re.findall(rf"^\| (`.*?) \| (?:both|{title}) \|", page, re.M)
    listed = [one for row in rows for one in re.findall(r"`(\w+)`", row)]
    game = Game(name, seed=1)
    seen = Observation(game.rules, game.observation()[0])
    assert sorted(listed) == sorted(value for value in vars(seen) if not value.startswith("_"))


def flat(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return flat([*value.keys(), *value.values()])
    return [one for part in value for one in flat(part)] if isinstance(value, list) else [value]


def test_a_view_is_printed_and_copied() -> None:
    game = Game("chicken_foot", seed=1)
    seen = Observation(game.rules, game.observation()[0])
    assert f"centre: {seen.centre}\n" in str(seen)
    assert repr(seen).startswith("Observation(hand=['")
    for other in (copy.deepcopy(seen), pickle.loads(pickle.dumps(seen))):
        assert repr(other) == repr(seen)


def test_what_a_view_refuses() -> None:
    game = Game("chicken_foot", seed=1)
    row, mask = game.observation()
    with pytest.raises(DominoError, match="observations must be"):
        Observation(game.rules, row[:, 1:])
    with pytest.raises(DominoError, match="the mask has 101 entries, not 102"):
        Observation(game.rules, row).legal_moves(mask[:, 1:])
    with pytest.raises(AttributeError, match="did you mean 'centre'"):
        _ = Observation(game.rules, row).center
