"""The settings of the server."""

from __future__ import annotations

from typing import Literal

import msgspec

from syntagma.limits import Limits
from syntagma.serving.operations import Operations
from syntagma.serving.recordings import RecordingSettings
from syntagma.serving.unknown_tools import UnknownTools

__all__ = ["Settings"]


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """How the server behaves.

    Attributes:
        enforce: how much of a call the grammar constrains when the model may call: `off` nothing, `name` the name,
            `parameters` the name and the arguments by schema. None: `parameters` if the engine can be held to it, else
            `off`. A call of a tool with `strict: true` always keeps to its schema.
        parallel: generations that compute at once; further ones wait. None: 16 for models that compute them together,
            2 for others.
        max_tokens: tokens of an answer if the request does not say; None: as many as the context holds.
        thinking_tokens: tokens of reasoning if the request does not say; None: no bound.
        complete: whether an answer with a grammar is closed with its valid ending before its tokens run out; if not,
            it is cut off.
        on_length: the finish reason of an answer that was closed with a valid ending because its tokens ran out:
            `length`, or `stop` for the one that the model's own end would give. `usage.extra.completed` counts such
            answers in both cases.
        reasoning_fields: the fields of a chat completion that hold the reasoning.
        unknown_tools: what is done about a call of a tool that the request does not declare: `pass` it on, leave its
            text in the `content`, `drop` it, or `refuse` the answer: 502, or an error event in a stream.
        strict_fields: whether a request is refused for what would have no effect, which `x-syntagma-ignored` names
            otherwise.
        stored_bytes: bytes that all stored answers of `/v1/responses` may have together; 0: none is stored.
        recording: which answers are recorded, to be parsed again; None: none.
        inspector: whether `/inspector` shows what happens to a request. It is off by default, since all who may use
            the server can then try templates and grammars on it. With keys, the page asks for one.
        limits: bounds on requests.
        operations: who may ask, how much, and from where.
    """

    enforce: Literal["off", "name", "parameters"] | None = None
    parallel: int | None = None
    max_tokens: int | None = None
    thinking_tokens: int | None = None
    complete: bool = True
    on_length: Literal["length", "stop"] = "length"
    reasoning_fields: tuple[Literal["reasoning_content", "reasoning"], ...] = ("reasoning_content", "reasoning")
    unknown_tools: UnknownTools = "pass"
    strict_fields: bool = False
    stored_bytes: int = 64 << 20
    recording: RecordingSettings | None = None
    inspector: bool = False
    limits: Limits = Limits()
    operations: Operations = Operations()
