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

from dominoenv.core.compiling import DISABLED, jit
from dominoenv.core.types import Mask, Row, State, Word

NO_TILES, ONE, EIGHT = np.uint64(0), np.uint64(1), np.uint64(8)
NEVER_EMPTY = ir.IntType(1)(1)  # LLVM may leave the lowest bit of an empty word undefined
BYTE = ir.IntType(8)
CACHE_LINE = 64  # bytes of a cache line

if DISABLED:

    def lowest(word: Word) -> int:
        """Return the position of a non-empty word's lowest tile."""
        return (int(word) & -int(word)).bit_length() - 1

    def count(word: Word) -> int:
        """Return how many tiles a word holds."""
        return int(word).bit_count()

    def store_byte(row: Row | Mask, at: int, value: int) -> None:
        """Write a byte into a row, `at` counted from its beginning only."""
        row[at] = value

    def prefetch(memory: State | Row, offset: int) -> None:
        """Ask for the cache line at a record or an array, so many bytes on, before it is needed."""

else:

    @intrinsic  # type: ignore[untyped-decorator]
    def lowest(_context: Any, word: Any) -> Any:
        """Return the position of a non-empty word's lowest tile."""

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.cttz(args[0], NEVER_EMPTY)

        return types.int64(types.uint64), generate

    @intrinsic  # type: ignore[untyped-decorator]
    def count(_context: Any, word: Any) -> Any:
        """Return how many tiles a word holds."""

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.ctpop(args[0])

        return types.int64(types.uint64), generate

    @intrinsic  # type: ignore[untyped-decorator]
    def store_byte(_context: Any, row: Any, at: Any, value: Any) -> Any:
        """Write a byte into a row, `at` counted from its beginning only."""

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            data = context.make_array(signature.args[0])(context, builder, args[0]).data
            builder.store(builder.trunc(args[2], BYTE), builder.gep(data, [args[1]]))
            return context.get_dummy_value()

        return types.void(row, types.int64, types.int64), generate

    @intrinsic  # type: ignore[untyped-decorator]
    def prefetch(_context: Any, memory: Any, offset: Any) -> Any:
        """Ask for the cache line at a record or an array, so many bytes on, before it is needed."""

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            start = args[0]
            if isinstance(signature.args[0], types.Array):
                start = context.make_array(signature.args[0])(context, builder, start).data
            pointer, number = BYTE.as_pointer(), ir.IntType(32)
            place = builder.gep(builder.bitcast(start, pointer), [args[1]])
            kind = ir.FunctionType(ir.VoidType(), [pointer, number, number, number])
            call = builder.module.declare_intrinsic("llvm.prefetch", (pointer,), kind)
            builder.call(call, [place, number(1), number(3), number(1)])  # to write, to keep, data
            return context.get_dummy_value()

        return types.void(memory, types.int64), generate


def _store(size: int) -> Any:
    """Return the function that writes the first `size` bits of a word as as many bytes 0 or 1."""
    if DISABLED:

        def plain(row: Row, at: int, word: Word) -> None:
            for i in range(size):
                row[at + i] = (int(word) >> i) & 1

        return plain

    bytes_ = ir.VectorType(BYTE, size)
    source = ir.Constant(ir.VectorType(ir.IntType(32), size), [i // 8 for i in range(size)])
    own_bit = ir.Constant(bytes_, [1 << i % 8 for i in range(size)])

    @intrinsic  # type: ignore[untyped-decorator]
    def store(_context: Any, row: Any, at: Any, word: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            data = context.make_array(signature.args[0])(context, builder, args[0]).data
            place = builder.bitcast(builder.gep(data, [args[1]]), bytes_.as_pointer())
            eight = builder.bitcast(args[2], ir.VectorType(BYTE, 8))
            each = builder.shuffle_vector(eight, ir.Constant(eight.type, ir.Undefined), source)
            picked = builder.and_(each, own_bit)
            bits = builder.icmp_unsigned("!=", picked, ir.Constant(bytes_, [0] * size))
            builder.store(builder.zext(bits, bytes_), place, align=1)
            return context.get_dummy_value()

        return types.void(row, types.int64, types.uint64), generate

    return store


store_8, store_64 = _store(8), _store(64)


@jit
def write_bits(row: Row, at: int, word: Word, size: int) -> None:
    """Write the first `size` bits of a word as bytes 0 or 1 from row[at] on.

    Fewer than eight bits write eight bytes all the same: write a row from left to right then.
    """
    if size == 64:
        store_64(row, at, word)
        return
    last = at + max(size - 8, 0)  # the last eight bytes overlap what stands before them
    rest = word >> np.uint64(max(size - 8, 0))
    while at < last:
        store_8(row, at, word)
        word >>= EIGHT
        at += 8
    store_8(row, last, rest)


@jit
def nth_tile(word: Word, n: int) -> int:
    """Return the position of the n-th tile, from 0, of a word that holds more than n."""
    while n > 0:
        word &= word - ONE
        n -= 1
    return int(lowest(word))


@jit
def bit(tile: int) -> Word:
    """Return a tile as a bit of word tile >> 6."""
    return ONE << np.uint64(tile & 63)
