"""What decides about a kernel's machine code, as a hash: all code and values that it can reach.

A kernel is walked like the compiler does it: its bytecode, the constants in it, the globals and
closure variables that it names, and the same of every helper among them. A verb (`games/verbs.py`)
stands for one kernel a game, chosen by the type of the record. What cannot be told apart by value,
an object of any other kind, has no place in a kernel: TypeError.
"""

from __future__ import annotations

import hashlib
import types
from collections.abc import Callable, Iterable, Sequence
from enum import EnumType
from typing import Any

import numpy as np

PLAIN = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis), np.generic, np.dtype)


def fingerprint(function: Callable[..., Any], records: Sequence[np.dtype[Any]]) -> str:
    """Return a hash of all that a function, called with some records, can reach. Raises TypeError.

    records: dtypes of the records among its arguments; they choose the kernels of verbs.
    """
    walk = _Walk(records)
    walk.function(function)
    return walk.digest.hexdigest()


class _Walk:
    """One walk over what a kernel reaches; each function is taken once."""

    def __init__(self, records: Sequence[np.dtype[Any]]) -> None:
        self.digest = hashlib.sha256()
        self._records = records
        self._numbers: dict[int, int] = {}  # id of a function -> the place where it was met first

    def _add(self, *values: object) -> None:
        self.digest.update(repr(values).encode())

    def function(self, function: Callable[..., Any]) -> None:
        """Take in a plain function."""
        number = self._numbers.get(id(function))
        if number is not None:
            self._add("again", number)
            return
        self._numbers[id(function)] = len(self._numbers)
        self._add(function.__module__, function.__qualname__, function.__defaults__)
        self._code(function.__code__, function.__globals__)
        for name, cell in zip(
            function.__code__.co_freevars, function.__closure__ or (), strict=True
        ):
            self._add(name)
            self.value(cell.cell_contents, function.__code__.co_names)

    def _code(self, code: types.CodeType, space: dict[str, Any]) -> None:
        self._add(code.co_code, code.co_names, code.co_varnames, code.co_freevars)
        for constant in code.co_consts:
            if isinstance(constant, types.CodeType):
                self._code(constant, space)
            else:
                self._add(constant)
        for name in code.co_names:
            if name in space:
                self._add(name)
                self.value(space[name], code.co_names)

    def value(self, value: Any, names: Iterable[str]) -> None:
        """Take in what a name stands for; names: that are looked up in it, where it is a module."""
        if isinstance(value, PLAIN):
            self._add(type(value).__name__, repr(value))
        elif isinstance(value, tuple | list | frozenset):
            self._add(type(value).__name__, len(value))
            for one in value:
                self.value(one, names)
        elif isinstance(value, np.ndarray):
            self._add(value.dtype, value.shape)
            self.digest.update(value.tobytes())
        elif isinstance(value, types.ModuleType):
            self._module(value, names)
        elif isinstance(value, EnumType):
            self._add(
                value.__qualname__, [(name, one.value) for name, one in value.__members__.items()]
            )
        elif kernels := getattr(value, "kernels", None):
            self._verb(kernels())
        elif (plain := _plain_function(value)) is not None:
            options = getattr(value, "targetoptions", {})
            self._add(sorted((name, repr(one)) for name, one in options.items()))
            self.function(plain)
        elif isinstance(value, type | types.BuiltinFunctionType | np.ufunc):
            self._add(value.__module__ if hasattr(value, "__module__") else "", repr(value))
        elif type(value).__module__.startswith("llvmlite."):  # in an intrinsic: it prints its value
            self._add(str(value))
        else:
            raise TypeError(f"a kernel cannot depend on {value!r}: its value decides nothing")

    def _module(self, module: types.ModuleType, names: Iterable[str]) -> None:
        self._add(module.__name__, getattr(module, "__version__", ""))
        if module.__name__.partition(".")[0] not in ("numpy", "numba", "math"):
            for name in names:
                if hasattr(module, name):
                    self.value(getattr(module, name), names)

    def _verb(self, kernels: dict[np.dtype[Any], Any]) -> None:
        chosen = [dtype for dtype in self._records if dtype in kernels]
        if not chosen:
            raise TypeError("a verb needs the state record of a registered game")
        self.value(kernels[chosen[0]], ())


def _plain_function(value: Any) -> Callable[..., Any] | None:
    """Return the Python function behind a compiled one, or an intrinsic; None if it is neither."""
    for name in ("py_func", "_defn"):
        found = getattr(value, name, None)
        if found is not None:
            return found  # type: ignore[no-any-return]
    return value if isinstance(value, types.FunctionType) else None
