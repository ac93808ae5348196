"""The rules objects: what a table agrees on before it plays.

`MexicanTrainRules` and `ChickenFootRules` are frozen, checked on construction and complete: hand
sizes and rounds are filled in. `record` is the same thing as numbers, for the kernels. Two rules
objects are equal when they play alike.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from dominoenv.errors import RulesError, UnknownNameError, nearest
from dominoenv.tiles import MAX_PIPS, MAX_TILES, WORDS, DominoSet, domino_set

MIN_SEATS, MAX_SEATS = 2, 10
MAX_ROUNDS = 64
UNLIMITED = MAX_TILES  # max_doubles_per_turn=None

# The choices of each option; a kernel sees the position in the tuple, under the names below.
ENGINE_TILE = ("set_aside", "dealt")
FIRST_TURN = ("any", "own_train")
BLOCKED = ("lap", "no_play")
DEAD = ("released", "binds")
FOLLOWUP = ("anywhere", "cover_if_possible", "none")
DRAWS = ("per_play", "per_turn")
OPENING = ("one_tile", "whole_train")
HAND_TABLES = ("house", "published", "station", "pagat")

SET_ASIDE, DEALT = range(2)
ANY, OWN_TRAIN = range(2)
LAP, NO_PLAY = range(2)
RELEASED, BINDS = range(2)
ANYWHERE, COVER_IF_POSSIBLE, NO_FOLLOWUP = range(3)
PER_PLAY, PER_TURN = range(2)
ONE_TILE, WHOLE_TRAIN = range(2)

SEED = "seed"  # first_starter: drawn from the match's seed
DRAWN_STARTER = -1  # the same, for the kernels

COMMON_RECORD: list[Any] = [
    ("max_pip", np.int32),  # N
    ("pips", np.int32),  # K = N + 1
    ("tiles", np.int32),  # T
    ("words", np.int32),  # words of a tile set that are in use
    ("players", np.int32),  # P
    ("hand_size", np.int32),
    ("num_rounds", np.int32),
    ("rounds", np.int32, (MAX_ROUNDS,)),  # pip of each round's double
    ("low", np.int16, (MAX_TILES,)),
    ("high", np.int16, (MAX_TILES,)),
    ("ids", np.int16, (MAX_PIPS, MAX_PIPS)),
    ("pip_tiles", np.uint64, (MAX_PIPS, WORDS)),  # tile set of each pip
    ("doubles", np.uint64, (WORDS,)),  # tile set of all doubles
    ("cost", np.int32, (MAX_TILES,)),  # penalty of each tile left in a hand
]


def option(
    default: Any, choices: tuple[str, ...] | None = None, low: int = 0, high: int = 0
) -> Any:
    """Declare an option of a rules object: its default, and its choices or its range."""
    return field(default=default, metadata={"choices": choices, "low": low, "high": high})


def whole_number(name: str, value: object, low: int, high: int) -> int:
    """Return `value` as an int in low ... high, or raise RulesError."""
    try:
        if isinstance(value, bool | np.bool_):
            raise TypeError
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise RulesError(f"{name}={value!r} must be a whole number") from None
    if not low <= number <= high:
        raise RulesError(f"{name}={number} must lie in {low} ... {high}")
    return number


@dataclass(frozen=True, eq=False, kw_only=True)
class Rules:
    """What both games share. Use `MexicanTrainRules` or `ChickenFootRules`."""

    players: int = option(4, low=MIN_SEATS, high=MAX_SEATS)
    max_pip: int = option(9)
    hand_size: int = option(0)
    """Tiles dealt to each seat; None or 0 when made: from the table of the preset."""
    rounds: tuple[int, ...] = option(())
    """The double of each round of a match; None or empty when made: the game's usual list."""
    double_blank: int = option(0, low=0, high=1000)
    """What [0|0] costs in a hand."""

    game: ClassVar[str]
    presets: ClassVar[dict[str, dict[str, Any]]]
    record_dtype: ClassVar[np.dtype[np.void]]

    def __post_init__(self) -> None:
        self._set("players", whole_number("players", self.players, MIN_SEATS, MAX_SEATS))
        self._set("max_pip", whole_number("max_pip", self.max_pip, 0, 1000))
        self._set("max_pip", self.tiles.max_pip)
        for spec in fields(self):
            self._check_option(spec.name, spec.metadata)
        self._set("rounds", self._checked_rounds())
        self._set("hand_size", self._checked_hand_size())

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def _check_option(self, name: str, limits: Mapping[str, Any]) -> None:
        value, choices = getattr(self, name), limits.get("choices")
        if choices is not None and not (isinstance(value, str) and value in choices):
            raise RulesError(f"{name}={value!r}: {nearest(value, choices)}")
        if choices is None and limits.get("high", 0) > limits.get("low", 0):
            self._set(name, whole_number(name, value, limits["low"], limits["high"]))

    def _checked_rounds(self) -> tuple[int, ...]:
        if self.rounds is None or (isinstance(self.rounds, tuple | list) and not self.rounds):
            return tuple(range(self.max_pip, self._last_round - 1, -1))
        if not isinstance(self.rounds, tuple | list):
            raise RulesError(f"rounds={self.rounds!r} must be a list of pips, such as [9, 6, 3, 0]")
        if len(self.rounds) > MAX_ROUNDS:
            raise RulesError(f"rounds has {len(self.rounds)} entries; at most {MAX_ROUNDS} fit")
        return tuple(
            whole_number(f"rounds[{i}]", pip, 0, self.max_pip) for i, pip in enumerate(self.rounds)
        )

    def _checked_hand_size(self) -> int:
        if self.hand_size is None:
            return self._usual_hand_size()
        hand_size = whole_number("hand_size", self.hand_size, 0, MAX_TILES)
        if hand_size == 0:
            return self._usual_hand_size()
        self._check_dealable(hand_size)
        return hand_size

    def _check_dealable(self, hand_size: int) -> None:
        if hand_size * self.players > self.dealt_tiles:
            raise RulesError(
                f"hand_size={hand_size} needs {hand_size * self.players} tiles for {self.players} "
                f"players, but the double-{self.max_pip} set has {self.dealt_tiles} to deal"
            )

    @property
    def tiles(self) -> DominoSet:
        """The set of dominoes."""
        return domino_set(self.max_pip)

    @property
    def dealt_tiles(self) -> int:
        """How many tiles there are to deal from."""
        return self.tiles.size

    @property
    def _last_round(self) -> int:
        """Pip of the last round of the game's usual list."""
        return 0

    def _usual_hand_size(self) -> int:
        raise NotImplementedError

    @classmethod
    def preset(cls, name: str, /, **options: Any) -> Self:
        """Make the rules of a preset, with options that differ.

        Raises UnknownNameError for a preset that does not exist and RulesError for an option that
        does not exist or whose value cannot be.
        """
        if not isinstance(name, str) or name not in cls.presets:
            raise UnknownNameError(f"preset {name!r} of {cls.game}: {nearest(name, cls.presets)}")
        known = [spec.name for spec in fields(cls)]
        for key in options:
            if key not in known:
                raise RulesError(f"option {key!r} of {cls.game}: {nearest(key, known)}")
        return cls(**{**cls.presets[name], **options})

    @classmethod
    def from_dict(cls, rules: Mapping[str, Any] | str) -> Self:
        """Make rules from a preset's name, or from options with or without a `preset`."""
        if isinstance(rules, str):
            return cls.preset(rules)
        if not isinstance(rules, Mapping):
            raise RulesError(f"rules={rules!r} must be a preset's name or options by name")
        options = dict(rules)
        for key in options:
            if not isinstance(key, str):
                raise RulesError(f"option {key!r} of {cls.game} must be a name")
        name = options.pop("preset", next(iter(cls.presets)))
        return cls.preset(name, **options)

    def to_dict(self) -> dict[str, Any]:
        """Return all options, resolved; the inverse of `from_dict`."""
        options = {spec.name: getattr(self, spec.name) for spec in fields(self)}
        return {**options, "rounds": list(self.rounds)}

    def short_dict(self) -> dict[str, Any]:
        """Return the nearest preset, the seats and what differs from it."""
        own = self.to_dict()
        best: dict[str, Any] | None = None
        for name in self.presets:
            size = {"players": self.players}
            if self.max_pip != self.presets[name].get("max_pip", self._default("max_pip")):
                size["max_pip"] = self.max_pip
            try:
                base = type(self).preset(name, **size).to_dict()
            except RulesError:  # the preset's own hands do not fit this set; another one's may
                continue
            different = {key: value for key, value in own.items() if base[key] != value}
            short = {"preset": name, **size, **different}
            if best is None or len(short) < len(best):
                best = short
        return own if best is None else best

    @classmethod
    def _default(cls, name: str) -> Any:
        return next(spec.default for spec in fields(cls) if spec.name == name)

    @cached_property
    def record(self) -> NDArray[np.void]:
        """The rules as the kernels read them: one record of `record_dtype`, shape (1,)."""
        tiles = self.tiles
        record = np.zeros(1, self.record_dtype)
        r = record[0]
        r["max_pip"], r["pips"], r["tiles"] = self.max_pip, self.max_pip + 1, tiles.size
        r["words"] = (tiles.size + 63) // 64
        r["players"], r["hand_size"] = self.players, self.hand_size
        r["num_rounds"] = len(self.rounds)
        r["rounds"][: len(self.rounds)] = self.rounds
        r["low"][: tiles.size], r["high"][: tiles.size] = tiles.low, tiles.high
        r["ids"][: tiles.max_pip + 1, : tiles.max_pip + 1] = tiles.ids
        for tile, (low, high) in enumerate(zip(tiles.low, tiles.high, strict=True)):
            bit = np.uint64(1 << (tile % 64))
            for pip in {low, high}:
                r["pip_tiles"][pip, tile // 64] |= bit
            if low == high:
                r["doubles"][tile // 64] |= bit
        r["cost"][: tiles.size] = tiles.low + tiles.high
        r["cost"][tiles.ids[0, 0]] = self.double_blank
        for spec in fields(self):
            if spec.name in (self.record_dtype.names or ()) and spec.name not in COMMON_NAMES:
                r[spec.name] = self._code(spec.name, spec.metadata.get("choices"))
        record.flags.writeable = False
        return record

    def _code(self, name: str, choices: tuple[str, ...] | None) -> int:
        value = getattr(self, name)
        return choices.index(value) if choices is not None else int(value)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self  # frozen

    def __getstate__(self) -> dict[str, Any]:
        return {spec.name: getattr(self, spec.name) for spec in fields(self)}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Rules):
            return NotImplemented
        return self.game == other.game and self.record.tobytes() == other.record.tobytes()

    def __hash__(self) -> int:
        return hash((self.game, self.record.tobytes()))

    def __str__(self) -> str:
        """Return a short text to check against the box on the table."""
        short = self.short_dict()
        preset = short.pop("preset", None)
        differing = ", ".join(
            f"{key}={value}" for key, value in short.items() if key not in ("players", "max_pip")
        )
        return (
            f"{self.game.replace('_', ' ').title()}"
            f"{f' ({preset})' if preset else ''}: {self.players} players, double-{self.max_pip} "
            f"set of {self.tiles.size}, {self.hand_size} tiles each, rounds {self._rounds_text()}"
            f"{f'; {differing}' if differing else ''}"
        )

    def _rounds_text(self) -> str:
        first, last = self.rounds[0], self.rounds[-1]
        if len(self.rounds) > 3 and self.rounds == tuple(range(first, last - 1, -1)):
            return f"{first} down to {last}"
        return ", ".join(map(str, self.rounds))


COMMON_NAMES = {entry[0] for entry in COMMON_RECORD} | {"double_blank"}


def _numbers(*names: str) -> list[Any]:
    return [(name, np.int32) for name in names]


# Hand sizes by set and table, for 2, 3, 4 ... seats.
MEXICAN_TRAIN_HANDS: dict[str, dict[int, tuple[int, ...]]] = {
    "house": {9: (15, 15, 11, 9, 8, 7, 6), 12: (16, 16, 15, 14, 12, 10, 9)},
    "published": {9: (15, 13, 10, 9, 8, 7, 6), 12: (16, 16, 15, 14, 12, 10, 9)},
    "station": {12: (12, 12, 12, 12, 12, 10, 10, 8, 8)},
    "pagat": {12: (15, 15, 15, 12, 12, 10, 10, 8, 8)},
}
LARGEST_HAND, SMALLEST_HAND, LEAST_BONEYARD = 16, 3, 5  # where no table says


@dataclass(frozen=True, eq=False, kw_only=True)
class MexicanTrainRules(Rules):
    """The rules of a Mexican Train table. Docs: `docs/rules.md`.

    Presets: `engine` (the engine set aside, double-9), `station` (the engine dealt, double-12, own
    train first), `pagat` and `tournament`.
    """

    hand_table: str = option("house", HAND_TABLES)
    """Where hand sizes come from when `hand_size` is left out."""
    engine_tile: str = option("set_aside", ENGINE_TILE)
    """Whether the round's double is laid before the deal or dealt with the rest."""
    first_starter: int | str = 0
    """Starter of the first round: a seat, or "seed" to draw it. Later rounds go on clockwise."""
    first_turn: str = option("any", FIRST_TURN)
    blocked: str = option("lap", BLOCKED)
    """How a round ends that nobody can win."""
    dead_double: str = option("released", DEAD)
    """What becomes of a pending double that can never be covered."""
    double_followup: str = option("anywhere", FOLLOWUP)
    max_doubles_per_turn: int | None = None
    draws: str = option("per_play", DRAWS)
    go_out_on_double: bool = True
    opening: str = option("one_tile", OPENING)
    own_train_first: bool = False

    game = "mexican_train"
    presets: ClassVar[dict[str, dict[str, Any]]] = {
        "engine": {},
        "station": {
            "max_pip": 12,
            "hand_table": "station",
            "engine_tile": "dealt",
            "first_turn": "own_train",
            "blocked": "no_play",
        },
        "pagat": {"max_pip": 12, "hand_table": "pagat", "engine_tile": "dealt"},
        "tournament": {
            "double_followup": "cover_if_possible",
            "max_doubles_per_turn": 1,
            "go_out_on_double": False,
        },
    }
    record_dtype = np.dtype(
        COMMON_RECORD
        + _numbers("engine_tile", "first_starter", "first_turn", "blocked", "dead_double")
        + _numbers("double_followup", "max_doubles_per_turn", "draws", "go_out_on_double")
        + _numbers("opening", "own_train_first"),
        align=True,
    )

    def __post_init__(self) -> None:
        for name in ("go_out_on_double", "own_train_first"):
            value = getattr(self, name)
            if not isinstance(value, bool | np.bool_):
                raise RulesError(f"{name}={value!r} must be true or false")
            self._set(name, bool(value))
        super().__post_init__()
        if not (isinstance(self.first_starter, str) and self.first_starter == SEED):
            if isinstance(self.first_starter, str):
                raise RulesError(f"first_starter={self.first_starter!r} must be a seat or 'seed'")
            last = self.players - 1
            self._set("first_starter", whole_number("first_starter", self.first_starter, 0, last))
        if self.max_doubles_per_turn is not None:
            limit = whole_number("max_doubles_per_turn", self.max_doubles_per_turn, 1, UNLIMITED)
            self._set("max_doubles_per_turn", limit)

    def _code(self, name: str, choices: tuple[str, ...] | None) -> int:
        if name == "first_starter" and self.first_starter == SEED:
            return DRAWN_STARTER
        if name == "max_doubles_per_turn" and self.max_doubles_per_turn is None:
            return UNLIMITED
        return super()._code(name, choices)

    @property
    def dealt_tiles(self) -> int:
        """How many tiles there are to deal from: all but an engine that was set aside."""
        return self.tiles.size - (self.engine_tile == "set_aside")

    def _usual_hand_size(self) -> int:
        table = MEXICAN_TRAIN_HANDS[self.hand_table].get(self.max_pip, ())
        if self.players - MIN_SEATS < len(table):
            return table[self.players - MIN_SEATS]
        spare = self.dealt_tiles - max(self.players, LEAST_BONEYARD)
        hand_size = min(LARGEST_HAND, spare // self.players)
        if hand_size < SMALLEST_HAND:
            raise RulesError(
                f"players={self.players} are too many for the double-{self.max_pip} set: its "
                f"{self.dealt_tiles} tiles give hands of {max(hand_size, 0)}, and "
                f"{SMALLEST_HAND} is the least; take a larger set, or give hand_size yourself"
            )
        return hand_size


CHICKEN_FOOT_HANDS = {9: (20, 15, 11, 9, 8, 7, 6)}
CHICKEN_FOOT_SPARE, CHICKEN_FOOT_LEAST, CHICKEN_FOOT_MOST = 13, 4, 20


@dataclass(frozen=True, eq=False, kw_only=True)
class ChickenFootRules(Rules):
    """The rules of a Chicken Foot table. Docs: `docs/rules.md`.

    Presets: `chicken_foot` and `pagat` (four arms, no bonus for going out).
    """

    double_blank: int = option(50, low=0, high=1000)
    """What [0|0] costs in a hand."""
    centre_arms: int = option(6, low=1, high=MAX_PIPS)
    """Tiles that must join the centre before anything else is played."""
    toes: int = option(3, low=1, high=MAX_PIPS)
    """Tiles that a double needs before anything else is played."""
    dead_foot: str = option("binds", DEAD)
    """What becomes of a foot that can never be completed."""
    out_bonus: int = option(-5, low=-1000, high=1000)
    """Penalty of the seat that goes out."""
    foot_out_bonus: int = option(-10, low=-1000, high=1000)
    """The same when a foot was open at that moment."""

    game = "chicken_foot"
    presets: ClassVar[dict[str, dict[str, Any]]] = {
        "chicken_foot": {},
        "pagat": {"centre_arms": 4, "out_bonus": 0, "foot_out_bonus": 0},
    }
    record_dtype = np.dtype(
        COMMON_RECORD + _numbers("centre_arms", "toes", "dead_foot", "out_bonus", "foot_out_bonus"),
        align=True,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        whole_number("centre_arms", self.centre_arms, 1, self.max_pip)
        whole_number("toes", self.toes, 1, self.max_pip - 1)

    @property
    def _last_round(self) -> int:
        return 1

    def _usual_hand_size(self) -> int:
        table = CHICKEN_FOOT_HANDS.get(self.max_pip, ())
        if self.players - MIN_SEATS < len(table):
            return table[self.players - MIN_SEATS]
        shared = (self.tiles.size - CHICKEN_FOOT_SPARE) // self.players
        hand_size = min(max(shared, CHICKEN_FOOT_LEAST), CHICKEN_FOOT_MOST)
        if hand_size * self.players > self.tiles.size:
            raise RulesError(
                f"players={self.players} are too many for the double-{self.max_pip} set: hands of "
                f"{hand_size}, the least, need {hand_size * self.players} tiles and it has "
                f"{self.tiles.size}; take a larger set, or give hand_size yourself"
            )
        return hand_size


RULES: dict[str, type[Rules]] = {kind.game: kind for kind in (MexicanTrainRules, ChickenFootRules)}


def make_rules(
    game: str, rules: Rules | Mapping[str, Any] | str | None = None, **options: Any
) -> Rules:
    """Make the rules of a game, by the game's name.

    `rules`: a rules object (returned as it is), a preset's name or options by name; or give the
    options themselves, `preset` among them. Raises UnknownNameError or RulesError.
    """
    if not isinstance(game, str) or game not in RULES:
        raise UnknownNameError(f"game {game!r}: {nearest(game, RULES)}")
    kind = RULES[game]
    if isinstance(rules, Rules):
        if not isinstance(rules, kind) or options:
            what = f"options {sorted(options)}" if options else f"rules of {rules.game}"
            raise RulesError(f"{what} given beside a rules object of {game}")
        return rules
    if isinstance(rules, str):
        options = {"preset": rules, **options}
    elif rules is not None:
        if not isinstance(rules, Mapping):
            raise RulesError(f"rules={rules!r} must be a rules object, a preset or options by name")
        return kind.from_dict({**rules, **options})
    return kind.from_dict(options)
