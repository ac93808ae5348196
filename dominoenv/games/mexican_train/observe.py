"""What a seat sees of Mexican Train, and what its actions are called."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dominoenv.core.bits import store_byte
from dominoenv.core.compiling import jit
from dominoenv.core.layout import Layout
from dominoenv.core.observe import (
    Parts,
    chunks,
    one_hot,
    set_places,
    shared_sections,
    tile_sections,
    write_shared,
    write_tile_sets,
)
from dominoenv.core.types import Row, RulesRecord, State
from dominoenv.games.mexican_train.play import target_of, train_of
from dominoenv.games.mexican_train.rules import MexicanTrainRules
from dominoenv.games.mexican_train.state import MEXICAN

VERSION = 1  # of the layout: one more whenever a part moves, comes, goes or changes its meaning
DRAW, PASS, STOP = "draw", "pass", "stop"


def layout(rules: MexicanTrainRules) -> Layout:
    """Return the layout of an observation under these rules."""
    players, pips, size = rules.players, rules.max_pip + 1, rules.tiles.size
    trains = players + 1
    return Layout.of(
        *tile_sections(rules),
        (
            "ends",
            trains * (pips + 1),
            1,
            "for each train (own, then clockwise, the Mexican Train last) one-hot: its outer pip, "
            "or `empty`",
        ),
        ("markers", players, 1, "each seat's train is marked, open to all; own first"),
        ("lengths", trains, size, "tiles on each train"),
        (
            "pending",
            trains,
            trains,
            "0, or the train's place among the uncovered doubles, 1 the oldest",
        ),
        ("first_turn", players, 1, "each seat's first turn is still to come or under way"),
        ("owes_play", 1, 1, "the seat to move has just played a double"),
        ("doubles", 1, pips, "doubles that the seat to move has played in this turn"),
        ("engine", pips, 1, "one-hot: the engine's pip"),
        *shared_sections(rules),
        version=VERSION,
    )


@jit
def view(g: State, r: RulesRecord, seat: int, row: Row) -> int:
    """Write a seat's observation; return its length."""
    row[:] = 0
    players, pips = int(r["players"]), int(r["pips"])
    at = write_tile_sets(g, r, seat, row)
    markers_at = at + (players + 1) * (pips + 1)
    lengths_at = markers_at + players
    pending_at = lengths_at + players + 1
    first_turn_at = pending_at + players + 1
    markers = int(g["markers"])
    for target in range(players + 1):
        train = train_of(r, seat, target)
        length = int(g["lengths"][train])
        store_byte(row, at + (int(g["ends"][train]) if length > 0 else pips), 1)
        store_byte(row, lengths_at + target, length)
        if target < players:
            store_byte(row, markers_at + target, (markers >> train) & 1)
            store_byte(row, first_turn_at + target, g["turns_taken"][train] == 0)
        at += pips + 1
    for i in range(g["num_pending"]):
        store_byte(row, pending_at + target_of(r, seat, int(g["pending"][i])), i + 1)
    at = first_turn_at + players
    store_byte(row, at, int(g["owes_play"]))
    store_byte(row, at + 1, int(g["doubles"]))
    store_byte(row, at + 2 + int(g["engine"]), 1)
    return write_shared(g, r, seat, row, at + 2 + pips)


def plain_values(rules: MexicanTrainRules, parts: Parts) -> dict[str, Any]:
    """Return as plain values what this game's own parts of a row say.

    Trains bear the number of their seat; the Mexican Train is MEXICAN.
    """
    trains: list[int | str] = [*range(rules.players), MEXICAN]
    engine, places = one_hot(parts["engine"]), parts["pending"]
    outer = [one_hot(bits[:-1]) for bits in chunks(parts["ends"], rules.max_pip + 2)]
    return {
        # the pip that fits each train: the engine's while it is empty
        "ends": dict(zip(trains, (engine if pip is None else pip for pip in outer), strict=True)),
        "markers": set_places(parts["markers"]),
        "lengths": dict(zip(trains, parts["lengths"], strict=True)),
        "pending": [trains[i] for i in sorted(set_places(places), key=places.__getitem__)],
        "first_turn": set_places(parts["first_turn"]),
        "owes_play": bool(parts["owes_play"][0]),
        "engine": engine,
    }


def num_actions(rules: MexicanTrainRules) -> int:
    """Return A, the number of action ids: tile and target, draw, pass, and stop where it exists."""
    return (rules.players + 1) * rules.tiles.size + 2 + (rules.opening == "whole_train")


def action_text(rules: MexicanTrainRules, seat: int, action: int) -> str:
    """Return a seat's action as text, such as `9-4@2`: train 2 is seat 2's, seen from anywhere."""
    target, tile = divmod(action, rules.tiles.size)
    if target > rules.players:
        return (DRAW, PASS, STOP)[tile]
    place = MEXICAN if target == rules.players else str((seat + target) % rules.players)
    return f"{rules.tiles.text(tile)}@{place}"


def action_tiles(rules: MexicanTrainRules) -> NDArray[np.int16]:
    """Return (A,) the id of the tile that each action plays, -1 for draw, pass and stop."""
    size = rules.tiles.size
    tiles = np.full(num_actions(rules), -1, np.int16)
    tiles[: (rules.players + 1) * size] = np.tile(np.arange(size), rules.players + 1)
    return tiles
