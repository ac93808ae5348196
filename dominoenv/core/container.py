"""The form of every binary file that is read back: checkpoints, tournament blocks, kernels.

A file is
- a line that names its kind and version: `dominoenv checkpoint 2`,
- the SHA-256 digest of all other bytes, 32 bytes,
- the size of a JSON text, 4 bytes, the lowest first,
- the JSON text, in which `{"__array__": ["<f4", [3, 8]]}` stands for an array,
- the bytes of the arrays, in the order of the text.

The digest finds damage, not forgery. So nothing is run or unpickled, an array takes no more memory
than its bytes in the file, and sizes are compared before anything is made of them.
"""

from __future__ import annotations

import hashlib
import json
import math
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Never

import numpy as np
from numpy.typing import NDArray

from dominoenv.core.files import read_bounded, write_atomically
from dominoenv.errors import CheckpointError

MAGIC = b"dominoenv "
DIGEST_SIZE = hashlib.sha256().digest_size
LINE_LIMIT = 100  # bytes
TEXT_LIMIT = 1 << 22  # bytes; as Python objects a text takes up to 30 times its size
MAX_DIGITS = 40  # of a whole number: the state of a random generator has 39
ARRAY = "__array__"
DTYPES = {f"{'|' if size == 1 else '<'}{kind}{size}" for kind in "iu" for size in (1, 2, 4, 8)}
DTYPES |= {"<f4", "<f8"}
# raised by reading content that is not what `_packed` made
DAMAGED = (ValueError, LookupError, TypeError, OverflowError, RecursionError, zlib.error)


@dataclass(frozen=True)
class FileKind:
    """What a file holds, and what holds for all such files."""

    name: str
    version: int
    """Raise it when the content changes its meaning."""
    limit: int
    """Bytes of content, at most; of compressed files the decompressed content."""
    compressed: bool = False
    named: bool = False
    """Whether a file is valid under the name alone that it was written with."""

    @property
    def line(self) -> bytes:
        """The first line of its files."""
        return MAGIC + f"{self.name} {self.version}\n".encode()


def write_container(path: Path, kind: FileKind, content: Any, mode: int = 0o666) -> None:
    """Write a file atomically.

    content: dicts with text keys, lists, texts, numbers, None, and arrays (or tensors) of numbers.
    Raises OSError, and CheckpointError for content that `read_container` would refuse.
    """
    try:
        body = _packed(content)
    except (TypeError, ValueError, RecursionError) as error:
        raise CheckpointError(f"{path} cannot be written: {error}") from error
    if len(body) > kind.limit:
        raise CheckpointError(
            f"{path} cannot be written: {len(body):,} bytes, and a {kind.name} may have "
            f"{kind.limit:,}"
        )
    if kind.compressed:
        body = zlib.compress(body)
    write_atomically(path, kind.line + _digest(path, kind, body) + body, mode)


def read_container(
    path: Path, kind: FileKind, limit: int | None = None, private: bool = False
) -> Any:
    """Return the content that `write_container` wrote; tuples come back as lists.

    All arrays are new, and of numbers that are finite. limit: bytes of content, if fewer than
    those of the kind; private: as in `read_bounded`. Raises CheckpointError.
    """
    limit = kind.limit if limit is None else min(limit, kind.limit)
    try:
        data = read_bounded(path, limit + LINE_LIMIT + DIGEST_SIZE, private)
    except (OSError, ValueError) as error:  # ValueError: a path with a null byte
        reason = getattr(error, "strerror", None) or error
        raise CheckpointError(f"{path} cannot be read: {reason}") from error
    _check_line(path, kind, data[:LINE_LIMIT])
    start = len(kind.line) + DIGEST_SIZE
    body: Any = memoryview(data)[start:]
    foreign = CheckpointError(f"{path} is damaged, or not a {kind.name} of dominoenv")
    if data[len(kind.line) : start] != _digest(path, kind, body):
        raise foreign
    try:
        return _unpacked(_decompressed(body, limit) if kind.compressed else body)
    except DAMAGED as error:
        raise foreign from error


