"""The compile cache: one file for each kernel and signature, named by all that it depends on.

numba's own cache keeps an index beside its data. Processes that compile at the same time can leave
an index that names another signature's data, a file that a full disk cut short stops every later
start, and a change to a helper in another file goes unnoticed. Here a file's name is a hash over
the code that the kernel can reach (`fingerprint.py`), the versions, the processor and the
signature. Files are sealed (`container.py`) and lie in a folder of the user's own: they hold
machine code, so those of others are not trusted. What does not match is compiled anew. A kernel
that cannot be cached is compiled at every start, without an error.
"""

from __future__ import annotations

import hashlib
import itertools
import os
import pickle
import re
import secrets
import sys
from collections.abc import Collection, Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import llvmlite
import numba
import numpy as np
from numba import config, types
from numba.core.bytecode import FunctionIdentity
from numba.core.caching import CompileResultCacheImpl, _Cache
from numba.core.serialize import dumps
from numba.np.numpy_support import as_dtype

from dominoenv.core.container import FileKind, read_container, write_container
from dominoenv.core.files import make_private_folder
from dominoenv.core.fingerprint import UncacheableError, fingerprint, identity
from dominoenv.core.output import printable
from dominoenv.errors import CheckpointError

KERNEL = FileKind("kernel", version=1, limit=1 << 28, named=True)
FOLDER = f"dominoenv-{getattr(os, 'geteuid', int)()}"  # users who share a clone have one each
PYTHON = f"py{sys.version_info.major}{sys.version_info.minor}{getattr(sys, 'abiflags', '')}"
VERSIONS = numba.__version__, llvmlite.__version__, np.__version__
SWITCHES = (  # of numba, by environment variables: those that change what is compiled
    *("BOUNDSCHECK", "OPT", "LOOP_VECTORIZE", "SLP_VECTORIZE", "DEBUGINFO_DEFAULT", "USING_SVML"),
    *("EXTEND_VARIABLE_LIFETIMES", "LLVM_REFPRUNE_PASS", "LLVM_REFPRUNE_FLAGS", "DEBUG_NRT"),
)
SCALARS = types.Number | types.Boolean | types.NoneType | types.UnicodeType | types.Literal
_said: set[str] = set()
_used: set[Path] = set()  # files that this process has read or written


def say_once(text: str) -> None:
    """Print a line on stderr, the first time in a process."""
    if text not in _said:
        _said.add(text)
        print(f"dominoenv: {printable(text)}", file=sys.stderr, flush=True)


def number_from_random() -> None:
    """Let numba number the functions that it compiles from a random start.

    The numbers are part of the names that the loader knows functions by, and of two functions of
    one name it takes the first for both. numba counts from 1 in every process: two closures of one
    helper, compiled in two processes, would be taken for the same when both come from the cache.
    """
    FunctionIdentity._unique_ids = itertools.count(secrets.randbits(48))


number_from_random()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=number_from_random)


