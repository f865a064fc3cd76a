"""The public names of an xgrammar-like module with what can be compared of each: parameters, members, fields."""

from __future__ import annotations

import inspect
from dataclasses import fields, is_dataclass
from enum import Enum
from types import ModuleType
from typing import Any


def parameters(function: Any) -> str:
    """Parameters without types: `(self, a, b=1, *, c=None)`; defaults that are objects of the library as `...`."""
    parts: list[str] = []
    starred = False
    for one in inspect.signature(function).parameters.values():
        if one.kind is one.KEYWORD_ONLY and not starred:
            parts.append("*")
            starred = True
        prefix = {one.VAR_POSITIONAL: "*", one.VAR_KEYWORD: "**"}.get(one.kind, "")
        starred = starred or prefix == "*"
        default = "" if one.default is one.empty else f"={one.default!r}"
        parts.append(prefix + one.name + ("=..." if default.startswith("=<") else default))
    return f"({', '.join(parts)})"


def shape(value: Any) -> dict[str, str]:
    """What one name is: its own description under "", and those of its public members."""
    if inspect.ismodule(value):
        return {"": "module"}
    if not inspect.isclass(value):
        return {"": parameters(value) if callable(value) else "value"}
    if issubclass(value, BaseException):
        return {"": f"exception of {value.__mro__[1].__name__}"}
    if issubclass(value, Enum):
        return {"": ", ".join(f"{member.name}={member.value}" for member in value)}
    if hasattr(value, "model_fields"):
        return {"": "fields " + ", ".join(sorted(value.model_fields))}
    if is_dataclass(value):
        return {"": "fields " + ", ".join(sorted(field.name for field in fields(value)))}
    described = {"": "class"}
    for name, member in vars(value).items():
        function = member.__func__ if isinstance(member, staticmethod | classmethod) else member
        if isinstance(member, property):
            described[name] = "property"
        elif (not name.startswith("_") or name in ("__init__", "__call__")) and callable(function):
            described[name] = parameters(function)
    return {name: text for name, text in described.items() if not name.startswith("_") or name.startswith("__")}


def names(module: ModuleType, testing: ModuleType, tags: ModuleType, hf: ModuleType) -> dict[str, str]:
    """Every public name, dotted, with its description."""
    found: dict[str, Any] = {name: getattr(module, name) for name in module.__all__}
    own = {
        name: value
        for name, value in vars(testing).items()
        if getattr(value, "__module__", "") == testing.__name__ and not name.startswith("_")
    }
    found |= {f"testing.{name}": value for name, value in own.items() if callable(value)}
    found |= {f"structural_tag.{name}": getattr(tags, name) for name in tags.__all__ if name != "Format"}
    found["hf.LogitsProcessor"] = hf.LogitsProcessor
    return {
        f"{name}.{member}" if member else name: text
        for name, value in found.items()
        for member, text in shape(value).items()
    }
