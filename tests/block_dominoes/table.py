"""The table of Block dominoes as drawings take it: the lead, and the line to either side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dominoenv.core.board import Board, Link, TrainView
from dominoenv.core.rules import Rules
from tests.block_dominoes.observe import LEAD_PLACE
from tests.block_dominoes.rules import BlockDominoesRules


def board(rules: BlockDominoesRules, position: Mapping[str, Any]) -> Board:
    """Return what lies on the table of a position, as drawings take it."""
    if position["lead"] is None:
        return Board(None)
    lead = rules.tiles.parse(position["lead"])
    low, high = int(rules.tiles.low[lead]), int(rules.tiles.high[lead])
    ends = _end(rules, "right", high, position), _end(rules, "left", low, position)
    return Board((low, high), ends)


def _end(rules: Rules, side: str, pip: int, position: Mapping[str, Any]) -> TrainView:
    links = tuple(_links(rules, pip, position[side]))
    end = links[-1][1] if links else pip
    return TrainView(name=side, label=(side, "end"), links=links, end=end)


def _links(rules: Rules, end: int, texts: Sequence[str]) -> Iterator[Link]:
    """Turn the tiles of an end so that each fits the one before."""
    for text in texts:
        tile = rules.tiles.parse(text)
        outer = int(rules.tiles.low[tile] + rules.tiles.high[tile]) - end
        yield end, outer
        end = outer


def place_text(rules: Rules, place: str, names: Mapping[int, str]) -> str:
    """Return where a move goes, in words: after the name of a tile."""
    return "as the lead" if place == LEAD_PLACE else f"to a {place}"
