"""The part of a position that only Block dominoes has: the line, from the lead outwards."""

from __future__ import annotations

from typing import Any

from dominoenv.core.tiles import add_tiles
from dominoenv.core.types import State
from dominoenv.errors import PositionError
from dominoenv.games.position_reader import PositionReader
from tests.block_dominoes.rules import BlockDominoesRules
from tests.block_dominoes.state import LEAD, LEFT, NO_END, RIGHT

KEYS: tuple[str, ...] = ("lead", "left", "right")
OPTIONAL: tuple[str, ...] = ()


def write(rules: BlockDominoesRules, g: State) -> dict[str, Any]:
    """Return the keys of a position that only this game has."""
    arms: dict[int, list[str]] = {LEFT: [], RIGHT: [], LEAD: []}
    number = int(g["num_played"])
    for tile, side in zip(g["played"][:number], g["side"][:number], strict=True):
        arms[int(side)].append(rules.tiles.text(tile))
    lead = arms[LEAD][0] if arms[LEAD] else None
    return {"lead": lead, "left": arms[LEFT], "right": arms[RIGHT]}


def read(reader: PositionReader, g: State) -> None:
    """Read those keys into a state record, checking that they fit each other."""
    g["ends"][:] = NO_END
    arms = {LEFT: reader.sequence("left"), RIGHT: reader.sequence("right")}
    if reader.position["lead"] is None:
        if arms[LEFT] or arms[RIGHT]:
            raise PositionError("lead=None, but tiles lie to its left or right")
        return
    lead, tiles = reader.tile(reader.position["lead"], "lead"), reader.rules.tiles
    g["ends"][LEFT], g["ends"][RIGHT] = tiles.low[lead], tiles.high[lead]
    _lay(g, lead, LEAD)
    for side, where in ((LEFT, "left"), (RIGHT, "right")):
        for tile in reader.tiles(arms[side], where):
            end = int(g["ends"][side])
            if end not in (tiles.low[tile], tiles.high[tile]):
                raise PositionError(f"{where}: {tiles.text(tile)} does not fit the end {end}")
            g["ends"][side] = tiles.low[tile] + tiles.high[tile] - end
            _lay(g, tile, side)


def _lay(g: State, tile: int, side: int) -> None:
    at = int(g["num_played"])
    g["played"][at], g["side"][at] = tile, side
    g["num_played"] = at + 1
    add_tiles(g["table"], [tile])


def waits_for_draw(rules: BlockDominoesRules, g: State, empty: list[int]) -> bool:
    """Return whether a seat with an empty hand goes on: never, the round is over then."""
    return False


def out_bonus(rules: BlockDominoesRules, g: State) -> int:
    """Return what the seat that went out is charged beside its empty hand."""
    return 0
