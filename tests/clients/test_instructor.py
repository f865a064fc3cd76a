"""Instructor: objects of classes, by tools and by schemas, over all three APIs."""

from __future__ import annotations

from typing import Any

import pytest

from tests.clients import asks
from tests.clients.asks import CHAT, MESSAGES, RESPONSES
from tests.clients.page import check_program

instructor = pytest.importorskip("instructor")
openai = pytest.importorskip("openai")
anthropic = pytest.importorskip("anthropic")
pydantic = pytest.importorskip("pydantic")

Reminder = pydantic.create_model("Reminder", name=str, hour=int)
ALL = pytest.mark.parametrize("endpoint", [CHAT, RESPONSES, MESSAGES])


def client(endpoint: str, mode: Any) -> Any:
    if endpoint == MESSAGES:
        made = anthropic.Anthropic(base_url=asks.HOST, api_key=asks.KEY, max_retries=0)
        return instructor.from_anthropic(made, mode=mode)
    return instructor.from_openai(openai.OpenAI(base_url=asks.URL, api_key=asks.KEY, max_retries=0), mode=mode)


def asked(endpoint: str, text: str = asks.REMINDER) -> dict[str, Any]:
    length = {"max_tokens": 100} if endpoint == MESSAGES else {}
    return {
        "model": asks.MODEL,
        "messages": [{"role": "user", "content": text}],
        "max_retries": 0,
        **({"extra_body": {"temperature": 0}} if endpoint == MESSAGES else {"temperature": 0}),
        **length,
    }


TOOLS = {
    CHAT: instructor.Mode.TOOLS,
    RESPONSES: instructor.Mode.RESPONSES_TOOLS,
    MESSAGES: instructor.Mode.ANTHROPIC_TOOLS,
}


@ALL
def test_named(endpoint: str) -> None:
    """Output by a tool, which must be called."""
    made = client(endpoint, TOOLS[endpoint])
    asks.check_reminder(made.create(response_model=Reminder, **asked(endpoint)))


@ALL
def test_streamed_call(endpoint: str) -> None:
    made = client(endpoint, TOOLS[endpoint])
    parts = list(made.create_partial(response_model=Reminder, **asked(endpoint)))
    asks.check_reminder(parts[-1])
    # How many there are is a question of speed: pieces that are written within 20 ms go out together.
    for part in parts:
        assert part.name is None or parts[-1].name.startswith(part.name)
        assert part.hour in {None, parts[-1].hour}


# Only where its mode holds the model to the shape; other modes ask for it in the prompt.
@pytest.mark.parametrize(
    ("endpoint", "mode"),
    [
        (CHAT, "JSON_SCHEMA"),
        (CHAT, "TOOLS_STRICT"),
        (RESPONSES, "RESPONSES_TOOLS"),
        (MESSAGES, "ANTHROPIC_TOOLS"),
    ],
)
def test_structured(endpoint: str, mode: str) -> None:
    made = client(endpoint, instructor.Mode[mode])
    asks.check_reminder(made.create(response_model=Reminder, **asked(endpoint)))


@ALL
def test_errors(endpoint: str) -> None:
    with pytest.raises(Exception, match="too long"):
        client(endpoint, TOOLS[endpoint]).create(response_model=Reminder, **asked(endpoint, asks.TOO_LONG))


def test_the_program_of_the_page() -> None:
    check_program("instructor")
