from __future__ import annotations

import asyncio
import contextvars
import json
import os
import random
import subprocess
import sys
import threading
import time
from collections import Counter
from typing import Any

import pytest

from syntagma.errors import SyntagmaError
from syntagma.openchatml import Message, Reply, RoutedTool, ToolRouter, parse, render, validate
from syntagma.parsing.arguments.argument_check import mismatch


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


def replies_of(tool: Any, *bodies: str, schema: Any = None, **options: Any) -> list[Reply]:
    """The replies to calls of one tool, one for each body."""

    async def main() -> list[Reply]:
        router = ToolRouter({"functions.f": RoutedTool(run=tool, schema=schema)}, **options)
        calls = [call(f"c{number}", body=body) for number, body in enumerate(bodies)]
        return await asyncio.wait_for(router.run(calls), 10)

    return asyncio.run(main())


class Unspeakable(Exception):
    """An exception whose text cannot be had."""

    def __str__(self) -> str:
        raise ValueError("no text")


def stop(_: Any) -> None:
    raise StopIteration


def leave(_: Any) -> None:
    raise SystemExit(1)


def fail(_: Any) -> None:
    raise Unspeakable


async def leave_later(_: Any) -> None:
    raise SystemExit(1)


@pytest.mark.parametrize("tool", [stop, leave, fail, leave_later], ids=lambda tool: tool.__name__)
def test_whatever_a_tool_raises_its_call_gets_one_reply(tool: Any) -> None:
    assert [reply.error_code for reply in replies_of(tool, "{}", "{}")] == ["X-TOOL-FAILED"] * 2


@pytest.mark.parametrize("deadline", [10**30, 10**400])
def test_deadlines_may_be_as_far_away_as_numbers_go(deadline: int) -> None:
    assert [reply.ok for reply in replies_of(lambda _: 1, f'{{"deadline_ms": {deadline}}}')] == [True]


def test_functions_wait_for_no_thread_while_their_deadlines_pass() -> None:
    calls = ['{"deadline_ms": 1000}'] * 60
    assert all(reply.ok for reply in replies_of(lambda _: time.sleep(0.2), *calls))


def test_a_function_that_is_too_late_keeps_nobody_waiting() -> None:
    begun = time.monotonic()
    replies = replies_of(lambda _: time.sleep(5), '{"deadline_ms": 20}')
    assert [reply.error_code for reply in replies] == ["E-TOOL-TIMEOUT"]
    assert time.monotonic() - begun < 3


def test_replies_can_be_written_whatever_a_tool_returns() -> None:
    returned = {"text": "a\ud800", "more": "é<|end|>"}
    (reply,) = replies_of(lambda _: returned, "{}")
    text = render([call("c0"), reply.message()])
    assert json.loads(parse(text.encode()).messages[1].body)["content"] == returned


def test_threads_are_used_again() -> None:
    seen: set[int] = set()
    for _ in range(30):
        replies_of(lambda _: seen.add(threading.get_ident()), "{}")
    assert len(seen) < 10


