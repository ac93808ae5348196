"""The table of Mexican Train as drawings take it: the engine, and the trains around it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dominoenv.core.board import Board, Link, TrainView
from dominoenv.core.rules import Rules
from dominoenv.games.mexican_train.state import MEXICAN


def board(rules: Rules, position: Mapping[str, Any]) -> Board:
    """Return what lies on the table of a position, as drawings take it."""
    engine = position["engine"]
    owes = "a play for its double" if position.get("owes_play") else ""
    trains = tuple(_trains(rules, position))
    return Board((engine, engine), trains, owes=owes, duty=_duty(position))


def _trains(rules: Rules, position: Mapping[str, Any]) -> Iterator[TrainView]:
    """Yield the seats' trains, then the Mexican Train."""
    pending = [str(train) for train in position.get("pending", [])]
    mover = None if "penalties" in position else position["to_move"]
    seats: list[int | None] = [*range(rules.players), None]
    for seat, texts in zip(seats, [*position["trains"], position["mexican_train"]], strict=True):
        links = tuple(_links(rules, position["engine"], texts))
        name = MEXICAN if seat is None else str(seat)
        yield TrainView(
            name=name,
            label=("Mexican", "Train") if seat is None else (f"Seat {seat}",),
            links=links,
            end=links[-1][1] if links else position["engine"],
            seat=seat,
            is_marked=seat in position.get("markers", []),
            pending=pending.index(name) + 1 if name in pending else 0,
            is_mover=seat is not None and seat == mover,
        )


def _links(rules: Rules, engine: int, texts: Sequence[str]) -> Iterator[Link]:
    """Turn a train's tiles so that each fits the one before."""
    end, tiles = engine, rules.tiles
    for text in texts:
        tile = tiles.parse(text)
        outer = int(tiles.low[tile] + tiles.high[tile]) - end
        yield end, outer
        end = outer


def _duty(position: Mapping[str, Any]) -> str:
    pending = position.get("pending", [])
    if not pending or position.get("owes_play"):
        return ""
    whose = "the Mexican Train" if pending[0] == MEXICAN else f"the train of seat {pending[0]}"
    return f"must cover the double on {whose} (◆1)"


def place_text(rules: Rules, place: str, names: Mapping[int, str]) -> str:
    """Return where a move goes, in words: after the name of a tile."""
    if place == MEXICAN:
        return "on the Mexican Train"
    return f"on the train of seat {place} ({names[int(place)]})"
