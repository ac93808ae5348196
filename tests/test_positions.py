"""Positions as text lose nothing: any rules, any moment, and the same game from there on."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dominoenv import Game, PositionError, Rules, RulesError, make_rules
from dominoenv.core.tiles import SETS
from dominoenv.games.registry import GAMES
from tests.rule_sets import foot_options, mexican_train_options


@st.composite
def any_rules(draw: st.DrawFn) -> Rules:
    """Draw rules: a preset, with any of the options left as they are or set to anything."""
    game = draw(st.sampled_from(list(GAMES)))
    rng = random.Random(draw(st.integers(0, 1 << 32)))
    own = mexican_train_options(rng) if game == "mexican_train" else foot_options(rng)
    if game == "mexican_train":
        own["hand_table"] = rng.choice(["house", "published", "station", "pagat"])
    shared = {
        "max_pip": draw(st.sampled_from([6, 6, *SETS])),
        "players": draw(st.integers(2, 10)),
        "hand_size": draw(st.integers(1, 16)),
        "double_blank": draw(st.sampled_from([0, 25, 50])),
        "rounds": draw(st.lists(st.integers(0, 6), min_size=1, max_size=3)),
    }
    every = {**shared, **own}
    given = {key: every[key] for key in draw(st.sets(st.sampled_from(sorted(every))))}
    try:
        return make_rules(
            game, preset=draw(st.sampled_from(list(GAMES[game].rules.presets))), **given
        )
    except RulesError:
        assume(False)
        raise


@given(any_rules())
@settings(max_examples=400, deadline=None, derandomize=True)
def test_short_rules_are_the_rules(rules: Rules) -> None:
    again = make_rules(rules.game, json.loads(json.dumps(rules.short_dict())))
    assert again.to_dict() == rules.to_dict()


HOUSE = {"preset": "station", "hand_table": "house"}


@pytest.mark.parametrize(
    ("options", "short"),
    [
        ({**HOUSE, "players": 4, "hand_size": 12}, {**HOUSE, "players": 4, "hand_size": 12}),
        ({**HOUSE, "players": 4}, {**HOUSE, "players": 4}),
        (
            {**HOUSE, "max_pip": 6, "players": 7, "engine_tile": "set_aside", "hand_size": 3},
            {
                **{"preset": "engine", "players": 7, "max_pip": 6, "hand_size": 3},
                **{"first_turn": "own_train", "blocked": "no_play"},
            },
        ),
    ],
)
def test_short_rules_say_what_they_would_not_fill_in(
    options: dict[str, Any], short: dict[str, Any]
) -> None:
    rules = make_rules("mexican_train", options)
    assert rules.short_dict() == short
    assert make_rules("mexican_train", short).hand_size == rules.hand_size


@given(any_rules(), st.integers(0, 1 << 32), st.integers(0, 80))
@settings(max_examples=60, deadline=None, derandomize=True)
def test_a_game_goes_on_from_its_position_as_it_would_have(
    rules: Rules, seed: int, moves: int
) -> None:
    """The same moves are legal, the same is known of hands, and the next round is dealt alike."""
    game, rng = Game(rules.game, rules, seed=seed), random.Random(seed)
    for _ in range(moves):
        if not game.round_over:
            game.push(rng.choice(game.legal_moves()))
    copy = Game.from_position(json.loads(json.dumps(game.position())))
    assert copy.position() == game.position()
    while not game.round_over:
        move = rng.choice(game.legal_moves())
        game.push(move)
        copy.push(move)
        assert copy.position() == game.position()
        assert copy.legal_moves() == game.legal_moves()
    if not game.over:
        game.next_round()
        copy.next_round(seed)
        assert copy.position() == game.position()


# A seat draws, plays the drawn double, and owes another play.
SPENT = {
    "game": "mexican_train",
    "rules": {"preset": "engine", "players": 2, "max_pip": 9, "draws": "per_turn"},
    **{"engine": 9, "to_move": 0, "hands": [["4-3"], ["1-0", "2-1"]], "boneyard": ["6-5", "6-1"]},
    **{"trains": [["9-8", "8-8"], ["9-5"]], "mexican_train": ["9-7"], "pending": [0]},
    **{"drew": True, "draw_spent": True, "owes_play": True, "voids": [[5, 7, 8], []]},
}


def test_a_position_says_whether_the_drawn_tile_is_still_held() -> None:
    """A pass proves something more where it is not: the proofs of the draw stay."""
    played = Game.from_position(SPENT)
    assert played.position()["draw_spent"] is True
    assert played.legal_moves() == ["pass"]
    played.push("pass")
    assert played.position()["voids"] == [[5, 7, 8], []]

    held = Game.from_position({**SPENT, "draw_spent": False, "voids": [[5], []]})
    assert "draw_spent" not in held.position()
    held.push("pass")
    assert held.position()["voids"] == [[7, 8], []]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"drew": False}, "no tile was drawn"),
        ({"draw_spent": 1}, "must be true or false"),
        ({"rules": {"preset": "engine", "players": 2}}, "draws='per_play'"),
        ({"voids": [[4], []]}, "but 4-3 is in the hand"),
    ],
)
def test_a_spent_draw_fits_the_rest(change: dict[str, Any], message: str) -> None:
    with pytest.raises(PositionError, match=message):
        Game.from_position({**SPENT, **change})
