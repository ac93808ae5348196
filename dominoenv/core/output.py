"""Text for any terminal: no control characters, and nothing that its encoding lacks."""

from __future__ import annotations

import codecs
import io
import os
import sys
import unicodedata
from contextlib import suppress
from typing import TextIO

MAX_LABEL = 60  # letters of a name
SIMILAR = "dominoenv.similar"  # an error handler, as in `stream.reconfigure(errors=SIMILAR)`

STREAMS = {"stdin": "backslashreplace", "stdout": SIMILAR, "stderr": SIMILAR}

# One letter for one where columns depend on it: drawings and tables.
_SIMILAR = {
    **dict.fromkeys("┏┓┗┛┯┷╭╮╰╯├┤┬┴┼┌┐└┘┡┩╇╞╡╪", "+"),
    **dict.fromkeys("─━═╸╺╴╶−–—", "-"),
    **dict.fromkeys("│┃║", "|"),
    **{"▯": "#", "▫": "o", "⚑": "!", "▸": ">", "◆": "*", "•": "*", "·": ".", "⋯": "~", "→": ">"},
    **{"←": "<", "×": "x", "±": "+-", "≤": "<=", "≥": ">=", "≈": "~", "⁄": "/", "✓": "x"},
    **dict.fromkeys("‘’", "'"),
    **dict.fromkeys("“”", '"'),
}


def printable(text: str) -> str:
    """Return a text as one line that a terminal shows and does not obey.

    Line ends, escape sequences and marks that turn the direction of a text are written as Python
    writes them in a `repr`. Names from files may hold any of them.
    """
    return "".join(letter if letter.isprintable() else _escaped(letter) for letter in text)


def printable_lines(text: str) -> str:
    """Return a text with its line ends, each line as `printable` makes it."""
    return "\n".join(map(printable, text.split("\n")))


def label(name: str) -> str:
    """Return a name as it is shown: printable, and of a length that leaves room for the rest."""
    shown = printable(name[:MAX_LABEL])
    is_whole = len(name) <= MAX_LABEL and len(shown) <= MAX_LABEL
    return shown if is_whole else f"{shown[: MAX_LABEL - 1]}…"


def encodable(text: str, stream: TextIO | None) -> str:
    """Return a text with similar letters in place of those that a stream's encoding lacks."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    return text.encode(encoding, SIMILAR).decode(encoding)


def accept_any_text() -> None:
    """Let the standard streams take any text, read or written, whatever their encoding.

    One that was closed when the program started is empty, or takes its text nowhere.
    """
    for name, errors in STREAMS.items():
        stream = getattr(sys, name)
        if stream is None:
            stream = open(os.devnull, "r" if name == "stdin" else "w")  # noqa: SIM115  for good
            setattr(sys, name, stream)
        if isinstance(stream, io.TextIOWrapper):
            with suppress(ValueError):  # it is closed, or has been read from
                stream.reconfigure(errors=errors)


def _similar(letter: str) -> str:
    """Return ASCII that looks like a letter, or its escape sequence."""
    parts = unicodedata.normalize("NFKD", letter)
    plain = "".join(_SIMILAR.get(part, part) for part in parts if not unicodedata.combining(part))
    return plain if plain and plain.isascii() and plain.isprintable() else _escaped(letter)


def _escaped(letter: str) -> str:
    return letter.encode("unicode_escape").decode("ascii")


def _replace_by_similar(error: UnicodeError) -> tuple[str, int]:
    """Handle an encoding error: go on behind what could not be encoded."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(map(_similar, error.object[error.start : error.end])), error.end


codecs.register_error(SIMILAR, _replace_by_similar)
