"""The one place that names numba's flags.

`jit`, `rare` and `merged` compile helpers; `kernel` compiles what Python calls, and caches it on
disk (`_cache.py`) under a stamp: a hash over every source file that the kernel can depend on, in
this library and in the package that the kernel is part of.
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
    *("records.py", "verify.py", "recorder.py", "audit.py", "files.py", "batch.py", "checks.py"),
    *("crew.py", "playouts.py", "__main__.py", "advice.py", "deals.py", "sitting.py"),
    *("terminal.py", "replay"),
    *("__init__.py", "mexican_train_v0.py", "chicken_foot_v0.py"),
)
LIBRARY = Path(__file__).parent
DISABLED = bool(config.DISABLE_JIT)

if DISABLED:  # plain Python then: the random streams count on 64-bit wrap-around
    np.seterr(over="ignore")


@cache
def _stamp(source: str) -> str:
    """Return what a cached kernel depends on, by its source file.

    That is all below the skins, and what stands around the kernel itself: in a skin the file alone,
    outside of this library every file of the package that it belongs to, where its helpers are.
    """
    digest = hashlib.sha256(_library_hash())
    for path in _files_around(Path(source)):
        digest.update(path.read_bytes())
    return digest.hexdigest()


@cache
def _library_hash() -> bytes:
    """Return a hash of all files of this library that a kernel anywhere can depend on."""
    digest = hashlib.sha256()
    for path in sorted(LIBRARY.rglob("*.py")):
        if not _is_skin(path):
            digest.update(path.read_bytes())
    return digest.digest()


def _is_skin(path: Path) -> bool:
    return path.relative_to(LIBRARY).parts[0] in SKINS


def _files_around(source: Path) -> list[Path]:
    """Return the files beyond the library's that a kernel in a file may depend on."""
    if LIBRARY in source.parents:
        return [source] if _is_skin(source) else []
    top = source
    while (top.parent / "__init__.py").exists():
        top = top.parent
    return [source] if top == source else sorted(top.rglob("*.py"))


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
