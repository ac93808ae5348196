"""Options of frozen dataclasses: declared once, checked on construction, written as numbers.

The rules of a game (`core/rules.py`) and how its episodes are played (`core/episode.py`) are both
made of them.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import Field, dataclass, field, fields
from enum import IntEnum
from typing import Any

import numpy as np

from dominoenv.core.arguments import finite
from dominoenv.errors import RulesError, nearest, shortened


def option(
    default: Any,
    choices: type[IntEnum] | Sequence[str] | None = None,
    *,
    low: int = 0,
    high: int = 0,
    above: float | None = None,
    named: Mapping[Any, int] | None = None,
    in_record: bool = True,
    meaning: str = "",
) -> Any:
    """Declare an option: its default, and its choices or its range.

    choices: an IntEnum, whose names in lower case are the values and whose numbers the kernels
    read; or names that only Python reads. A default of True or False makes a switch, a float any
    finite number (`above` some other one); otherwise the option is a whole number in low ... high
    where high is above low. named: further values, with the number that stands for each in the
    record. in_record: kernels read it under its own name. meaning: a line for the docs.
    """
    if isinstance(choices, type):
        codes: dict[Any, int] | None = {member.name.lower(): int(member) for member in choices}
    else:
        codes = None if choices is None else {name: place for place, name in enumerate(choices)}
    metadata = {
        "choices": None if codes is None else tuple(codes),
        "codes": {**(codes or {}), **(named or {})},
        "low": low,
        "high": high,
        "above": above,
        "named": tuple(named or ()),
        "in_record": in_record,
        "meaning": meaning,
    }
    return field(default=default, metadata=metadata)


def whole_number(name: str, value: object, low: int, high: int) -> int:
    """Return `value` as an int in low ... high, or raise RulesError."""
    try:
        if isinstance(value, bool | np.bool_):
            raise TypeError
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise RulesError(f"{name}={shortened(value)} must be a whole number") from None
    if not low <= number <= high:
        raise RulesError(f"{name}={number} must lie in {low} ... {high}")
    return number


def _switch(name: str, value: object) -> bool:
    if not isinstance(value, bool | np.bool_):
        raise RulesError(f"{name}={shortened(value)} must be true or false")
    return bool(value)


def _choice(name: str, value: object, choices: Sequence[str]) -> str:
    if not (isinstance(value, str) and value in choices):
        raise RulesError(f"{name}={shortened(value)}: {nearest(value, choices)}")
    return value


def _number(name: str, value: object, above: float | None) -> float:
    number = finite(name, value)
    if above is not None and not number > above:
        raise RulesError(f"{name}={shortened(value)} must be a finite number above {above:g}")
    return number


@dataclass(frozen=True, eq=False, kw_only=True)
class Options:
    """Base of a frozen, keyword-only dataclass whose fields are declared by `option`."""

    def _check_options(self) -> None:
        """Bring every option into its one form. Raises RulesError naming the first bad one."""
        for spec in fields(self):
            self._set(spec.name, self._checked(spec))

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def _checked(self, spec: Field[Any]) -> Any:
        name, value, limits = spec.name, getattr(self, spec.name), spec.metadata
        if not limits:
            raise TypeError(f"{type(self).__name__}.{name} must be declared with option(...)")
        if any(type(value) is type(one) and value == one for one in limits["named"]):
            return value
        if limits["choices"] is not None:
            return _choice(name, value, limits["choices"])
        if isinstance(spec.default, bool):
            return _switch(name, value)
        if isinstance(spec.default, float):
            return _number(name, value, limits["above"])
        if limits["high"] > limits["low"]:
            return whole_number(name, value, limits["low"], limits["high"])
        return value

    def code(self, name: str) -> int:
        """Return the number by which kernels know an option's value."""
        value, codes = getattr(self, name), type(self).__dataclass_fields__[name].metadata["codes"]
        is_named = value is None or isinstance(value, str)
        return int(codes[value] if is_named else value)
