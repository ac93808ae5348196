"""The part of a position that only Chicken Foot has: the table, entry by entry."""

from __future__ import annotations

from typing import Any

from dominoenv.core.tiles import add_tiles
from dominoenv.core.types import State
from dominoenv.errors import PositionError
from dominoenv.games.chicken_foot.rules import ChickenFootRules
from dominoenv.games.chicken_foot.state import CENTRE
from dominoenv.games.chicken_foot.table import FootTable
from dominoenv.games.position_reader import PositionReader

KEYS: tuple[str, ...] = ("centre", "table")
OPTIONAL: tuple[str, ...] = ()


def write(rules: ChickenFootRules, g: Any) -> dict[str, Any]:
    """Return the keys of a position that only this game has."""
    table = FootTable(rules, int(g["centre"]))
    entries: list[list[Any]] = []
    for i in range(int(g["num_played"])):
        tile = int(g["played"][i])
        joined = table.join(tile, int(g["attach"][i]), int(g["joined"][i]))
        text = rules.tiles.text(tile)
        entries.append([text] if joined == CENTRE else [text, joined])
    return {"centre": table.centre, "table": entries}


def read(reader: PositionReader, g: State) -> None:
    """Read those keys into a state record, checking that they fit each other."""
    g["centre"] = reader.lay_middle(g, "centre")
    table = FootTable(reader.rules, int(g["centre"]))
    for i, entry in enumerate(reader.sequence("table")):
        _read_entry(reader, g, table, entry, f"table[{i}]")
    g["arms"], g["toes"], g["foot"] = table.arms, len(table.toes), table.foot_pip
    g["toe_pips"][: len(table.toes)] = list(table.toes.values())
    for pip in table.open.values():
        g["ends"][pip] += 1


def _read_entry(reader: PositionReader, g: Any, table: FootTable, entry: Any, where: str) -> None:
    if not isinstance(entry, list | tuple) or len(entry) not in (1, 2):
        raise PositionError(f"{where}={entry!r} must be [tile] or [tile, the entry it joins]")
    tiles, at = reader.rules.tiles, int(g["num_played"])
    tile = reader.tile(entry[0], where)
    joined = CENTRE if len(entry) == 1 else reader.checked(where, entry[1], 0, max(at - 1, 0))
    try:
        pip = table.pip_of(joined)
    except PositionError as error:
        raise PositionError(f"{where}: {error}") from None
    if pip not in (tiles.low[tile], tiles.high[tile]):
        raise PositionError(f"{where}: {tiles.text(tile)} does not fit the pip {pip}")
    table.join(tile, pip, joined)
    g["played"][at], g["attach"][at], g["joined"][at] = tile, pip, joined
    g["num_played"] = at + 1
    add_tiles(g["table"], [tile])


def waits_for_draw(rules: ChickenFootRules, g: State, empty: list[int]) -> bool:
    """Return whether a seat with an empty hand goes on: never, the round is over then."""
    return False


def out_bonus(rules: ChickenFootRules, g: State) -> int:
    """Return what the seat that went out is charged beside its empty hand."""
    return rules.foot_out_bonus if _is_out_on_foot(rules, g) else rules.out_bonus


def _is_out_on_foot(rules: ChickenFootRules, g: Any) -> bool:
    """Return whether the last tile was a toe, or a double that opens a foot."""
    last = int(g["num_played"]) - 1
    if last < 0 or g["joined"][last] == CENTRE:
        return False
    tile, onto = int(g["played"][last]), int(g["played"][g["joined"][last]])
    doubles = [int(rules.tiles.ids[pip, pip]) for pip in range(rules.max_pip + 1)]
    return tile in doubles or onto in doubles
