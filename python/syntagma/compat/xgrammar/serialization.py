"""Objects as JSON text with a kind, a version and fields."""

from __future__ import annotations

from typing import Any

import msgspec

from syntagma.compat.xgrammar.arguments import wrong_type
from syntagma.compat.xgrammar.config import get_serialization_version
from syntagma.compat.xgrammar.exception import DeserializeFormatError, DeserializeVersionError, InvalidJSONError

__all__ = ["read", "write"]


def write(kind: str, **fields: Any) -> str:
    """JSON text of an object."""
    return msgspec.json.encode({"__KIND__": kind, "__VERSION__": get_serialization_version(), **fields}).decode()


def read(text: str, kind: str, *fields: str) -> list[Any]:
    """The fields of an object of this kind.

    Raises:
        InvalidJSONError: not JSON.
        DeserializeVersionError: another version.
        DeserializeFormatError: another kind, or a field is missing.
        WrongTypeError: not a string.
    """
    if not isinstance(text, str):
        raise wrong_type("json_string", "str", text)
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise InvalidJSONError(f"the text is not JSON: {error}") from error
    if not isinstance(value, dict) or value.get("__KIND__") != kind:
        raise DeserializeFormatError(f"the text is not a {kind}")
    if value.get("__VERSION__") != get_serialization_version():
        raise DeserializeVersionError(
            f"the text has version {value.get('__VERSION__')!r}, and this is version {get_serialization_version()!r}"
        )
    missing = [field for field in fields if field not in value]
    if missing:
        raise DeserializeFormatError(f"the text lacks {', '.join(missing)}")
    return [value[field] for field in fields]
