"""`dominoenv verify`: replay match records through the engine."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from dominoenv.core.output import printable
from dominoenv.core.program import OK, report_error
from dominoenv.errors import RecordError
from dominoenv.records.read import read_records

DESCRIPTION = """\
Replay every match of some record files through the engine: deals, moves, penalties, scores,
winners. Reports the first fault of each file.

    dominoenv verify match.jsonl rounds.jsonl"""


def main(arguments: Sequence[str] | None = None, prog: str = "dominoenv verify") -> int:
    """Verify files: a line for each, faults on stderr. Return the exit status."""
    parser = argparse.ArgumentParser(
        prog=prog,
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("files", nargs="+", metavar="FILE", help="a record of one or more matches")
    parser.add_argument(
        "--partial",
        action="store_true",
        help="accept matches that were broken off, with their complete rounds",
    )
    options = parser.parse_args(arguments)
    return max(verify_file(path, options.partial) for path in options.files)


def verify_file(path: str, partial: bool) -> int:
    """Verify one file; return what it makes of the exit status."""
    matches = rounds = moves = 0
    try:
        for record in read_records(path, partial=partial):
            matches += 1
            rounds += len(record.rounds)
            moves += record.num_moves
    except RecordError as error:
        return report_error(error)
    counts = f"matches {matches}, rounds {rounds}, moves {moves}"
    print(f"{printable(path)}: valid: {counts}", flush=True)
    return OK
