"""The one place that names numba's flags.

`jit` compiles a helper into its callers; `kernel` compiles what Python calls, and caches it on
disk. numba's own cache notices edits in a kernel's own file only, and would go on serving a kernel
whose helpers have changed. So the cache is stamped with a hash over every source file that a kernel
can depend on, in this library and in the package that the kernel is part of.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numba
import numpy as np
from numba import config, njit
from numba.core.options import DefaultOptions

F = TypeVar("F", bound=Callable[..., Any])
# What stands above the kernels: no kernel depends on it, unless it is written there itself.
SKINS = (
    *("envs", "render", "game.py", "positions.py", "determinize.py"),
    *("records.py", "verify.py", "recorder.py", "audit.py", "__main__.py"),
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
    digest = hashlib.sha256(f"{numba.__version__} {config.BOUNDSCHECK}".encode())
    digest.update(_library_hash())
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
    """Compile a helper that kernels call; wrappers for Python would double the compile time."""
    compiled: F = njit(**HELPER_FLAGS)(function)
    return compiled


def kernel(function: F) -> F:
    """Compile an entry point, cached on disk where a folder is writable."""
    compiled: F = njit(**FLAGS)(function)
    if DISABLED:
        return compiled
    dispatcher: Any = compiled
    try:
        dispatcher.enable_caching()
        cache_file = dispatcher._cache._cache_file
        if not hasattr(cache_file, "_source_stamp"):
            raise AttributeError("numba keeps the stamp of its cache elsewhere")
        cache_file._source_stamp = _stamp(function.__code__.co_filename)
    except (RuntimeError, AttributeError, OSError):
        # no writable folder, or a numba with other internals: rather no cache than a stale one
        compiled = njit(**FLAGS)(function)
    return compiled


def announce_compilation(function: Any) -> None:
    """Say on stderr that the first call of a kernel is about to compile, if it is."""
    if DISABLED or function.signatures:
        return
    try:
        if function._cache._cache_file._load_index():
            return
    except (AttributeError, OSError):
        pass
    print("dominoenv: compiling for this machine, once (about 20 s)", file=sys.stderr, flush=True)
