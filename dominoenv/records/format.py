"""Match records as text: JSON Lines, one match after another (`docs/formats.md`).

This module makes and writes records; `read` reads them and replays every move. Letters: P seats.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

from dominoenv.core.output import label
from dominoenv.core.rules import Rules
from dominoenv.core.version import __version__
from dominoenv.errors import DominoError, RecordError, shortened
from dominoenv.games.match_play import MatchPlay
from dominoenv.games.registry import kind_of, make_rules
from dominoenv.records.annotations import Annotation
from dominoenv.records.deals import dealt_round

FORMAT = 1  # raised when older readers would misread a file
MATCH, ROUND = "match", "round"
EPISODES = (MATCH, ROUND)

HEADER_KEYS = ("type", "format", "library", "game", "rules", "seed", "players")
HEADER_OPTIONAL = ("match", "episode")
ANNOTATIONS = "annotations"
OLD_ANNOTATIONS = "policy"  # the same key in records of version 0.1.0
ROUND_OPTIONAL = (ANNOTATIONS, OLD_ANNOTATIONS)
RESULT_KEYS = ("type", "scores", "winners")

PathLike = str | os.PathLike[str]


def round_keys(rules: Rules) -> tuple[str, ...]:
    """Return the required keys of a round's line."""
    own = kind_of(rules).deal.KEYS
    return ("type", "round", *own, "hands", "boneyard", "moves", "penalties", "scores")


@dataclass(frozen=True)
class Record:
    """A match, or one round of it, as plain JSON values.

    `read_records`, `Game.record` and `Recorder` make them. A record of your own is checked by
    `verify_record`, not here.
    """

    header: dict[str, Any]
    rounds: list[dict[str, Any]]  # the finished rounds, in order
    result: dict[str, Any] | None  # None: the match is unfinished

    @cached_property
    def rules(self) -> Rules:
        """The rules of the match. Raises RulesError for a header with invalid rules."""
        return make_rules(self.header["game"], self.header["rules"])

    @property
    def players(self) -> list[str]:
        """The name at each seat."""
        return list(self.header["players"])

    @property
    def labels(self) -> list[str]:
        """The names as they are shown: on one line, without control characters, not too long."""
        return list(map(label, self.players))

    @property
    def num_moves(self) -> int:
        """Number of moves, draws and passes included."""
        return sum(len(one["moves"]) for one in self.rounds)

    def lines(self) -> Iterator[str]:
        """Yield the lines as JSON, without line ends. Raises RecordError for values JSON lacks."""
        last = [] if self.result is None else [self.result]
        for line in (self.header, *self.rounds, *last):
            try:
                yield json.dumps(line, ensure_ascii=False, allow_nan=False)
            except (TypeError, ValueError, RecursionError) as error:
                raise RecordError(f"a record must hold plain JSON values: {error}") from None


def write_record(
    path: PathLike, records: Record | Iterable[Record], *, append: bool = False
) -> int:
    """Write one record or many to a file, one after another; return how many.

    append: add to the file instead of replacing it. An iterator is consumed while it is written, so
    memory use stays constant. Raises RecordError if the file cannot be written.
    """
    number = 0
    path = checked_path(path)
    try:
        with open(path, "a" if append else "w", encoding="utf-8", newline="\n") as file:
            for record in [records] if isinstance(records, Record) else records:
                if not isinstance(record, Record):
                    raise RecordError(f"{shortened(record)} is not a record")
                file.writelines(f"{line}\n" for line in record.lines())
                number += 1
    except OSError as error:
        raise RecordError(f"cannot write {path!r}: {error.strerror}") from error
    except UnicodeEncodeError as error:
        raise RecordError(f"a record must be Unicode text: {error}") from None
    return number


# ------------------------------------------------------------------------------------- from a game


@dataclass(frozen=True)
class PlayedRound:
    """A finished round as `Game` keeps it: the deal follows from three numbers."""

    seed: int | None  # None: the round began from a position
    match: int
    index: int  # into the rules' rounds
    moves: tuple[str, ...]
    penalties: tuple[int, ...]
    annotations: tuple[Annotation | None, ...] = ()  # one per move, or empty

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self  # immutable: copies of a game share it

    def line(self, rules: Rules, scores: Sequence[int]) -> dict[str, Any]:
        """Return the round's line; scores: (P,) totals after it. RecordError if it has no deal."""
        if self.seed is None:
            raise RecordError(
                f"round {self.index} began from a position, so there is no deal to record"
            )
        return {
            **dealt_round(rules, self.seed, self.match, self.index),
            "moves": list(self.moves),
            "penalties": list(self.penalties),
            "scores": list(scores),
            **({ANNOTATIONS: list(self.annotations)} if any(self.annotations) else {}),
        }


