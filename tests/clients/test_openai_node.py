"""openai-node: both of its APIs, its helpers for streams and tools, schemas by zod."""

from __future__ import annotations

import pytest

from tests.clients.asks import CHAT, RESPONSES
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

SCRIPT = "openai_node.mjs"
pytestmark = pytest.mark.parametrize("endpoint", [CHAT, RESPONSES])


@pytest.fixture
def script() -> str:
    """Where the client is asked."""
    return SCRIPT


def test_errors(endpoint: str) -> None:
    long, streamed, unknown = ask(SCRIPT, endpoint, "errors")
    assert (long["kind"], long["code"]) == ("BadRequestError", "context_length_exceeded")
    assert streamed == long
    assert (unknown["kind"], unknown["code"], unknown["param"]) == ("NotFoundError", "model_not_found", "model")


def test_the_program_of_the_page() -> None:
    check_program("openai_node")
