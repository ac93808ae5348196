"""Domino sets: tile ids, pips and names.

A double-N set holds every tile [a|b] with 0 <= a <= b <= N. Letters used everywhere: N the highest
pip, K = N + 1 pips, T = K (K + 1) / 2 tiles. The id of a tile counts, for each low pip, the high
pips from low to N: 0-0, 1-0 ... N-0, 1-1, 2-1 ... N-N.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

from dominoenv.errors import PositionError, RulesError

SETS = (6, 9, 12, 15, 18)  # the double-N sets that are sold

# Capacities of the records that the kernels work on; one size for every set and seat count.
MAX_PIPS = 19  # pips 0 ... 18
MAX_TILES = 190  # tiles of the double-18 set
WORDS = 3  # 64-bit words of a tile set


@dataclass(frozen=True, eq=False)
class DominoSet:
    """The double-`max_pip` set; `domino_set` makes each one once."""

    max_pip: int
    low: NDArray[np.int16]  # (T,) smaller pip of each tile
    high: NDArray[np.int16]  # (T,) larger pip of each tile
    ids: NDArray[np.int16]  # (K, K) tile id of two pips, in either order

    @property
    def size(self) -> int:
        """T, the number of tiles."""
        return len(self.low)

    def text(self, tile: int) -> str:
        """Return a tile's name, high pip first: `9-4`."""
        return self._texts[tile]

    @cached_property
    def _texts(self) -> tuple[str, ...]:
        return tuple(f"{high}-{low}" for low, high in zip(self.low, self.high, strict=True))

    def parse(self, text: object) -> int:
        """Return the id of a tile written in either order.

        Raises PositionError where the text is no tile of this set.
        """
        pips = text.split("-") if isinstance(text, str) else []
        if len(pips) == 2 and all(p.isascii() and p.isdigit() and len(p) <= 2 for p in pips):
            a, b = map(int, pips)
            if max(a, b) <= self.max_pip:
                return int(self.ids[a, b])
        raise PositionError(
            f"{text!r} is no tile of the double-{self.max_pip} set; write high-low, such as "
            f"'{self.max_pip}-0'"
        )

    def pip_tiles(self, pip: int) -> list[int]:
        """Return the ids of the K tiles that carry a pip."""
        return [int(tile) for tile in self.ids[pip]]


@cache
def domino_set(max_pip: int) -> DominoSet:
    """Return the double-`max_pip` set. Raises RulesError for a set that is not made."""
    if max_pip not in SETS:
        raise RulesError(f"max_pip={max_pip!r}: the sets are double-{', '.join(map(str, SETS))}")
    pairs = [(low, high) for low in range(max_pip + 1) for high in range(low, max_pip + 1)]
    low, high = np.array(pairs, np.int16).T
    ids = np.zeros((max_pip + 1, max_pip + 1), np.int16)
    ids[low, high] = ids[high, low] = np.arange(len(pairs))
    for array in (low, high, ids):
        array.flags.writeable = False
    return DominoSet(max_pip, low, high, ids)


def tiles_of(words: NDArray[np.uint64]) -> list[int]:
    """Return the tile ids in a tile set, a row of 64-bit words."""
    ids = []
    for w, word in enumerate(words.tolist()):
        while word:
            ids.append(64 * w + (word & -word).bit_length() - 1)
            word &= word - 1
    return ids


def add_tiles(words: NDArray[np.uint64], tiles: Iterable[int]) -> None:
    """Put tiles into a tile set, a row of 64-bit words."""
    for tile in tiles:
        words[tile // 64] |= np.uint64(1 << (tile % 64))


def pips_of(bits: int) -> list[int]:
    """Return the numbers of the bits that are set."""
    return [pip for pip in range(bits.bit_length()) if bits >> pip & 1]
