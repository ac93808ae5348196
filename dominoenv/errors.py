"""The exceptions of the library, one for each kind of cause; all are ValueErrors."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class DominoError(ValueError):
    """Base class of all errors caused by invalid input."""


class RulesError(DominoError):
    """Invalid options of rules or episodes: an unknown one, a wrong value, hands too large."""


class UnknownKeywordError(RulesError, TypeError):
    """A keyword argument that does not exist; a TypeError too, as Python raises for one."""


class PositionError(DominoError):
    """An invalid position or tile: a broken train, a tile in two places."""


class IllegalActionError(DominoError):
    """An action or a move that is not legal now; the state is left unchanged."""


class GameOverError(DominoError):
    """A step in a round, an episode or a match that is over."""


class UnknownNameError(DominoError):
    """An unknown name of a game, a preset, a policy or a part of an observation."""


class RecordError(DominoError):
    """An invalid match record: unreadable, cut off, edited, or against the rules."""


class CheckpointError(DominoError):
    """A checkpoint that is missing, damaged, or made for other rules or another version."""


def nearest(name: object, known: Iterable[str]) -> str:
    """Return the end of an error message: "did you mean ...?", or all known names."""
    names = list(known)
    close = difflib.get_close_matches(str(name), names, n=3, cutoff=0.6)
    if close:
        return f"did you mean {' or '.join(map(repr, close))}?"
    return f"known: {', '.join(names)}"


def shortened(value: object, length: int = 60) -> str:
    """Return the `repr` of a value for an error message, cut to a length."""
    text = repr(value)
    return text if len(text) <= length else f"{text[: length - 4]} ..."
