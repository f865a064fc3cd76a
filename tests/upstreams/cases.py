"""What every engine behind the server is asked, as data, and what any right answer to it looks like.

The requests are for the shipped model's template. A case says nothing of the words of an answer, so that it holds for
any model and any engine.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import jsonschema

if TYPE_CHECKING:
    from openai import OpenAI

__all__ = ["CASES", "CUT", "CUT_TEXT", "ENDLESS", "MESSAGES", "SCHEMA", "TOOLS", "Answer", "Case", "ask", "check"]

TOOLS: list[dict[str, Any]] = [
    {
        "type": "function",
        "function": {
            "name": "set_reminder",
            "parameters": {
                "type": "object",
                "properties": {"name": {"type": "string", "maxLength": 20}, "hour": {"type": "integer", "maximum": 23}},
                "required": ["name", "hour"],
                "additionalProperties": False,
            },
        },
    },
    {
        "type": "function",
        "function": {
            "name": "set_timer",
            "parameters": {
                "type": "object",
                "properties": {"minutes": {"type": "integer", "minimum": 1, "maximum": 90}},
                "required": ["minutes"],
                "additionalProperties": False,
            },
        },
    },
]
_PARAMETERS = {tool["function"]["name"]: tool["function"]["parameters"] for tool in TOOLS}
SCHEMA = {
    "type": "object",
    "properties": {"who": {"enum": ["Emma", "Ida"]}, "n": {"type": "integer", "minimum": 0, "maximum": 99}},
    "required": ["who", "n"],
    "additionalProperties": False,
}
MESSAGES = [{"role": "user", "content": "Set a reminder for Emma at 9."}]
_FORMAT = {"type": "json_schema", "json_schema": {"name": "r", "schema": SCHEMA, "strict": True}}
_NAMED = {"type": "function", "function": {"name": "set_timer"}}


class Case(NamedTuple):
    """A request, and what its answer must be."""

    name: str
    fields: dict[str, Any]
    calls: frozenset[str] | None = frozenset()
    """the tools of which at least one must be called; None: calls may come; empty: none may come"""
    schema: dict[str, Any] | None = None
    """what the content must be, as JSON"""
    reasons: bool | None = None
    """whether there must be reasoning; None: there may be"""


CASES: tuple[Case, ...] = (
    Case("auto", {"tools": TOOLS}, None),
    Case("required", {"tools": TOOLS, "tool_choice": "required"}, frozenset(_PARAMETERS)),
    Case("named", {"tools": TOOLS, "tool_choice": _NAMED}, frozenset({"set_timer"})),
    Case("none", {"tools": TOOLS, "tool_choice": "none"}),
    Case(
        "reasoning",
        {"tools": TOOLS, "tool_choice": "required", "chat_template_kwargs": {"enable_thinking": True}},
        frozenset(_PARAMETERS),
    ),
    Case(
        "no reasoning",
        {"tools": TOOLS, "tool_choice": "required", "chat_template_kwargs": {"enable_thinking": False}},
        frozenset(_PARAMETERS),
        reasons=False,
    ),
    Case("schema", {"response_format": _FORMAT}, schema=SCHEMA, reasons=False),
    Case("hot", {"tools": TOOLS, "tool_choice": "required", "temperature": 2.0, "seed": 3}, frozenset(_PARAMETERS)),
)
CUT: dict[str, Any] = {"tools": TOOLS, "tool_choice": _NAMED, "max_tokens": 3}
"""an answer that no engine can finish"""
CUT_TEXT: dict[str, Any] = {"max_tokens": 3}
"""the same without a constraint"""
ENDLESS: dict[str, Any] = {"response_format": {"type": "grammar", "grammar": 'root ::= "a word " root'}}
"""an answer that only its length ends"""


class Answer(NamedTuple):
    """What a client has at the end, whether it came whole or streamed."""

    content: str
    reasoning: str
    calls: list[tuple[str, str]]
    finish_reason: str | None
    completion_tokens: int
    prompt_tokens: int


def ask(client: OpenAI, model: str, fields: dict[str, Any], *, stream: bool) -> Answer:
    """The answer to the fields of a case."""
    extra = {name: fields[name] for name in ("chat_template_kwargs",) if name in fields}
    asked: dict[str, Any] = {"model": model, "messages": MESSAGES, "temperature": 0, "max_tokens": 150}
    asked |= {name: value for name, value in fields.items() if name not in extra} | {"extra_body": extra}
    if stream:
        chunks = client.chat.completions.create(**asked, stream=True, stream_options={"include_usage": True})
        return _joined(iter(chunks))
    answer = client.chat.completions.create(**asked)
    message = answer.choices[0].message
    return Answer(
        content=message.content or "",
        reasoning=_reasoning(message),
        calls=[(call.function.name, call.function.arguments) for call in message.tool_calls or []],
        finish_reason=answer.choices[0].finish_reason,
        completion_tokens=answer.usage.completion_tokens,
        prompt_tokens=answer.usage.prompt_tokens,
    )


def _reasoning(part: Any) -> str:
    """Under the one name of it or the other."""
    return getattr(part, "reasoning_content", None) or getattr(part, "reasoning", None) or ""


def _joined(chunks: Iterator[Any]) -> Answer:
    content = reasoning = ""
    calls: dict[int, list[str]] = {}
    reason, usage = None, None
    for chunk in chunks:
        usage = chunk.usage or usage
        for choice in chunk.choices:
            reason = choice.finish_reason or reason
            content += choice.delta.content or ""
            reasoning += _reasoning(choice.delta)
            for part in choice.delta.tool_calls or []:
                call = calls.setdefault(part.index, ["", ""])
                call[0] += part.function.name or ""
                call[1] += part.function.arguments or ""
    assert usage is not None
    made = [(name, arguments) for name, arguments in calls.values()]
    return Answer(content, reasoning, made, reason, usage.completion_tokens, usage.prompt_tokens)


def check(case: Case, answer: Answer) -> None:
    """Hold an answer to its case."""
    assert "<think>" not in answer.content
    assert "<tool_call>" not in answer.content
    assert "<|" not in answer.content + answer.reasoning
    assert answer.completion_tokens > 0
    assert answer.prompt_tokens > 0
    assert answer.finish_reason in _reasons(case), answer
    if case.calls:
        assert answer.calls, answer
        assert {name for name, _ in answer.calls} <= case.calls
    elif case.calls is not None:
        assert not answer.calls
    if answer.finish_reason != "length":
        for name, arguments in answer.calls:
            jsonschema.validate(json.loads(arguments), _PARAMETERS[name])
    if case.schema is not None:
        jsonschema.validate(json.loads(answer.content), case.schema)
    if case.reasons is not None:
        assert bool(answer.reasoning.strip()) == case.reasons, answer


def _reasons(case: Case) -> tuple[str, ...]:
    if case.calls:
        return ("tool_calls",)
    if case.schema is not None:
        return ("stop",)
    return ("stop", "length") if case.calls is not None else ("stop", "length", "tool_calls")
