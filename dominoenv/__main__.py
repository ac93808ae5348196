"""The command line: `python -m dominoenv COMMAND`.

Exit status: 0 all is well, 1 a file is invalid, 2 a file that cannot be read or a wrong command.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from typing import TypeAlias

from dominoenv import __version__
from dominoenv.errors import RecordError
from dominoenv.verify import read_records

GOOD, INVALID, WRONG_USE = range(3)

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
        print(printable(str(error)), file=sys.stderr, flush=True)
        return WRONG_USE if isinstance(error.__cause__, OSError) else INVALID
    counts = f"matches {matches}, rounds {rounds}, moves {moves}"
    print(f"{printable(path)}: valid: {counts}", flush=True)
    return GOOD


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


COMMANDS: list[Callable[[Subcommands], None]] = [add_verify]

if __name__ == "__main__":
    sys.exit(run())
