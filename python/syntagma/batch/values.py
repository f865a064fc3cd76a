"""Converts values of columns of Arrow, NumPy and pandas to plain Python, and reads JSON text."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import msgspec
import numpy as np

from syntagma.errors import ArgumentError

__all__ = ["from_json", "ids_of", "json_of", "plain", "text_of"]


def plain(value: Any) -> Any:
    """A value without classes of NumPy or pandas, and without null members of structures.

    Arrow gives all structures of a column the same members, with null for those that were missing.
    """
    if isinstance(value, str) or value is None:
        return value
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, Mapping):
        return {str(name): plain(one) for name, one in value.items() if not _is_missing(one)}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    return None if _is_missing(value) else value


def _is_missing(value: Any) -> bool:
    """Whether a value is a null of Python, NumPy or pandas."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return True
    return type(value).__name__ in ("NAType", "NaTType")


def text_of(value: Any, column: str) -> str:
    """The value, checked to be a string.

    Raises:
        ArgumentError: `E-BATCH-COLUMN`, it is not a string.
    """
    if not isinstance(value, str):
        kind = "null" if value is None else f"a {type(value).__name__}"
        raise ArgumentError("E-BATCH-COLUMN", f"{column} must be a string, not {kind}", pointer=f"/{column}")
    return value


def ids_of(value: Any, column: str) -> list[int]:
    """The value, checked to be a list of token ids.

    Raises:
        ArgumentError: `E-BATCH-COLUMN`, it is not a list of integers.
    """
    if not isinstance(value, list | tuple) or not all(type(one) is int for one in value):
        raise ArgumentError("E-BATCH-COLUMN", f"{column} must be a list of token ids", pointer=f"/{column}")
    return list(value)


def from_json(value: Any, column: str) -> Any:
    """The value, decoded if it is JSON text.

    Raises:
        ArgumentError: `E-BATCH-COLUMN`, it is a string but not JSON.
    """
    if not isinstance(value, str):
        return value
    try:
        return msgspec.json.decode(value)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError) as error:
        message = f"{column} must be a structure or JSON text: {error}"
        raise ArgumentError("E-BATCH-COLUMN", message, pointer=f"/{column}") from None


def json_of(value: Any) -> bytes:
    """A value as JSON. Objects of other types are written as `str` of them."""
    return _ENCODER.encode(value)


_ENCODER = msgspec.json.Encoder(enc_hook=str)
