"""Positions as text: one round at one moment, complete enough to play on from.

A position is a dict of plain JSON values (`docs/formats.md`). `position_of` writes one from a state
record, `record_of` reads one, checking that it can be.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dominoenv import drive
from dominoenv.chicken_foot.state import ANY_END, CENTRE, NO_FOOT
from dominoenv.errors import PositionError, nearest
from dominoenv.games import kind_of
from dominoenv.round import DRAWN, NOBODY_CAN_PLAY, NOT_DRAWN, PLAYING, WENT_OUT
from dominoenv.rules import ChickenFootRules, Rules, make_rules

MEXICAN = "M"  # the Mexican Train, among seats

SHARED_KEYS = ("game", "rules", "to_move", "hands", "boneyard")
SHARED_OPTIONAL = ("drew", "passes", "round", "scores", "lacks", "penalties")
KEYS = {
    "mexican_train": ("engine", "trains", "mexican_train", "markers", "pending"),
    "chicken_foot": ("centre", "table"),
}
OPTIONAL = {
    "mexican_train": ("markers", "pending", "turns_taken", "owes_play"),
    "chicken_foot": (),
}


# ---------------------------------------------------------------------------------------- writing


def position_of(rules: Rules, g: Any) -> dict[str, Any]:
    """Return the position of one state record (a scalar of the game's `STATE`)."""
    players = rules.players
    position = {
        "game": rules.game,
        "rules": rules.short_dict(),
        "to_move": int(g["to_move"]),
        "hands": [_hand(rules, g, seat) for seat in range(players)],
        "boneyard": [rules.tiles.text(t) for t in g["boneyard"][: g["boneyard_size"]][::-1]],
        **(_write_trains(rules, g) if rules.game == "mexican_train" else _write_table(rules, g)),
        "drew": bool(g["drew"] != NOT_DRAWN),
        "passes": int(g["passes"]),
        "round": int(g["round"]),
        "scores": [int(score) for score in g["scores"][:players]],
    }
    lacks = [_pips(int(bits)) for bits in g["lacks"][:players]]
    if any(lacks):
        position["lacks"] = lacks
    if g["ending"] != PLAYING:
        position["penalties"] = [int(penalty) for penalty in g["penalties"][:players]]
    return position


def tiles_of(words: NDArray[np.uint64]) -> list[int]:
    """Return the tile ids in a tile set, a row of 64-bit words."""
    ids = []
    for w, word in enumerate(words.tolist()):
        while word:
            ids.append(64 * w + (word & -word).bit_length() - 1)
            word &= word - 1
    return ids


def _hand(rules: Rules, g: Any, seat: int) -> list[str]:
    return [rules.tiles.text(tile) for tile in reversed(tiles_of(g["hands"][seat]))]


def _pips(bits: int) -> list[int]:
    return [pip for pip in range(bits.bit_length()) if bits >> pip & 1]


def _write_trains(rules: Rules, g: Any) -> dict[str, Any]:
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
        "markers": _pips(int(g["markers"])),
        "pending": [MEXICAN if train == rules.players else train for train in pending],
        "turns_taken": [int(turns) for turns in g["turns_taken"][: rules.players]],
        "owes_play": bool(g["owes_play"]),
    }


def _write_table(rules: Rules, g: Any) -> dict[str, Any]:
    table = FootTable(rules, int(g["centre"]))
    entries: list[list[Any]] = []
    for i in range(int(g["num_played"])):
        tile = int(g["played"][i])
        joined = table.join(tile, int(g["attach"][i]), int(g["joined"][i]))
        text = rules.tiles.text(tile)
        entries.append([text] if joined == CENTRE else [text, joined])
    return {"centre": table.centre, "table": entries}


