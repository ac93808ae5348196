"""Rules to test on: every preset, set and seat count, and random mixtures of all options."""

from __future__ import annotations

import random
from dataclasses import fields
from typing import Any

from dominoenv import Rules, RulesError, make_rules
from dominoenv.core.tiles import SETS
from dominoenv.games.registry import GAMES


def choices(game: str, option: str) -> tuple[str, ...]:
    """Return the values that an option chooses from."""
    spec = next(spec for spec in fields(GAMES[game].rules) if spec.name == option)
    found: tuple[str, ...] = spec.metadata["choices"]
    return found


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

    def drawn(option: str, *more: str) -> str:
        return rng.choice((*more, *choices("mexican_train", option)))

    return {
        "engine_tile": drawn("engine_tile"),
        "first_starter": rng.choice(["seed", 0, 1]),
        "first_turn": drawn("first_turn"),
        "blocked": drawn("blocked"),
        "dead_double": drawn("dead_double"),
        "double_followup": drawn("double_followup", "anywhere"),
        "max_doubles_per_turn": rng.choice([None, None, 1, 2]),
        "draws": drawn("draws"),
        "go_out_on_double": rng.random() < 0.5,
        "opening": drawn("opening", "one_tile"),
        "own_train_first": rng.random() < 0.5,
    }


def foot_options(rng: random.Random) -> dict[str, Any]:
    """Draw the options of Chicken Foot."""
    return {
        "centre_arms": rng.choice([2, 4, 6]),
        "toes": rng.choice([1, 2, 3, 3, 4]),
        "dead_foot": rng.choice(choices("chicken_foot", "dead_foot")),
        "out_bonus": rng.choice([0, -5]),
        "foot_out_bonus": rng.choice([0, -10]),
    }
