"""Sets of tiles as rows of 64-bit words, and the instructions that make them fast.

Tile t is bit t & 63 of word t >> 6. Kernels take words, not rows: handing a part of an array to a
function costs more than what is done to it here. All functions are unchecked: the caller keeps
tiles in range.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from dominoenv._jit import DISABLED, jit

ONE = np.uint64(1)
NEVER_EMPTY = ir.IntType(1)(1)  # LLVM may leave the lowest bit of an empty word undefined

if DISABLED:

    def lowest(word: Any) -> int:
        """Return the position of a non-empty word's lowest tile."""
        return (int(word) & -int(word)).bit_length() - 1

else:

    @intrinsic  # type: ignore[untyped-decorator]
    def lowest(_context: Any, word: Any) -> Any:
        """Return the position of a non-empty word's lowest tile."""

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.cttz(args[0], NEVER_EMPTY)

        return types.int64(types.uint64), generate


EACH_BYTE = np.uint64(0x0101010101010101)
OWN_BIT = np.uint64(0x8040201008040201)  # bit i of byte i
BELOW_TOP = np.uint64(0x7F7F7F7F7F7F7F7F)
BYTE, SEVEN, EIGHT = np.uint64(0xFF), np.uint64(7), np.uint64(8)

if DISABLED:

    def store_8_bytes(row: Any, at: int, word: Any) -> None:
        """Write a word into row[at], row[at + 1] ... row[at + 7], its lowest byte first."""
        for i in range(8):
            row[at + i] = (int(word) >> (8 * i)) & 255

else:

    @intrinsic  # type: ignore[untyped-decorator]
    def store_8_bytes(_context: Any, row: Any, at: Any, word: Any) -> Any:
        """Write a word into row[at], row[at + 1] ... row[at + 7], its lowest byte first."""

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            data = context.make_array(signature.args[0])(context, builder, args[0]).data
            place = builder.gep(data, [args[1]])
            builder.store(args[2], builder.bitcast(place, args[2].type.as_pointer()), align=1)
            return context.get_dummy_value()

        return types.void(row, types.int64, types.uint64), generate


@jit
def spread(byte: Any) -> Any:
    """Return the eight bits of a byte as the bytes 0 or 1 of a word."""
    return (((byte * EACH_BYTE & OWN_BIT) + BELOW_TOP) >> SEVEN) & EACH_BYTE


@jit
def write_word(row: Any, at: int, word: Any, size: int) -> None:
    """Write the first `size` bits of a word as bytes 0 or 1 from row[at] on, eight at a time.

    Up to seven bytes behind the last one are cleared as well: write a row from left to right.
    """
    end = at + size
    while at < end:
        store_8_bytes(row, at, spread(word & BYTE))
        word >>= EIGHT
        at += 8


@jit
def bit(tile: int) -> Any:
    """Return a tile as a bit of word tile >> 6."""
    return ONE << np.uint64(tile & 63)
