"""Positions as text: one round at one moment, complete enough to play on from.

A position is a dict of plain JSON values (`docs/formats.md`). `position_of` writes one from a state
record, `record_of` reads one, checking that it can be. What only one game has, its own `position`
module writes and reads.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dominoenv.core.round import DRAWN, NOBODY_CAN_PLAY, NOT_DRAWN, PLAYING, WENT_OUT
from dominoenv.core.rules import Rules
from dominoenv.core.tiles import add_tiles, pips_of, tiles_of
from dominoenv.errors import PositionError, nearest
from dominoenv.games import stepping
from dominoenv.games.position_reader import PositionReader
from dominoenv.games.registry import GAMES, kind_of, make_rules

OLD_VOIDS = "lacks"  # the same key in positions of version 0.1.0
SHARED_KEYS = ("game", "rules", "to_move", "hands", "boneyard")
SHARED_OPTIONAL = ("drew", "passes", "round", "scores", "voids", OLD_VOIDS, "penalties")


def position_of(rules: Rules, g: Any) -> dict[str, Any]:
    """Return the position of one state record (a scalar of the game's `STATE`)."""
    players = rules.players
    position = {
        "game": rules.game,
        "rules": rules.short_dict(),
        "to_move": int(g["to_move"]),
        "hands": [_hand(rules, g, seat) for seat in range(players)],
        "boneyard": [rules.tiles.text(t) for t in g["boneyard"][: g["boneyard_size"]][::-1]],
        **kind_of(rules).position.write(rules, g),
        "drew": bool(g["drew"] != NOT_DRAWN),
        "passes": int(g["passes"]),
        "round": int(g["round"]),
        "scores": [int(score) for score in g["scores"][:players]],
    }
    voids = [pips_of(int(bits)) for bits in g["voids"][:players]]
    if any(voids):
        position["voids"] = voids
    if g["ending"] != PLAYING:
        position["penalties"] = [int(penalty) for penalty in g["penalties"][:players]]
    return position


def _hand(rules: Rules, g: Any, seat: int) -> list[str]:
    return [rules.tiles.text(tile) for tile in reversed(tiles_of(g["hands"][seat]))]


def record_of(position: Mapping[str, Any]) -> tuple[Rules, NDArray[np.void]]:
    """Return the rules of a position and its state, one record of shape (1,).

    Raises PositionError naming the key and what is wrong with it, RulesError for its rules.
    """
    game = _checked_keys(position)
    rules = make_rules(game, position["rules"])
    states = np.zeros(1, kind_of(rules).state)
    g = states[0]
    reader = PositionReader(rules, position)
    _read_shared(reader, g)
    kind_of(rules).position.read(reader, g)
    _read_voids(reader, g)
    _end_if_over(reader, states)
    return rules, states


def _checked_keys(position: Mapping[str, Any]) -> str:
    if not isinstance(position, Mapping):
        raise PositionError(f"a position is a dict, not {type(position).__name__}")
    game = position.get("game")
    if not isinstance(game, str) or game not in GAMES:
        raise PositionError(f"game={game!r}: {nearest(game, GAMES)}")
    own = GAMES[game].position
    required = [*SHARED_KEYS, *(key for key in own.KEYS if key not in own.OPTIONAL)]
    known = {*required, *own.KEYS, *SHARED_OPTIONAL, *own.OPTIONAL}
    for key in position:
        if key not in known:
            raise PositionError(f"key {key!r}: {nearest(key, known)}")
    for key in required:
        if key not in position:
            raise PositionError(f"key {key!r} is missing")
    return game


def _read_shared(reader: PositionReader, g: Any) -> None:
    players = reader.rules.players
    g["to_move"] = reader.number("to_move", 0, players - 1)
    for seat, texts in enumerate(reader.sequence("hands", players)):
        tiles = reader.tiles(texts, f"hands[{seat}]")
        add_tiles(g["hands"][seat], tiles)
        g["hand_sizes"][seat] = len(tiles)
    boneyard = reader.tiles(reader.sequence("boneyard"), "boneyard")
    g["boneyard"][: len(boneyard)] = boneyard[::-1]
    g["boneyard_size"] = len(boneyard)
    g["drew"] = DRAWN if reader.flag("drew") else NOT_DRAWN
    g["passes"] = reader.number("passes", 0, 2 * players, 0)
    if g["passes"] and boneyard and reader.rules.draws_from_boneyard:
        raise PositionError(f"passes={g['passes']}, but passes count once the boneyard is empty")
    g["round"] = reader.number("round", 0, len(reader.rules.rounds) - 1, 0)
    g["scores"][:players] = reader.numbers("scores", -(10**6), 10**6, 0)


def _read_voids(reader: PositionReader, g: Any) -> None:
    players = reader.rules.players
    if "voids" in reader.position and OLD_VOIDS in reader.position:
        raise PositionError(f"voids and {OLD_VOIDS} are the same key, given twice")
    key = OLD_VOIDS if OLD_VOIDS in reader.position else "voids"
    voids = reader.sequence(key, players, [[]] * players)
    for seat, pips in enumerate(voids):
        if not isinstance(pips, list | tuple):
            raise PositionError(f"voids[{seat}]={pips!r} must be a list of pips")
        lacking = {reader.checked(f"voids[{seat}]", p, 0, reader.rules.max_pip) for p in pips}
        g["voids"][seat] = sum(1 << pip for pip in lacking)
        if not (g["drew"] == DRAWN and seat == g["to_move"]):  # a tile just drawn may have any pip
            _check_lacks(reader.rules, tiles_of(g["hands"][seat]), seat, lacking)


def _check_lacks(rules: Rules, hand: list[int], seat: int, lacking: set[int]) -> None:
    for tile in hand:
        if not lacking.isdisjoint((int(rules.tiles.low[tile]), int(rules.tiles.high[tile]))):
            raise PositionError(
                f"voids[{seat}]={sorted(lacking)}, but {rules.tiles.text(tile)} is in the hand"
            )


def _end_if_over(reader: PositionReader, states: NDArray[np.void]) -> None:
    """End the round if it is over in the position: by its penalties, an empty hand, or blocked."""
    g, rules = states[0], reader.rules
    own = kind_of(rules).position
    players = rules.players
    empty = [seat for seat in range(players) if g["hand_sizes"][seat] == 0]
    if "penalties" in reader.position:
        g["ending"] = WENT_OUT if empty else NOBODY_CAN_PLAY
        g["penalties"][:players] = reader.numbers("penalties", -(10**6), 10**6, 0)
    elif empty and not own.waits_for_draw(rules, g, empty):
        cost = rules.record[0]["cost"]
        penalties = [int(cost[tiles_of(g["hands"][seat])].sum()) for seat in range(players)]
        penalties[empty[0]] += own.out_bonus(rules, g)
        g["ending"] = WENT_OUT
        g["penalties"][:players] = penalties
        g["scores"][:players] += np.array(penalties, np.int32)
    else:
        stepping.end_blocked_games(states, rules.record)
