"""Reading match records: every line is checked, every round replayed by the engine.

Files are untrusted: they are read line by line, as JSON, and nothing in them is run or unpickled.
Memory holds one match at a time, and the length of a line is limited.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields
from typing import Any, BinaryIO

from dominoenv.core.rules import Rules
from dominoenv.core.streams import MAX_MATCHES
from dominoenv.core.tiles import tiles_of
from dominoenv.errors import DominoError, IllegalActionError, RecordError, nearest, shortened
from dominoenv.games.deal_checks import tile_of, whole
from dominoenv.games.match_play import MatchPlay
from dominoenv.games.registry import GAMES, kind_of, make_rules
from dominoenv.records.annotations import Annotation, checked_annotation
from dominoenv.records.deals import dealt_round, high_first
from dominoenv.records.format import (
    ANNOTATIONS,
    EPISODES,
    FORMAT,
    HEADER_KEYS,
    HEADER_OPTIONAL,
    MATCH,
    OLD_ANNOTATIONS,
    RESULT_KEYS,
    ROUND_OPTIONAL,
    PathLike,
    Record,
    checked_names,
    checked_path,
    one_of,
    result_of,
    round_keys,
)

MAX_LINE = 1 << 20  # bytes; far more than the longest possible round
LINE_TYPES = ("match", "round", "result")
MAX_SEEDS = 1 << 64

Line = tuple[str, dict[str, Any]]  # its place in the file, and its content
Follower = Callable[[MatchPlay], None]  # called at the deal of each round, and after every move


def read_records(
    path: PathLike, *, partial: bool = False, follow: Follower | None = None
) -> Iterator[Record]:
    """Yield the matches in a file, each after it has been verified completely.

    partial: accept unfinished matches, with their complete rounds. follow: called with the game
    that replays a round, after the deal and after every move. The file is read lazily. Raises
    RecordError naming file, line, round and move for anything invalid, also for a file that cannot
    be opened or holds no match.
    """
    name = checked_path(path)
    yield from _records(_lines(name, partial), name, partial, follow)


def verify_record(record: Record, *, partial: bool = False, follow: Follower | None = None) -> None:
    """Replay a record; see `read_records`.

    Raises RecordError naming line, round and move for anything invalid.
    """
    if not isinstance(record, Record):
        raise RecordError(f"{shortened(record)} is not a record")
    lines = (
        (f"line {number}", _parsed(text, f"line {number}"))
        for number, text in enumerate(record.lines(), 1)
    )
    for _ in _records(lines, "the record", partial, follow):
        pass


# ------------------------------------------------------------------------------------------ lines


def _lines(name: str, partial: bool) -> Iterator[Line]:
    """Yield the lines of a file as JSON objects."""
    try:
        with open(name, "rb") as file:
            for where, raw in _raw_lines(file, name):
                try:
                    line = _parsed(_decoded(raw, where), where)
                except RecordError as error:
                    if raw.endswith(b"\n"):
                        raise
                    if partial:
                        return  # the last line, truncated while it was written
                    raise RecordError(f"{error}; the file ends here and may be truncated") from None
                yield where, line
    except OSError as error:
        raise RecordError(f"cannot read {name!r}: {error.strerror}") from error


def _raw_lines(file: BinaryIO, name: str) -> Iterator[tuple[str, bytes]]:
    number = 0
    while raw := file.readline(MAX_LINE + 1):
        number += 1
        where = f"{name}, line {number}"
        if len(raw) > MAX_LINE:
            raise RecordError(f"{where}: longer than {MAX_LINE} bytes, more than any round needs")
        yield where, raw


def _decoded(raw: bytes, where: str) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise RecordError(
            f"{where}: byte {raw[error.start]:#04x} at {error.start + 1} is not UTF-8; "
            f"records are UTF-8 text"
        ) from None


def _parsed(text: str, where: str) -> dict[str, Any]:
    """Return a line's JSON object of a known kind, without duplicate keys."""
    if not text.strip():
        raise RecordError(f"{where}: blank; every line holds a JSON object")
    try:
        line = json.loads(text, object_pairs_hook=_object, parse_constant=_no_constant)
    except RecursionError:
        raise RecordError(f"{where}: brackets are nested too deeply for a record") from None
    except json.JSONDecodeError as error:
        raise RecordError(f"{where}: not JSON: {error.msg}, column {error.colno}") from None
    except ValueError as error:
        raise RecordError(f"{where}: not JSON: {error}") from None
    if not isinstance(line, dict):
        raise RecordError(f"{where}: {shortened(line)} is not a JSON object")
    kind = line.get("type")
    if not isinstance(kind, str) or kind not in LINE_TYPES:
        raise RecordError(f"{where}: type={shortened(kind)} must be one of {', '.join(LINE_TYPES)}")
    return line


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"key {shortened(twice)} occurs twice in one object")
    return found


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not allowed in a record")