class FootTable:
    """A Chicken Foot table followed tile by tile: which entry offers which open pip."""

    def __init__(self, rules: Rules, centre: int) -> None:
        assert isinstance(rules, ChickenFootRules)
        self.rules = rules
        self.centre = centre
        self.arms = 0
        self.open: dict[int, int] = {}  # entry -> its open pip
        self.foot: int | None = None  # entry of the double that is waiting for toes
        self.foot_pip = NO_FOOT
        self.toes: dict[int, int] = {}  # entry -> its outer pip
        self._tiles = {int(rules.tiles.ids[centre, centre])}
        self._entries = 0

    @property
    def centre_missing(self) -> int:
        """Tiles that must join the centre before anything else."""
        return max(self.rules.centre_arms - self.arms, 0)

    def pip_of(self, entry: int) -> int:
        """Return the pip that an entry (or CENTRE) offers. Raises PositionError if it has none."""
        if self.centre_missing:
            if entry == CENTRE:
                return self.centre
            raise PositionError(
                f"only the centre takes tiles until it has {self.rules.centre_arms}"
            )
        if self.foot is not None and entry != self.foot:
            raise PositionError(f"only the open foot, entry {self.foot}, takes tiles")
        if entry == CENTRE:
            raise PositionError(f"the centre takes {self.rules.centre_arms} tiles and no more")
        if entry == self.foot:
            return self.foot_pip
        if entry not in self.open:
            raise PositionError(f"entry {entry} has no open end")
        return self.open[entry]

    def join(self, tile: int, pip: int, entry: int) -> int:
        """Join a tile by `pip` to an entry, or to the oldest that fits; return the entry."""
        if entry == ANY_END:
            entry = self.foot if self.foot is not None else self._oldest(pip)
        outer = int(self.rules.tiles.low[tile] + self.rules.tiles.high[tile]) - pip
        here = self._entries
        self._entries += 1
        self._tiles.add(tile)
        if entry == CENTRE:
            self.arms += 1
            self.open[here] = outer
        elif entry == self.foot:
            self.toes[here] = outer
            if len(self.toes) == self.rules.toes:
                self._close_foot()
        else:
            del self.open[entry]
            if outer == pip:
                self.foot, self.foot_pip = here, pip
            else:
                self.open[here] = outer
        if self.foot is not None and self.rules.dead_foot == "released" and self._is_dead():
            self._close_foot()
        return entry

    def _oldest(self, pip: int) -> int:
        return min(entry for entry, open_pip in self.open.items() if open_pip == pip)

    def _is_dead(self) -> bool:
        return self._tiles.issuperset(self.rules.tiles.pip_tiles(self.foot_pip))

    def _close_foot(self) -> None:
        self.open.update(self.toes)
        self.foot, self.foot_pip, self.toes = None, NO_FOOT, {}


# ---------------------------------------------------------------------------------------- reading


def record_of(position: Mapping[str, Any]) -> tuple[Rules, NDArray[np.void]]:
    """Return the rules of a position and its state, one record of shape (1,).

    Raises PositionError naming the key and what is wrong with it, RulesError for its rules.
    """
    game = _checked_keys(position)
    rules = make_rules(game, position["rules"])
    states = np.zeros(1, kind_of(rules).state)
    g = states[0]
    reader = _Reader(rules, position)
    if rules.game == "mexican_train":
        _read_trains(reader, g)
    else:
        _read_table(reader, g)
    _read_shared(reader, g)
    _end_if_over(reader, states)
    return rules, states


def _checked_keys(position: Mapping[str, Any]) -> str:
    if not isinstance(position, Mapping):
        raise PositionError(f"a position is a dict, not {type(position).__name__}")
    game = position.get("game")
    if not isinstance(game, str) or game not in KEYS:
        raise PositionError(f"game={game!r}: {nearest(game, KEYS)}")
    required = [*SHARED_KEYS, *(key for key in KEYS[game] if key not in OPTIONAL[game])]
    known = {*required, *KEYS[game], *SHARED_OPTIONAL, *OPTIONAL[game]}
    for key in position:
        if key not in known:
            raise PositionError(f"key {key!r}: {nearest(key, known)}")
    for key in required:
        if key not in position:
            raise PositionError(f"key {key!r} is missing")
    return game


