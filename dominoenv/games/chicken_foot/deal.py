"""What a record says of a deal of Chicken Foot, and how that is checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dominoenv.core.types import State
from dominoenv.errors import RecordError
from dominoenv.games.chicken_foot.rules import ChickenFootRules
from dominoenv.games.deal_checks import check_sizes, hand_sizes, shared_position, tile_of, whole

KEYS: tuple[str, ...] = ("centre", "leader")


def write(rules: ChickenFootRules, g: State) -> dict[str, Any]:
    """Return those keys of a state record that was just dealt."""
    return {"centre": int(g["centre"]), "leader": int(g["starter"])}


def dealt_position(
    rules: ChickenFootRules, line: dict[str, Any], scores: list[int] | None
) -> dict[str, Any]:
    """Return the position after a deal; RecordError for one that the rules do not give."""
    leader = whole("", "leader", line["leader"], 0, rules.players - 1)
    centre = whole("", "centre", line["centre"], 0, rules.max_pip)
    wanted = [rules.hand_size - (seat == leader) for seat in range(rules.players)]
    check_sizes(rules, hand_sizes(rules, line["hands"]), wanted)
    shared = shared_position(rules, line, scores, (leader + 1) % rules.players)
    return {**shared, "centre": centre, "table": []}


def check_start(
    rules: ChickenFootRules, line: dict[str, Any], earlier: Sequence[dict[str, Any]]
) -> None:
    """Check that the centre is the first double of the search that any hand held."""
    tiles, centre = rules.tiles, line["centre"]
    held = {tile_of(tiles, text) for hand in line["hands"] for text in hand}
    for pip in lead_order(rules.rounds[line["round"]], rules.max_pip):
        if pip == centre:
            return
        if int(tiles.ids[pip, pip]) in held:
            raise RecordError(f"centre={centre}, but {pip}-{pip} is in a hand and leads before it")


def lead_order(wanted: int, max_pip: int) -> list[int]:
    """Return which doubles lead, first to last; a plain twin of the kernel's search."""
    if wanted == 1:
        return [*range(1, max_pip + 1), 0]
    return [*range(wanted, -1, -1), *range(wanted + 1, max_pip + 1)]