def _records(
    lines: Iterable[Line], name: str, partial: bool, follow: Follower | None
) -> Iterator[Record]:
    """Group lines into matches, verifying each as it comes."""
    match: _Match | None = None
    seen = 0
    for where, line in lines:
        if line["type"] == "match":
            if match is not None:
                yield match.broken_off(f"{where}: the next match begins", partial)
            match, seen = _Match(line, where, follow), seen + 1
        elif match is None:
            raise RecordError(
                f"{where}: a {line['type']!r} line outside a match; a 'match' line must come first"
            )
        elif line["type"] == "round":
            match.add_round(line, where)
        else:
            yield match.finish(line, where)
            match = None
    if match is not None:
        yield match.broken_off(f"{name}: truncated", partial)
    if not seen:
        raise RecordError(f"{name}: holds no match")


# ---------------------------------------------------------------------------------------- matches


class _Match:
    """A match whose lines arrive one by one; each is verified before it is kept."""

    def __init__(self, header: dict[str, Any], where: str, follow: Follower | None) -> None:
        self.where, self._follow = where, follow or _ignore
        self.rules = _checked_header(header, where)
        self._deal = kind_of(self.rules).deal
        self.header = header
        self.rounds: list[dict[str, Any]] = []
        self.scores = [0] * self.rules.players

    @property
    def _is_match(self) -> bool:
        return bool(self.header.get("episode", MATCH) == MATCH)

    @property
    def _num_rounds(self) -> int:
        return len(self.rules.rounds) if self._is_match else 1

    def add_round(self, line: dict[str, Any], where: str) -> None:
        """Verify a round's line and keep it."""
        _check_keys(line, where, round_keys(self.rules), ROUND_OPTIONAL)
        index = self._checked_index(line["round"], where)
        where = f"{where}, round {index}"
        line = _with_new_keys(line, where)
        game = self._checked_deal(line, where)
        annotations = self._replay(game, line, where)
        _check_numbers(where, "penalties", line["penalties"], game.penalties)
        if self._is_match:
            self.scores = game.scores
        else:
            self.scores = list(line["penalties"])
        _check_numbers(where, "scores", line["scores"], self.scores)
        kept = {**line, **high_first(self.rules, line), "moves": game.moves}
        self.rounds.append({**kept, ANNOTATIONS: annotations} if ANNOTATIONS in line else kept)

    def _checked_index(self, index: Any, where: str) -> int:
        """Return a round's index; rounds must be in order and not more than the match has."""
        limit, done = len(self.rules.rounds), len(self.rounds)
        if done == self._num_rounds:
            raise RecordError(f"{where}: one round more than the {done} of this record")
        number = whole(where, "round", index, 0, limit - 1)
        if self._is_match and number != done:
            raise RecordError(f"{where}: found round {number}, expected round {done}")
        return number

    def _checked_deal(self, line: dict[str, Any], where: str) -> MatchPlay:
        """Return a game at the start of a round, its deal checked against rules and seed."""
        try:
            position = self._deal.dealt_position(
                self.rules, line, self.scores if self._is_match else None
            )
            game = MatchPlay.from_position(position)
        except DominoError as error:
            raise _placed(error, where) from None
        self._check_whole_set(game, line, where)
        try:
            self._deal.check_start(self.rules, line, self.rounds)
        except RecordError as error:
            raise _placed(error, where) from None
        if self.header["seed"] is not None:
            self._check_seed({**line, **high_first(self.rules, line)}, where)
        return game

    def _replay(self, game: MatchPlay, line: dict[str, Any], where: str) -> list[Annotation | None]:
        """Make all moves of a round, which must end it; return their annotations."""
        beside, checked = _checked_annotations(line, where), []
        self._follow(game)
        for number, (move, annotation) in enumerate(zip(line["moves"], beside, strict=True), 1):
            checked.append(_push(game, move, annotation, f"{where}, move {number}"))
            self._follow(game)
        if not game.round_over:
            raise RecordError(
                f"{where}: the round is not over after its last move, {len(line['moves'])}; "
                f"seat {game.to_move} is to move, legal are {', '.join(game.legal_moves())}"
            )
        return checked

    def _check_whole_set(self, game: MatchPlay, line: dict[str, Any], where: str) -> None:
        """Check that no tile is missing; duplicates are found when the position is read."""
        tiles, lying = self.rules.tiles, set(tiles_of(game.state["table"][0]))
        for texts in (*line["hands"], line["boneyard"]):
            lying.update(tile_of(tiles, text) for text in texts)
        missing = sorted(set(range(tiles.size)) - lying)
        if missing:
            names = ", ".join(map(tiles.text, missing[:5]))
            more = f" and {len(missing) - 5} more" if len(missing) > 5 else ""
            raise RecordError(f"{where}: missing tiles: {names}{more}; a deal has the whole set")

    def _check_seed(self, line: dict[str, Any], where: str) -> None:
        """Check the deal against the seed."""
        seed, match = self.header["seed"], self.header.get("match", 0)
        dealt = dealt_round(self.rules, seed, match, line["round"])
        for key, value in dealt.items():
            own = line[key]
            if key == "hands":
                own, value = [sorted(hand) for hand in own], [sorted(hand) for hand in value]
            if own != value:
                raise RecordError(
                    f"{where}: {key} is not what seed {seed} deals in match {match}; deals from "
                    f"elsewhere need the seed null"
                )

    def finish(self, line: dict[str, Any], where: str) -> Record:
        """Verify the result line; return the record."""
        _check_keys(line, where, RESULT_KEYS)
        if len(self.rounds) < self._num_rounds:
            raise RecordError(
                f"{where}: the result comes after {len(self.rounds)} of {self._num_rounds} rounds"
            )
        wanted = result_of(self.scores)
        for key in ("scores", "winners"):
            _check_numbers(where, key, line[key], wanted[key])
        return Record(self.header, self.rounds, line)

    def broken_off(self, why: str, partial: bool) -> Record:
        """Return the record of a match without a result, or raise RecordError."""
        if partial:
            return Record(self.header, self.rounds, None)
        raise RecordError(
            f"{why}: the match that begins in {self.where.rpartition(', ')[2]} has no result after "
            f"{len(self.rounds)} of {self._num_rounds} rounds (partial=True, --partial accept it)"
        )


