"""A session of play: one person and agents at a table, saved and resumed.

A saved session is a JSON object: who sits where, the seed, and the moves of each round; all else
follows by replaying. The random choices of agents depend on the seed and on the moves made, so a
session that was interrupted continues exactly as it would have without the interruption.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path, PureWindowsPath
from typing import Any, Self

import numpy as np

from dominoenv.console.own_file import OwnFile
from dominoenv.core.options import whole_number
from dominoenv.core.rules import Rules
from dominoenv.errors import DominoError, RecordError, nearest, shortened
from dominoenv.game import Game
from dominoenv.games.match_play import move_texts
from dominoenv.games.registry import GAMES, make_rules
from dominoenv.opponents.references import find_policy
from dominoenv.policies import Policy
from dominoenv.records.annotations import (
    PROBABILITY,
    SCORE,
    Annotation,
    checked_rows,
    in_words,
    rounded,
)
from dominoenv.records.format import (
    ANNOTATIONS,
    OLD_ANNOTATIONS,
    PathLike,
    checked_names,
    checked_path,
)

FORMAT = 1
TYPE, OLD_TYPE = "session", "sitting"  # the old word: in files of version 0.1.0
KEYS = ("type", "format", "game", "rules", "seed", "seat", "against", "hints", "record", "rounds")
SUFFIX = ".saved.json"  # of a saved session, after the name of its record
MAX_FILE = 1 << 24  # bytes; a match with all numbers beside its moves is far smaller


class PlaySession:
    """A match of a person against agents.

    against: names of the agents at the other seats, clockwise from the person; the names repeat if
    there are more seats. hints: the agent that gives hints. record: the file for the match's
    record (GAME-SEED.jsonl). Raises DominoErrors for invalid arguments.
    """

    def __init__(
        self,
        rules: Rules,
        seed: int | None = None,
        seat: int = 0,
        against: Sequence[str] = ("heaviest",),
        hints: str = "heaviest",
        record: PathLike = "",
    ) -> None:
        self.game = Game(rules.game, rules, seed=seed)
        self.seat = whole_number("seat", seat, 0, rules.players - 1)
        if not 1 <= len(against) < rules.players:
            raise DominoError(f"{len(against)} opponents for the {rules.players - 1} other seats")
        self.against = [against[i % len(against)] for i in range(rules.players - 1)]
        self.hints = hints
        path = Path(checked_path(record or f"{rules.game}-{self.game.seed}.jsonl"))
        checked_file_name(path.name)
        self.record = OwnFile(path)
        self.saved = OwnFile(path.with_name(path.name + SUFFIX))
        others = [(seat + 1 + i) % rules.players for i in range(rules.players - 1)]
        self._agents = {
            other: find_policy(name, rules)
            for other, name in zip(others, self.against, strict=True)
        }
        self._adviser = find_policy(hints, rules)
        checked_names(rules, self.names)  # or else the record could not be written
        self._before: list[Game] = []  # what `undo` returns to

    # ------------------------------------------------------------------------------------ reading

    @property
    def names(self) -> list[str]:
        """The name at each seat."""
        players = range(self.game.rules.players)
        return [self._agents[seat].name if seat in self._agents else "person" for seat in players]

    @property
    def is_persons_turn(self) -> bool:
        """Whether the round goes on and the person is to move."""
        return not self.game.round_over and self.game.to_move == self.seat

    @property
    def can_undo(self) -> bool:
        """Whether the person's last move can be taken back."""
        return bool(self._before)

    @property
    def resume_command(self) -> str:
        """The command that goes on with what was saved."""
        return f"dominoenv play --continue {shlex.quote(str(self.saved.path))}"

    # ------------------------------------------------------------------------------------ playing

    def move(self, text: str) -> None:
        """Make the person's move. Raises IllegalActionError."""
        before = self.game.copy()
        self.game.push(text)
        if text == "draw":
            self._before.clear()  # the draw revealed a tile
        elif text != "pass":  # a pass is forced
            self._before.append(before)

    def undo(self) -> None:
        """Take back the person's last move.

        Raises DominoError if another seat has moved or the person has drawn since.
        """
        if not self._before:
            raise DominoError("nothing to take back: others have moved, or a tile was drawn")
        self.game = self._before.pop()

    def let_others_move(self) -> Iterator[tuple[int, str]]:
        """Let the agents move until it is the person's turn; yield each (seat, move)."""
        while not self.game.round_over and self.game.to_move != self.seat:
            self._before.clear()
            seat, policy = self.game.to_move, self._agents[self.game.to_move]
            text, annotation = self._asked(policy)
            self.game.push(text, annotation)
            yield seat, text

    def hint(self) -> tuple[str, Annotation | None]:
        """Return the move that the adviser would make, and its annotation of the legal moves."""
        return self._asked(self._adviser)

    def _asked(self, policy: Policy) -> tuple[str, Annotation | None]:
        game = self.game
        rows, masks = game.observation()
        policy.rng = np.random.default_rng([game.seed or 0, game.round, len(game.moves)])
        action = int(policy.act(rows, masks)[0])
        annotation = annotation_of(policy, rows, masks) if masks.sum() > 1 else None
        texts = move_texts(game.rules).texts[game.to_move]
        return texts[action], None if annotation is None else in_words(annotation, texts)

    def next_round(self) -> None:
        """Deal the next round."""
        self._before.clear()
        self.game.next_round()

    # ------------------------------------------------------------------------------------- files

    def save(self) -> None:
        """Write all that is needed to resume into `saved`, or elsewhere if that fails.

        `saved.path` says where. Raises RecordError if it can be written nowhere.
        """
        game = self.game
        lines = game.record().rounds
        played = [(line["moves"], line.get(ANNOTATIONS, [])) for line in lines]
        if not game.round_over:
            played.append((game.moves, game.annotations))
        content = {
            "type": TYPE,
            "format": FORMAT,
            "game": game.rules.game,
            "rules": game.rules.to_dict(),
            "seed": game.seed,
            **{key: getattr(self, key) for key in ("seat", "against", "hints")},
            "record": self.record.path.name,
            "rounds": [{"moves": moves, ANNOTATIONS: beside} for moves, beside in played],
        }
        self.saved.write_anywhere(json.dumps(content).encode())

    def write_record(self) -> None:
        """Write the record of the match, and delete what was saved of it.

        `record.path` says where. Raises RecordError if it cannot be written; the match is saved
        then, and resuming it writes the record.
        """
        lines = self.game.record(self.names).lines()
        try:
            self.record.write("".join(f"{line}\n" for line in lines).encode())
        except OSError as error:
            self.save()
            raise RecordError(
                f"cannot write {str(self.record.path)!r}: {error.strerror}. The match is kept: "
                f"{self.resume_command} writes its record beside that file"
            ) from error
        self.saved.remove()

    @classmethod
    def from_file(cls, path: Path) -> Self:
        """Return a saved session.

        Raises RecordError for a file that cannot be read, or that is not a saved session.
        """
        raw = _read(path)
        content = _parsed(path, raw)
        try:
            session = cls._from(content, path.parent)
        except DominoError as error:
            raise RecordError(f"{path}: {error}") from None
        session.saved = OwnFile(path, raw)
        return session

    @classmethod
    def _from(cls, content: dict[str, Any], folder: Path) -> Self:
        """Return a session that writes its record into a folder: the file may be a stranger's."""
        _check_texts(content)
        rules = make_rules(content["game"], content["rules"])
        names = ("seed", "seat", "against", "hints")
        record = folder / checked_file_name(PureWindowsPath(content["record"]).name)
        session = cls(rules, record=record, **{name: content[name] for name in names})
        rounds = content["rounds"]
        if not isinstance(rounds, list) or not 1 <= len(rounds) <= len(rules.rounds):
            raise RecordError(f"rounds={shortened(rounds)} must be a list of the rounds so far")
        for number, one in enumerate(rounds):
            if number:
                session.game.next_round()
            _replay(session.game, one)
        return session


