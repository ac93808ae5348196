"""Rules objects: what they fill in, what they refuse and how they say so."""

from __future__ import annotations

import copy
import pickle
from dataclasses import dataclass, fields
from enum import IntEnum
from typing import Any, ClassVar

import numpy as np
import pytest
import yaml

from dominoenv import (
    ChickenFootRules,
    MexicanTrainRules,
    Rules,
    RulesError,
    UnknownNameError,
    make_rules,
)
from dominoenv.core.rules import COMMON_RECORD, Dead, option
from dominoenv.games.mexican_train.rules import (
    Blocked,
    DoubleFollowup,
    Draws,
    EngineTile,
    FirstTurn,
    Opening,
)
from tests.rule_sets import every_table, name


@pytest.mark.parametrize("rules", every_table(), ids=name)
def test_rules_survive_dict_short_dict_and_pickle(rules: Rules) -> None:
    kind = type(rules)
    assert kind.from_dict(rules.to_dict()) == rules
    assert kind.from_dict(rules.short_dict()) == rules
    assert kind.from_dict(yaml.safe_load(yaml.safe_dump(rules.to_dict()))) == rules
    again = pickle.loads(pickle.dumps(rules))
    assert again == rules
    assert not again.record.flags.writeable  # what the kernels are compiled for
    assert copy.deepcopy(rules) is rules
    assert hash(again) == hash(rules)


@pytest.mark.parametrize(
    ("game", "preset", "max_pip", "hands"),
    [
        ("mexican_train", "engine", 9, [15, 15, 11, 9, 8, 7, 6]),
        ("mexican_train", "engine", 12, [16, 16, 15, 14, 12, 10, 9]),
        ("mexican_train", "station", 12, [12, 12, 12, 12, 12, 10, 10, 8, 8]),
        ("chicken_foot", "chicken_foot", 9, [20, 15, 11, 9, 8, 7, 6]),
    ],
)
def test_hand_tables(game: str, preset: str, max_pip: int, hands: list[int]) -> None:
    for players, hand in enumerate(hands, 2):
        rules = make_rules(game, preset=preset, max_pip=max_pip, players=players)
        assert rules.hand_size == hand


def test_published_hands_are_an_alternative_for_few_seats() -> None:
    sizes = [
        MexicanTrainRules.preset("engine", players=p, hand_table="published").hand_size
        for p in (2, 3, 4, 5)
    ]
    assert sizes == [15, 13, 10, 9]


def test_fallback_leaves_a_boneyard() -> None:
    for players in (9, 10):
        rules = MexicanTrainRules.preset("engine", players=players)
        assert rules.dealt_tiles - players * rules.hand_size >= max(players, 5)
        assert rules.dealt_tiles - players * (rules.hand_size + 1) < max(players, 5)
    assert MexicanTrainRules.preset("engine", max_pip=18, players=2).hand_size == 16
    assert ChickenFootRules.preset("chicken_foot", max_pip=6, players=7).hand_size == 4
    assert ChickenFootRules.preset("chicken_foot", max_pip=12, players=2).hand_size == 20


def test_equal_when_they_play_alike() -> None:
    assert MexicanTrainRules(hand_table="published", players=6) == MexicanTrainRules(players=6)
    assert MexicanTrainRules(rounds=(9, 6)) != MexicanTrainRules(rounds=(9, 5))
    assert make_rules("mexican_train") != make_rules("chicken_foot")