FORKED = """
import asyncio, os, sys, time
from syntagma.openchatml import Message, ToolRouter
call = Message(role="assistant", recipient="functions.f", call_id="1", channel="commentary", body="{}")
ask = lambda: asyncio.run(ToolRouter({"functions.f": lambda _: 1}, default_deadline_ms=5000).run([call]))[0].ok
assert ask()
time.sleep(0.1)  # its thread waits for the next function by now
child = os.fork()
if not child:
    os._exit(0 if ask() else 1)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_the_child_of_a_fork_waits_for_no_thread_that_it_lacks() -> None:
    assert subprocess.run([sys.executable, "-c", FORKED], timeout=60, check=False).returncode == 0


def test_context_variables_reach_functions() -> None:
    variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable")
    variable.set("here")
    assert [reply.content for reply in replies_of(lambda _: variable.get(), "{}")] == ["here"]


@pytest.mark.parametrize(
    ("ok", "error", "wanted"),
    [
        (False, "no", {"code": "X-TOOL-FAILED", "message": "no"}),
        (False, None, {"code": "X-TOOL-FAILED", "message": "the tool failed"}),
        (False, ["no"], {"code": "X-TOOL-FAILED", "message": "the tool failed"}),
        (False, {"code": 5, "more": 1}, {"code": "5", "message": "the tool failed", "more": 1}),
        (True, "no", {"code": "X-TOOL-FAILED", "message": "no"}),
        (True, None, None),
        (True, "", None),
        (True, {}, None),
    ],
    ids=str,
)
def test_errors_of_replies_have_a_code_and_a_message(ok: bool, error: Any, wanted: Any) -> None:
    """At each door: the tool's envelope, a reply that a program makes, what is read of a transcript."""
    made = Reply(call_id="c0", name="functions.f", ok=ok, error=error)
    assert made.error == wanted
    (reply,) = replies_of(lambda _: {"ok": ok, "error": error}, "{}")
    assert reply == made
    written = Message(role="tool", name="functions.f", call_id="c0", body=json.dumps({"ok": ok, "error": error}))
    codes = validate(parse(render([call("c0"), written]))).tool_error_codes
    assert codes == ({} if ok else {"c0": made.error_code})


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"default_deadline_ms": "5"}, "E-ARGUMENT-TYPE"),
        ({"default_deadline_ms": True}, "E-ARGUMENT-TYPE"),
        ({"default_deadline_ms": 0}, "E-ARGUMENT-VALUE"),
        ({"default_deadline_ms": -1}, "E-ARGUMENT-VALUE"),
        ({"concurrency": 0}, "E-ARGUMENT-VALUE"),
        ({"concurrency": None}, "E-ARGUMENT-TYPE"),
        ({"tools": {"functions.f": 5}}, "E-ARGUMENT-TYPE"),
        ({"tools": {5: print}}, "E-ARGUMENT-TYPE"),
    ],
    ids=str,
)
def test_options_that_cannot_be_are_refused_when_a_router_is_made(options: dict[str, Any], code: str) -> None:
    with pytest.raises(SyntagmaError) as caught:
        ToolRouter(**{"tools": {}, **options})
    assert caught.value.code == code


@pytest.mark.parametrize(
    "fields", [{"run": 5}, {"run": print, "schema": [1]}, {"run": print, "raw_body": "no"}], ids=str
)
def test_tools_that_cannot_be_are_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(SyntagmaError) as caught:
        RoutedTool(**fields)
    assert caught.value.code == "E-ARGUMENT-TYPE"


@pytest.mark.parametrize("schema", [{"properties": 5}, {"type": 5}, {"$ref": 5}, {"required": 5}], ids=str)
def test_a_schema_that_is_none_runs_nothing_or_checks_nothing(schema: dict[str, Any]) -> None:
    (reply,) = replies_of(lambda _: 1, '{"deadline_ms": 900}', schema=schema)
    assert reply.error_code in (None, "E-CALL-SCHEMA")


def test_a_second_call_with_an_id_is_refused_though_the_first_was_answered() -> None:
    router = ToolRouter({"functions.f": lambda arguments: arguments})
    answered = [call("a"), Message(role="tool", name="functions.f", call_id="a"), call("a"), call("b")]
    replies = asyncio.run(router.run(answered))
    assert [reply.call_id for reply in replies] == ["b"]
    assert [(problem.index, problem.code) for problem in router.rejected] == [(2, "E-CALL-SCHEMA")]


def test_a_code_as_an_error_stays_that_code() -> None:
    router = ToolRouter({"functions.f": lambda arguments: {"ok": False, "error": arguments["error"]}})
    calls = [call("a", body='{"error": "E-TOOL-TIMEOUT"}'), call("b", body='{"error": "no ship"}')]
    codes = {reply.call_id: reply.error_code for reply in asyncio.run(router.run(calls))}
    assert codes == {"a": "E-TOOL-TIMEOUT", "b": "X-TOOL-FAILED"}


def test_recovered_calls_run_if_nothing_was_guessed() -> None:
    ran: list[Any] = []
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
    router = ToolRouter({"functions.f": RoutedTool(run=ran.append, schema=schema)})
    calls = [
        call("a", recovered=True, lacks="beginning", body='{"a": 1}'),
        call("b", recovered=True, lacks="message", body='{"a": 2}'),
        call("c", recovered=True, lacks="message", body='{"a": "x"}'),
        call("d", recovered=True, lacks="message", recipient="functions.g"),
        call("e", recovered=True, body='{"a": 3}'),
    ]
    asyncio.run(router.run(calls))
    assert sorted(one["a"] for one in ran) == [1, 2]
    assert [problem.index for problem in router.rejected] == [2, 3, 4]
