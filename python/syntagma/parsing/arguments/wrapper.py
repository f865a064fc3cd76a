"""A wrapper around the arguments: one argument that is not declared, with the declared ones inside."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

__all__ = ["may_wrap", "members_of"]

_WRAPPERS = ("arguments", "input")


def may_wrap(key: str, properties: Mapping[str, Any]) -> bool:
    """Whether an argument of this key may be a wrapper: the tool declares arguments, but not this one."""
    return key in _WRAPPERS and bool(properties) and key not in properties


def members_of(text: str, schema: Mapping[str, Any]) -> str | None:
    """The object of JSON inside a wrapper, if it is the arguments: members are declared, and required ones there."""
    try:
        members = json.loads(text)
    except (ValueError, RecursionError):
        return None
    required = schema.get("required", [])
    if not isinstance(members, dict) or not members or not members.keys() <= schema["properties"].keys():
        return None
    return text.strip() if isinstance(required, list) and all(key in members for key in required) else None
