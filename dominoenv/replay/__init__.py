"""A match record as one self-contained web page that steps through it."""

from __future__ import annotations

import json
import re
from html import escape
from importlib.resources import files
from pathlib import Path

from dominoenv.core.files import write_atomically
from dominoenv.errors import RecordError
from dominoenv.games.match_play import MatchPlay
from dominoenv.games.registry import kind_of
from dominoenv.records.format import PathLike, Record, checked_path
from dominoenv.records.read import read_records, verify_record
from dominoenv.replay.board_svg import pip_symbols
from dominoenv.replay.chart import score_chart
from dominoenv.replay.frames import Frames

__all__ = ["page", "page_of_file", "write_page", "write_text"]


def page(record: Record) -> str:
    """Return a page (HTML) that shows every position of a match.

    The page contains style, script and all data. An unfinished match is shown up to its last
    finished round. Raises RecordError for a record that is invalid or has no finished round.
    """
    frames = Frames()
    verify_record(record, partial=True, follow=frames)
    return _page(record, frames)


def page_of_file(path: PathLike, which: int = 1, *, partial: bool = False) -> tuple[str, Record]:
    """Return the page of one match of a file, counted from 1, and its record, in one replay.

    partial: accept an unfinished match. Raises RecordError like `page` and `read_records`.
    """
    frames, seen = Frames(), 0

    def follow(game: MatchPlay) -> None:
        if seen + 1 == which:
            frames(game)

    for record in read_records(path, partial=partial, follow=follow):
        seen += 1
        if seen == which:
            return _page(record, frames), record
    raise RecordError(f"{checked_path(path)} holds {seen} matches; no match {which} (--which)")


def _page(record: Record, frames: Frames) -> str:
    if not record.rounds:
        raise RecordError("the record has no finished round to show")
    name = kind_of(record.rules).title
    parts = {
        "title": escape(f"{name}: {', '.join(record.labels)}"),
        "style": _file("style.css"),
        "script": _file("app.js"),
        "pips": pip_symbols(record.rules.max_pip),
        "chart": score_chart(record),
        "data": _embedded(frames.data(record)),
    }
    # one pass: braces in names and moves are never expanded
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], _file("page.html"))


def write_page(path: PathLike, record: Record) -> None:
    """Write the page of a match. Raises RecordError like `page`, and if it cannot be written."""
    write_text(path, page(record))


def write_text(path: PathLike, text: str) -> None:
    """Write a page that `page` made. Raises RecordError if it cannot be written."""
    path = checked_path(path)
    try:
        write_atomically(Path(path), text.encode())
    except OSError as error:
        raise RecordError(f"cannot write {path!r}: {error.strerror}") from error


def _file(name: str) -> str:
    return (files("dominoenv.replay") / name).read_text(encoding="utf-8")


def _embedded(data: object) -> str:
    """Return JSON without `<`, so that no text in it can close the script element."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c")
