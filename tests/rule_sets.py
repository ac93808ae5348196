"""Rules to test on: every preset, set and seat count, and random mixtures of all options."""

from __future__ import annotations

import random
from typing import Any

from dominoenv import Rules, RulesError, make_rules
from dominoenv.core.rules import DEAD
from dominoenv.core.tiles import SETS
from dominoenv.games.mexican_train.rules import (
    BLOCKED,
    DRAWS,
    ENGINE_TILE,
    FIRST_TURN,
    FOLLOWUP,
    OPENING,
)
from dominoenv.games.registry import GAMES

PRESETS = [(game, preset) for game, kind in GAMES.items() for preset in kind.rules.presets]


def every_table() -> list[Rules]:
    """Return the rules of each preset for every set and seat count that it can deal."""
    tables = []
    for game, preset in PRESETS:
        for max_pip in SETS:
            for players in range(2, 11):
                try:
                    tables.append(make_rules(game, preset=preset, max_pip=max_pip, players=players))
                except RulesError:
                    continue  # the set is too small for so many; tests/test_rules.py says which
    return tables


def name(rules: Rules) -> str:
    """Return a short id of some rules for test reports."""
    return f"{rules.short_dict().get('preset', rules.game)}-d{rules.max_pip}-{rules.players}"


def random_rules(rng: random.Random) -> Rules:
    """Return rules with every option drawn at random.

    Most tables are small: the rare cases come about sooner, and more rounds fit into the time.
    """
    while True:
        game = rng.choice(list(GAMES))
        options: dict[str, Any] = {
            "players": rng.choice([2, 2, 2, 3, 3, 4, 5, 6]),
            "max_pip": rng.choice([6] * 8 + [9, 12]),
            "double_blank": rng.choice([0, 25, 50]),
        }
        if rng.random() < 0.75:
            options["hand_size"] = rng.randint(2, 8)
        options |= mexican_train_options(rng) if game == "mexican_train" else foot_options(rng)
        try:
            return make_rules(game, options)
        except RulesError:
            continue  # hands larger than the set


def mexican_train_options(rng: random.Random) -> dict[str, Any]:
    """Draw the options of Mexican Train; a house rule is on in half of the tables."""
    return {
        "engine_tile": rng.choice(ENGINE_TILE),
        "first_starter": rng.choice(["seed", 0, 1]),
        "first_turn": rng.choice(FIRST_TURN),
        "blocked": rng.choice(BLOCKED),
        "dead_double": rng.choice(DEAD),
        "double_followup": rng.choice(("anywhere", *FOLLOWUP)),
        "max_doubles_per_turn": rng.choice([None, None, 1, 2]),
        "draws": rng.choice(DRAWS),
        "go_out_on_double": rng.random() < 0.5,
        "opening": rng.choice(("one_tile", *OPENING)),
        "own_train_first": rng.random() < 0.5,
    }


def foot_options(rng: random.Random) -> dict[str, Any]:
    """Draw the options of Chicken Foot."""
    return {
        "centre_arms": rng.choice([2, 4, 6]),
        "toes": rng.choice([1, 2, 3, 3, 4]),
        "dead_foot": rng.choice(DEAD),
        "out_bonus": rng.choice([0, -5]),
        "foot_out_bonus": rng.choice([0, -10]),
    }
