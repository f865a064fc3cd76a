"""The AI SDK: its default provider for OpenAI, over responses, the compatible one, and Anthropic's."""

from __future__ import annotations

import pytest

from tests.clients.asks import CHAT, MESSAGES, RESPONSES
from tests.clients.node import ask
from tests.clients.node_cases import (
    test_auto,
    test_chat,
    test_named,
    test_required,
    test_result,
    test_stream,
    test_streamed_call,
    test_structured,
)
from tests.clients.page import check_program

__all__ = [
    "test_auto",
    "test_chat",
    "test_named",
    "test_required",
    "test_result",
    "test_stream",
    "test_streamed_call",
    "test_structured",
]

SCRIPT = "ai_sdk.mjs"
pytestmark = pytest.mark.parametrize("endpoint", [CHAT, RESPONSES, MESSAGES])


@pytest.fixture
def script() -> str:
    """Where the client is asked."""
    return SCRIPT


def test_errors(endpoint: str) -> None:
    long, unknown = ask(SCRIPT, endpoint, "errors")
    assert (long["known"], long["status"]) == (True, 400)
    assert "too long" in long["message"]
    assert (unknown["known"], unknown["status"]) == (True, 404)


def test_the_program_of_the_page() -> None:
    check_program("ai_sdk")
