"""The one place that names numba's flags.

`jit`, `outlined` and `inlined` compile helpers; `kernel` compiles what Python calls, and caches it
on disk (`cache.py`) by the code that it can reach.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numba import config, njit
from numba.core.compiler_lock import global_compiler_lock
from numba.core.options import DefaultOptions

try:
    from dominoenv.core.cache import KernelCache
except ImportError:  # a numba with other internals: it compiles at every start
    KernelCache = None  # type: ignore[assignment, misc]

F = TypeVar("F", bound=Callable[..., Any])
DISABLED = bool(config.DISABLE_JIT)

if DISABLED:  # plain Python then: the random streams count on 64-bit wrap-around
    np.seterr(over="ignore")


# Kernels allocate nothing, so they need no reference counts: `_nrt` leaves them out. These three
# are not in numba's manual; where a version lacks one, kernels are slower and otherwise the same.
SPARING = {"_nrt": False, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
HELPER_FLAGS = {"nogil": True, "error_model": "numpy"} | {
    name: value for name, value in SPARING.items() if hasattr(DefaultOptions, name)
}
FLAGS = {name: HELPER_FLAGS[name] for name in HELPER_FLAGS if "wrapper" not in name}


def jit(function: F) -> F:
    """Compile a helper into the functions that call it.

    Left to itself LLVM calls many of them, which costs a step a fifth of its speed.
    """
    compiled: F = njit(**HELPER_FLAGS, forceinline=True)(function)
    return compiled


def outlined(function: F) -> F:
    """Compile a helper that is large or seldom called; copies of it would take time to compile."""
    compiled: F = njit(**HELPER_FLAGS)(function)
    return compiled


def inlined(function: F) -> F:
    """Compile a helper as if its lines stood in the kernel that calls it, once or twice.

    Each other helper passes through LLVM on its own, with all that it calls: what stands on top of
    everything takes longest, and nothing else needs it.
    """
    compiled: F = njit(**HELPER_FLAGS, inline="always")(function)
    return compiled


def kernel(function: F) -> F:
    """Compile an entry point, cached on disk where a folder is writable."""
    compiled: F = njit(**FLAGS)(function)
    if not DISABLED and KernelCache is not None:
        dispatcher: Any = compiled
        dispatcher._cache = KernelCache(compiled)
    return compiled


# A child forked while a thread compiles would inherit the compiler's lock, and nobody to release
# it: so a fork waits until the kernel is compiled.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=global_compiler_lock.acquire,
        after_in_parent=global_compiler_lock.release,
        after_in_child=global_compiler_lock.release,
    )
