"""`tool_choice`: the tools that may or must be called."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec

from syntagma.errors import RequestError
from syntagma.messages import Tool, ToolChoice

__all__ = ["ResolvedToolChoice", "read_choice"]

_KINDS = ("function", "custom")
"""kinds of tools; a choice of this type has the tool's name in a member of the same name"""


class ResolvedToolChoice(msgspec.Struct, frozen=True, kw_only=True):
    """A tool choice, resolved against the declared tools.

    Attributes:
        mode: `none`: no calls; `auto`: any number of calls; `required`: at least one call; `named`: exactly one call.
        tools: the tools that may be called, each with its index in the request; None: undeclared, so any name.
    """

    mode: Literal["none", "auto", "required", "named"]
    tools: tuple[tuple[int, Tool], ...] | None

    @property
    def forced(self) -> bool:
        """Whether at least one call is required."""
        return self.mode in ("required", "named")


def read_choice(choice: ToolChoice, tools: tuple[Tool, ...] | None) -> ResolvedToolChoice:
    """Resolve a tool choice: `auto`, `none`, `required`, a tool's name, or one of OpenAI's dictionaries.

    Raises:
        RequestError: `E-REQUEST-TOOL-CHOICE`, the choice is invalid; `pointer` names the part.
    """
    declared = None if tools is None else tuple(enumerate(tools))
    if isinstance(choice, str):
        if choice in ("auto", "none", "required"):
            return _mode(choice, declared, "/tool_choice")
        return _named(choice, declared, "/tool_choice")
    if not isinstance(choice, Mapping):
        raise _refused("tool_choice must be a word, a tool's name or an object", "/tool_choice")
    kind = choice.get("type")
    if kind in _KINDS:
        inner = choice.get(kind)
        if isinstance(inner, Mapping):
            return _named(inner.get("name"), declared, f"/tool_choice/{kind}/name")
        return _named(choice.get("name"), declared, "/tool_choice/name")
    if kind == "allowed_tools":
        inner = choice.get("allowed_tools")
        if isinstance(inner, Mapping):
            return _allowed(inner, declared, "/tool_choice/allowed_tools")
        return _allowed(choice, declared, "/tool_choice")
    what = "is required" if kind is None else f"unknown type {kind!r}"
    raise _refused(what, "/tool_choice/type", hint='known: "function", "custom", "allowed_tools"')


def _mode(mode: str, declared: tuple[tuple[int, Tool], ...] | None, pointer: str) -> ResolvedToolChoice:
    if mode == "required":
        if not declared:
            raise _refused("a call is required, but no tools are declared", pointer)
        return ResolvedToolChoice(mode="required", tools=declared)
    if mode == "none" or declared == ():
        return ResolvedToolChoice(mode="none", tools=())
    return ResolvedToolChoice(mode="auto", tools=declared)


def _named(name: Any, declared: tuple[tuple[int, Tool], ...] | None, pointer: str) -> ResolvedToolChoice:
    if not isinstance(name, str) or not name:
        raise _refused("the name of the tool is missing", pointer)
    found = tuple(entry for entry in declared or () if entry[1].name == name)
    if not found:
        hint = None if not declared else "declared: " + ", ".join(tool.name for _, tool in declared[:10])
        raise _refused(f"the tool {name!r} is not declared", pointer, hint=hint)
    return ResolvedToolChoice(mode="named", tools=found)


def _allowed(
    choice: Mapping[str, Any], declared: tuple[tuple[int, Tool], ...] | None, pointer: str
) -> ResolvedToolChoice:
    mode = choice.get("mode", "auto")
    if mode not in ("auto", "required"):
        raise _refused(f"unknown mode {mode!r}", f"{pointer}/mode", hint='one of "auto", "required"')
    listed = choice.get("tools")
    if not isinstance(listed, Sequence) or isinstance(listed, str) or not listed:
        raise _refused("the allowed tools must be a list of at least one tool", f"{pointer}/tools")
    names = set()
    for index, entry in enumerate(listed):
        place = f"{pointer}/tools/{index}"
        if not isinstance(entry, Mapping):
            raise _refused("an allowed tool must be an object", place)
        inner = next((entry[kind] for kind in _KINDS if isinstance(entry.get(kind), Mapping)), entry)
        name = inner.get("name")
        names.add(_named(name, declared, place).tools[0][1].name)  # type: ignore[index]  # a named choice has one
    kept = tuple(entry for entry in declared or () if entry[1].name in names)
    return _mode(mode, kept, pointer)


def _refused(message: str, pointer: str, hint: str | None = None) -> RequestError:
    return RequestError("E-REQUEST-TOOL-CHOICE", message, pointer=pointer, hint=hint)