def test_text_can_be_checked_at_the_table() -> None:
    assert str(make_rules("mexican_train", preset="engine", players=5)) == (
        "Mexican Train (engine): 5 players, double-9 set of 55, 9 tiles each, rounds 9 down to 0"
    )
    text = str(make_rules("chicken_foot", rounds=[9, 7, 5], out_bonus=-3))
    assert "rounds 9, 7, 5" in text
    assert "out_bonus=-3" in text


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"players": 1}, RulesError, "players=1 must lie in 2 ... 10"),
        ({"players": 2.0}, RulesError, "players=2.0 must be a whole number"),
        ({"players": True}, RulesError, "must be a whole number"),
        ({"max_pip": 7}, RulesError, "double-6, 9, 12, 15, 18"),
        (
            {"hand_size": 20},
            RulesError,
            "needs 80 tiles for 4 players, but the double-9 set has 54",
        ),
        ({"max_pip": 6, "players": 9}, RulesError, "too many for the double-6 set: its 27 tiles"),
        ({"rounds": [9, 10]}, RulesError, r"rounds\[1\]=10 must lie in 0 ... 9"),
        ({"rounds": 9}, RulesError, "must be a list of pips"),
        ({"rounds": [1] * 65}, RulesError, "at most 64"),
        ({"blocked": "lapp"}, RulesError, "did you mean 'lap'"),
        ({"blocked": 1}, RulesError, "known: lap, no_play"),
        ({"playrs": 4}, RulesError, "did you mean 'players'"),
        ({"preset": "enigne"}, UnknownNameError, "did you mean 'engine'"),
        ({"preset": None}, UnknownNameError, "known: engine, station"),
        ({"first_starter": 4}, RulesError, "first_starter=4 must lie in 0 ... 3"),
        ({"first_starter": "me"}, RulesError, "a seat or 'seed'"),
        ({"max_doubles_per_turn": 0}, RulesError, "must lie in 1 ..."),
        ({"own_train_first": "yes"}, RulesError, "must be true or false"),
        ({"double_blank": -1}, RulesError, "must lie in 0 ... 1000"),
    ],
)
def test_impossible_rules(options: dict[str, Any], error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        make_rules("mexican_train", options)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"centre_arms": 10}, "centre_arms=10 must lie in 1 ... 9"),
        ({"centre_arms": 8, "max_pip": 6}, "centre_arms=8 must lie in 1 ... 6"),
        ({"toes": 9}, "toes=9 must lie in 1 ... 8"),
        ({"max_pip": 6, "players": 8}, "too many for the double-6 set"),
        ({"hand_size": 14}, "has 55 to deal"),
        ({"dead_foot": "dropped"}, "known: released, binds"),
        ({"blocked": "lap"}, "option 'blocked' of chicken_foot"),
    ],
)
def test_impossible_chicken_foot_rules(options: dict[str, Any], says: str) -> None:
    with pytest.raises(RulesError, match=says):
        make_rules("chicken_foot", options)


def test_unknown_game_and_foreign_rules() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'mexican_train'"):
        make_rules("mexican-train")
    with pytest.raises(UnknownNameError, match=r"name the game first, 'chicken_foot', then them$"):
        make_rules(make_rules("chicken_foot"))  # type: ignore[arg-type]
    with pytest.raises(UnknownNameError, match=r"^game 'x{50,60} \.\.\.: known: mexican_train"):
        make_rules("x" * 5_000)
    with pytest.raises(RulesError, match="beside a rules object"):
        make_rules("mexican_train", make_rules("chicken_foot"))
    with pytest.raises(RulesError, match="beside a rules object"):
        make_rules("mexican_train", MexicanTrainRules(), players=3)


def test_rules_are_frozen() -> None:
    rules = MexicanTrainRules()
    with pytest.raises(AttributeError):
        rules.players = 3  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        rules.record["players"] = 3


# -------------------------------------------------------------------- rules of a game of one's own


class Speed(IntEnum):
    SLOW = 0
    VERY_FAST = 5


@dataclass(frozen=True, eq=False, kw_only=True)
class OtherRules(Rules):
    loud: bool = option(False)
    speed: str = option("slow", Speed)
    limit: int | None = option(None, low=1, high=9, named={None: 99})
    first: int | str = option(0, high=3, named={"drawn": -1})
    table: str = option("old", ("old", "new"), in_record=False)

    game = "other"
    presets: ClassVar[dict[str, dict[str, Any]]] = {"plain": {}}

    def _usual_hand_size(self) -> int:
        return 5


