"""What the rules objects of all games share: options, checks, and the record that kernels read.

A game's rules are a frozen dataclass of options, checked on construction and complete: hand sizes
and rounds are filled in. `record` is the same thing as numbers. Two rules objects are equal when
they play alike.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import Field, dataclass, fields
from enum import IntEnum
from functools import cache, cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from dominoenv.core.options import Options, option, whole_number
from dominoenv.core.tiles import MAX_PIPS, MAX_TILES, WORDS, DominoSet, domino_set
from dominoenv.errors import RulesError, UnknownKeywordError, UnknownNameError, nearest, shortened

MIN_SEATS, MAX_SEATS = 2, 10
MAX_ROUNDS = 64


class Dead(IntEnum):
    """What becomes of a double that can never be completed, as all tiles of its pip are played."""

    RELEASED = 0
    BINDS = 1


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


@dataclass(frozen=True, eq=False, kw_only=True)
class Rules(Options):
    """What all games share; `MexicanTrainRules` and `ChickenFootRules` are made of it."""

    players: int = option(4, low=MIN_SEATS, high=MAX_SEATS)
    max_pip: int = option(9)
    hand_size: int = option(0)
    """Tiles dealt to each seat; None or 0 when made: from the table of the preset."""
    rounds: tuple[int, ...] = option(())
    """The double of each round of a match; None or empty when made: the game's usual list."""
    double_blank: int = option(0, low=0, high=1000, in_record=False)
    """What [0|0] costs in a hand."""

    game: ClassVar[str]
    presets: ClassVar[dict[str, dict[str, Any]]]
    """Options by name of preset; the first one is the default."""

    def __post_init__(self) -> None:
        self._set("players", whole_number("players", self.players, MIN_SEATS, MAX_SEATS))
        self._set("max_pip", whole_number("max_pip", self.max_pip, 0, 1000))
        self._set("max_pip", self.tiles.max_pip)
        self._check_options()
        self._set("rounds", self._checked_rounds())
        self._set("hand_size", self._checked_hand_size())

    def _checked_rounds(self) -> tuple[int, ...]:
        if self.rounds is None or (isinstance(self.rounds, tuple | list) and not self.rounds):
            return tuple(range(self.max_pip, self._last_round - 1, -1))
        if not isinstance(self.rounds, tuple | list):
            raise RulesError(
                f"rounds={shortened(self.rounds)} must be a list of pips, such as [9, 6, 3, 0]"
            )
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
    def draws_from_boneyard(self) -> bool:
        """Whether seats draw while there are tiles, so that passes count only once it is empty."""
        return True

    @property
    def _last_round(self) -> int:
        """Pip of the last round of the game's usual list."""
        return 0

    def _usual_hand_size(self) -> int:
        """Return the hand size where none was given. Raises RulesError where no hand fits."""
        raise RulesError(f"{self.game} has no usual hands: give hand_size")

    @property
    def starter_is_drawn(self) -> bool:
        """Whether the match's seed decides who starts its first round."""
        return False

    def with_drawn_starter(self) -> Self:
        """Return the rules with the starter drawn from the seed, if the rules name a seat."""
        return self

    def check_decisions(self) -> None:
        """Raise RulesError if every round is over as it is dealt, so that nobody ever decides."""

    @classmethod
    def preset(cls, name: str, /, **options: Any) -> Self:
        """Make the rules of a preset, with options that differ.

        Raises UnknownNameError for an unknown preset, UnknownKeywordError for an unknown option and
        RulesError for an invalid value.
        """
        if not isinstance(name, str) or name not in cls.presets:
            raise UnknownNameError(
                f"preset {shortened(name)} of {cls.game}: {nearest(name, cls.presets)}"
            )
        known = [spec.name for spec in fields(cls)]
        for key in options:
            if key not in known:
                raise UnknownKeywordError(
                    f"option {shortened(key)} of {cls.game}: {nearest(key, known)}"
                )
        return cls(**{**cls.presets[name], **options})

    @classmethod
    def from_dict(cls, rules: Mapping[str, Any] | str) -> Self:
        """Make rules from a preset's name, or from options with or without a `preset`."""
        if isinstance(rules, str):
            return cls.preset(rules)
        if not isinstance(rules, Mapping):
            raise RulesError(f"rules={shortened(rules)} must be a preset's name or options by name")
        options = dict(rules)
        for key in options:
            if not isinstance(key, str):
                raise RulesError(f"option {shortened(key)} of {cls.game} must be a name")
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
        """The rules as the kernels read them: one record of `record_dtype()`, shape (1,)."""
        tiles = self.tiles
        record = np.zeros(1, self.record_dtype())
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
            if self._is_own_field(spec):
                r[spec.name] = self.code(spec.name)
        record.flags.writeable = False
        return record

    @classmethod
    @cache
    def record_dtype(cls) -> np.dtype[np.void]:
        """Return the dtype of `record`: what all games have, and a number for each own option.

        Raises ValueError for an option with the name of a field that all games have.
        """
        own = [(spec.name, np.int32) for spec in fields(cls) if cls._is_own_field(spec)]
        return np.dtype([*COMMON_RECORD, *own], align=True)

    @staticmethod
    def _is_own_field(spec: Field[Any]) -> bool:
        is_shared = spec.name in Rules.__dataclass_fields__  # these are written one by one
        return bool(spec.metadata["in_record"]) and not is_shared

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
