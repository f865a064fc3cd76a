"""A server without a model: a made-up format and template, and a backend that follows a script."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from syntagma.codec import ChatCodec
from syntagma.formats import ChatFormat
from syntagma.serving import ServedModel, Settings, create_app
from syntagma.templates import ChatTemplate
from syntagma.testing import ScriptedBackend

FORMAT = (Path(__file__).parent / "format.toml").read_text(encoding="utf-8")

NO_REASONING = FORMAT.replace('[reasoning]\nblock = "<note>{reasoning}</note>"\n', "")

TEMPLATE = """
{%- if messages[0].content == "refuse me" -%}{{ raise_exception("this conversation is refused") }}{%- endif -%}
{%- if tools -%}<tools>{{ tools | tojson }}<end>{%- endif -%}
{%- for message in messages -%}
    <{{ message.role }}>{{ message.content }}
    {%- for call in message.tool_calls or [] -%}
        <call>{"name": {{ call.function.name | tojson }}, "arguments": {{ call.function.arguments | tojson }}}</call>
    {%- endfor -%}
    <end>
{%- endfor -%}
{%- if add_generation_prompt -%}<assistant>{%- if opened -%}<note>{%- endif -%}{%- endif -%}
"""

SWITCHED = (
    "{%- for m in messages -%}<{{ m.role }}>"
    "{%- if m.reasoning_content -%}<note>{{ m.reasoning_content }}</note>{%- endif -%}"
    "{{ m.content }}<end>{%- endfor -%}"
    "{%- if add_generation_prompt -%}<assistant>"
    "{%- if enable_thinking is false -%}<note></note>{%- endif -%}{%- endif -%}"
)
"""a template with a switch for reasoning, `enable_thinking`"""

WEATHER = {
    "type": "function",
    "function": {
        "name": "weather",
        "description": "Tells the weather.",
        "parameters": {
            "type": "object",
            "properties": {"city": {"enum": ["Oslo", "Lima"]}, "days": {"type": "integer"}},
            "required": ["city"],
            "additionalProperties": False,
        },
    },
}
CLOCK = {
    "type": "function",
    "function": {"name": "clock", "parameters": {"type": "object", "properties": {}, "additionalProperties": False}},
}
CALL = '<call>{"name": "weather", "arguments": {"city": "Oslo", "days": 2}}</call>'


def model(script: str | Callable[[str], str], *, spec: str = FORMAT, **backend: Any) -> ServedModel:
    codec = ChatCodec.from_format(ChatFormat.from_toml(spec), ChatTemplate(TEMPLATE))
    return ServedModel(ScriptedBackend(script, **backend), codec)


def client(
    script: str | Callable[[str], str] = "hello", *, settings: Settings | None = None, **backend: Any
) -> TestClient:
    return TestClient(create_app(model(script, **backend), settings or Settings()))


def body(**fields: Any) -> dict[str, Any]:
    return {"model": "scripted", "messages": [{"role": "user", "content": "hi"}], "temperature": 0, **fields}


def ask(script: str, *, spec: str = FORMAT, **fields: Any) -> dict[str, Any]:
    answer = client(script, spec=spec).post("/v1/chat/completions", json=body(**fields))
    assert answer.status_code == 200, answer.text
    data: dict[str, Any] = answer.json()
    return data


def stream(script: str, **fields: Any) -> list[dict[str, Any]]:
    """The chunks of a streamed answer; that it ends as it must is checked here."""
    answer = client(script).post("/v1/chat/completions", json=body(stream=True, **fields))
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].startswith("text/event-stream")
    events = answer.text.split("\n\n")
    assert events[-2:] == ["data: [DONE]", ""]
    assert all(event.startswith("data: ") for event in events[:-1])
    return [json.loads(event.removeprefix("data: ")) for event in events[:-2]]


def joined(chunks: list[dict[str, Any]], index: int = 0) -> dict[str, Any]:
    """What a client puts together from the chunks of one choice."""
    message: dict[str, Any] = {"content": "", "reasoning_content": "", "tool_calls": []}
    for chunk in chunks:
        for choice in chunk["choices"]:
            if choice["index"] != index:
                continue
            delta = choice["delta"]
            message["content"] += delta.get("content") or ""
            message["reasoning_content"] += delta.get("reasoning_content") or ""
            for part in delta.get("tool_calls", []):
                if part["index"] == len(message["tool_calls"]):
                    assert part["type"] == "function"
                    assert part["function"]["arguments"] == ""
                    message["tool_calls"].append({"id": part["id"], "name": part["function"]["name"], "arguments": ""})
                else:
                    assert "id" not in part
                    assert "name" not in part["function"]
                    message["tool_calls"][part["index"]]["arguments"] += part["function"]["arguments"]
            if choice["finish_reason"]:
                message["finish_reason"] = choice["finish_reason"]
    return message
