"""A member that nothing reads is named, wherever it stands, or refused."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

import pytest
from starlette.testclient import TestClient

from syntagma.serving.errors import param_of
from tests.serving.support import WEATHER, body, client
from tests.serving.test_held_or_refused import ENDPOINTS, TAG

FUNCTION = {**WEATHER["function"], "strict": True}
LARK = {"type": "grammar", "grammar": {"syntax": "lark", "definition": 'start: "a"'}}
CUSTOM = {"name": "note", "description": "Keeps a text.", "format": LARK}
FLAT = {**CUSTOM, "format": {"type": "grammar", "syntax": "regex", "definition": "a+"}}
SHAPES: list[dict[str, Any]] = [
    {"type": "text"},
    {"type": "json_object", "schema": {"type": "object"}},
    {"type": "json_schema", "json_schema": {"name": "r", "schema": {"type": "object"}, "strict": True}},
    {"type": "json_schema", "name": "r", "schema": {"type": "object"}},
    {"type": "regex", "regex": "a"},
    {"type": "choice", "choice": ["a"]},
    {"type": "grammar", "grammar": 'start: "a"', "syntax": "lark", "start": "start"},
    {"type": "grammar", "grammar": {"syntax": "lark", "definition": 'start: "a"'}},
    TAG,
    {
        "type": "structural_tag",
        "structures": [{"begin": "<a>", "schema": {"type": "object"}, "end": "</a>"}],
        "triggers": ["<a"],
    },
]
CHAT: dict[str, Any] = {
    "messages": [
        {"role": "system", "content": [{"type": "text", "text": "be brief"}]},
        {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
        {
            "role": "assistant",
            "content": [{"type": "refusal", "refusal": "no"}],
            "tool_calls": [{"id": "1", "type": "custom", "custom": {"name": "note", "input": "a"}}],
        },
        {"role": "tool", "tool_call_id": "1", "content": [{"type": "text", "text": "done"}]},
    ],
    "stream_options": {"include_usage": True},
}
RESPONSES: dict[str, Any] = {
    "input": [
        {"role": "user", "content": [{"type": "input_text", "text": "a"}]},
        {"type": "reasoning", "id": "r", "summary": [], "content": [{"type": "reasoning_text", "text": "b"}]},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "c"}]},
        {"type": "function_call", "call_id": "1", "name": "weather", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "1", "output": [{"type": "input_text", "text": "d"}]},
        {"type": "custom_tool_call", "call_id": "2", "name": "note", "input": "e"},
        {"type": "custom_tool_call_output", "call_id": "2", "output": "f"},
    ],
    "reasoning": {"effort": "low"},
    "stream_options": {},
    "store": False,
}
MESSAGES: dict[str, Any] = {
    "max_tokens": 64,
    "system": [{"type": "text", "text": "be brief"}],
    "messages": [
        {"role": "user", "content": [{"type": "text", "text": "a"}]},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "b", "signature": "s"},
                {"type": "text", "text": "c"},
                {"type": "tool_use", "id": "1", "name": "weather", "input": {"city": "Oslo"}},
            ],
        },
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "1", "content": [{"type": "text", "text": "d"}]}],
        },
    ],
    "thinking": {"type": "enabled", "budget_tokens": 9},
    "output_config": {"effort": "low"},
}
CHOSEN = {"type": "function", "function": {"name": "weather"}}
TOOLS: list[dict[str, Any]] = [
    {"tools": [{"type": "function", "function": FUNCTION}, {"type": "custom", "custom": CUSTOM}]},
    {"tools": [{"type": "custom", **FLAT}], "tool_choice": {"type": "custom", "custom": {"name": "note"}}},
    {"tools": [WEATHER], "tool_choice": CHOSEN},
    {
        "tools": [WEATHER],
        "tool_choice": {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [CHOSEN]}},
    },
    {"functions": [FUNCTION], "function_call": {"name": "weather"}},
]
FLAT_TOOLS: list[dict[str, Any]] = [
    {"tools": [{"type": "function", **FUNCTION}, {"type": "custom", **FLAT}]},
    {"tools": [{"type": "function", **FUNCTION}], "tool_choice": {"type": "function", "name": "weather"}},
    {
        "tools": [{"type": "function", **FUNCTION}],
        "tool_choice": {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "weather"}]},
    },
]
OWN_TOOL = {"name": "weather", "description": "d", "input_schema": FUNCTION["parameters"], "strict": True}
OWN_TOOLS: list[dict[str, Any]] = [
    {"tools": [OWN_TOOL], "tool_choice": {"type": "auto"}},
    {"tools": [{"type": "custom", **OWN_TOOL}], "tool_choice": {"type": "tool", "name": "weather"}},
]
SHARED: list[dict[str, Any]] = [
    *({"response_format": shape} for shape in SHAPES),
    *({"structural_tag": shape} for shape in SHAPES[-2:]),
    *({"structured_outputs": {"structural_tag": shape}} for shape in SHAPES[-2:]),
    {"structured_outputs": {"regex": "a"}},
]
WHOLE: dict[str, dict[str, Any]] = {
    "/v1/chat/completions": CHAT,
    "/v1/completions": {"prompt": "a", "stream_options": {}},
    "/v1/responses": RESPONSES,
    "/v1/messages": MESSAGES,
}
REQUESTS: list[tuple[str, dict[str, Any]]] = [
    *WHOLE.items(),
    *((path, {**small, **asked}) for path, small in ENDPOINTS.items() for asked in SHARED),
    *(("/v1/chat/completions", {**ENDPOINTS["/v1/chat/completions"], **asked}) for asked in TOOLS),
    *(("/v1/responses", {**ENDPOINTS["/v1/responses"], **asked}) for asked in FLAT_TOOLS),
    *(("/v1/responses", {**ENDPOINTS["/v1/responses"], "text": {"format": shape}}) for shape in SHAPES),
    *(("/v1/messages", {**ENDPOINTS["/v1/messages"], **asked}) for asked in OWN_TOOLS),
    *(("/v1/messages", {**ENDPOINTS["/v1/messages"], "output_config": {"format": shape}}) for shape in SHAPES),
]
FREE = ("parameters", "input_schema", "schema", "input")
"""members whose value may have any members: schemas, and arguments"""
TO_TEMPLATE = "/v1/chat/completions"
"""where a message's further members go to the template"""


