"""Checks of arguments: each returns the value in its normal form, or raises an error."""

from __future__ import annotations

import json
import math
import operator
import secrets
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dominoenv.errors import DominoError, nearest, shortened

MAX_REWARD = 1e30  # per penalty point


def checked_choice(name: str, value: object, choices: Sequence[str]) -> int:
    """Return the place of `value` among the choices, or raise DominoError."""
    if not isinstance(value, str) or value not in choices:
        raise DominoError(f"{name}={shortened(value)}: {nearest(value, choices)}")
    return choices.index(value)


def checked_seed(seed: object) -> int:
    """Return a seed as an int; None draws one from the system."""
    if seed is None:
        return secrets.randbits(63)
    try:
        number = operator.index(seed)  # type: ignore[arg-type]
    except TypeError:
        raise DominoError(f"seed={seed!r} must be a whole number or None") from None
    if not 0 <= number < 1 << 64:
        raise DominoError(f"seed={number} must lie in 0 ... 2**64 - 1")
    return number


def as_array(name: str, values: object, error: type[DominoError] = DominoError) -> NDArray[Any]:
    """Return values as an array, or raise an error for ragged lists and the like."""
    try:
        return np.asarray(values)
    except (TypeError, ValueError, OverflowError) as reason:
        raise error(f"{name}: {reason}") from None


def checked_index(name: str, value: object, limit: int) -> int:
    """Return a whole number 0 ... limit-1, or raise DominoError."""
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        number = -1
    if not 0 <= number < limit:
        raise DominoError(f"{name}={shortened(value)} must be a whole number in 0 ... {limit - 1}")
    return number


def flag(name: str, value: object) -> bool:
    """Return a bool, or raise DominoError."""
    if not isinstance(value, bool | np.bool_):
        raise DominoError(f"{name}={shortened(value)} must be true or false")
    return bool(value)


def positive(name: str, value: object) -> int:
    """Return a whole number of at least 1, or raise DominoError."""
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        number = 0
    if number < 1:
        raise DominoError(f"{name}={shortened(value)} must be a whole number of at least 1")
    return number


def finite(name: str, value: object) -> float:
    """Return a finite float, or raise DominoError; rewards must fit into float32."""
    try:
        number = math.nan if isinstance(value, str | bytes) else float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not abs(number) <= MAX_REWARD:
        raise DominoError(f"{name}={shortened(value)} must be a finite number")
    return number


def named_values(option: str, texts: Sequence[str]) -> dict[str, Any]:
    """Return what `name=value` texts of a command line say; a value is JSON, or else plain text.

    Raises DominoError for other texts, and for a name that is given twice.
    """
    found: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise DominoError(f"{option} {shortened(text)}: options are written name=value")
        if name in found:
            raise DominoError(f"{option} gives {shortened(name)} twice: leave one out")
        try:
            found[name] = json.loads(value)
        except (ValueError, RecursionError):
            found[name] = value
    return found
