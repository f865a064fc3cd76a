"""Writes small GGUF files for tests."""

from __future__ import annotations

import struct
from typing import Any

STRING, ARRAY, BOOL = 8, 9, 7
_FORMATS = {0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<B", 10: "<Q", 11: "<q", 12: "<d"}


def text(value: str | bytes) -> bytes:
    """A string as GGUF writes it."""
    data = value.encode() if isinstance(value, str) else value
    return struct.pack("<Q", len(data)) + data


def scalar(kind: int, value: Any) -> bytes:
    """A value without its type; for an array `(kind of the items, items)`."""
    if kind == STRING:
        return text(value)
    if kind == ARRAY:
        inner, items = value
        return struct.pack("<IQ", inner, len(items)) + b"".join(scalar(inner, item) for item in items)
    return struct.pack(_FORMATS[kind], value)


def gguf(pairs: list[tuple[str, int, Any]], *, version: int = 3, tensors: int = 0) -> bytes:
    """A file with these pairs of key, type and value, and no tensors after them."""
    head = b"GGUF" + struct.pack("<IQQ", version, tensors, len(pairs))
    return head + b"".join(text(key) + struct.pack("<I", kind) + scalar(kind, value) for key, kind, value in pairs)