def objects(value: Any, pointer: str = "") -> Iterator[str]:
    """The pointers of all objects whose members are read."""
    if isinstance(value, dict):
        yield pointer
        for name, inner in value.items():
            if name not in FREE or not isinstance(inner, dict):
                yield from objects(inner, f"{pointer}/{name}")
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from objects(inner, f"{pointer}/{index}")


def added(request: dict[str, Any], pointer: str) -> dict[str, Any]:
    """The request with one member more."""
    changed = copy.deepcopy(request)
    place: Any = changed
    for step in pointer.split("/")[1:]:
        place = place[int(step) if isinstance(place, list) else step]
    place["unheard_of"] = 1
    return changed


@pytest.fixture(scope="module")
def served() -> TestClient:
    return client("a")


@pytest.mark.some(24)
@pytest.mark.parametrize(("path", "request_"), REQUESTS, ids=lambda one: one if isinstance(one, str) else "")
def test_a_member_that_nothing_reads_is_named_or_refused(
    served: TestClient, path: str, request_: dict[str, Any]
) -> None:
    plain = served.post(path, json=request_)
    assert plain.status_code == 200, plain.text
    assert "x-syntagma-ignored" not in plain.headers, plain.headers
    for pointer in objects(request_):
        steps = pointer.split("/")[1:]
        if path == TO_TEMPLATE and steps[:1] == ["messages"] and len(steps) == 2:
            continue
        name = param_of(f"{pointer}/unheard_of")
        answer = served.post(path, json=added(request_, pointer))
        if answer.status_code == 400:
            assert "unheard_of" in answer.text, answer.text
        else:
            assert answer.status_code == 200, answer.text
            named = answer.headers.get("x-syntagma-ignored", "")
            assert unquote(named) == name, (pointer, named)


def test_many_names_are_counted() -> None:
    fields = {f"field_{number}": 1 for number in range(40)}
    answer = client().post("/v1/chat/completions", json=body(**fields))
    named = answer.headers["x-syntagma-ignored"].split(", ")
    assert len(named) == 33
    assert named[-1] == "and 8 more"
