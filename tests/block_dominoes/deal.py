"""What a record says of a deal of Block dominoes, and how that is checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dominoenv.core.types import State
from dominoenv.errors import RecordError
from dominoenv.games.deal_checks import check_sizes, hand_sizes, shared_position, whole
from tests.block_dominoes.rules import BlockDominoesRules

KEYS: tuple[str, ...] = ("starter",)


def write(rules: BlockDominoesRules, g: State) -> dict[str, Any]:
    """Return those keys of a state record that was just dealt."""
    return {"starter": int(g["starter"])}


def dealt_position(
    rules: BlockDominoesRules, line: dict[str, Any], scores: list[int] | None
) -> dict[str, Any]:
    """Return the position after a deal; RecordError for one that the rules do not give."""
    starter = whole("", "starter", line["starter"], 0, rules.players - 1)
    check_sizes(rules, hand_sizes(rules, line["hands"]), [rules.hand_size] * rules.players)
    shared = shared_position(rules, line, scores, starter)
    return {**shared, "lead": None, "left": [], "right": []}


def check_start(
    rules: BlockDominoesRules, line: dict[str, Any], earlier: Sequence[dict[str, Any]]
) -> None:
    """Check that the start goes round clockwise from seat 0."""
    wanted = line["round"] % rules.players
    if line["starter"] != wanted:
        raise RecordError(f"starter={line['starter']}, but this round's is seat {wanted}")
