"""What compiled agents share: parameters that are visible and checked, and one way to act.

An agent is a dataclass whose fields are its parameters, and one kernel that chooses for n rows,
which `make_kernel` (`factory.py`) makes around a scoring function. To write one, copy
`flexible.py` or `longest_train.py`.
"""

from __future__ import annotations

import operator
from dataclasses import KW_ONLY, InitVar, dataclass, field, fields
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dominoenv.core.rules import Rules
from dominoenv.errors import DominoError, RulesError, nearest, shortened
from dominoenv.policies import (
    Actions,
    Masks,
    Numbers,
    Observations,
    Policy,
    as_int8,
    refuse_empty,
)

from .factory import Kernel
from .features import FEATURES, offsets


def parameter(default: float | bool, meaning: str, low: float = 0.0, high: float = 1e6) -> Any:
    """Declare a number in low ... high, or a switch where the default is one, and what it does."""
    return field(default=default, metadata={"meaning": meaning, "low": low, "high": high})


def choice(choices: tuple[str, ...], meaning: str) -> Any:
    """Declare a choice by name, the default first, and what it does."""
    return field(default=choices[0], metadata={"meaning": meaning, "choices": choices})


@dataclass(eq=False)
class Agent(Policy):
    """Plays by a kernel. Subclasses declare parameters, and name their kernel and their games.

    Parameters stand fast once the agent is made. Raises RulesError for one of the wrong type, out
    of its range or no such choice.
    """

    rules: Rules = field(repr=False)
    seed: InitVar[int] = 0
    _: KW_ONLY

    kernel: ClassVar[Kernel]
    """Writes an action for each row; returns -1, or the first row that allows none.

    Arguments: rows (n, L) raw; masks (n, A); draws (n,) in [0, 1), for ties; actions (n,), written;
    then one record each, shape (1,): rules, offsets of the parts, parameters, and the features,
    which the kernel fills; scores (A,), written.
    """

    def __post_init__(self, seed: int) -> None:
        super().__init__(self.rules, seed)
        for spec in fields(self):
            if spec.metadata:
                value = checked(spec.name, getattr(self, spec.name), spec.default, spec.metadata)
                setattr(self, spec.name, value)
        self._offsets = offsets(self.layout)
        self._parameters = self._numbers()
        self._features = np.zeros(1, FEATURES)
        self._scores = np.zeros(self.num_actions)

    def _numbers(self) -> NDArray[np.void]:
        """Return the parameters as one record of float64, shape (1,): a choice by its place."""
        specs = [spec for spec in fields(self) if spec.metadata]
        record = np.zeros(1, [(spec.name, np.float64) for spec in specs])
        for spec in specs:
            value, choices = getattr(self, spec.name), spec.metadata.get("choices")
            record[0][spec.name] = value if choices is None else choices.index(value)
        return record

    @classmethod
    def parameters(cls) -> dict[str, Any]:
        """Return the parameters by name, with their defaults."""
        return {spec.name: spec.default for spec in fields(cls) if spec.metadata}

    @classmethod
    def table(cls) -> str:
        """Return the parameters as a Markdown table."""
        lines = ["| parameter | default | allowed | meaning |", "| --- | --- | --- | --- |"]
        for spec in fields(cls):
            if spec.metadata:
                allowed, meaning = (
                    allowed_text(spec.default, spec.metadata),
                    spec.metadata["meaning"],
                )
                meaning = meaning.replace("|", "\\|")  # [0|0] is one cell, not two
                lines.append(f"| `{spec.name}` | {spec.default} | {allowed} | {meaning} |")
        return "\n".join(lines)

    def act(self, observations: Observations, masks: Masks) -> Actions:
        """Return one legal action for each of n decisions."""
        return self._run(observations, masks, self.rng.random(len(masks)))

    def scores(self, observations: Observations, masks: Masks) -> Numbers:
        """Return (n, A) how good the kernel holds each legal action to be; 0 for the others."""
        found = np.zeros((len(masks), self.num_actions))
        for i in range(len(masks)):  # one by one: the kernel keeps the scores of its last row
            self._run(observations[i : i + 1], masks[i : i + 1], np.zeros(1))
            found[i] = np.where(masks[i], self._scores, 0.0)
        return found

    def _run(self, observations: Observations, masks: Masks, draws: NDArray[np.float64]) -> Actions:
        """Return the kernel's choices; draws: (n,) in [0, 1), for ties."""
        masks = as_int8(masks, self.num_actions)
        rows = np.ascontiguousarray(self.layout.raw(observations))
        if len(rows) != len(masks):
            raise DominoError(f"{len(rows)} observations and {len(masks)} masks must be as many")
        actions = np.zeros(len(masks), np.int64)
        empty = self.kernel(
            *(rows, masks, draws, actions, self.rules.record, self._offsets),
            *(self._parameters, self._features, self._scores),
        )
        refuse_empty(empty)
        return actions


def allowed_text(default: object, limits: Any) -> str:
    """Return the allowed values of a parameter in words."""
    if isinstance(default, str):
        return ", ".join(limits["choices"])
    if isinstance(default, bool):
        return "True, False"
    return f"{limits['low']:g} … {limits['high']:,.0f}"


def checked(name: str, value: object, default: object, limits: Any) -> Any:
    """Return a parameter's value in the type of its default, or raise RulesError."""
    if isinstance(default, str):
        if not isinstance(value, str) or value not in limits["choices"]:
            raise RulesError(f"{name}={shortened(value)}: {nearest(value, limits['choices'])}")
        return value
    if isinstance(default, bool):
        if not isinstance(value, bool | np.bool_):
            raise RulesError(f"{name}={shortened(value)} must be true or false")
        return bool(value)
    number = _number(name, value, whole=isinstance(default, int))
    if not limits["low"] <= number <= limits["high"]:  # no number at all fails here too
        raise RulesError(
            f"{name}={shortened(value)} must lie in {limits['low']} ... {limits['high']}"
        )
    return number


def _number(name: str, value: Any, whole: bool) -> float:
    try:
        if isinstance(value, bool | np.bool_ | str):
            raise TypeError
        return operator.index(value) if whole else float(value)
    except (TypeError, ValueError, OverflowError):
        kind = "whole number" if whole else "number"
        raise RulesError(f"{name}={shortened(value)} must be a {kind}") from None
