"""Every rule case in tests/cases: a position, moves, and what must hold then."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dominoenv import Game

CASES = [
    case
    for path in sorted((Path(__file__).parent / "cases").glob("*.json"))
    for case in json.loads(path.read_text(encoding="utf-8"))
]


def facts(game: Game) -> dict[str, Any]:
    """Return everything that a case may expect of a game."""
    position = game.position()
    found: dict[str, Any] = {
        "legal": game.legal_moves(),
        "to_move": game.to_move,
        "round_over": game.round_over,
        "penalties": game.penalties,
    }
    if position["game"] == "mexican_train":
        return {**found, "markers": position["markers"], "pending": position["pending"]}
    state = game.state[0]
    ends = {str(pip): int(n) for pip, n in enumerate(state["ends"]) if n}
    foot = [int(state["foot"]), game.rules.toes - int(state["toes"])]
    missing = max(game.rules.centre_arms - int(state["arms"]), 0)
    found |= {"open_ends": ends, "centre_missing": missing}
    return {**found, "foot": foot if foot[0] >= 0 else None}


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_case(case: dict[str, Any]) -> None:
    game = Game.from_position(case["position"])
    for move in case["moves"]:
        game.push(move)
    found = facts(game)
    assert {key: found[key] for key in case["expect"]} == case["expect"]