@dataclass(frozen=True, eq=False, kw_only=True)
class MoreRules(OtherRules):
    added: bool = option(True)


def recorded(rules: Rules, name: str) -> int:
    return int(rules.record[0][name])


def test_options_reach_the_record_as_they_are_declared() -> None:
    common = [entry[0] for entry in COMMON_RECORD]
    own = ["loud", "speed", "limit", "first"]
    assert list(OtherRules.record_dtype().names or ()) == [*common, *own]
    assert list(MoreRules.record_dtype().names or ()) == [*common, *own, "added"]
    assert OtherRules.record_dtype() is OtherRules.record_dtype()
    assert recorded(MoreRules(), "added") == 1
    rules = OtherRules(loud=True, speed="very_fast", limit=4, first=2)
    assert [recorded(rules, name) for name in own] == [1, Speed.VERY_FAST, 4, 2]


def test_named_values_stand_beside_a_range() -> None:
    assert recorded(OtherRules(), "limit") == 99
    assert recorded(OtherRules(first="drawn"), "first") == -1
    for options, says in (
        ({"limit": 10}, "limit=10 must lie in 1 ... 9"),
        ({"limit": 99}, "limit=99 must lie in 1 ... 9"),
        ({"limit": "drawn"}, "limit='drawn' must be a whole number"),
        ({"first": -1}, "first=-1 must lie in 0 ... 3"),
        ({"first": None}, "first=None must be a whole number"),
        ({"first": False}, "first=False must be a whole number"),
    ):
        with pytest.raises(RulesError, match=says):
            OtherRules(**options)


@pytest.mark.parametrize("value", [1, 0, "yes", None, "true"])
def test_a_switch_is_checked_without_being_listed_anywhere(value: Any) -> None:
    with pytest.raises(RulesError, match=r"added=.* must be true or false"):
        MoreRules(added=value)
    assert MoreRules(added=np.bool_(False)).added is False  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", [MexicanTrainRules, ChickenFootRules, OtherRules])
def test_choices_are_recorded_by_the_numbers_of_their_enum(kind: type[Rules]) -> None:
    seen = 0
    for spec in fields(kind):
        if spec.metadata["choices"] is not None and spec.metadata["in_record"]:
            for value, code in spec.metadata["codes"].items():
                assert recorded(kind(**{spec.name: value}), spec.name) == code
                seen += 1
    assert seen >= 2


def test_choices_of_mexican_train_equal_the_enums_that_kernels_read() -> None:
    for option_name, member in (
        ("engine_tile", EngineTile.DEALT),
        ("first_turn", FirstTurn.OWN_TRAIN),
        ("blocked", Blocked.NO_PLAY),
        ("dead_double", Dead.BINDS),
        ("double_followup", DoubleFollowup.NONE),
        ("draws", Draws.PER_TURN),
        ("opening", Opening.WHOLE_TRAIN),
    ):
        rules = MexicanTrainRules(**{option_name: member.name.lower()})
        assert recorded(rules, option_name) == member


def test_what_kernels_do_not_read_makes_no_difference() -> None:
    assert OtherRules(table="new") == OtherRules()
    assert hash(OtherRules(table="new")) == hash(OtherRules())
    assert OtherRules(table="new").to_dict()["table"] == "new"
    assert OtherRules(loud=True) != OtherRules()
    assert OtherRules() != MexicanTrainRules()
    with pytest.raises(RulesError, match="did you mean 'new'"):
        OtherRules(table="nw")


def test_mistakes_in_a_declaration_raise() -> None:
    @dataclass(frozen=True, eq=False, kw_only=True)
    class Undeclared(OtherRules):
        forgotten: bool = True

    @dataclass(frozen=True, eq=False, kw_only=True)
    class Taken(OtherRules):
        doubles: int = option(1, low=1, high=2)

    with pytest.raises(TypeError, match=r"Undeclared.forgotten must be declared with option"):
        Undeclared()
    with pytest.raises(ValueError, match="doubles"):
        Taken.record_dtype()
