"""The request for one turn: tools, `tool_choice`, `response_format`, reasoning and budgets, read and checked once.

`resolve_request` makes a `ResolvedRequest` from the caller's options. The parser (`StreamParser.from_request`) and the
grammar (`syntagma.constraints.build_grammar`) both take that value, so they cannot read a request differently.

Some values look alike but differ.

| `tools=` | what the grammar allows | what the parser reads |
|---|---|---|
| `None` (undeclared) | calls of any name, with any arguments | calls of any name, with untyped arguments |
| `[]` (no tools) | no calls | no calls: text that looks like one is content |
| a list | calls of these tools | calls, with arguments typed by these tools |

With undeclared tools and a `response_format` other than text, there are no calls.

| `reasoning=` | at the start of the output | afterwards |
|---|---|---|
| `"auto"` | the prompt tail; else `template_kwargs`; else the format | a block may follow, unless one has ended |
| `"open"` | inside a block of reasoning | its closer ends it |
| `"closed"` | outside of reasoning | a block may follow: the grammar allows one, the parser reads one |
| `"off"` | outside of reasoning | the grammar allows no block; the parser still reads one if it occurs |
"""

from __future__ import annotations

from syntagma.request.options import (
    Budgets,
    Enforce,
    ReasoningChoice,
    ReasoningFormat,
    RequestOptions,
    SharedOptions,
)
from syntagma.request.resolved import ResolvedRequest, resolve_request
from syntagma.request.response_format import ResponseFormat, read_response_format
from syntagma.request.tool_choice import ResolvedToolChoice, read_choice

__all__ = [
    "Budgets",
    "Enforce",
    "ReasoningChoice",
    "ReasoningFormat",
    "RequestOptions",
    "ResolvedRequest",
    "ResolvedToolChoice",
    "ResponseFormat",
    "SharedOptions",
    "read_choice",
    "read_response_format",
    "resolve_request",
]
