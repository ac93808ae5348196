"""The options of both games with the defaults of their presets (docs/rules.md, the tables)."""

from __future__ import annotations

from typing import Any

MEXICAN_TRAIN: dict[str, Any] = {
    "first_starter": 0,
    "first_turn": "any",
    "blocked": "lap",
    "dead_double": "released",
    "double_blank": 0,
    "double_followup": "anywhere",
    "max_doubles_per_turn": None,
    "draws": "per_play",
    "go_out_on_double": True,
    "opening": "one_tile",
    "own_train_first": False,
}
PRESETS: dict[str, dict[str, Any]] = {
    "engine": {**MEXICAN_TRAIN, "max_pip": 9, "engine_tile": "set_aside"},
    "station": {
        **MEXICAN_TRAIN,
        "max_pip": 12,
        "engine_tile": "dealt",
        "first_turn": "own_train",
        "blocked": "no_play",
    },
    "chicken_foot": {
        "max_pip": 9,
        "toes": 3,
        "dead_foot": "binds",
        "double_blank": 50,
        "out_bonus": -5,
        "foot_out_bonus": -10,
    },
}
PRESETS["tournament"] = {
    **PRESETS["engine"],
    "double_followup": "cover_if_possible",
    "max_doubles_per_turn": 1,
    "go_out_on_double": False,
}
# Chicken Foot's; the preset of this name in Mexican Train differs from others in the deal alone
PRESETS["pagat"] = {
    **PRESETS["chicken_foot"],
    "centre_arms": 4,
    "out_bonus": 0,
    "foot_out_bonus": 0,
}
CHICKEN_FOOT = ("chicken_foot", "pagat")
# hands by preset and set, from 2 seats on
HANDS: dict[tuple[str, int], list[int]] = {
    ("engine", 9): [15, 15, 11, 9, 8, 7, 6],
    ("engine", 12): [16, 16, 15, 14, 12, 10, 9],
    ("station", 12): [12, 12, 12, 12, 12, 10, 10, 8, 8],
    ("chicken_foot", 9): [20, 15, 11, 9, 8, 7, 6],
}


def resolve(rules: str | dict[str, Any]) -> dict[str, Any]:
    """All options of a rules object, the ones that it leaves out filled from its preset."""
    given = {"preset": rules} if isinstance(rules, str) else dict(rules)
    full = {**PRESETS[given["preset"]], **given}
    preset, max_pip = full["preset"], full["max_pip"]
    if "hand_size" not in full:
        full["hand_size"] = hand_size(full)
    if preset in CHICKEN_FOOT:
        full.setdefault("centre_arms", min(6, max_pip))  # rule 2: never more than N
        full.setdefault("rounds", list(range(max_pip, 0, -1)))  # rule 8: 9, 8 … 1
    else:
        full.setdefault("rounds", list(range(max_pip, -1, -1)))  # rule 12: N, N-1 … 0
    return full


def hand_size(rules: dict[str, Any]) -> int:
    """The preset's table of hands, and the fallback for other sets and seat counts."""
    preset: str = rules["preset"]
    players: int = rules["players"]
    max_pip: int = rules["max_pip"]
    table = HANDS.get((preset, max_pip), [])
    if players - 2 < len(table):
        return table[players - 2]
    tiles = (max_pip + 1) * (max_pip + 2) // 2
    if preset in CHICKEN_FOOT:
        return min(20, max(4, (tiles - 13) // players))  # rule 9
    if rules["engine_tile"] == "set_aside":
        tiles -= 1
    fitting = [h for h in range(3, 17) if tiles - players * h >= max(players, 5)]
    if not fitting:
        raise ValueError(f"the double-{max_pip} set is too small for {players} seats")
    return max(fitting)
