"""A match record as one web page to step through: no network, no server, nothing to install."""

from __future__ import annotations

import json
import re
from html import escape
from importlib.resources import files
from pathlib import Path

from dominoenv.errors import RecordError
from dominoenv.files import write_atomically
from dominoenv.records import PathLike, Record, checked_path
from dominoenv.replay.chart import score_chart
from dominoenv.replay.frames import replay_data
from dominoenv.replay.table import pip_symbols
from dominoenv.verify import verify_record

__all__ = ["page", "write_page"]


def page(record: Record) -> str:
    """Return a page (HTML) that shows every position of a match.

    The page holds style, script and all data itself. A match that was broken off is shown up to
    its last finished round. Raises RecordError for a record that is not valid, or holds no round.
    """
    verify_record(record, partial=True)
    if not record.rounds:
        raise RecordError("the record holds no finished round, so there is nothing to show")
    name = record.header["game"].replace("_", " ").title()
    parts = {
        "title": escape(f"{name}: {', '.join(record.players)}"),
        "style": _file("style.css"),
        "script": _file("app.js"),
        "pips": pip_symbols(record.rules.max_pip),
        "chart": score_chart(record),
        "data": _embedded(replay_data(record)),
    }
    # one pass: what a name or a move says is not looked at again
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], _file("page.html"))


def write_page(path: PathLike, record: Record) -> None:
    """Write the page of a match. Raises RecordError as `page`, and where it cannot be written."""
    path = checked_path(path)
    text = page(record)
    try:
        write_atomically(Path(path), text.encode())
    except OSError as error:
        raise RecordError(f"cannot write {path!r}: {error.strerror}") from error


def _file(name: str) -> str:
    return (files("dominoenv.replay") / name).read_text(encoding="utf-8")


def _embedded(data: object) -> str:
    """Return JSON that no text in it can end: a script ends at `</script`."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c")
