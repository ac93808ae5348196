"""The engine against the plain reference, move by move, over every table and every option."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

from dominoenv import Game, Rules
from tests.reference import ChickenFoot, MexicanTrain, deal_round
from tests.tables import every_table, name, random_rules

Reference = MexicanTrain | ChickenFoot


def start(rules: Rules, seed: int, match: int, round_index: int) -> tuple[Game, Reference]:
    """Deal the same round in both, each by its own means."""
    game = Game(rules.game, rules, seed=seed, match=match)
    game._states["round"] = round_index - 1
    game._states["ending"] = 1
    game._states["scores"] = 0
    game.next_round()
    dealt = deal_round(rules.game, rules.to_dict(), seed, match, round_index)
    kind = MexicanTrain if rules.game == "mexican_train" else ChickenFoot
    return game, kind({**dealt, "rules": rules.to_dict()})


def shared_facts(game: Game) -> dict[str, Any]:
    """Return what both sides can tell of a position."""
    state = game.state[0]
    position = game.position()
    facts: dict[str, Any] = {
        "legal": game.legal_moves(),
        "to_move": game.to_move,
        "hands": [set(hand) for hand in position["hands"]],
        "boneyard": position["boneyard"],
        "over": game.round_over,
        "penalties": game.penalties,
        "drew": position["drew"],
        "passes": position["passes"],
        "lacks": [set(pips) for pips in position.get("lacks", [[]] * game.rules.players)],
    }
    if game.rules.game == "mexican_train":
        keys = ("trains", "mexican_train", "markers", "pending", "turns_taken", "owes_play")
        return facts | {key: position[key] for key in keys}
    foot = int(state["foot"])
    return facts | {
        "ends": {pip: int(n) for pip, n in enumerate(state["ends"]) if n},
        "foot": (foot, game.rules.toes - int(state["toes"])) if foot >= 0 else None,
        "arms": max(game.rules.centre_arms - int(state["arms"]), 0),
        "table": position["table"],
    }


def reference_facts(twin: Reference, rules: Rules) -> dict[str, Any]:
    """Return the same of the reference."""
    position = twin.position()
    facts: dict[str, Any] = {
        "legal": twin.legal_moves(),
        "to_move": twin.to_move,
        "hands": [set(hand) for hand in position["hands"]],
        "boneyard": position["boneyard"],
        "over": twin.round_over,
        "penalties": twin.penalties,
        "drew": bool(twin.drew),
        "passes": twin.passes,
        "lacks": [set(twin.lacks(seat)) for seat in range(rules.players)],
    }
    if isinstance(twin, MexicanTrain):
        keys = ("trains", "mexican_train", "markers", "pending", "turns_taken", "owes_play")
        return facts | {key: position[key] for key in keys}
    return facts | {
        "ends": {pip: n for pip, n in twin.open_ends().items() if n},
        "foot": twin.foot,
        "arms": twin.centre_missing,
        "table": position["table"],
    }


def comparable(facts: dict[str, Any]) -> dict[str, Any]:
    """Leave out what has no meaning once the round is over, and which of equal ends was taken."""
    if facts["over"]:
        for key in ("to_move", "drew", "turns_taken", "owes_play", "pending", "lacks", "passes"):
            facts.pop(key, None)
    if "table" in facts:
        facts["table"] = [entry[0] for entry in facts["table"]]
    return facts


def compare_round(rules: Rules, seed: int, match: int, round_index: int) -> Counter[str]:
    """Play one random round in both; return how often each rare thing was met."""
    game, twin = start(rules, seed, match, round_index)
    rng = random.Random(f"{seed} {match} {round_index}")
    met: Counter[str] = Counter()
    moves: list[str] = []
    while True:
        ours, theirs = comparable(shared_facts(game)), comparable(reference_facts(twin, rules))
        assert ours == theirs, f"{rules.to_dict()} seed {seed} match {match}: after {moves}"
        if game.round_over:
            met["blocked" if min(map(len, ours["hands"])) else "out"] += 1
            return met
        met["two pending"] += len(ours.get("pending", [])) >= 2
        met["open foot"] += ours.get("foot") is not None
        moves.append(rng.choice(game.legal_moves()))
        game.push(moves[-1])
        twin.push(moves[-1])


@pytest.mark.parametrize("rules", every_table(), ids=name)
def test_every_preset_set_and_seat_count(rules: Rules) -> None:
    round_index = (rules.max_pip + rules.players) % len(rules.rounds)
    compare_round(rules, seed=5, match=rules.players, round_index=round_index)


def test_every_option() -> None:
    rng = random.Random(1)
    met: Counter[str] = Counter()
    for match in range(400):
        rules = random_rules(rng)
        met += compare_round(rules, 1, match, rng.randrange(len(rules.rounds)))
    for rare in ("two pending", "open foot", "blocked", "out"):
        assert met[rare] > 10, met