def _checked_header(header: dict[str, Any], where: str) -> Rules:
    """Check a header; return its rules."""
    version = header.get("format")
    if type(version) is not int or version != FORMAT:
        raise RecordError(
            f"{where}: format={shortened(version)}; this version of dominoenv reads format {FORMAT}"
        )
    _check_keys(header, where, HEADER_KEYS, HEADER_OPTIONAL)
    _check_text(where, "library", header["library"])
    if header["seed"] is not None:
        whole(where, "seed", header["seed"], 0, MAX_SEEDS - 1)
    if header["seed"] is None and "match" in header:
        raise RecordError(f"{where}: match={shortened(header['match'])} without a seed")
    whole(where, "match", header.get("match", 0), 0, MAX_MATCHES - 1)
    try:
        one_of("episode", header.get("episode", MATCH), EPISODES)
        rules = _checked_rules(header["game"], header["rules"])
        checked_names(rules, [] if header["players"] is None else header["players"])
    except DominoError as error:
        raise _placed(error, where) from None
    return rules


def _checked_rules(game: Any, options: Any) -> Rules:
    """Return the rules of a header, which must state every option."""
    if not isinstance(game, str) or game not in GAMES:
        raise RecordError(f"game={shortened(game)}: {nearest(shortened(game), GAMES)}")
    if not isinstance(options, dict):
        raise RecordError(f"rules={shortened(options)} must be an object with all options")
    names = [spec.name for spec in fields(GAMES[game].rules)]
    for key in options:
        if key not in names:
            raise RecordError(f"rules: option {shortened(key)}: {nearest(key[:60], names)}")
    missing = [name for name in names if name not in options]
    if missing:
        raise RecordError(f"rules lack {', '.join(missing)}; a record states every option")
    return make_rules(game, options)