class KernelCache(_Cache):  # type: ignore[misc]
    """The cache of one kernel, called by numba's dispatcher before and after it compiles.

    Files go into a folder of the user's own, where numba would put its own, the first place that is
    writable: NUMBA_CACHE_DIR, `__pycache__` beside the source, the user's cache. Without one, or
    when writing fails, kernels are compiled at every start.
    """

    def __init__(self, kernel: Any) -> None:
        self._kernel = kernel
        self._enabled = True
        self._asked: dict[Any, Path] = {}  # where each signature is to go that is being compiled
        try:
            self._numba = CompileResultCacheImpl(kernel.py_func)
            self._folder: Path | None = Path(self._numba.locator.get_cache_path(), FOLDER)
        except (RuntimeError, OSError):  # no folder is writable, or the source is no file
            self._folder = None

    @property
    def cache_path(self) -> str | None:
        """The folder of the files, None where there is none."""
        return None if self._folder is None else str(self._folder)

    def load_overload(self, signature: Any, context: Any) -> Any:
        """Return the kernel compiled for a signature, or None; then print that it compiles."""
        context.refresh()
        if not self._enabled:
            return None
        try:
            path = self._path(signature, context.codegen())
        except UncacheableError as reason:
            say_once(f"compiling at every start: {reason}")
            return None
        try:
            code = read_container(path, KERNEL, private=True)
        except CheckpointError:  # missing, or not to be trusted
            say_once("compiling for this machine, once (about 20 s)")
            self._asked[signature] = path
            return None
        _used.add(path)
        return self._numba.rebuild(context, pickle.loads(code))

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Write what was compiled, and delete the files of older code.

        Nothing is written where a value changed in the meantime: nobody knows which one it holds.
        """
        asked = self._asked.pop(signature, None)
        try:
            path = self._path(signature, compiled.codegen)
        except UncacheableError:  # `load_overload` has printed why
            return
        if path != asked or not self._enabled or not self._numba.check_cachable(compiled):
            return
        try:
            code = np.frombuffer(dumps(self._numba.reduce(compiled)), np.uint8)
            write_container(path, KERNEL, code, mode=0o600)
            _used.add(path)
            self._remove(f"{path.name.rpartition('-')[0]}-*", spared=_used)
        except (OSError, CheckpointError, pickle.PicklingError, TypeError) as error:
            say_once(f"what was compiled could not be kept: {error}")

    def enable(self) -> None:
        """Turn the cache on."""
        self._enabled = True

    def disable(self) -> None:
        """Turn the cache off."""
        self._enabled = False

    def flush(self) -> None:
        """Delete all files of the kernel."""
        self._remove(f"{self._name}-*")

    @cached_property
    def _name(self) -> str:
        """Beginning of the names of the kernel's files; an edit of the code does not change it."""
        function = self._kernel.py_func
        name = f"{Path(function.__code__.co_filename).stem}.{function.__name__}.{PYTHON}"
        return f"{re.sub('[^A-Za-z0-9_.]', '_', name)}-{identity(self._kernel)[:16]}"

    def _path(self, signature: Any, codegen: Any) -> Path:
        """Return the path of a signature's file. Raises UncacheableError if there is none."""
        if self._folder is None:
            is_file = Path(self._kernel.py_func.__code__.co_filename).exists()
            where = "no folder is writable to keep the result (about 20 s)"
            raise UncacheableError(where if is_file else f"{self._kernel.__name__} is in no file")
        if not _is_own(self._folder):
            raise UncacheableError(f"{self._folder} is open to other users: remove it")
        try:
            code = fingerprint(self._kernel, list(records_of(signature)))
            name = self._name
        except UncacheableError as reason:
            raise UncacheableError(f"{self._kernel.__name__}: {reason}") from None
        switches = [getattr(config, switch, None) for switch in SWITCHES]
        machine = VERSIONS, switches, codegen.magic_tuple()
        key = hashlib.sha256(repr((str(signature), machine)).encode()).hexdigest()
        return self._folder / f"{name}-{key[:16]}-{code[:32]}.nbc"

    def _remove(self, pattern: str, spared: Collection[Path] = ()) -> None:
        """Delete files of the kernel; other processes may do the same at the same time."""
        if self._folder is not None:
            for path in self._folder.glob(pattern):
                if path not in spared:
                    path.unlink(missing_ok=True)


def _is_own(folder: Path) -> bool:
    """Return whether a folder is this user's own, and make it; True where it cannot be made."""
    try:
        return make_private_folder(folder)
    except OSError:  # nothing can be read there; writing says what is wrong
        return True


def records_of(signature: Iterable[Any]) -> Iterator[np.dtype[Any]]:
    """Yield the dtypes of the records in the types of a call's arguments.

    Raises UncacheableError for types whose text does not tell all about them.
    """
    for kind in signature:
        if isinstance(kind, types.Record):
            yield as_dtype(kind)
        elif isinstance(kind, types.Array):
            yield from records_of([kind.dtype])
        elif isinstance(kind, types.BaseTuple) and not isinstance(kind, types.BaseNamedTuple):
            yield from records_of(kind.types)
        elif not isinstance(kind, SCALARS):
            raise UncacheableError(f"an argument is a {type(kind).__name__}")
