"""Rows that tests of the batch stages share."""

from __future__ import annotations

from typing import Any

import syntagma as sg

FORMAT = """
end_of_turn = ["<|end|>"]
[reasoning]
block = "<note>{reasoning}</note>"
[tools]
call = "<call>{envelope}</call>"
envelope = '{"name": "{name}", "arguments": {arguments}}'
"""
TEMPLATE = (
    "{% if tools %}<|tools|>{{ tools | tojson }}<|end|>{% endif %}"
    "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}"
    "{% for c in m.tool_calls or [] %}<call>{{ c.function | tojson }}</call>{% endfor %}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
WEATHER: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "weather",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}
CALL = '<call>{"name": "weather", "arguments": {"city": "Oslo"}}</call>'


def made_format() -> sg.ChatFormat:
    return sg.ChatFormat.from_toml(FORMAT)


def made_template() -> sg.ChatTemplate:
    return sg.ChatTemplate(TEMPLATE)


def answer(number: int) -> str:
    return f"<note>Row {number}.</note>Well, {number}." + CALL * (number % 3) + "<|end|>"
