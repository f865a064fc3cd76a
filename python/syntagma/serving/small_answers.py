"""The JSON of answers that are one or two fields."""

from __future__ import annotations

from typing import Literal

import msgspec

__all__ = ["Deleted", "Health", "Links", "PromptText", "TokenCount", "Version"]


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


class Deleted(msgspec.Struct, kw_only=True):
    """A stored response that was deleted."""

    id: str
    object: Literal["response"] = "response"
    deleted: bool = True
