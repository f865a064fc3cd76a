"""The AI SDK: its default provider for OpenAI, over responses, the compatible one, and Anthropic's."""

from __future__ import annotations

import pytest

from tests.clients import asks
from tests.clients.asks import CHAT, MESSAGES, RESPONSES
from tests.clients.node import ask
from tests.clients.page import check_program

SCRIPT = "ai_sdk.mjs"
pytestmark = pytest.mark.parametrize("endpoint", [CHAT, RESPONSES, MESSAGES])


def test_chat(endpoint: str) -> None:
    assert ask(SCRIPT, endpoint, "chat")


def test_stream(endpoint: str) -> None:
    pieces = ask(SCRIPT, endpoint, "stream")
    assert len(pieces) > 1
    assert "".join(pieces) == ask(SCRIPT, endpoint, "chat")


def called(endpoint: str, case: str) -> None:
    call = ask(SCRIPT, endpoint, case)
    asks.check_call(call["name"], call["arguments"])


def test_auto(endpoint: str) -> None:
    called(endpoint, "auto")


def test_required(endpoint: str) -> None:
    called(endpoint, "required")


def test_named(endpoint: str) -> None:
    called(endpoint, "named")


def test_streamed_call(endpoint: str) -> None:
    called(endpoint, "streamed_call")


def test_result(endpoint: str) -> None:
    found = ask(SCRIPT, endpoint, "result")
    assert found["given"] == [{"minutes": 7}]
    asks.check_after_result(found["text"])


def test_structured(endpoint: str) -> None:
    asks.check_reminder(ask(SCRIPT, endpoint, "structured"))


def test_errors(endpoint: str) -> None:
    long, unknown = ask(SCRIPT, endpoint, "errors")
    assert (long["known"], long["status"]) == (True, 400)
    assert "too long" in long["message"]
    assert (unknown["known"], unknown["status"]) == (True, 404)


def test_the_program_of_the_page() -> None:
    check_program("ai_sdk")
