"""Dialogues as text, through the chat template that ships with the model."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Template
from jinja2.sandbox import ImmutableSandboxedEnvironment

from generator import Dialogue

TEMPLATE = Path(__file__).resolve().parent.parent / "python" / "syntagma" / "embedded" / "data" / "chat_template.jinja"


def _tojson(value: object, indent: int | None = None) -> str:
    return json.dumps(value, ensure_ascii=False, indent=indent)


@cache
def template() -> Template:
    """The shipped template, in the environment that Hugging Face renders it in."""
    environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
    environment.filters["tojson"] = _tojson
    return environment.from_string(TEMPLATE.read_text(encoding="utf-8"))


def render(messages: list[Any], tools: list[Any] | None, *, prompt: bool, thinking: bool) -> str:
    """The text of a conversation; with `prompt`, up to where the assistant's next turn begins."""
    return template().render(messages=messages, tools=tools, add_generation_prompt=prompt, enable_thinking=thinking)


def segments(dialogue: Dialogue) -> list[tuple[str, bool]]:
    """The dialogue's text cut into (text, learned): learned is what the assistant writes in the current turn."""
    messages = list(dialogue.messages)
    tools = dialogue.declarations()
    last_user = max(index for index, message in enumerate(messages) if message["role"] == "user")
    cut: list[tuple[str, bool]] = []
    done = ""
    for index in range(last_user + 1, len(messages)):
        if messages[index]["role"] != "assistant":
            continue
        prompt = render(messages[:index], tools, prompt=True, thinking=dialogue.thinking)
        whole = render(messages[: index + 1], tools, prompt=False, thinking=dialogue.thinking)
        if not (prompt.startswith(done) and whole.startswith(prompt)):
            raise ValueError("the template does not continue its own prompt")
        turn = whole[len(prompt) :].removesuffix("\n")
        cut += [(prompt[len(done) :], False), (turn, True)]
        done = prompt + turn
    return cut
