"""The compile cache: one file for each kernel and signature, named by all that it depends on.

numba's own cache keeps an index beside its data. Processes that compile at the same time can leave
an index that names another signature's data, a file that a full disk cut short stops every later
start, and a change to a helper in another file goes unnoticed. Here a file's name is a hash over
the code that the kernel can reach (`fingerprint.py`), the versions, the processor and the
signature; it appears in one piece, begins with a hash of its contents, and what does not fit is
compiled anew.
"""

from __future__ import annotations

import hashlib
import pickle
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba import config
from numba.core.caching import CompileResultCacheImpl, _Cache
from numba.core.serialize import dumps
from numba.np.numpy_support import as_dtype

from dominoenv.core.files import write_atomically
from dominoenv.core.fingerprint import fingerprint

DIGEST_SIZE = hashlib.sha256().digest_size  # bytes before the contents of a file
PYTHON = f"py{sys.version_info.major}{sys.version_info.minor}{getattr(sys, 'abiflags', '')}"
_said: set[str] = set()


def say_once(text: str) -> None:
    """Print a line on stderr, the first time in a process."""
    if text not in _said:
        _said.add(text)
        print(f"dominoenv: {text}", file=sys.stderr, flush=True)


class KernelCache(_Cache):  # type: ignore[misc]
    """What numba's dispatcher of one kernel asks before it compiles, and tells afterwards.

    Files go where numba would put its own, the first folder that is writable: NUMBA_CACHE_DIR,
    `__pycache__` beside the source, the user's cache. Without one, or when writing fails, kernels
    are compiled at every start.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._name = f"{Path(function.__code__.co_filename).stem}.{function.__name__}.{PYTHON}"
        self._enabled = True
        try:
            self._numba = CompileResultCacheImpl(function)
            self._folder: Path | None = Path(self._numba.locator.get_cache_path())
        except RuntimeError:  # no folder is writable
            self._folder = None

    @property
    def cache_path(self) -> str | None:
        """The folder of the files, None where there is none."""
        return None if self._folder is None else str(self._folder)

    def load_overload(self, signature: Any, context: Any) -> Any:
        """Return the kernel compiled for a signature, or None, and say that it will be compiled."""
        context.refresh()
        path = self._path(signature, context.codegen())
        contents = None if path is None else read_sealed(path)
        if contents is not None:
            return self._numba.rebuild(context, pickle.loads(contents))
        once = ", once" if self._folder else ": no folder is writable to keep the result"
        say_once(f"compiling for this machine{once} (about 20 s)")
        return None

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Keep what was compiled, and drop what was kept for other sources."""
        path = self._path(signature, compiled.codegen)
        if path is None or not self._numba.check_cachable(compiled):
            return
        contents = dumps(self._numba.reduce(compiled))
        try:
            write_sealed(path, contents)
            self._remove_older(path)
        except OSError as error:
            say_once(f"what was compiled could not be kept: {error}")

    def enable(self) -> None:
        """Load and save from now on."""
        self._enabled = True

    def disable(self) -> None:
        """Neither load nor save from now on."""
        self._enabled = False

    def flush(self) -> None:
        """Remove all that was kept of the kernel."""
        self._remove(f"{self._name}-*")

    def _path(self, signature: Any, codegen: Any) -> Path | None:
        """Return where a signature's file is, None where nothing is kept."""
        if self._folder is None or not self._enabled:
            return None
        machine = (numba.__version__, config.BOUNDSCHECK, codegen.magic_tuple())
        key = hashlib.sha256(repr((str(signature), machine)).encode()).hexdigest()[:16]
        code = fingerprint(self._function, records_of(signature))
        return self._folder / f"{self._name}-{key}-{code[:32]}.nbc"

    def _remove_older(self, path: Path) -> None:
        """Remove what was kept for the same signature and other code."""
        self._remove(f"{path.name.rpartition('-')[0]}-*", kept=path.name)

    def _remove(self, pattern: str, kept: str = "") -> None:
        """Remove files of the kernel; others may do so meanwhile."""
        if self._folder is not None:
            for path in self._folder.glob(pattern):
                if path.name != kept:
                    path.unlink(missing_ok=True)


def records_of(signature: Any) -> list[np.dtype[Any]]:
    """Return the dtypes of the records that the types of a call's arguments are, or are arrays of."""
    types = [getattr(argument, "dtype", argument) for argument in signature]
    return [as_dtype(one) for one in types if isinstance(one, numba.types.Record)]


def read_sealed(path: Path) -> bytes | None:
    """Return what `write_sealed` wrote, or None for no file, another's, or a damaged one."""
    try:
        data = path.read_bytes()
    except OSError:
        return None
    contents = data[DIGEST_SIZE:]
    return contents if data[:DIGEST_SIZE] == _seal(path, contents) else None


def write_sealed(path: Path, contents: bytes) -> None:
    """Write a file that says itself whether it is whole, and that it has this name."""
    write_atomically(path, _seal(path, contents) + contents)


def _seal(path: Path, contents: bytes) -> bytes:
    return hashlib.sha256(path.name.encode() + contents).digest()
