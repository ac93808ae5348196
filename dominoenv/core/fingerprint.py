"""What decides about a kernel's machine code, as a hash: all code and values that it can reach.

A kernel is walked the way the compiler does it: its bytecode and constants, the globals and closure
variables that it names, and the same of every helper among them. Globals count by value, as numba
compiles them. A verb (`games/verbs.py`) stands for one kernel a game, chosen by the type of the
record. Code of Python, numpy and numba counts by name; the cache's key holds their versions.

Not seen: what numba finds by the type of a value, such as a method that somebody adds to arrays
with `overload_method`.
"""

from __future__ import annotations

import enum
import hashlib
import sys
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import singledispatch
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba.core.dispatcher import Dispatcher
from numba.core.extending import _Intrinsic
from numba.core.registry import cpu_target

LIBRARIES = {*sys.stdlib_module_names, "numpy", "numba", "llvmlite"}
PLAIN = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis))


class UncacheableError(Exception):
    """A kernel reaches something that cannot be compared with what was compiled before."""


def fingerprint(kernel: Any, records: Sequence[np.dtype[Any]]) -> str:
    """Return a hash of all that a compiled function, called with some records, can reach.

    records: dtypes of the records among its arguments; they choose the kernels of verbs. Raises
    UncacheableError.
    """
    walk = _Walk(records)
    walk.value(kernel)
    return walk.digest.hexdigest()


def identity(kernel: Any) -> str:
    """Return a hash that the versions of a function share, and no two functions of a file.

    Made of names and closure variables, not of code: `make(1)` and `make(2)` differ. Raises
    UncacheableError.
    """
    walk = _NameWalk(())
    walk.value(kernel)
    return walk.digest.hexdigest()


