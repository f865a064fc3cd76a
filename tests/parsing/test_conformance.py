"""Every case of `conformance/parsing`, in every chunking."""

from __future__ import annotations

import json
from typing import Any

import pytest

from syntagma.format_schema import FormatSpec

from .conftest import chunkings, joined, load_cases, make_parser, read


@pytest.mark.parametrize(("spec", "case"), load_cases())
def test_case(spec: FormatSpec, case: dict[str, Any]) -> None:
    events, parser = read(lambda: make_parser(spec, case), [case["input"]], case.get("finish"))
    message = parser.message
    assert parser.raw == case["input"]
    assert message.reasoning_content == case.get("reasoning")
    assert message.content == case.get("content")
    wanted = case.get("calls", [])
    assert [(call.name, call.arguments, call.complete) for call in message.tool_calls] == [
        (call["name"], call["arguments"], call.get("complete", True)) for call in wanted
    ]
    for call, expected in zip(message.tool_calls, wanted, strict=True):
        assert call.id == expected.get("id", call.id)
        assert "id" in expected or (call.id.startswith("call_") and len(call.id) == len("call_") + 24)
        assert not call.complete or isinstance(json.loads(call.arguments), dict)
    natural = "tool_calls" if any(call.get("complete", True) for call in wanted) else "stop"
    assert events[-1].finish_reason == case.get("finish_reason", natural)
    assert message.incomplete == case.get("incomplete", False)
    assert [diagnostic.code for diagnostic in message.diagnostics] == case.get("diagnostics", [])


@pytest.mark.parametrize(("spec", "case"), load_cases())
def test_any_chunking_gives_the_same_events(spec: FormatSpec, case: dict[str, Any]) -> None:
    text = case["input"]
    whole, _ = read(lambda: make_parser(spec, case), [text], case.get("finish"))
    for chunks in chunkings(text):
        events, parser = read(lambda: make_parser(spec, case), chunks, case.get("finish"))
        assert joined(events) == joined(whole), chunks
        assert parser.raw == text
