"""Reads the types of a SentencePiece model's pieces, and changes one setting, which its Python interface cannot do.

A model is a protobuf message (`sentencepiece_model.proto`). Its field 1 is a piece, and field 3 of a piece is its type.
"""

from __future__ import annotations

__all__ = ["USER_DEFINED", "piece_types", "without_leading_space"]

USER_DEFINED = 4
_NORMAL = 1
_PIECE, _TYPE = 1, 3
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_NO_LEADING_SPACE = b"\x1a\x02\x18\x00"
"""`normalizer_spec.add_dummy_prefix = false`"""


def piece_types(model: bytes) -> list[int]:
    """The type of each piece. `model` is a message that the library has already accepted."""
    return [
        next((int(found) for number, found in _fields(value) if number == _TYPE), _NORMAL)
        for field, value in _fields(model)
        if field == _PIECE and isinstance(value, bytes)
    ]


def without_leading_space(model: bytes) -> bytes:
    """The model, changed to add no space before a text: an appended field replaces an earlier one."""
    return model + _NO_LEADING_SPACE


def _fields(message: bytes | int) -> list[tuple[int, bytes | int]]:
    """Number and value of each field."""
    assert isinstance(message, bytes)
    found: list[tuple[int, bytes | int]] = []
    at = 0
    while at < len(message):
        tag, at = _varint(message, at)
        value: bytes | int
        kind = tag & 7
        if kind == _VARINT:
            value, at = _varint(message, at)
        else:
            size, at = _varint(message, at) if kind == _BYTES else ({_FIXED64: 8, _FIXED32: 4}[kind], at)
            value, at = message[at : at + size], at + size
        found.append((tag >> 3, value))
    return found


def _varint(message: bytes, at: int) -> tuple[int, int]:
    """A number of variable length, and the offset after it."""
    value = shift = 0
    while True:
        byte = message[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at
