"""What every client is asked, and what a right answer is.

A test is named after what it shows, `test_chat`, `test_stream` and so on (`CASES`), with the endpoint in brackets; the
table in `docs/clients.md` is made from these names.
"""

from __future__ import annotations

import json
import os
from typing import Any

__all__ = [
    "CASES",
    "CHAT",
    "GREETING",
    "HOST",
    "KEY",
    "MESSAGES",
    "MODEL",
    "MODEL_VARIABLE",
    "QUESTION",
    "REMINDER",
    "REMINDER_SCHEMA",
    "RESPONSES",
    "RESULT",
    "TIMER",
    "TIMER_SCHEMA",
    "TOO_LONG",
    "URL",
    "URL_VARIABLE",
    "check_after_result",
    "check_call",
    "check_reminder",
]

URL_VARIABLE, MODEL_VARIABLE = "SYNTAGMA_TEST_URL", "SYNTAGMA_TEST_MODEL"
HOST = os.environ.get(URL_VARIABLE, "")
"""where the server is"""
URL = f"{HOST}/v1"
MODEL = os.environ.get(MODEL_VARIABLE, "")
KEY = "unused"

CHAT, RESPONSES, MESSAGES = "/v1/chat/completions", "/v1/responses", "/v1/messages"
"""the endpoints, as tests are parametrized with them"""
CASES = (
    "chat",
    "stream",
    "auto",
    "required",
    "named",
    "streamed_call",
    "result",
    "structured",
    "errors",
    "prompt_logprobs",
)
"""what tests show, by their names"""

GREETING = "Hello there"
QUESTION = "Set a timer for 7 minutes"
"""which is answered by a call of `set_timer`"""
TIMER_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"minutes": {"type": "integer"}},
    "required": ["minutes"],
    "additionalProperties": False,
}
TIMER = {"name": "set_timer", "description": "Set a timer", "parameters": TIMER_SCHEMA}
RESULT = "7 minutes"
"""what the tool gives back"""
REMINDER = "Set a reminder for Emma at 9."
"""which is answered by an object with `name` and `hour`"""
REMINDER_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "hour": {"type": "integer"}},
    "required": ["name", "hour"],
    "additionalProperties": False,
}
TOO_LONG = "hello " * 700
"""more than the model's context holds"""


def check_call(name: str | None, arguments: Any) -> None:
    """Hold a call to the question."""
    read = json.loads(arguments) if isinstance(arguments, str) else arguments
    assert (name, read) == ("set_timer", {"minutes": 7})


def check_after_result(text: str | None) -> None:
    """Hold the answer after the tool's result, which the model repeats as well as it can."""
    assert text is not None
    assert "7" in text


def check_reminder(found: Any) -> None:
    """Hold structured output, an object of any kind, to the question."""
    read = json.loads(found) if isinstance(found, str) else found
    read = read if isinstance(read, dict) else {"name": read.name, "hour": read.hour}
    assert set(read) == {"name", "hour"}
    assert read["hour"] == 9
    assert isinstance(read["name"], str)
