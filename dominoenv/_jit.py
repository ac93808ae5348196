"""The one place that names numba's flags.

`jit`, `rare` and `merged` compile helpers; `kernel` compiles what Python calls, and caches it on
disk (`_cache.py`) under a stamp: a hash over every source file that the kernel can depend on.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numba import config, njit
from numba.core.compiler_lock import global_compiler_lock
from numba.core.options import DefaultOptions

try:
    from dominoenv._cache import KernelCache
except ImportError:  # a numba with other internals: it compiles at every start
    KernelCache = None  # type: ignore[assignment, misc]

F = TypeVar("F", bound=Callable[..., Any])
# What stands above the kernels: no kernel depends on it, unless it is written there itself.
SKINS = (
    *("envs", "render", "game.py", "positions.py", "determinize.py"),
    *("records.py", "verify.py", "recorder.py", "audit.py", "files.py", "batch.py", "crew.py"),
    *("playouts.py", "__main__.py"),
    *("__init__.py", "mexican_train_v0.py", "chicken_foot_v0.py"),
)
DISABLED = bool(config.DISABLE_JIT)

if DISABLED:  # plain Python then: the random streams count on 64-bit wrap-around
    np.seterr(over="ignore")


@cache
def _stamp(source: str) -> str:
    """Return what a cached kernel depends on: its own source file, and all below the skins."""
    digest = hashlib.sha256()
    package = Path(__file__).parent
    for path in sorted(package.rglob("*.py")):
        if path.relative_to(package).parts[0] not in SKINS or str(path) == source:
            digest.update(path.read_bytes())
    return digest.hexdigest()


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


def rare(function: F) -> F:
    """Compile a helper that is large or seldom called; copies of it would take time to compile."""
    compiled: F = njit(**HELPER_FLAGS)(function)
    return compiled


def merged(function: F) -> F:
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
        dispatcher._cache = KernelCache(function, _stamp(function.__code__.co_filename))
    return compiled


# A child forked while a thread compiles would inherit the compiler's lock, and nobody to release
# it: so a fork waits until the kernel is compiled.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=global_compiler_lock.acquire,
        after_in_parent=global_compiler_lock.release,
        after_in_child=global_compiler_lock.release,
    )
