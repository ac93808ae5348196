"""The command line: `python -m dominoenv COMMAND`.

Exit status: 0 all is well, 1 a file is invalid, 2 a file that cannot be read or a wrong command.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from dominoenv import __version__
from dominoenv.console.session import PlaySession, load_baselines
from dominoenv.errors import DominoError, RecordError
from dominoenv.games.registry import GAMES, make_rules
from dominoenv.records.format import Record
from dominoenv.records.read import read_records

OK, INVALID, WRONG_USE = range(3)

Subcommands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m dominoenv",
        description="Mexican Train and Chicken Foot.",
        epilog="Exit status: 0 all is well, 1 a file is invalid, 2 a file that cannot be read or a "
        "wrong command.",
    )
    parser.add_argument("--version", action="version", version=f"dominoenv {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for add in COMMANDS:
        add(commands)
    chosen = parser.parse_args(arguments)
    status: int = chosen.run(chosen)
    return status


def add_verify(commands: Subcommands) -> None:
    """Declare `verify`."""
    parser = commands.add_parser(
        "verify",
        help="replay match records (.jsonl) and report what is wrong with them",
        description="Replay every match of some record files through the engine: deals, moves, "
        "penalties, scores, winners. Reports the first fault of each file.",
    )
    parser.add_argument("files", nargs="+", metavar="FILE", help="a record, one or more matches")
    parser.add_argument(
        "--partial",
        action="store_true",
        help="accept matches that were broken off, with their complete rounds",
    )
    parser.set_defaults(run=verify)


def verify(chosen: argparse.Namespace) -> int:
    """Verify files; each is reported on a line of its own, faults on stderr."""
    return max(verify_file(path, chosen.partial) for path in chosen.files)


def verify_file(path: str, partial: bool) -> int:
    """Verify one file; return what it makes of the exit status."""
    matches = rounds = moves = 0
    try:
        for record in read_records(path, partial=partial):
            matches += 1
            rounds += len(record.rounds)
            moves += record.num_moves
    except RecordError as error:
        return told(error)
    counts = f"matches {matches}, rounds {rounds}, moves {moves}"
    print(f"{printable(path)}: valid: {counts}", flush=True)
    return OK


# ------------------------------------------------------------------------------------------ replay


def add_replay(commands: Subcommands) -> None:
    """Declare `replay`."""
    parser = commands.add_parser(
        "replay",
        help="make a web page of a match record, to step through",
        description="Write a match as one page that needs no network: the table, every move, the "
        "scores. The record is verified first.",
    )
    parser.add_argument("file", metavar="FILE", help="a record (.jsonl)")
    parser.add_argument("--html", required=True, metavar="OUT", help="the page to write")
    parser.add_argument(
        "--which", type=int, default=1, metavar="N", help="which match of the file, from 1 (1)"
    )
    parser.add_argument("--partial", action="store_true", help="accept a match that was broken off")
    parser.set_defaults(run=replay)


def replay(chosen: argparse.Namespace) -> int:
    """Write the page of one match."""
    from dominoenv.replay import write_page  # the drawings take a while to load

    try:
        record = nth_record(chosen.file, chosen.which, chosen.partial)
        write_page(chosen.html, record)
    except RecordError as error:
        return told(error)
    print(f"{printable(chosen.html)}: rounds {len(record.rounds)}, moves {record.num_moves}")
    return OK


def nth_record(path: str, which: int, partial: bool) -> Record:
    """Return one match of a file, counted from 1; RecordError if there is none."""
    seen = 0
    for seen, record in enumerate(read_records(path, partial=partial), 1):
        if seen == which:
            return record
    raise RecordError(f"{path} holds {seen} matches; --which {which} is none of them")


def told(error: DominoError) -> int:
    """Print what is wrong; return what it makes of the exit status."""
    print(printable(str(error)), file=sys.stderr, flush=True)
    is_invalid = isinstance(error, RecordError) and not isinstance(error.__cause__, OSError)
    return INVALID if is_invalid else WRONG_USE


# -------------------------------------------------------------------------------------------- play


def add_play(commands: Subcommands) -> None:
    """Declare `play`."""
    parser = commands.add_parser(
        "play",
        help="play against agents in the terminal",
        description="Play a match against agents, and write its record. `quit` saves; type `help` "
        "at the table for what else there is.",
    )
    add = parser.add_argument
    add("--game", choices=GAMES, default="mexican_train", help="(mexican_train)")
    add(
        "--rules",
        nargs="+",
        default=[],
        metavar="OPTION=VALUE",
        help="such as preset=station max_pip=12 rounds=[12,11]; players is the number of agents "
        "and you, or more: agents then sit at several seats",
    )
    add(
        "--against",
        nargs="+",
        default=["heaviest"],
        metavar="AGENT",
        help="clockwise from you (heaviest): random, heaviest, those of agents/ in the repository "
        "(`--against ?` lists them), or a trained checkpoint.pt",
    )
    add("--seat", type=int, default=0, metavar="N", help="yours (0)")
    add("--seed", type=int, metavar="N", help="of the deals; drawn if left out")
    add("--hints", default="heaviest", metavar="AGENT", help="whom `hint` asks (heaviest)")
    add("--record", default="", metavar="FILE", help="to write (GAME-SEED.jsonl)")
    add("--continue", dest="saved", metavar="FILE", help="go on with what `quit` has saved")
    parser.set_defaults(run=play)


def play(chosen: argparse.Namespace) -> int:
    """Play in the terminal, from the beginning or from where a saved sitting stands."""
    from dominoenv.console.terminal import Terminal

    load_baselines()
    try:
        with contextlib.suppress(ImportError):
            import readline  # noqa: F401  editing of what is typed
        Terminal(
            PlaySession.from_file(Path(chosen.saved)) if chosen.saved else new_sitting(chosen)
        ).play()
    except DominoError as error:
        return told(error)
    return OK


def new_sitting(chosen: argparse.Namespace) -> PlaySession:
    """Return the sitting that the command line describes."""
    options = dict(map(parsed_option, chosen.rules))
    options.setdefault("players", len(chosen.against) + 1)
    rules = make_rules(chosen.game, options)
    sitting = PlaySession(
        *(rules, chosen.seed, chosen.seat, chosen.against, chosen.hints, chosen.record)
    )
    if Path(sitting.record).exists():
        raise DominoError(f"{sitting.record} exists; name another one with --record")
    return sitting


def parsed_option(text: str) -> tuple[str, Any]:
    """Return name and value of `name=value`; the value is JSON, or else plain text."""
    name, equals, value = text.partition("=")
    if not equals:
        raise DominoError(f"--rules {text}: options are written name=value")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def printable(text: str) -> str:
    """Return a text that any stream can print: file names and records may hold odd bytes."""
    encoding = sys.stdout.encoding or "utf-8"
    return text.encode(encoding, "backslashreplace").decode(encoding)


def run() -> int:
    """Run the command line as a program: a closed pipe and Ctrl-C end it without a traceback."""
    try:
        return main()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return WRONG_USE
    except KeyboardInterrupt:
        return 130  # as shells say it


COMMANDS: list[Callable[[Subcommands], None]] = [add_verify, add_replay, add_play]

if __name__ == "__main__":
    sys.exit(run())