class _Reader:
    """Takes values out of a position, each checked; remembers which tiles have been seen."""

    def __init__(self, rules: Rules, position: Mapping[str, Any]) -> None:
        self.rules = rules
        self.position = position
        self.where: dict[int, str] = {}  # tile -> where it lies

    def sequence(self, key: str, size: int | None = None, default: Any = None) -> list[Any]:
        value = self.position.get(key, default)
        if not isinstance(value, list | tuple):
            raise PositionError(f"{key}={value!r} must be a list")
        if size is not None and len(value) != size:
            raise PositionError(f"{key} has {len(value)} entries; it needs {size}")
        return list(value)

    def number(self, key: str, low: int, high: int, default: Any = None) -> int:
        return self.checked(key, self.position.get(key, default), low, high)

    def checked(self, where: str, value: Any, low: int, high: int) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise PositionError(f"{where}={value!r} must be a whole number in {low} ... {high}")
        return value

    def flag(self, key: str) -> bool:
        value = self.position.get(key, False)
        if not isinstance(value, bool):
            raise PositionError(f"{key}={value!r} must be true or false")
        return value

    def numbers(self, key: str, low: int, high: int, default: int) -> list[int]:
        """One number for each seat."""
        players = self.rules.players
        values = self.sequence(key, players, [default] * players)
        return [self.checked(f"{key}[{i}]", value, low, high) for i, value in enumerate(values)]

    def tile(self, text: Any, where: str) -> int:
        try:
            tile = self.rules.tiles.parse(text)
        except PositionError as error:
            raise PositionError(f"{where}: {error}") from None
        return self.lay(tile, where)

    def lay(self, tile: int, where: str) -> int:
        """Note where a tile lies; it can lie in one place only."""
        if tile in self.where:
            name = self.rules.tiles.text(tile)
            raise PositionError(f"{name} lies in {self.where[tile]} and in {where}")
        self.where[tile] = where
        return tile

    def tiles(self, texts: Any, where: str) -> list[int]:
        if not isinstance(texts, list | tuple):
            raise PositionError(f"{where}={texts!r} must be a list of tiles")
        return [self.tile(text, where) for text in texts]


