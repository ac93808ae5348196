"""The pictures of the rules are what the code draws now, and the page shows each of them."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from dominoenv import Game
from experiments.pictures import FOLDER, pictures, shown, situations

DRAWN = dict(pictures())
RULES = (FOLDER.parent.parent / "rules.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", DRAWN)
def test_picture_is_what_the_code_draws(name: str) -> None:
    """`make pictures` draws them anew."""
    assert (FOLDER / name).read_text(encoding="utf-8") == DRAWN[name]
    assert ElementTree.fromstring(DRAWN[name]).tag.endswith("svg")
    assert len(DRAWN[name]) < 25_000


def test_page_shows_every_picture_once_and_no_other() -> None:
    named = re.findall(r"!\[[^\]]+\]\(images/rules/([^)]+)\)", RULES)
    assert sorted(named) == sorted(DRAWN)
    assert sorted(path.name for path in FOLDER.glob("*.svg")) == sorted(DRAWN)


# What the captions say of the moves, and of the end of a round.
LEGAL = {
    "open-trains": "4-3@0 4-3@1 6-3@1 6-3@M",
    "marker": "4-3@0 8-0@M",
    "marker-comes-off": "8-0@M",
    "owed-play": "5-2@0 8-1@M",
    "pending-double": "5-0@0",
    "two-pending-doubles": "5-4@0",
    "dead-double": "3-0@1",
    "engine-dealt": "12-3@1 12-5@1",
    "cover-if-possible": "5-2@0",
    "whole-train": "3-3@0 stop",
    "own-train-first": "9-3@0",
    "lead": "8-3@8",
    "centre": "9-2@9",
    "open-ends": "3-3@3 4-2@2 4-2@4 7-0@0",
    "foot": "4-3@3",
    "foot-complete": "4-2@2 4-2@4 7-0@0",
    "dead-foot": "pass",
}
PENALTIES = {
    "out-on-a-double": [0, 17, 15],
    "blocked": [15, 20, 14],
    "out-with-a-foot-open": [-10, 58, 16],
}


def test_captions_tell_the_truth() -> None:
    games = {name: shown(situation) for name, situation in situations().items()}
    legal = {name: game.legal_moves() for name, game in games.items() if not game.round_over}
    assert legal == {name: moves.split() for name, moves in LEGAL.items()}
    over = {name: list(game.penalties) for name, game in games.items() if game.round_over}
    assert over == PENALTIES


@pytest.mark.parametrize(
    ("name", "option", "move"),
    [
        ("blocked", {"blocked": "no_play"}, "2-0@1"),
        ("dead-foot", {"dead_foot": "released"}, "1-1@1"),
    ],
)
def test_captions_say_what_the_other_rule_would_allow(
    name: str, option: dict[str, str], move: str
) -> None:
    situation = situations()[name]
    position = situation["position"]
    game = Game.from_position(position | {"rules": position["rules"] | option})
    for played in situation["moves"]:
        game.push(played)
    assert move in game.legal_moves()
