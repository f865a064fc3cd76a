"""Conversations drawn at random from all that OpenAI's API allows."""

from __future__ import annotations

import json
import random
from typing import Any

from tests.codec.conversations import TOOLS, Conversation


class _Draw:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.words = 0
        self.calls = 0

    def text(self) -> str:
        """A text that occurs once."""
        self.words += 1
        return f"Text number {self.words} of many."

    def content(self) -> Any:
        if self.random.random() < 0.7:
            return self.text()
        return [{"type": "text", "text": self.text()} for _ in range(self.random.randint(1, 2))]

    def turn_of_tools(self) -> list[dict[str, Any]]:
        count = self.random.choice((1, 1, 2, 3))
        calls, results = [], []
        for _ in range(count):
            self.calls += 1
            call_id = f"call_Ab3dEf{self.calls:03}"
            arguments = json.dumps({"city": self.text()})
            name = self.random.choice(("weather", "tides"))
            calls.append({"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}})
            if self.random.random() < 0.9:
                results.append({"role": "tool", "tool_call_id": call_id, "content": self.content()})
        self.random.shuffle(results)
        message: dict[str, Any] = {"role": "assistant", "content": None, "tool_calls": calls}
        if self.random.random() < 0.4:
            message["content"] = self.text()
        if self.random.random() < 0.3:
            message["reasoning_content"] = self.text()
        return [message, *results]

    def turn(self) -> list[dict[str, Any]]:
        kind = self.random.choices(
            ("user", "assistant", "tools", "system", "developer", "refusal"), (8, 6, 5, 2, 2, 1)
        )[0]
        if kind == "tools":
            return self.turn_of_tools()
        if kind == "refusal":
            return [{"role": "assistant", "content": None, "refusal": self.text()}]
        return [{"role": kind, "content": self.content()}]


def drawn_conversation(seed: int) -> Conversation:
    """The conversation of a seed; it begins like most do, and ends with a message that asks for an answer."""
    draw = _Draw(seed)
    messages: list[dict[str, Any]] = []
    for _ in range(draw.random.randint(0, 5)):
        messages += draw.turn()
    if not messages or messages[-1]["role"] not in ("user", "tool"):
        messages.append({"role": "user", "content": draw.content()})
    return Conversation(messages, TOOLS if draw.random.random() < 0.8 or draw.calls else None)
