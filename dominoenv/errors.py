"""The exceptions of the library: few, all of them ValueErrors, one for each kind of cause."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class DominoError(ValueError):
    """Anything that a caller handed to the library and that it cannot take."""


class RulesError(DominoError):
    """Invalid options of rules or episodes: an unknown one, a wrong value, hands too large."""


class UnknownKeywordError(RulesError, TypeError):
    """A keyword argument that does not exist; a TypeError too, as Python raises for one."""


class PositionError(DominoError):
    """A position or a tile that cannot be: a broken train, a tile in two places."""


class IllegalActionError(DominoError):
    """An action or a move that the rules do not allow now; nothing has changed."""


class GameOverError(DominoError):
    """A step in a round, an episode or a match that has ended."""


class UnknownNameError(DominoError):
    """A game, a preset or a policy that does not exist."""


class RecordError(DominoError):
    """A match record that cannot be: unreadable, cut off, edited, or not what the rules allow."""


class CheckpointError(DominoError):
    """A file that is missing, damaged, or was made for something else."""


def nearest(name: object, known: Iterable[str]) -> str:
    """Return the end of an error message about `name`: what was meant perhaps, or what there is."""
    names = list(known)
    close = difflib.get_close_matches(str(name), names, n=3, cutoff=0.5)
    if close:
        return f"did you mean {' or '.join(map(repr, close))}?"
    return f"known: {', '.join(names)}"


def shortened(value: object, length: int = 60) -> str:
    """Return a value for an error message, cut where it is long."""
    text = repr(value)
    return text if len(text) <= length else f"{text[: length - 4]} ..."