def _check_line(path: Path, kind: FileKind, begin: bytes) -> None:
    """Raise CheckpointError unless a file begins with the line of its kind."""
    if begin.startswith(kind.line):
        return
    line = begin.partition(b"\n")[0].removeprefix(MAGIC + f"{kind.name} ".encode())
    if line.isdigit() and int(line) != kind.version:
        raise CheckpointError(
            f"{path} has version {line.decode()} of the format, this dominoenv reads version "
            f"{kind.version}: make it anew, or use the dominoenv that wrote it"
        )
    raise CheckpointError(f"{path} is damaged, or not a {kind.name} of dominoenv")


def _digest(path: Path, kind: FileKind, body: Any) -> bytes:
    digest = hashlib.sha256(kind.line)
    if kind.named:
        digest.update(path.name.encode())
    digest.update(body)
    return digest.digest()


def _decompressed(body: Any, limit: int) -> bytes:
    """Return decompressed bytes; never makes more than the limit."""
    stream = zlib.decompressobj()
    content = stream.decompress(body, limit + 1)
    if len(content) > limit or not stream.eof or stream.unused_data:
        raise ValueError("too large, or cut short")
    return content


# ---------------------------------------------------------------------------------------- content


def _packed(content: Any) -> bytes:
    arrays: list[bytes] = []

    def take(value: Any) -> Any:
        if isinstance(value, np.generic):
            return value.item()
        array = np.asarray(value)
        array = array.astype(array.dtype.newbyteorder("<"), copy=False)
        if array.dtype.str not in DTYPES:
            raise TypeError(f"{type(value).__name__} of {array.dtype} cannot be kept")
        arrays.append(_finite(array).tobytes())
        return {ARRAY: [array.dtype.str, list(array.shape)]}

    text = json.dumps(content, default=take, allow_nan=False).encode()
    if len(text) > TEXT_LIMIT:
        raise ValueError(f"{len(text):,} bytes of text, at most {TEXT_LIMIT:,} are possible")
    return b"".join([len(text).to_bytes(4, "little"), text, *arrays])


def _unpacked(body: Any) -> Any:
    size = int.from_bytes(body[:4], "little")
    at = 4 + size
    if size > TEXT_LIMIT or at > len(body):
        raise ValueError("the text is too long")

    def put(found: dict[str, Any]) -> Any:
        nonlocal at
        if found.keys() != {ARRAY}:
            return found
        dtype, shape = found[ARRAY]
        array = _array(dtype, shape, body[at:])
        at += array.nbytes
        return array

    content = parse_json(bytes(body[4:at]).decode(), put)
    if at != len(body):
        raise ValueError("bytes are left over")
    return content


def _array(dtype: str, shape: list[int], rest: Any) -> NDArray[Any]:
    """Return the array at the beginning of some bytes. Raises ValueError, TypeError."""
    if dtype not in DTYPES or not all(type(size) is int and size >= 0 for size in shape):
        raise ValueError("no array of numbers")
    array = np.frombuffer(rest, dtype, math.prod(shape)).reshape(shape)
    return _finite(array.astype(array.dtype.newbyteorder("=")))


def _finite(array: NDArray[Any]) -> NDArray[Any]:
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise ValueError("an array has numbers that are not finite (has the training diverged?)")
    return array


def parse_json(text: str, put: Any = None) -> Any:
    """Return the value of a JSON text with finite numbers of a sensible length.

    put: called with each dict, returns what stands in its place. Raises ValueError, RecursionError.
    """
    return json.loads(
        text, object_hook=put, parse_int=_whole, parse_float=_real, parse_constant=_refuse
    )


def _whole(text: str) -> int:
    return int(text) if len(text) <= MAX_DIGITS else _refuse(text)


def _real(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else _refuse(text)


def _refuse(text: str) -> Never:
    raise ValueError(f"{text[:MAX_DIGITS]} is no number that can be kept")
