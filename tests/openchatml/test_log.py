"""Each code of the taxonomy is logged where its error is a value, with the code in the record."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import pytest

from syntagma.errors import SyntagmaError
from syntagma.openchatml import (
    Message,
    Multiplexer,
    ToolRouter,
    from_json,
    harmony,
    parse,
    show,
    tool_input,
    user_summary,
    validate,
)
from syntagma.openchatml.errors import ERROR_CODES

CALL = Message(role="assistant", recipient="functions.f", call_id="1", channel="commentary", body="{}")
HIDDEN = parse("<|start|>system<|message|>s<|end|>")


def read(text: str, **options: Any) -> Callable[[], Any]:
    return lambda: parse(text, strict=False, **options)


async def _cancelled() -> None:
    router = ToolRouter({"functions.f": lambda _: None, "functions.g": _sleep})
    running = asyncio.ensure_future(router.run([Message(**{**_fields(CALL), "recipient": "functions.g"})]))
    await asyncio.sleep(0.05)
    assert router.cancel("1")
    await running


def _fields(message: Message) -> dict[str, Any]:
    return {name: getattr(message, name) for name in ("role", "recipient", "call_id", "channel", "body")}


async def _sleep(_: Any) -> None:
    await asyncio.sleep(5)


def run(tool: Any, body: str = "{}") -> Callable[[], Any]:
    call = Message(**{**_fields(CALL), "body": body})
    return lambda: asyncio.run(ToolRouter({"functions.f": tool}).run([call]))


def failing(_: Any) -> None:
    raise ValueError("no")


WHERE: list[tuple[str, Callable[[], Any]]] = [
    ("E-PARSE-HEADER", read("<|start|>king<|message|>a<|end|>")),
    ("E-PARSE-HEADER", lambda: harmony.parse_completion("<|channel|>finale<|message|>a<|end|>")),
    ("E-PARSE-CHANNEL-MISSING", read("<|start|>assistant<|message|>a<|end|>", profile="harmony")),
    ("E-BODY-CONSTRAINT-VIOLATION", read("<|start|>user<|constrain|>json<|message|>{<|end|>")),
    ("E-CALL-SCHEMA", lambda: validate(parse("<|start|>assistant to=python<|channel|>analysis<|message|>1<|call|>"))),
    ("E-CALL-SCHEMA", lambda: harmony.parse_completion("<|channel|>commentary<|message|>{}<|call|>")),
    ("E-CALL-SCHEMA", lambda: asyncio.run(ToolRouter({}).run([CALL]))),
    ("E-TOOL-TIMEOUT", run(_sleep, '{"deadline_ms": 20}')),
    ("E-TOOL-CANCELLED", lambda: asyncio.run(_cancelled())),
    ("E-STREAM-TRUNCATED", read("<|start|>user<|message|>a")),
    ("E-PERM-VISIBILITY", lambda: show(HIDDEN, 0)),
    ("E-PERM-VISIBILITY", lambda: tool_input(HIDDEN.messages[0])),
    ("X-TOOL-FAILED", run(failing)),
]


@pytest.mark.parametrize(("code", "act"), WHERE, ids=lambda value: value if isinstance(value, str) else "")
def test_errors_that_are_values_are_logged(code: str, act: Callable[[], Any], caplog: pytest.LogCaptureFixture) -> None:
    # What is hidden is refused with an error, and logged all the same.
    refusal = pytest.raises(SyntagmaError, match=code) if code == "E-PERM-VISIBILITY" else nullcontext()
    with caplog.at_level(logging.WARNING, logger="syntagma.openchatml"), refusal:
        act()
    assert [record.code for record in caplog.records if record.name == "syntagma.openchatml"] == [code]  # type: ignore[attr-defined]
    assert caplog.records[0].getMessage().startswith(f"{code}: ")


def _mixed() -> None:
    streams = Multiplexer()
    streams.feed(None, "<|start|>assistant<|message|>a")
    streams.feed("b", "<|start|>assistant<|message|>b")


@pytest.mark.parametrize(
    ("ask", "count"),
    [(lambda: parse("x", strict=True), 1), (lambda: from_json([{"role": "king"}]), 0), (_mixed, 0)],
    ids=["reading", "conversion", "streams"],
)
def test_only_reading_logs_what_it_raises(ask: Callable[[], Any], count: int, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, logger="syntagma.openchatml"), pytest.raises(SyntagmaError):
        ask()
    assert len(caplog.records) == count


def test_every_code_is_tried_and_has_a_sentence_for_users() -> None:
    raised = {"X-HIP-UNREPRESENTABLE"}  # never a value
    assert {code for code, _ in WHERE} | raised == set(ERROR_CODES)
    for code in ERROR_CODES:
        assert user_summary(code) != user_summary("E-OTHER")
        assert code not in user_summary(code)
