"""The cases that the scripts of all clients of Node know; a module of tests has a fixture that names its script."""

from __future__ import annotations

from tests.clients import asks
from tests.clients.node import ask

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


def test_chat(script: str, endpoint: str) -> None:
    assert ask(script, endpoint, "chat")


def test_stream(script: str, endpoint: str) -> None:
    pieces = ask(script, endpoint, "stream")
    assert len(pieces) > 1
    assert "".join(pieces) == ask(script, endpoint, "chat")


def _called(script: str, endpoint: str, case: str) -> None:
    call = ask(script, endpoint, case)
    asks.check_call(call["name"], call["arguments"])


def test_auto(script: str, endpoint: str) -> None:
    _called(script, endpoint, "auto")


def test_required(script: str, endpoint: str) -> None:
    _called(script, endpoint, "required")


def test_named(script: str, endpoint: str) -> None:
    _called(script, endpoint, "named")


def test_streamed_call(script: str, endpoint: str) -> None:
    _called(script, endpoint, "streamed_call")


def test_result(script: str, endpoint: str) -> None:
    found = ask(script, endpoint, "result")
    assert found["given"] == [{"minutes": 7}]
    asks.check_after_result(found["text"])


def test_structured(script: str, endpoint: str) -> None:
    asks.check_reminder(ask(script, endpoint, "structured"))
