"""Sets of tiles as rows of 64-bit words, and the two instructions that make them fast.

Tile t is bit t % 64 of word t // 64. All functions are unchecked: the caller keeps tiles in range.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from dominoenv._jit import DISABLED, jit
from dominoenv.tiles import WORDS

ONE = np.uint64(1)
ZERO = np.uint64(0)
NEVER_EMPTY = ir.IntType(1)(1)  # LLVM may leave the lowest bit of an empty word undefined

if DISABLED:

    def count_ones(word: Any) -> int:
        """Return the number of tiles in a word."""
        return int(word).bit_count()

    def lowest(word: Any) -> int:
        """Return the position of a non-empty word's lowest tile."""
        return (int(word) & -int(word)).bit_length() - 1

else:

    @intrinsic  # type: ignore[untyped-decorator]
    def count_ones(_context: Any, word: Any) -> Any:
        """Return the number of tiles in a word."""

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.ctpop(args[0])

        return types.int64(types.uint64), generate

    @intrinsic  # type: ignore[untyped-decorator]
    def lowest(_context: Any, word: Any) -> Any:
        """Return the position of a non-empty word's lowest tile."""

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.cttz(args[0], NEVER_EMPTY)

        return types.int64(types.uint64), generate


@jit
def contains(tiles: Any, tile: int) -> bool:
    """Return whether a tile is in the set."""
    return bool((tiles[tile >> 6] >> np.uint64(tile & 63)) & ONE)


@jit
def add(tiles: Any, tile: int) -> None:
    """Put a tile into the set."""
    tiles[tile >> 6] |= ONE << np.uint64(tile & 63)


@jit
def remove(tiles: Any, tile: int) -> None:
    """Take a tile out of the set."""
    tiles[tile >> 6] &= ~(ONE << np.uint64(tile & 63))


@jit
def count(tiles: Any) -> int:
    """Return the number of tiles in the set."""
    total = 0
    for w in range(WORDS):
        total += count_ones(tiles[w])
    return total
