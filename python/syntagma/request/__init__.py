"""What is asked of one turn: tools, `tool_choice`, `response_format`, reasoning, budgets; read and checked once.

`resolve_request` makes a `ResolvedRequest` of what the caller wrote. The parser (`StreamParser.from_request`) and the
grammar (`syntagma.constraints.build_grammar`) both take that value, so that they cannot read a request differently.

Two pairs of values look alike and are not.

| `tools=` | what the grammar allows | what the parser reads |
|---|---|---|
| `None` (undeclared) | calls of any name, with any arguments | calls of any name, their arguments untyped |
| `[]` (none) | no calls | no calls: what looks like one is content |
| a list | calls of these tools | calls, their arguments typed by these tools |

An answer with a shape (a `response_format` other than text) beside undeclared tools holds no calls.

| `reasoning=` | at the start of the output | afterwards |
|---|---|---|
| `"auto"` | the prompt's tail decides; else `template_kwargs`; else the format | a block may come, unless one is over |
| `"open"` | inside a block of reasoning | its closer ends it |
| `"closed"` | outside of reasoning | a block may come: the grammar allows one, the parser reads one |
| `"off"` | outside of reasoning | the grammar allows no block; the parser still reads one, should it come |
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
