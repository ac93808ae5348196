"""Atomic writes, and bounded reads of files that somebody else may have made."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import sys
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

IS_WINDOWS = sys.platform == "win32"  # where an open file can be neither renamed nor deleted
SUFFIX = ".dominoenv.tmp"  # of files that are being written
SHARED = stat.S_IWGRP | stat.S_IWOTH  # mode bits: others may write
MAX_AGE = 3600  # s; where files have no locks, what is older is an orphan
_tidied: set[Path] = set()  # folders that this process has rid of orphans


def write_atomically(path: Path, content: bytes, mode: int = 0o666) -> None:
    """Write a file atomically: after a crash the old or the new content is there, never a part.

    Concurrent writers are safe; the last one wins. What a killed writer left half-written in a
    folder is deleted by the next process that writes there. mode: permissions, less the umask.
    Raises OSError.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    remove_orphans(path.parent)
    with _temporary(path.parent, mode) as (file, temporary):
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
        if IS_WINDOWS:
            file.close()
        os.replace(temporary, path)


@contextlib.contextmanager
def _temporary(folder: Path, mode: int) -> Iterator[tuple[BinaryIO, Path]]:
    """Open a new file, locked while it is open; delete it unless it gets another name."""
    while True:
        path = folder / f".{uuid.uuid4().hex[:16]}{SUFFIX}"
        with open(path, "xb", opener=lambda name, flags: os.open(name, flags, mode)) as file:
            _lock(file, wait=True)
            if not path.exists():  # another process took it for an orphan before it was locked
                continue
            try:
                yield file, path
            finally:
                if IS_WINDOWS:
                    file.close()
                path.unlink(missing_ok=True)
            return


def remove_orphans(folder: Path) -> None:
    """Delete what killed writers left in a folder, once in each process."""
    if folder in _tidied:
        return
    _tidied.add(folder)
    for path in folder.glob(f".*{SUFFIX}"):
        with contextlib.suppress(OSError), path.open("r+b") as file:
            if _is_orphan(file):
                if IS_WINDOWS:
                    file.close()
                path.unlink(missing_ok=True)


def _is_orphan(file: BinaryIO) -> bool:
    """Return whether nobody writes an open file any more; where that is certain, lock it."""
    if IS_WINDOWS:
        return time.time() - os.fstat(file.fileno()).st_mtime > MAX_AGE
    return _lock(file, wait=False)


def _lock(file: BinaryIO, wait: bool) -> bool:
    """Lock an open file until it is closed, or its process ends; return whether that worked."""
    if sys.platform == "win32":
        return False
    import fcntl  # not on Windows

    try:
        fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:  # locked by its writer; or a file system without locks, where orphans stay
        return False
    return True


def read_bounded(path: Path, limit: int, private: bool = False) -> bytes:
    """Return the content of a file of at most `limit` bytes.

    private: refuse a file that belongs to another user, or that others may write to. Raises
    OSError, also for what is no plain file, such as a pipe that nobody writes to.
    """
    with open(path, "rb", opener=_open_at_once) as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "not a plain file", str(path))
        if status.st_size > limit:
            raise OSError(errno.EFBIG, f"larger than {limit:,} bytes", str(path))
        if private and not is_private(status):
            raise OSError(errno.EPERM, "open to other users", str(path))
        return file.read(status.st_size)


def _open_at_once(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def is_private(status: os.stat_result) -> bool:
    """Return whether a file or folder is this user's and no other may write to it (on POSIX)."""
    if IS_WINDOWS:
        return True
    return status.st_uid == os.geteuid() and not status.st_mode & SHARED


def make_private_folder(path: Path) -> bool:
    """Make a folder that this user alone can open; return whether it is private, new or old."""
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    return is_private(path.lstat()) and path.is_dir()