def played_round(game: MatchPlay, annotations: Sequence[Annotation | None]) -> PlayedRound:
    """Return the round that has just ended in a game."""
    kept = tuple(annotations) if any(annotations) else ()
    moves, penalties = tuple(game.moves), tuple(game.penalties or ())
    seed = game.seed if game.is_dealt else None
    return PlayedRound(seed, game.match, game.round, moves, penalties, kept)


def match_record(
    rules: Rules, played: Sequence[PlayedRound], players: Sequence[str] | None
) -> Record:
    """Return the record of a match's finished rounds, with the result if the match is over.

    The record has a seed if all rounds have the same one. Raises RecordError.
    """
    if played and played[0].index > 0:
        raise RecordError(
            f"the match began with round {played[0].index}, but a record begins with round 0; for "
            f"a single round use record(episode='round')"
        )
    deals = {(one.seed, one.match) for one in played}
    if len(deals) > 1 and rules.starter_is_drawn:
        raise RecordError(
            "the rounds were dealt from several seeds, and first_starter='seed' draws another "
            "first starter from each; give next_round no seed, or record rounds one by one"
        )
    seed, match = deals.pop() if len(deals) == 1 else (None, 0)
    scores, rounds = [0] * rules.players, []
    for one in played:
        scores = [total + new for total, new in zip(scores, one.penalties, strict=True)]
        rounds.append(one.line(rules, scores))
    over = len(played) == len(rules.rounds)
    header = header_of(rules, seed, match, players)
    return Record(header, rounds, result_of(scores) if over else None)


def round_record(rules: Rules, played: PlayedRound, players: Sequence[str] | None) -> Record:
    """Return the record of a one-round episode; its scores are its penalties."""
    line = played.line(rules, played.penalties)
    header = header_of(rules, played.seed, played.match, players, ROUND)
    return Record(header, [line], result_of(played.penalties))


# ------------------------------------------------------------------------------------------ parts


def header_of(
    rules: Rules,
    seed: int | None,
    match: int = 0,
    players: Sequence[str] | None = None,
    episode: str = MATCH,
) -> dict[str, Any]:
    """Return the header line of a record.

    players: P names; default `seat 0`, `seat 1` ... Raises RecordError for invalid names.
    """
    header = {
        "type": "match",
        "format": FORMAT,
        "library": __version__,
        "game": rules.game,
        "rules": rules.to_dict(),
        "seed": seed,
        "players": checked_names(rules, players),
    }
    if match and seed is not None:
        header["match"] = match
    if episode != MATCH:
        header["episode"] = episode
    return header


def checked_names(rules: Rules, names: object) -> list[str]:
    """Return the names of the seats, or raise RecordError."""
    if names is None:
        return [f"seat {seat}" for seat in range(rules.players)]
    if not isinstance(names, list | tuple) or len(names) != rules.players:
        raise RecordError(f"players={shortened(names)} must be {rules.players} names, one per seat")
    for name in names:
        if not isinstance(name, str) or not _is_unicode(name):
            raise RecordError(f"players: {shortened(name)} is not a name; a name is Unicode text")
    return list(names)


def _is_unicode(text: str) -> bool:
    """Return whether a text can be encoded as UTF-8: it has no lone surrogates."""
    return all(not 0xD800 <= ord(letter) < 0xE000 for letter in text)


def result_of(scores: Sequence[int]) -> dict[str, Any]:
    """Return the result line of a record: the totals, and who has the lowest."""
    winners = [seat for seat, score in enumerate(scores) if score == min(scores)]
    return {"type": "result", "scores": list(scores), "winners": winners}


def checked_path(path: object) -> str:
    """Return a path as text, or raise RecordError."""
    if not isinstance(path, str | os.PathLike):
        raise RecordError(f"{shortened(path)} is not a file path")
    name = os.fspath(path)
    if not isinstance(name, str) or "\0" in name:
        raise RecordError(f"{shortened(name)} is not a file path")
    return name


def one_of(name: str, value: object, choices: Sequence[str]) -> str:
    """Return a value that is one of the choices, or raise DominoError."""
    if not isinstance(value, str) or value not in choices:
        raise DominoError(f"{name}={shortened(value)} must be {' or '.join(map(repr, choices))}")
    return value