def checked_file_name(name: str) -> str:
    """Return the name of a file, without folders, or raise RecordError."""
    if name in ("", "..") or not name.isprintable():
        raise RecordError(f"record={shortened(name)} is not the name of a file")
    return name


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(MAX_FILE + 1)
    except OSError as error:
        raise RecordError(f"cannot read {str(path)!r}: {error.strerror}") from error


def _parsed(path: Path, raw: bytes) -> dict[str, Any]:
    """Return the object in a file, its keys checked."""
    try:
        content = json.loads(raw.decode("utf-8")) if len(raw) <= MAX_FILE else None
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict) or content.get("type") not in (TYPE, OLD_TYPE):
        raise RecordError(f"{path}: not a session that `play` has saved")
    if content.get("format") != FORMAT:
        raise RecordError(f"{path}: format={shortened(content.get('format'))}; known is {FORMAT}")
    for key in {*content} ^ {*KEYS}:
        raise RecordError(f"{path}: key {shortened(key)}: {nearest(key[:60], KEYS)}")
    return content


def _check_texts(content: dict[str, Any]) -> None:
    against = content["against"]
    if content["game"] not in [*GAMES]:
        raise RecordError(f"game={shortened(content['game'])}: known: {', '.join(GAMES)}")
    texts = [content["hints"], content["record"], *(against if isinstance(against, list) else [0])]
    for text in texts:
        if not isinstance(text, str):
            raise RecordError("against, hints and record must be names")


def _replay(game: Game, one: Any) -> None:
    """Make the moves of one saved round."""
    key = OLD_ANNOTATIONS if isinstance(one, dict) and OLD_ANNOTATIONS in one else ANNOTATIONS
    if not isinstance(one, dict) or {*one} != {"moves", key}:
        raise RecordError(f"rounds: {shortened(one)} must be an object of moves and {ANNOTATIONS}")
    moves, beside = one["moves"], one[key]
    if not isinstance(moves, list) or not isinstance(beside, list):
        raise RecordError(f"rounds: moves and {key} must be lists")
    if beside and len(beside) != len(moves):
        raise RecordError(f"rounds: {len(beside)} entries of {key} for {len(moves)} moves")
    for move, annotation in zip(moves, beside or [None] * len(moves), strict=True):
        game.push(move, annotation)


# ------------------------------------------------------------------------------------------ agents


def annotation_of(policy: Policy, rows: Any, masks: Any) -> dict[str, dict[int, float]] | None:
    """Return a policy's annotation of one decision; None if it has no numbers."""
    given = {
        PROBABILITY: policy.probabilities(rows, masks),
        SCORE: policy.scores(rows, masks),
    }
    said = {
        kind: checked_rows(kind, values, masks)[0]
        for kind, values in given.items()
        if values is not None
    }
    return rounded(masks[0], **said) if said else None
