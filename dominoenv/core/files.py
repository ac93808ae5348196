"""Atomic file writes."""

from __future__ import annotations

import os
import re
import uuid
from pathlib import Path

TEMPORARY = re.compile(r"\.(.+)\.[0-9a-f]{16}\.tmp")  # the name of a file that is being written


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file atomically: after a crash the old or the new content is there, never a part.

    Concurrent writers are safe; the last one wins. Raises OSError.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex[:16]}.tmp")
    try:
        with temporary.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def temporary_files(folder: Path) -> list[tuple[Path, str]]:
    """Return the files that killed writers left in a folder, each with the name it was to get."""
    found = ((path, TEMPORARY.fullmatch(path.name)) for path in folder.glob(".*.tmp"))
    return [(path, match[1]) for path, match in found if match]
