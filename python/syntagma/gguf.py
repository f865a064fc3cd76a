"""Reads the metadata of GGUF files (versions 2 and 3, little-endian).

Layout: `GGUF`, version u32, number of tensors u64, number of pairs u64, then the pairs: key (u64 length, UTF-8), type
u32, value. The tensors after them are not read. Each length is checked against the rest of the file before it is used.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Iterable
from typing import Any, BinaryIO, Final

import numpy as np

from syntagma.errors import ModelError

__all__ = ["read_metadata"]

_MAGIC: Final = b"GGUF"
_VERSIONS: Final = (2, 3)
_NUMBERS: Final = {0: "u1", 1: "i1", 2: "<u2", 3: "<i2", 4: "<u4", 5: "<i4", 6: "<f4", 10: "<u8", 11: "<i8", 12: "<f8"}
_BOOL: Final = 7
_STRING: Final = 8
_ARRAY: Final = 9
_MAX_DEPTH: Final = 4
_MAX_KEY_BYTES: Final = 65_535
_CHUNK: Final = 1 << 20
_U32: Final = struct.Struct("<I")
_U64: Final = struct.Struct("<Q")


def read_metadata(
    path: str | os.PathLike[str], keys: Iterable[str] | Callable[[str], bool] | None = None
) -> dict[str, Any]:
    """The metadata of a GGUF file.

    Args:
        path: the file.
        keys: the keys to read, as names or as a predicate; None: all. Other values are skipped.

    Returns:
        The values by key, in the file's order: int, float, bool or str; arrays of strings, booleans and arrays as
        lists; arrays of numbers as one-dimensional NumPy arrays of the stored type. Invalid UTF-8 becomes U+FFFD.

    Raises:
        ModelError: `E-MODEL-GGUF`, the file cannot be opened, is not a GGUF file of a supported version, or is damaged;
            with an offset in bytes if there is one.
    """
    if keys is None:
        wanted: Callable[[str], bool] = _everything
    elif callable(keys):
        wanted = keys
    else:
        wanted = frozenset(keys).__contains__
    try:
        with open(path, "rb") as file:
            return _MetadataReader(file).metadata(wanted)
    except OSError as error:
        raise ModelError("E-MODEL-GGUF", f"the file cannot be read: {error}", source=os.fspath(path)) from None
    except ModelError as error:
        error.source = os.fspath(path)
        raise


def _everything(_key: str) -> bool:
    return True


def _damaged(offset: int, why: str) -> ModelError:
    return ModelError("E-MODEL-GGUF", f"not a readable GGUF file: {why} (byte {offset})", offset=offset)


class _MetadataReader:
    def __init__(self, file: BinaryIO) -> None:
        # The file is read, not mapped: if a mapped file shrank, the process would crash.
        self._file = file
        self._data = bytearray()
        self._size = os.fstat(file.fileno()).st_size
        self._at = 0

    def metadata(self, wanted: Callable[[str], bool]) -> dict[str, Any]:
        if self._size < len(_MAGIC) or self._take(4) != _MAGIC:
            raise _damaged(0, "it does not begin with GGUF")
        version = self._u32()
        if version not in _VERSIONS:
            raise _damaged(4, f"version {version} is not one of {_VERSIONS}")
        self._u64()
        pairs = self._u64()
        found: dict[str, Any] = {}
        for _ in range(self._count(pairs, 12)):
            begin = self._at
            length = self._u64()
            if length > _MAX_KEY_BYTES:
                raise _damaged(begin, f"a key has {length} bytes")
            key = self._text(length)
            kind = self._u32()
            if wanted(key):
                found[key] = self._value(kind, 0)
            else:
                self._skip(kind, 0)
        return found

    # -- primitives

    def _load(self, end: int) -> None:
        if end > self._size:
            raise _damaged(self._at, f"{end - self._at} bytes are declared, but only {self._size - self._at} are left")
        while len(self._data) < end:
            chunk = self._file.read(max(_CHUNK, end - len(self._data)))
            if not chunk:
                raise _damaged(len(self._data), "the file became shorter while it was read")
            self._data += chunk

    def _take(self, count: int) -> bytes:
        begin = self._at
        self._load(begin + count)
        self._at = begin + count
        return bytes(self._data[begin : self._at])

    def _count(self, count: int, least: int) -> int:
        if count * least > self._size - self._at:
            raise _damaged(self._at, f"{count} values are declared, more than fit into the file")
        return count

    def _u32(self) -> int:
        number: int = _U32.unpack(self._take(4))[0]
        return number

    def _u64(self) -> int:
        number: int = _U64.unpack(self._take(8))[0]
        return number

    def _text(self, length: int) -> str:
        return str(self._take(length), "utf-8", "replace")

    # -- values

    def _value(self, kind: int, depth: int) -> Any:
        if kind in _NUMBERS:
            return self._numbers(kind, 1)[0].item()
        if kind == _BOOL:
            return self._take(1)[0] != 0
        if kind == _STRING:
            return self._text(self._u64())
        if kind == _ARRAY:
            return self._array(depth + 1)
        raise _damaged(self._at - 4, f"{kind} is not a type of a value")

    def _array(self, depth: int) -> Any:
        kind, count = self._array_head(depth)
        if kind in _NUMBERS:
            return self._numbers(kind, count)
        if kind == _BOOL:
            return [flag != 0 for flag in self._take(count)]
        if kind == _STRING:
            return self._strings(count)
        return [self._array(depth + 1) for _ in range(count)]

    def _array_head(self, depth: int) -> tuple[int, int]:
        if depth > _MAX_DEPTH:
            raise _damaged(self._at, f"arrays are nested more than {_MAX_DEPTH} deep")
        kind = self._u32()
        count = self._u64()
        if kind in _NUMBERS:
            least = np.dtype(_NUMBERS[kind]).itemsize
        elif kind == _BOOL:
            least = 1
        elif kind == _STRING:
            least = 8
        elif kind == _ARRAY:
            least = 12
        else:
            raise _damaged(self._at - 12, f"{kind} is not a type of a value")
        return kind, self._count(count, least)

    def _numbers(self, kind: int, count: int) -> np.ndarray[Any, np.dtype[Any]]:
        dtype = np.dtype(_NUMBERS[kind])
        return np.frombuffer(self._take(count * dtype.itemsize), dtype).copy()

    def _strings(self, count: int) -> list[str]:
        # A tight loop, because vocabularies have a quarter of a million strings.
        data, unpack = self._data, _U64.unpack_from
        loaded = len(data)
        found: list[str] = []
        for _ in range(count):
            begin = self._at + 8
            if begin > loaded:
                self._load(begin)
                loaded = len(data)
            end = begin + unpack(data, self._at)[0]
            if end > loaded:
                self._load(end)
                loaded = len(data)
            found.append(data[begin:end].decode("utf-8", "replace"))
            self._at = end
        return found

    def _skip(self, kind: int, depth: int) -> None:
        if kind in _NUMBERS:
            self._take(np.dtype(_NUMBERS[kind]).itemsize)
        elif kind == _BOOL:
            self._take(1)
        elif kind == _STRING:
            self._take(self._u64())
        elif kind == _ARRAY:
            self._skip_array(depth + 1)
        else:
            raise _damaged(self._at - 4, f"{kind} is not a type of a value")

    def _skip_array(self, depth: int) -> None:
        kind, count = self._array_head(depth)
        if kind in _NUMBERS:
            self._take(count * np.dtype(_NUMBERS[kind]).itemsize)
        elif kind == _BOOL:
            self._take(count)
        elif kind == _STRING:
            for _ in range(count):
                self._take(self._u64())
        else:
            for _ in range(count):
                self._skip_array(depth + 1)
