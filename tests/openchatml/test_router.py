from __future__ import annotations

import asyncio
import json
import random
from collections import Counter
from typing import Any

import pytest

from syntagma.openchatml import Message, RoutedTool, ToolRouter, parse, render
from syntagma.openchatml.argument_check import mismatch


def call(call_id: str | None, recipient: str = "functions.f", body: str = "{}", **fields: Any) -> Message:
    given = {"role": "assistant", "channel": "commentary", "terminator": "call", **fields}
    return Message(recipient=recipient, call_id=call_id, body=body, **given)


def test_a_thousand_calls_each_get_one_reply() -> None:
    source = random.Random(5)
    running = most = 0

    async def tool(arguments: dict[str, Any]) -> Any:
        nonlocal running, most
        running += 1
        most = max(most, running)
        try:
            await asyncio.sleep(arguments["wait"])
        except asyncio.CancelledError:
            if arguments["stubborn"]:
                await asyncio.sleep(0.01)
                return "too late"
            raise
        finally:
            running -= 1
        if arguments["fail"]:
            raise ValueError("no")
        return arguments["n"]

    calls = []
    for number in range(1000):
        arguments = {
            "n": number,
            "wait": source.random() * 0.02,
            "fail": source.random() < 0.1,
            "stubborn": source.random() < 0.5,
        }
        if source.random() < 0.1:
            arguments |= {"deadline_ms": 1, "wait": 5}
        calls.append(call(f"c{number}", body=json.dumps(arguments)))

    async def main() -> tuple[list[Any], list[Any]]:
        router = ToolRouter({"functions.f": tool}, concurrency=200)
        replies = []
        async for reply in router.stream(calls):
            replies.append(reply)
            for _ in range(2):
                router.cancel(f"c{source.randrange(1000)}", "test")
        again = await router.run(calls)
        await asyncio.sleep(0.05)
        return replies, again

    replies, again = asyncio.run(main())
    assert Counter(reply.call_id for reply in replies) == Counter(f"c{number}" for number in range(1000))
    assert again == []
    assert most <= 200 + sum(reply.error_code in ("E-TOOL-TIMEOUT", "E-TOOL-CANCELLED") for reply in replies)
    codes = Counter(reply.error_code for reply in replies)
    assert codes[None] > 0
    assert set(codes) <= {None, "X-TOOL-FAILED", "E-TOOL-TIMEOUT", "E-TOOL-CANCELLED"}
    for reply in replies:
        if reply.ok:
            assert reply.content == int(reply.call_id[1:])
    messages = [*calls, *(reply.message() for reply in replies)]
    assert len(parse(render(messages)).messages) == 2000


def test_what_is_not_dispatched() -> None:
    ran: list[Any] = []
    router = ToolRouter({"functions.f": ran.append, "python": RoutedTool(run=ran.append, raw_body=True)})
    messages = [
        call(None),
        call("a", recovered=True),
        call("b", role="user"),
        call("c", terminator="end"),
        call("d"),
        call("d"),
        call("e"),
        Message(role="tool", name="functions.f", call_id="e"),
        call("p", recipient="python", body="print(1)", channel="analysis"),
    ]
    replies = asyncio.run(router.run(messages))
    assert sorted(reply.call_id for reply in replies) == ["d", "p"]
    assert ran in ([{}, "print(1)"], ["print(1)", {}])
    assert [problem.index for problem in router.rejected] == [0, 1, 5]


def test_leaving_early_cancels_the_rest() -> None:
    ended: list[str] = []

    async def slow(arguments: dict[str, Any]) -> str:
        try:
            await asyncio.sleep(arguments["s"])
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise
        return "done"

    async def main() -> None:
        router = ToolRouter({"functions.f": slow})
        stream = router.stream([call("a", body='{"s":0}'), call("b", body='{"s":60}')])
        async for reply in stream:
            assert reply.call_id == "a"
            break
        await stream.aclose()  # type: ignore[attr-defined]
        await asyncio.sleep(0)

    asyncio.run(main())
    assert ended == ["cancelled"]


def test_an_envelope_is_not_wrapped_again_and_results_that_cannot_be_written_are_errors() -> None:
    results: dict[str, Any] = {
        "functions.a": {"ok": False, "error": {"code": "MINE", "message": "m"}},
        "functions.b": {1, 2},
        "functions.c": float("nan"),
        "functions.d": {"ok": True, "other": 1},
    }
    router = ToolRouter({name: lambda _, value=value: value for name, value in results.items()})
    replies = asyncio.run(router.run([call(name, name) for name in results]))
    found = {reply.call_id: (reply.ok, reply.error_code, reply.content) for reply in replies}
    assert found == {
        "functions.a": (False, "MINE", None),
        "functions.b": (False, "X-TOOL-FAILED", None),
        "functions.c": (False, "X-TOOL-FAILED", None),
        "functions.d": (True, None, {"ok": True, "other": 1}),
    }


SCHEMA = {
    "type": "object",
    "properties": {
        "n": {"type": "integer", "minimum": 1},
        "tags": {"type": "array", "items": {"$ref": "#/$defs/tag"}, "uniqueItems": True},
        "code": {"type": "string", "pattern": "^[a-z]+$"},
        "either": {"oneOf": [{"type": "string"}, {"type": "null"}]},
    },
    "required": ["n"],
    "additionalProperties": False,
    "$defs": {"tag": {"enum": ["x", "y"]}},
}


@pytest.mark.parametrize(
    ("value", "fits"),
    [
        ({"n": 1}, True),
        ({"tags": ["x"], "n": 2.0, "code": "abc", "either": None}, True),
        ({"n": True}, False),
        ({"n": 0}, False),
        ({}, False),
        ({"n": 1, "tags": ["z"]}, False),
        ({"n": 1, "tags": ["x", "x"]}, False),
        ({"n": 1, "code": "A"}, False),
        ({"n": 1, "either": 5}, False),
        ({"n": 1, "more": 1}, False),
    ],
)
def test_arguments_are_checked(value: Any, fits: bool) -> None:
    assert (mismatch(SCHEMA, value) is None) == fits


def test_a_schema_that_cannot_be_checked_lets_nothing_through() -> None:
    loop = {"$ref": "#"}
    for schema in (loop, {"$ref": "http://elsewhere"}, {"$ref": "#/nowhere"}, 5):
        assert mismatch(schema, {}) is not None
