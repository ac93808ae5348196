"""The part of a position that only Mexican Train has: trains, markers, pending doubles."""

from __future__ import annotations

from typing import Any

import numpy as np

from dominoenv.core.round import DRAW_SPENT, NOT_DRAWN
from dominoenv.core.tiles import add_tiles, pips_of
from dominoenv.core.types import State
from dominoenv.errors import PositionError
from dominoenv.games.mexican_train.rules import MexicanTrainRules
from dominoenv.games.mexican_train.state import MEXICAN
from dominoenv.games.position_reader import PositionReader

KEYS: tuple[str, ...] = ("engine", "trains", "mexican_train", "markers", "pending")
OPTIONAL: tuple[str, ...] = ("markers", "pending", "turns_taken", "owes_play", "draw_spent")


def write(rules: MexicanTrainRules, g: State) -> dict[str, Any]:
    """Return the keys of a position that only this game has."""
    trains: list[list[str]] = [[] for _ in range(rules.players + 1)]
    for tile, train in zip(
        g["played"][: g["num_played"]], g["onto"][: g["num_played"]], strict=True
    ):
        trains[train].append(rules.tiles.text(tile))
    pending = [int(train) for train in g["pending"][: g["num_pending"]]]
    return {
        "engine": int(g["engine"]),
        "trains": trains[:-1],
        "mexican_train": trains[-1],
        "markers": pips_of(int(g["markers"])),
        "pending": [MEXICAN if train == rules.players else train for train in pending],
        "turns_taken": [int(turns) for turns in g["turns_taken"][: rules.players]],
        "owes_play": bool(g["owes_play"]),
        **({"draw_spent": True} if g["drew"] == DRAW_SPENT else {}),
    }


def read(reader: PositionReader, g: State) -> None:
    """Read those keys into a state record, checking that they fit each other."""
    players = reader.rules.players
    _read_draw(reader, g)
    g["engine"] = reader.lay_middle(g, "engine")
    g["ends"][:] = g["engine"]
    for seat, texts in enumerate(reader.sequence("trains", players)):
        _read_train(reader, g, seat, texts, f"trains[{seat}]")
    _read_train(reader, g, players, reader.sequence("mexican_train"), "mexican_train")
    markers = reader.sequence("markers", default=[])
    for seat in {reader.checked("markers", seat, 0, players - 1) for seat in markers}:
        g["markers"] |= 1 << seat
    g["turns_taken"][:players] = reader.numbers("turns_taken", 0, 10_000, 1)
    g["owes_play"] = reader.flag("owes_play")
    for entry in reader.sequence("pending", default=[]):
        _read_pending(reader, g, entry)
    if g["owes_play"] and not g["num_pending"]:
        raise PositionError("owes_play is true, but no double is pending that would owe it")
    g["doubles"] = _doubles_this_turn(reader.rules, g, int(g["to_move"]))


def _read_draw(reader: PositionReader, g: Any) -> None:
    """Read whether the tile that the seat to move has drawn was played already (`draws`)."""
    if not reader.flag("draw_spent"):
        return
    if g["drew"] == NOT_DRAWN:
        raise PositionError("draw_spent is true, but drew is not: no tile was drawn")
    if reader.rules.draws != "per_turn":
        raise PositionError(
            f"draw_spent is true, but with draws={reader.rules.draws!r} a played tile ends the draw"
        )
    g["drew"] = DRAW_SPENT


def _doubles_this_turn(rules: MexicanTrainRules, g: Any, seat: int) -> int:
    """Return how many doubles the seat to move has played in this turn.

    While it owes a play they are all uncovered; in an opening they lie on its own train.
    """
    if rules.opening == "whole_train" and g["turns_taken"][seat] == 0:
        own = (g["onto"] == seat) & (np.arange(len(g["onto"])) < g["num_played"])
        played = g["played"][own]
        return int((rules.tiles.low[played] == rules.tiles.high[played]).sum())
    return int(g["num_pending"]) if g["owes_play"] else 0


def _read_train(reader: PositionReader, g: Any, train: int, texts: Any, where: str) -> None:
    """Read a train outward from the engine; every tile must fit the one before."""
    tiles = reader.rules.tiles
    for tile in reader.tiles(texts, where):
        end, at = int(g["ends"][train]), g["num_played"]
        if end not in (tiles.low[tile], tiles.high[tile]):
            raise PositionError(f"{where}: {tiles.text(tile)} does not fit the end {end}")
        g["ends"][train] = tiles.low[tile] + tiles.high[tile] - end
        g["lengths"][train] += 1
        g["played"][at], g["onto"][at] = tile, train
        g["num_played"] = at + 1
        add_tiles(g["table"], [tile])


def _read_pending(reader: PositionReader, g: Any, entry: Any) -> None:
    players = reader.rules.players
    is_mexican = isinstance(entry, str) and entry == MEXICAN
    train = players if is_mexican else reader.checked("pending", entry, 0, players - 1)
    mine = (g["onto"] == train) & (np.arange(len(g["onto"])) < g["num_played"])
    last = g["played"][mine][-1:]
    tiles = reader.rules.tiles
    if not len(last) or tiles.low[last[0]] != tiles.high[last[0]]:
        raise PositionError(f"pending: train {entry!r} does not end in a double")
    if train in g["pending"][: g["num_pending"]]:
        raise PositionError(f"pending names train {entry!r} twice")
    g["pending"][g["num_pending"]] = train
    g["num_pending"] += 1


def waits_for_draw(rules: MexicanTrainRules, g: State, empty: list[int]) -> bool:
    """Return whether the one empty hand went down to a double that may not end the round."""
    return empty == [int(g["to_move"])] and bool(g["owes_play"] and g["boneyard_size"] > 0)


def out_bonus(rules: MexicanTrainRules, g: State) -> int:
    """Return what the seat that went out is charged beside its empty hand."""
    return 0
