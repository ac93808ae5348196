"""Files of a session of play: nothing is replaced or deleted that the session did not write."""

from __future__ import annotations

import itertools
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from dominoenv.core.files import write_atomically
from dominoenv.errors import RecordError


class OwnFile:
    """A file that one session writes, perhaps several times.

    Where something else lies at its path, it takes the next free name beside it, as `m-2.jsonl`.
    content: what the session has read there; it may be replaced as long as it still is that.
    """

    def __init__(self, path: Path, content: bytes | None = None) -> None:
        self.path = path
        self._content = content

    def check(self) -> None:
        """Raise RecordError where the file could not be written, before there is much to lose."""
        trial = OwnFile(self.path.with_name(f"{self.path.name}.try"))
        try:
            trial.write(b"")
        except OSError as error:
            raise RecordError(f"cannot write {str(self.path)!r}: {error.strerror}") from error
        trial.remove()

    def write(self, content: bytes) -> None:
        """Write the file. Raises OSError."""
        is_own = self._is_own()
        path = self.path if is_own else _reserved(self.path)
        try:
            write_atomically(path, content)
        except OSError:
            if not is_own:
                path.unlink()
            raise
        self.path, self._content = path, content

    def write_anywhere(self, content: bytes) -> None:
        """Write the file: at its path, else where programs keep what has no other place.

        Raises RecordError naming the places tried.
        """
        folders = [self.path.parent, *_other_folders()]
        for folder in folders:
            if folder != self.path.parent:
                self.path, self._content = folder / self.path.name, None
            try:
                self.write(content)
            except OSError as error:
                reason = error
            else:
                return
        places = ", ".join(repr(str(folder)) for folder in folders)
        raise RecordError(f"cannot save in any of {places}: {reason.strerror}") from reason

    def remove(self) -> None:
        """Delete the file, if it is what the session has written or read."""
        if self._is_own():
            self.path.unlink(missing_ok=True)

    def _is_own(self) -> bool:
        try:
            return self._content is not None and self.path.read_bytes() == self._content
        except OSError:
            return False


def _reserved(path: Path) -> Path:
    """Create an empty file under the first name that is free, and return its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    for name in _names(path):
        try:
            path.with_name(name).open("xb").close()  # does not follow a link
        except FileExistsError:
            continue
        return path.with_name(name)
    raise AssertionError("names never end")


def _names(path: Path) -> Iterator[str]:
    yield path.name
    for number in itertools.count(2):
        yield f"{path.stem}-{number}{path.suffix}"


def _other_folders() -> Iterator[Path]:
    yield Path(os.path.expanduser("~"))
    yield Path(tempfile.gettempdir())
