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
DISABLED = bool(config.DISABLE_JIT)

if DISABLED:  # plain Python then: the random streams count on 64-bit wrap-around
    np.seterr(over="ignore")


@cache
def _stamp(source: str) -> str:
    """Return what a cached kernel depends on, by its own source file.

    That is the file itself and all below the skins; outside of this library also every file of the
    package that it belongs to, because its helpers stand there.
    """
    digest = hashlib.sha256(f"{numba.__version__} {config.BOUNDSCHECK}".encode())
    digest.update(_below_skins())
    own = Path(source)
    for path in [own] if Path(__file__).parent in own.parents else _package_files(own):
        digest.update(path.read_bytes())
    return digest.hexdigest()


@cache
def _below_skins() -> bytes:
    """Return a hash of all files of this library that a kernel anywhere can depend on."""
    digest = hashlib.sha256()
    package = Path(__file__).parent
    for path in sorted(package.rglob("*.py")):
        if path.relative_to(package).parts[0] not in SKINS:
            digest.update(path.read_bytes())
    return digest.digest()


def _package_files(source: Path) -> list[Path]:
    """Return all files of the package that a file belongs to; the file alone if to none."""
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