class _Walk:
    """One walk over what a kernel reaches; functions and mutable containers are taken in once."""

    def __init__(self, records: Sequence[np.dtype[Any]]) -> None:
        self.digest = hashlib.sha256()
        self.records = records
        self._met: dict[int, tuple[int, object]] = {}  # id -> place of the first meeting, the thing

    def add(self, *values: object) -> None:
        """Take in values that their `repr` tells completely."""
        self.digest.update(repr(values).encode())

    def was_met(self, thing: object) -> bool:
        """Return whether something was met before, and then take in where."""
        if id(thing) in self._met:
            self.add("again", self._met[id(thing)][0])
            return True
        self._met[id(thing)] = len(self._met), thing
        return False

    def value(self, value: Any, names: Iterable[str] = ()) -> None:
        """Take in what a name stands for; names: those looked up in it, where it is a module."""
        if type(value) in PLAIN:
            self.add(value)
        else:
            _take(value, self, names)

    def function(self, function: Any) -> bool:
        """Take in a Python function; return whether there is more to it than its name."""
        self.add(function.__module__, function.__qualname__)
        if _is_of_library(function.__module__) or self.was_met(function):
            return False
        self.value((function.__defaults__, function.__kwdefaults__))
        code = function.__code__
        names = set(_names(code))
        for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
            self.add(name)
            if cell != types.CellType():  # not empty
                self.value(cell.cell_contents, names)
        self.code(code, function.__globals__, function.__doc__)
        return True

    def code(self, code: types.CodeType, space: dict[str, Any], doc: str | None = None) -> None:
        """Take in bytecode, its constants but for the docstring, and the globals that it names."""
        self.add(code.co_code, code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
        self.add(code.co_flags, code.co_argcount, code.co_kwonlyargcount, code.co_exceptiontable)
        has_doc = doc is not None and code.co_consts[:1] == (doc,)
        for constant in code.co_consts[int(has_doc) :]:
            if isinstance(constant, types.CodeType):
                self.code(constant, space)
            else:
                self.value(constant)
        for name in code.co_names:
            if name in space:
                self.add(name)
                self.value(space[name], code.co_names)

    def flags(self, compiled: Any) -> None:
        """Take in how a function is compiled, whatever its code is."""
        self.value((compiled.targetoptions, compiled.locals, compiled._compiler.pipeline_class))
        if not compiled._can_compile:  # made for fixed signatures
            self.add(sorted(map(str, compiled.overloads)))

    def verb(
        self,
        verb: types.FunctionType,
        kernels: Callable[[], Mapping[np.dtype[np.void], Any]],
        flags: Mapping[str, Any],
    ) -> None:
        """Take in the kernels that a verb stands for, and the flags that they are compiled with."""
        chosen = [kernel for dtype, kernel in kernels().items() if dtype in self.records]
        if not chosen:
            raise UncacheableError(f"{verb.__name__} needs a state record among its arguments")
        self.value((dict(flags), *chosen))


class _NameWalk(_Walk):
    """A walk that passes over code: what tells two functions apart that may be there together."""

    def code(self, code: types.CodeType, space: dict[str, Any], doc: str | None = None) -> None:
        """Nothing: an edit makes no other function of it."""

    def flags(self, compiled: Any) -> None:
        """Nothing, for the same reason."""

    def verb(self, verb: types.FunctionType, *_: object) -> None:
        """Take in the name alone."""
        self.add(verb.__qualname__)


def _is_of_library(module: object) -> bool:
    """Return whether a module is of Python, numpy or numba, by its name."""
    return isinstance(module, str) and module.partition(".")[0] in LIBRARIES


def _names(code: types.CodeType) -> Iterable[str]:
    """Yield the names in some code, and in functions and comprehensions inside."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names(constant)


# ------------------------------------------------------------------------- values, by their type


@singledispatch
def _take(value: Any, walk: _Walk, names: Iterable[str]) -> None:
    """Take a value into a walk."""
    raise UncacheableError(f"it uses {value!r}, whose changes would go unnoticed")


@_take.register(bool | int | float | complex | str | bytes)
def _take_subclass(value: Any, walk: _Walk, names: Iterable[str]) -> None:
    base: Any = next(kind for kind in PLAIN if isinstance(value, kind))
    walk.add(type(value).__qualname__, base.__repr__(value))  # its own `repr` may say anything


@_take.register(np.generic | np.ndarray)
def _take_array(value: Any, walk: _Walk, names: Iterable[str]) -> None:
    if value.dtype.hasobject:
        raise UncacheableError("it uses an array of Python objects")
    walk.add(type(value).__qualname__, value.dtype, value.shape, value.flags.c_contiguous)
    walk.digest.update(value.tobytes())


@_take.register(np.dtype | range | slice | numba.types.Type | ir.Type | ir.Value)
def _take_printed(value: Any, walk: _Walk, names: Iterable[str]) -> None:
    walk.add(type(value).__qualname__, str(value))


@_take.register(tuple)
def _take_tuple(value: Any, walk: _Walk, names: Iterable[str]) -> None:
    walk.add(type(value).__qualname__, getattr(value, "_fields", None), len(value))
    for one in value:
        walk.value(one, names)


@_take.register(list | dict)
def _take_container(value: Any, walk: _Walk, names: Iterable[str]) -> None:
    if not walk.was_met(value):
        walk.add(type(value).__qualname__)
        walk.value(tuple(value.items() if isinstance(value, dict) else value), names)


@_take.register(set | frozenset)
def _take_set(value: Any, walk: _Walk, names: Iterable[str]) -> None:
    digests = []
    for one in value:
        inner = type(walk)(walk.records)
        inner.value(one)
        digests.append(inner.digest.hexdigest())
    walk.add(type(value).__qualname__, sorted(digests))


@_take.register(enum.Enum)
def _take_member(value: Any, walk: _Walk, names: Iterable[str]) -> None:
    walk.add(type(value).__qualname__, value.name)
    walk.value(value.value)


@_take.register(types.ModuleType)
def _take_module(value: Any, walk: _Walk, names: Iterable[str]) -> None:
    walk.add(value.__name__, getattr(value, "__version__", ""))
    if not _is_of_library(value.__name__):
        for name in names:
            if hasattr(value, name):
                walk.value(getattr(value, name), names)


@_take.register(type)
def _take_class(value: Any, walk: _Walk, names: Iterable[str]) -> None:
    walk.add(value.__module__, value.__qualname__)
    fields = getattr(value, "_fields", None)
    if isinstance(value, enum.EnumType):
        walk.value(tuple((name, value[name].value) for name in value.__members__))
    elif issubclass(value, tuple) and fields is not None:
        walk.value((fields, value._field_defaults))
    elif not (_is_of_library(value.__module__) or issubclass(value, BaseException)):
        raise UncacheableError(f"it uses {value!r}, whose changes would go unnoticed")


@_take.register(Dispatcher)
def _take_compiled(value: Any, walk: _Walk, names: Iterable[str]) -> None:
    if not walk.was_met(value):
        walk.flags(value)
        walk.function(value.py_func)


@_take.register(_Intrinsic)
def _take_intrinsic(value: Any, walk: _Walk, names: Iterable[str]) -> None:
    walk.function(value._defn)


@_take.register(types.BuiltinFunctionType | np.ufunc | type(np.sum))  # the last: numpy's own kind
def _take_builtin(value: Any, walk: _Walk, names: Iterable[str]) -> None:
    module = getattr(value, "__module__", None)
    if not (isinstance(value, np.ufunc) or _is_of_library(module)):
        raise UncacheableError(f"it uses {value!r}, whose changes would go unnoticed")
    walk.add(module, value.__name__)


@_take.register(types.FunctionType)
def _take_function(value: Any, walk: _Walk, names: Iterable[str]) -> None:
    if hasattr(value, "by_record"):  # a verb, see `games/verbs.py`
        walk.verb(value, *value.by_record)
    elif walk.function(value):
        _take_overloads(value, walk)


def _take_overloads(function: Callable[..., Any], walk: _Walk) -> None:
    """Take in what numba compiles in the place of a plain function."""
    cpu_target.typing_context.refresh()
    try:
        found = cpu_target.typing_context.resolve_value_type(function)
    except ValueError:  # nothing
        return
    for template in getattr(found, "templates", ()):
        options = getattr(template, "_jit_options", {}), str(getattr(template, "_inline", ""))
        walk.value(options)
        walk.value(getattr(template, "_overload_func", None))
