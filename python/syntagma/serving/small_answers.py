"""The JSON of answers that are one or two fields."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

__all__ = ["Deleted", "Health", "InputTokenCount", "ItemList", "Links", "PromptText", "TokenCount", "Version"]


class Health(msgspec.Struct, kw_only=True):
    """The answer of `/health` and `/ready`."""

    status: Literal["ok"] = "ok"


class Links(msgspec.Struct, kw_only=True):
    """Where to go from here: name → address, relative to this one."""

    links: dict[str, str]


class Version(msgspec.Struct, kw_only=True):
    """The version of the library."""

    version: str


class PromptText(msgspec.Struct, kw_only=True):
    """The text of a prompt."""

    prompt: str


class TokenCount(msgspec.Struct, kw_only=True):
    """How many tokens a prompt has."""

    input_tokens: int


class InputTokenCount(msgspec.Struct, kw_only=True):
    """How many tokens the input of a response has."""

    object: Literal["response.input_tokens"] = "response.input_tokens"
    input_tokens: int


class Deleted(msgspec.Struct, kw_only=True):
    """A stored response that was deleted."""

    id: str
    object: Literal["response"] = "response"
    deleted: bool = True


class ItemList(msgspec.Struct, kw_only=True):
    """Items of a stored response."""

    object: Literal["list"] = "list"
    data: list[dict[str, Any]]
    first_id: str | None
    last_id: str | None
    has_more: bool
