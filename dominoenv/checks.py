"""Checks of what callers give: it comes back in its one form, or an error names what is wrong."""

from __future__ import annotations

import math
import operator
import secrets
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dominoenv.errors import DominoError, RulesError, nearest
from dominoenv.games import kind_of
from dominoenv.rules import Rules, make_rules

MOST_REWARD = 1e30  # per penalty point


def checked_choice(name: str, value: object, choices: Sequence[str]) -> int:
    """Return the place of `value` among the choices, or raise DominoError."""
    if not isinstance(value, str) or value not in choices:
        raise DominoError(f"{name}={value!r}: {nearest(value, choices)}")
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


def as_rules(rules: Rules | Mapping[str, Any] | str) -> Rules:
    """Return a rules object from one, from a game's name, or from a dict with a `game`."""
    if isinstance(rules, Rules):
        return rules
    if isinstance(rules, str):
        return make_rules(rules)
    if not isinstance(rules, Mapping) or "game" not in rules:
        raise RulesError("rules must be a rules object, a game's name, or a dict with a 'game'")
    options = dict(rules)
    return make_rules(options.pop("game"), options)


def as_states(rules: Rules, states: object, number: int | None = None) -> NDArray[np.void]:
    """Return records of the rules' game (n,), or raise DominoError for what is none."""
    records = as_array("states", states)
    shape = (records.size if number is None else number,)
    if records.shape != shape or records.dtype != kind_of(rules).state:
        raise DominoError(
            f"states must be {'' if number is None else f'{number} '}records of {rules.game}, not "
            f"an array of shape {records.shape} with fields {records.dtype.names}"
        )
    return records


def as_array(name: str, values: object, error: type[DominoError] = DominoError) -> NDArray[Any]:
    """Return values as an array, or raise an error where they cannot be one (ragged lists)."""
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
        raise DominoError(f"{name}={value!r} must be a whole number in 0 ... {limit - 1}")
    return number


def flag(name: str, value: object) -> bool:
    """Return True or False, or raise DominoError for what is neither."""
    if not isinstance(value, bool | np.bool_):
        raise DominoError(f"{name}={value!r} must be true or false")
    return bool(value)


def positive(name: str, value: object) -> int:
    """Return a whole number of at least 1, or raise DominoError."""
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        number = 0
    if number < 1:
        raise DominoError(f"{name}={value!r} must be a whole number of at least 1")
    return number


def finite(name: str, value: object) -> float:
    """Return a number as a float, or raise DominoError; float32 must hold what it is paid for."""
    try:
        number = math.nan if isinstance(value, str | bytes) else float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not abs(number) <= MOST_REWARD:
        raise DominoError(f"{name}={value!r} must be a finite number")
    return number
