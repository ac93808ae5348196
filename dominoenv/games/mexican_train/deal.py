"""What a record says of a deal of Mexican Train, and how that is checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dominoenv.core.types import State
from dominoenv.errors import RecordError
from dominoenv.games.deal_checks import check_sizes, hand_sizes, shared_position, whole
from dominoenv.games.mexican_train.rules import MexicanTrainRules

KEYS: tuple[str, ...] = ("engine", "starter")


def write(rules: MexicanTrainRules, g: State) -> dict[str, Any]:
    """Return those keys of a state record that was just dealt."""
    return {"engine": int(g["engine"]), "starter": int(g["starter"])}


def dealt_position(
    rules: MexicanTrainRules, line: dict[str, Any], scores: list[int] | None
) -> dict[str, Any]:
    """Return the position after a deal; RecordError for one that the rules do not give."""
    starter = whole("", "starter", line["starter"], 0, rules.players - 1)
    engine = whole("", "engine", line["engine"], 0, rules.max_pip)
    sizes = hand_sizes(rules, line["hands"])
    if engine != rules.rounds[line["round"]]:
        raise RecordError(f"engine={engine}, but this round's is {rules.rounds[line['round']]}")
    return {
        **shared_position(rules, line, scores, _first_to_move(rules, starter, sizes)),
        "engine": engine,
        "trains": [[] for _ in range(rules.players)],
        "mexican_train": [],
        "turns_taken": [0] * rules.players,
    }


def _first_to_move(rules: MexicanTrainRules, starter: int, sizes: list[int]) -> int:
    """Return who moves first; hands have the sizes of a deal.

    The starter; where the engine is dealt, the seat after the one that laid it. If nobody held it,
    seats drew in turn from the starter on, the last of them the engine.
    """
    players, wanted = rules.players, [rules.hand_size] * rules.players
    if rules.engine_tile == "set_aside":
        first = starter
    else:
        drawn = max(sum(sizes) - sum(wanted) + 1, 0)
        for i in range(drawn):
            wanted[(starter + i) % players] += 1
        layer = (starter + drawn - 1) % players if drawn else sizes.index(min(sizes))
        wanted[layer] -= 1
        first = (layer + 1) % players
    check_sizes(rules, sizes, wanted)
    return first


def check_start(
    rules: MexicanTrainRules, line: dict[str, Any], earlier: Sequence[dict[str, Any]]
) -> None:
    """Check that the start goes round clockwise from the first round's starter."""
    first = rules.first_starter
    if not isinstance(first, int):  # the first round of the record tells
        told = earlier[0] if earlier else line
        first = told["starter"] - told["round"]
    wanted = (first + line["round"]) % rules.players
    if line["starter"] != wanted:
        raise RecordError(f"starter={line['starter']}, but this round's is seat {wanted}")