# ----------------------------------------------------------------------------------------- rounds


def _ignore(game: MatchPlay) -> None:
    """Do nothing: the default `follow`."""


def _with_new_keys(line: dict[str, Any], where: str) -> dict[str, Any]:
    """Return a round's line with its annotations under their present key."""
    if OLD_ANNOTATIONS not in line:
        return line
    if ANNOTATIONS in line:
        raise RecordError(f"{where}: {ANNOTATIONS} and {OLD_ANNOTATIONS} are the same key, twice")
    renamed = {OLD_ANNOTATIONS: ANNOTATIONS}
    return {renamed.get(key, key): value for key, value in line.items()}


def _checked_annotations(line: dict[str, Any], where: str) -> list[Any]:
    """Return one annotation per move of a round, None for no annotation; contents unchecked."""
    moves = line["moves"]
    if not isinstance(moves, list):
        raise RecordError(f"{where}: moves={shortened(moves)} must be a list of moves")
    annotations = line.get(ANNOTATIONS, [None] * len(moves))
    if not isinstance(annotations, list) or len(annotations) != len(moves):
        raise RecordError(
            f"{where}: {ANNOTATIONS}={shortened(annotations)} must be a list with an entry for "
            f"each of the {len(moves)} moves, null for none"
        )
    return annotations


def _push(game: MatchPlay, move: Any, annotation: Any, where: str) -> Annotation | None:
    """Make one move; return its annotation, checked."""
    if game.round_over:
        raise RecordError(f"{where}: {shortened(move)} comes after the end of the round")
    legal, seat = game.legal_moves(), game.to_move
    try:
        checked = None
        if annotation is not None and game.written(move) in legal:
            checked = checked_annotation(annotation, legal, game.written)
        game.push(move)
    except RecordError as error:
        raise _placed(error, where) from None
    except IllegalActionError:
        raise RecordError(
            f"{where}: {shortened(move)} of seat {seat} is illegal; legal are {', '.join(legal)}"
        ) from None
    return checked


# ----------------------------------------------------------------------------------------- checks


def _placed(error: DominoError, where: str) -> RecordError:
    """Return an error about a part of a line as an error of that line, shortened."""
    text = str(error)
    return RecordError(f"{where}: {text if len(text) <= 300 else text[:296] + ' ...'}")


def _check_keys(
    line: dict[str, Any], where: str, required: tuple[str, ...], optional: tuple[str, ...] = ()
) -> None:
    for key in line:
        if key not in (*required, *optional):
            known = nearest(key[:60], (*required, *optional))
            raise RecordError(f"{where}: key {shortened(key)}: {known}")
    for key in required:
        if key not in line:
            raise RecordError(f"{where}: key {key!r} is missing")


def _check_text(where: str, key: str, value: Any) -> None:
    if not isinstance(value, str):
        raise RecordError(f"{where}: {key}={shortened(value)} must be text")


def _check_numbers(where: str, key: str, found: Any, wanted: list[int] | None) -> None:
    """Check numbers against the replay; 1.0 and true are not accepted as integers."""
    plain = isinstance(found, list) and all(type(number) is int for number in found)
    if not plain or found != wanted:
        raise RecordError(f"{where}: {key} is {shortened(found)}; the moves played give {wanted}")
