"""Sample conversations, each with one particularity, by which a codec finds the steps that its template needs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

import msgspec

__all__ = ["SAMPLES", "Sample", "sample_tool"]


class Sample(msgspec.Struct, frozen=True):
    """A conversation, and whether it declares a tool."""

    messages: list[dict[str, Any]]
    tools: bool = False


def sample_tool(name: str = "weather") -> dict[str, Any]:
    """A declared tool."""
    properties = {"city": {"type": "string", "description": "Where."}}
    parameters = {"type": "object", "properties": properties, "required": ["city"]}
    function = {"name": name, "description": "Tells the weather.", "parameters": parameters}
    return {"type": "function", "function": function}


def _call(at: int) -> dict[str, Any]:
    arguments = json.dumps({"city": f"Porto {at}"})
    return {"id": f"call_{at}", "type": "function", "function": {"name": "weather", "arguments": arguments}}


def _calls(*numbers: int, **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": None, "tool_calls": [_call(at) for at in numbers], **more}


def _result(at: int) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": f"call_{at}", "content": f"It rains, {at}."}


_USER: Final = {"role": "user", "content": "Is it warm?"}
_MORE: Final = {"role": "user", "content": "And there?"}
_ANSWER: Final = {"role": "assistant", "content": "It is warm."}
_SYSTEM: Final = {"role": "system", "content": "Be brief."}
_DEVELOPER: Final = {"role": "developer", "content": "Use plain words."}
_BESIDE: Final = _calls(1, content="I shall look.")

SAMPLES: Final[Mapping[str, Sample]] = {
    "texts": Sample([_USER, _ANSWER, _MORE]),
    "system message": Sample([_SYSTEM, _USER]),
    "system message alone": Sample([_SYSTEM]),
    "two system messages": Sample([_SYSTEM, _SYSTEM, _USER]),
    "system message after a turn": Sample([_USER, _ANSWER, _SYSTEM, _MORE]),
    "developer message": Sample([_DEVELOPER, _USER]),
    "developer message after the system message": Sample([_SYSTEM, _DEVELOPER, _USER]),
    "two users in a row": Sample([_USER, _MORE, _ANSWER, _USER]),
    "two answers in a row": Sample([_USER, _ANSWER, _ANSWER, _MORE]),
    "an answer first": Sample([_ANSWER, _USER]),
    "empty answer": Sample([_USER, {"role": "assistant", "content": ""}, _MORE]),
    "text in parts": Sample([{"role": "user", "content": [{"type": "text", "text": "Is it warm?"}]}]),
    "system message in parts": Sample([{"role": "system", "content": [{"type": "text", "text": "Be brief."}]}, _USER]),
    "call and result": Sample([_USER, _calls(1), _result(1)], True),
    "call without result": Sample([_USER, _calls(1), _MORE], True),
    "user after a result": Sample([_USER, _calls(1), _result(1), _MORE], True),
    "content beside a call": Sample([_USER, _BESIDE, _result(1)], True),
    "content beside a call in history": Sample([_USER, _BESIDE, _result(1), _ANSWER, _MORE], True),
    "reasoning and content beside a call": Sample(
        [_USER, {**_BESIDE, "reasoning_content": "They mean here."}, _result(1)], True
    ),
    "parallel calls": Sample([_USER, _calls(1, 2), _result(1), _result(2)], True),
    "results out of order": Sample([_USER, _calls(1, 2), _result(2), _result(1)], True),
}
"""by what is particular about them"""