def put(words: NDArray[np.uint64], tiles: Iterable[int]) -> None:
    """Put tiles into a tile set, a row of 64-bit words."""
    for tile in tiles:
        words[tile // 64] |= np.uint64(1 << (tile % 64))


def _read_shared(reader: _Reader, g: Any) -> None:
    players = reader.rules.players
    g["to_move"] = reader.number("to_move", 0, players - 1)
    for seat, texts in enumerate(reader.sequence("hands", players)):
        tiles = reader.tiles(texts, f"hands[{seat}]")
        put(g["hands"][seat], tiles)
        g["hand_sizes"][seat] = len(tiles)
    boneyard = reader.tiles(reader.sequence("boneyard"), "boneyard")
    g["boneyard"][: len(boneyard)] = boneyard[::-1]
    g["boneyard_size"] = len(boneyard)
    g["drew"] = DRAWN if reader.flag("drew") else NOT_DRAWN
    g["passes"] = reader.number("passes", 0, 2 * players, 0)
    if g["passes"] and boneyard:
        raise PositionError(f"passes={g['passes']}, but passes count once the boneyard is empty")
    g["round"] = reader.number("round", 0, len(reader.rules.rounds) - 1, 0)
    g["scores"][:players] = reader.numbers("scores", -(10**6), 10**6, 0)
    lacks = reader.sequence("lacks", players, [[]] * players)
    for seat, pips in enumerate(lacks):
        if not isinstance(pips, list | tuple):
            raise PositionError(f"lacks[{seat}]={pips!r} must be a list of pips")
        lacking = {reader.checked(f"lacks[{seat}]", p, 0, reader.rules.max_pip) for p in pips}
        g["lacks"][seat] = sum(1 << pip for pip in lacking)
        if not (g["drew"] and seat == g["to_move"]):  # a tile just drawn may have any pip
            _check_lacks(reader.rules, tiles_of(g["hands"][seat]), seat, lacking)


def _check_lacks(rules: Rules, hand: list[int], seat: int, lacking: set[int]) -> None:
    for tile in hand:
        if not lacking.isdisjoint((int(rules.tiles.low[tile]), int(rules.tiles.high[tile]))):
            raise PositionError(
                f"lacks[{seat}]={sorted(lacking)}, but {rules.tiles.text(tile)} is in the hand"
            )


def _lay_middle(reader: _Reader, g: Any, key: str) -> int:
    """Lay the round's double into the middle; return its pip."""
    pip = reader.number(key, 0, reader.rules.max_pip)
    put(g["table"], [reader.lay(int(reader.rules.tiles.ids[pip, pip]), key)])
    return pip


def _read_trains(reader: _Reader, g: Any) -> None:
    players = reader.rules.players
    g["engine"] = _lay_middle(reader, g, "engine")
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
    g["doubles"] = _doubles_this_turn(reader.rules, g, reader.number("to_move", 0, players - 1))


def _doubles_this_turn(rules: Rules, g: Any, seat: int) -> int:
    """Return how many doubles the seat to move has played in this turn.

    While it owes a play they are all uncovered; in an opening they lie on its own train.
    """
    if getattr(rules, "opening", "") == "whole_train" and g["turns_taken"][seat] == 0:
        own = (g["onto"] == seat) & (np.arange(len(g["onto"])) < g["num_played"])
        played = g["played"][own]
        return int((rules.tiles.low[played] == rules.tiles.high[played]).sum())
    return int(g["num_pending"]) if g["owes_play"] else 0


def _read_train(reader: _Reader, g: Any, train: int, texts: Any, where: str) -> None:
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
        put(g["table"], [tile])


def _read_pending(reader: _Reader, g: Any, entry: Any) -> None:
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


def _read_table(reader: _Reader, g: Any) -> None:
    g["centre"] = _lay_middle(reader, g, "centre")
    table = FootTable(reader.rules, int(g["centre"]))
    for i, entry in enumerate(reader.sequence("table")):
        _read_entry(reader, g, table, entry, f"table[{i}]")
    g["arms"], g["toes"], g["foot"] = table.arms, len(table.toes), table.foot_pip
    g["toe_pips"][: len(table.toes)] = list(table.toes.values())
    for pip in table.open.values():
        g["ends"][pip] += 1


def _read_entry(reader: _Reader, g: Any, table: FootTable, entry: Any, where: str) -> None:
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
    put(g["table"], [tile])


def _end_if_over(reader: _Reader, states: NDArray[np.void]) -> None:
    """End the round if it is over in the position: by its penalties, an empty hand, or blocked."""
    g, rules = states[0], reader.rules
    players = rules.players
    empty = [seat for seat in range(players) if g["hand_sizes"][seat] == 0]
    if "penalties" in reader.position:
        g["ending"] = WENT_OUT if empty else NOBODY_CAN_PLAY
        g["penalties"][:players] = reader.numbers("penalties", -(10**6), 10**6, 0)
    elif empty and not _waits_for_draw(rules, g, empty):
        cost = rules.record[0]["cost"]
        penalties = [int(cost[tiles_of(g["hands"][seat])].sum()) for seat in range(players)]
        if isinstance(rules, ChickenFootRules):
            on_foot = _out_on_foot(rules, g)
            penalties[empty[0]] += rules.foot_out_bonus if on_foot else rules.out_bonus
        g["ending"] = WENT_OUT
        g["penalties"][:players] = penalties
        g["scores"][:players] += np.array(penalties, np.int32)
    else:
        drive.end_blocked_games(states, rules.record)


def _waits_for_draw(rules: Rules, g: Any, empty: list[int]) -> bool:
    """Return whether the one empty hand went down to a double that may not end the round."""
    if rules.game == "chicken_foot" or empty != [int(g["to_move"])]:
        return False
    return bool(g["owes_play"] and g["boneyard_size"] > 0)


def _out_on_foot(rules: Rules, g: Any) -> bool:
    """Return whether the last tile was a toe, or a double that opens a foot."""
    last = int(g["num_played"]) - 1
    if last < 0 or g["joined"][last] == CENTRE:
        return False
    tile, onto = int(g["played"][last]), int(g["played"][g["joined"][last]])
    doubles = [int(rules.tiles.ids[pip, pip]) for pip in range(rules.max_pip + 1)]
    return tile in doubles or onto in doubles
