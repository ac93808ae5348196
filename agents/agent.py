"""What compiled agents share: parameters that are visible and checked, and one way to act.

An agent is a dataclass whose fields are its parameters, and one kernel that chooses for n rows. To
write one, copy `agents/longest_train.py`.
"""

from __future__ import annotations

import operator
from dataclasses import KW_ONLY, InitVar, dataclass, field, fields
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from agents.reading import READING, offsets
from dominoenv.errors import DominoError, RulesError, nearest
from dominoenv.policies import Actions, Masks, Observations, Policy, as_int8, refuse_empty
from dominoenv.rules import Rules


def parameter(default: float | bool, low: float = 0.0, high: float = 1e6) -> Any:
    """Declare a number, or a switch where the default is one; `low` and `high` are allowed."""
    return field(default=default, metadata={"low": low, "high": high})


def choice(default: str, *others: str) -> Any:
    """Declare a choice by name."""
    return field(default=default, metadata={"choices": (default, *others)})


@dataclass(eq=False)
class Agent(Policy):
    """Plays by a kernel. Subclasses declare parameters and write `choose`.

    Raises RulesError for a parameter of the wrong type, out of its range or no such choice.
    """

    rules: Rules = field(repr=False)
    seed: InitVar[int] = 0
    _: KW_ONLY

    def __post_init__(self, seed: int) -> None:
        super().__init__(self.rules, seed)
        for spec in fields(self):
            if spec.metadata:
                value = checked(spec.name, getattr(self, spec.name), spec.default, spec.metadata)
                setattr(self, spec.name, value)
        self._offsets = offsets(self.layout)
        self._reading = np.zeros(1, READING)
        self._scores = np.zeros(self.num_actions)

    @classmethod
    def parameters(cls) -> dict[str, Any]:
        """Return the parameters by name, with their defaults."""
        return {spec.name: spec.default for spec in fields(cls) if spec.metadata}

    def act(self, observations: Observations, masks: Masks) -> Actions:
        """Return one legal action for each of n decisions."""
        masks = as_int8(masks, self.num_actions)
        rows = np.ascontiguousarray(self.layout.raw(observations))
        if len(rows) != len(masks):
            raise DominoError(f"{len(rows)} observations and {len(masks)} masks must be as many")
        actions = np.zeros(len(masks), np.int64)
        refuse_empty(self.choose(rows, masks, self.rng.random(len(masks)), actions))
        return actions

    def weights(self, dtype: np.dtype[np.void]) -> NDArray[np.void]:
        """Return the parameters that a record type names, for a kernel: one record, shape (1,)."""
        record = np.zeros(1, dtype)
        for name in dtype.names or ():
            record[0][name] = getattr(self, name)
        return record

    def choose(
        self,
        rows: NDArray[np.uint8],
        masks: NDArray[np.int8],
        draws: NDArray[np.float64],
        actions: NDArray[np.int64],
    ) -> int:
        """Write an action for each row; return -1, or the first row that allows none.

        rows: (n, L) raw; masks: (n, A); draws: (n,) in [0, 1), for ties.
        """
        raise NotImplementedError


def checked(name: str, value: object, default: object, limits: Any) -> Any:
    """Return a parameter's value in the type of its default, or raise RulesError."""
    if isinstance(default, str):
        if not isinstance(value, str) or value not in limits["choices"]:
            raise RulesError(f"{name}={value!r}: {nearest(value, limits['choices'])}")
        return value
    if isinstance(default, bool):
        if not isinstance(value, bool | np.bool_):
            raise RulesError(f"{name}={value!r} must be true or false")
        return bool(value)
    number = _number(name, value, whole=isinstance(default, int))
    if not limits["low"] <= number <= limits["high"]:  # no number at all fails here too
        raise RulesError(f"{name}={value!r} must lie in {limits['low']} ... {limits['high']}")
    return number


def _number(name: str, value: Any, whole: bool) -> float:
    try:
        if isinstance(value, bool | np.bool_ | str):
            raise TypeError
        return operator.index(value) if whole else float(value)
    except (TypeError, ValueError, OverflowError):
        kind = "whole number" if whole else "number"
        raise RulesError(f"{name}={value!r} must be a {kind}") from None
