"""How an observation is laid out: named parts of one flat row, each with its range and meaning.

Rows are uint8, raw bits and counts. `Layout.scaled` makes float32 in [0, 1] of them, which is what
the environments hand to networks; `Layout.raw` goes back.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dominoenv.errors import DominoError, UnknownNameError, nearest

RAW = np.dtype(np.uint8)


@dataclass(frozen=True)
class Part:
    """One part of the row."""

    name: str
    start: int
    size: int
    high: int
    """Largest raw value; scaled values are raw / high."""
    meaning: str

    @property
    def slice(self) -> slice:
        """Where the part lies in the row."""
        return slice(self.start, self.start + self.size)

    @property
    def scale(self) -> float:
        """What a raw value is multiplied with to lie in [0, 1]."""
        return 1.0 / self.high


@dataclass(frozen=True)
class Layout:
    """The parts of a row in order; they leave no gap."""

    parts: tuple[Part, ...]
    version: int = 1
    """Rises whenever a part moves, comes, goes or changes its meaning; checkpoints name it."""

    @classmethod
    def of(cls, *sections: tuple[str, int, int, str], version: int = 1) -> Layout:
        """Lay sections of (name, size, high, meaning) out one after another."""
        parts, start = [], 0
        for name, size, high, meaning in sections:
            parts.append(Part(name, start, size, high, meaning))
            start += size
        return cls(tuple(parts), version)

    @cached_property
    def size(self) -> int:
        """L, the length of a row."""
        return self.parts[-1].start + self.parts[-1].size

    @cached_property
    def high(self) -> NDArray[np.uint8]:
        """(L,) largest raw value of each entry."""
        return np.repeat(
            np.array([part.high for part in self.parts], np.uint8),
            [part.size for part in self.parts],
        )

    @cached_property
    def scale(self) -> NDArray[np.float32]:
        """(L,) factors from raw to scaled values."""
        scale: NDArray[np.float32] = (1.0 / self.high).astype(np.float32)
        return scale

    def __getitem__(self, name: str) -> slice:
        """Return where a part lies. Raises UnknownNameError for a part that does not exist."""
        for part in self.parts:
            if isinstance(name, str) and part.name == name:
                return part.slice
        known = [part.name for part in self.parts]
        raise UnknownNameError(f"part {name!r} of the observation: {nearest(name, known)}")

    def scaled(self, rows: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Return raw rows (..., L) as float32 in [0, 1]. Raises DominoError for other arrays."""
        if self._checked(rows).dtype != RAW:
            raise DominoError(f"raw observations are uint8, not {rows.dtype}")
        return rows * self.scale

    def raw(self, rows: NDArray[Any]) -> NDArray[np.uint8]:
        """Return rows (..., L) as raw uint8, whichever of the two forms they come in.

        Raises DominoError for rows of another length, or scaled values outside of [0, 1].
        """
        if self._checked(rows).dtype == RAW:
            return rows
        if rows.dtype.kind != "f" or not (rows.min(initial=0) >= 0 and rows.max(initial=1) <= 1):
            raise DominoError("observations are uint8, or scaled: floats in [0, 1]")
        return np.rint(rows * self.high).astype(np.uint8)

    def _checked(self, rows: NDArray[Any]) -> NDArray[Any]:
        if not isinstance(rows, np.ndarray) or rows.shape[-1:] != (self.size,):
            what = f"of shape {rows.shape}" if isinstance(rows, np.ndarray) else repr(rows)[:60]
            raise DominoError(f"observations must be an array (..., {self.size}), not {what}")
        return rows

    def table(self) -> str:
        """Return the layout's version, and its parts as a Markdown table."""
        lines = [f"Layout version {self.version}.", ""]
        lines += ["| part | slice | raw range | meaning |", "| --- | --- | --- | --- |"]
        lines += [
            f"| `{p.name}` | {p.start}:{p.start + p.size} | 0 … {p.high} | {p.meaning} |"
            for p in self.parts
        ]
        return "\n".join(lines)
