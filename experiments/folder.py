"""The folder of a run: one program at a time, nothing left half done, and how to continue.

A program first tries everything that can fail, then opens its folder. So a start that fails leaves
nothing behind that stands in the way of the next one.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from dominoenv.core.files import remove_orphans, write_atomically
from dominoenv.errors import CheckpointError, DominoError

from .config import ConfigError, Experiment

CONFIG = "config.yaml"
LOCK = ".lock"


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Make a folder if need be, and keep all other programs out of it.

    The operating system releases the lock of a process that ends, however it ends. A thread may
    lock a folder again. Raises CheckpointError if another program is there, and ConfigError for a
    folder that cannot be written to.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder.resolve() / LOCK, is_singleton=True)
        lock.acquire(timeout=0)
    except Timeout:
        raise CheckpointError(
            f"{folder} is in use by another program: wait until that ends, or choose another "
            "folder with --out"
        ) from None
    except OSError as error:
        raise unwritable(folder, error) from error
    try:
        yield
    finally:
        lock.release()


def unwritable(folder: Path, error: OSError) -> ConfigError:
    """Return the error of a folder that cannot be written to."""
    return ConfigError(f"cannot write to {folder}: {error.strerror}; choose another --out")


@dataclass(frozen=True)
class RunFolder:
    """The folder of a run, and the names of what its program writes there."""

    path: Path
    what: str
    """The kind of run, in messages."""
    files: Sequence[str]
    folders: Sequence[str]

    @property
    def taken(self) -> list[Path]:
        """What earlier runs left."""
        paths = (self.path / name for name in (*self.files, *self.folders))
        return [path for path in paths if path.exists()]

    def check(self, resume: bool, overwrite: bool) -> None:
        """Raise CheckpointError if there is nothing to resume, or something in the way."""
        if resume and not self.taken:
            raise CheckpointError(
                f"{self.path} holds no {self.what} to resume: start without --resume, or name its "
                "folder with --out"
            )
        if self.taken and not (resume or overwrite):
            raise CheckpointError(
                f"{self.path} already holds a {self.what}: continue with --resume, replace it with "
                "--overwrite, or choose another folder with --out"
            )

    @contextmanager
    def opened(self, config: Experiment, resume: bool, overwrite: bool) -> Iterator[None]:
        """Lock the folder and prepare it; see `check` and `locked`."""
        with locked(self.path):
            self.check(resume, overwrite)  # again: now nobody else can write
            try:
                self._clear(everything=overwrite)
                self._write(config)
            except OSError as error:
                raise unwritable(self.path, error) from error
            yield

    def _clear(self, everything: bool) -> None:
        """Remove what killed programs left half-written, or everything of an earlier run."""
        for path in self.taken if everything else ():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        for folder in (self.path, *(self.path / name for name in self.folders)):
            remove_orphans(folder)

    def _write(self, config: Experiment) -> None:
        path, content = self.path / CONFIG, config.to_yaml().encode()
        if not path.exists() or path.read_bytes() != content:
            write_atomically(path, content)


@contextmanager
def explained(folder: Path) -> Iterator[None]:
    """Turn what stops a run from outside into one sentence that says how to continue."""
    how = f"continue with --resume ({folder})"
    try:
        yield
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"stopped; {how}") from None
    except BrokenProcessPool as error:
        raise DominoError(
            f"a worker process was killed, perhaps for want of memory; {how}, if need be with "
            "fewer --jobs"
        ) from error
    except BrokenPipeError:
        raise  # whoever read the output has left
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        raise DominoError(
            f"stopped: {error.strerror or error}{where}; when that is mended, {how}"
        ) from error
