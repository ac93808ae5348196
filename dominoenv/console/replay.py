"""`dominoenv replay`: a match record as one web page."""

from __future__ import annotations

import argparse
import contextlib
import os
from collections.abc import Sequence

from dominoenv.core.output import printable
from dominoenv.errors import DominoError
from dominoenv.replay import page_of_file, write_text

DESCRIPTION = """\
Write a match as one page that needs no network: the table, every move, the scores. The record is
verified on the way.

    dominoenv replay match.jsonl --html match.html"""


def main(arguments: Sequence[str] | None = None, prog: str = "dominoenv replay") -> None:
    """Write the page of one match. Raises RecordError for a file that holds no such match."""
    parser = argparse.ArgumentParser(
        prog=prog,
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", metavar="FILE", help="a record (.jsonl)")
    parser.add_argument("--html", required=True, metavar="OUT", help="the page to write")
    parser.add_argument(
        "--which", type=int, default=1, metavar="N", help="which match of the file, from 1 (1)"
    )
    parser.add_argument("--partial", action="store_true", help="accept a match that was broken off")
    options = parser.parse_args(arguments)
    check_is_another(options.file, options.html)
    page, record = page_of_file(options.file, options.which, partial=options.partial)
    write_text(options.html, page)
    print(f"{printable(options.html)}: rounds {len(record.rounds)}, moves {record.num_moves}")


def check_is_another(record: str, page: str) -> None:
    """Raise DominoError for a page that would replace the record."""
    with contextlib.suppress(OSError):  # one of them does not exist
        if os.path.samefile(record, page):
            raise DominoError(f"--html {page} is the record itself: name another file")
