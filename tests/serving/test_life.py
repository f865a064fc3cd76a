"""Streams that are long: who waits for them, who leaves, how many there may be."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
import pytest

from syntagma.limits import Limits
from syntagma.serving import Settings, create_app
from tests.serving.support import body, model

PATIENCE = 60
"""seconds until a test that hangs fails; nothing here depends on speed"""


class Caller:
    """One request, driven by hand: what was sent back, and when its client leaves."""

    def __init__(self, app: Any, path: str, request: dict[str, Any] | None = None) -> None:
        self._app = app
        self._body = b"" if request is None else json.dumps(request).encode()
        self._scope = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.4"},
            "http_version": "1.1",
            "method": "GET" if request is None else "POST",
            "path": path,
            "raw_path": path.encode(),
            "query_string": b"",
            "root_path": "",
            "scheme": "http",
            "headers": [],
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 80),
        }
        self._asked = False
        self.sent = len(self._body)
        """bytes of the body that come; the rest never does"""
        self.reads = True
        """whether what is sent is read; where not, sending never ends"""
        self.leave = asyncio.Event()
        self.begun = asyncio.Event()
        self.status = 0
        self.headers: dict[bytes, bytes] = {}
        self.received = b""

    async def run(self) -> Caller:
        await asyncio.wait_for(self._app(self._scope, self._receive, self._send), PATIENCE)
        return self

    async def _receive(self) -> dict[str, Any]:
        if not self._asked:
            self._asked = True
            whole = self.sent == len(self._body)
            return {"type": "http.request", "body": self._body[: self.sent], "more_body": not whole}
        await self.leave.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Any) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.headers = dict(message["headers"])
        else:
            self.received += message.get("body", b"")
            self.begun.set()
            if not self.reads:
                await asyncio.Event().wait()


def run(test: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(asyncio.wait_for(test(), PATIENCE))  # type: ignore[arg-type]


@pytest.mark.parametrize("stream", [True, False])
def test_a_client_that_leaves_stops_its_generation(stream: bool) -> None:
    begun = threading.Event()

    def script(prompt: str) -> str:
        # A generation that is not stopped outlives the test.
        return "x" * 10**6 if "endless" in prompt else "short"

    async def scene() -> None:
        # One generation at a time: the second is served only once the first has stopped.
        served = model(script, on_step=lambda _: begun.set(), context_length=10**9)
        app = create_app(served, Settings(parallel=1))
        endless = body(stream=stream, messages=[{"role": "user", "content": "endless"}])
        first = Caller(app, "/v1/chat/completions", endless)
        task = asyncio.ensure_future(first.run())
        await asyncio.to_thread(begun.wait, PATIENCE)
        second = asyncio.ensure_future(Caller(app, "/v1/chat/completions", body()).run())
        first.leave.set()
        await task
        answered = await second
        assert json.loads(answered.received)["choices"][0]["message"]["content"] == "short"
        assert not first.received.endswith(b"[DONE]\n\n")

    run(scene)


def test_the_server_answers_while_a_generation_computes() -> None:
    reached, go_on = threading.Event(), threading.Event()

    def block(step: int) -> None:
        if step == 2:
            reached.set()
            assert go_on.wait(PATIENCE)

    async def scene() -> None:
        app = create_app(model("hello", on_step=block), Settings(parallel=1))
        chat = Caller(app, "/v1/chat/completions", body(stream=True))
        task = asyncio.ensure_future(chat.run())
        await asyncio.to_thread(reached.wait, PATIENCE)
        await asyncio.wait_for(chat.begun.wait(), PATIENCE)
        # Tokens go out one by one: the first has arrived although the third is not computed.
        health = await Caller(app, "/health").run()
        assert health.status == 200
        assert b"[DONE]" not in chat.received
        go_on.set()
        await task
        assert chat.received.endswith(b"data: [DONE]\n\n")

    run(scene)


def test_requests_that_are_too_many_are_told_to_come_back() -> None:
    reached, go_on = threading.Event(), threading.Event()

    def block(_: int) -> None:
        reached.set()
        assert go_on.wait(PATIENCE)

    async def scene() -> None:
        limits = msgspec.structs.replace(Limits(), server_streams=2)
        app = create_app(model("hello", on_step=block), Settings(parallel=1, limits=limits))
        # The first computes, the second waits its turn: both are being served.
        tasks = [asyncio.ensure_future(Caller(app, "/v1/chat/completions", body(stream=True)).run()) for _ in range(2)]
        await asyncio.to_thread(reached.wait, PATIENCE)
        third = await Caller(app, "/v1/chat/completions", body()).run()
        assert third.status == 429
        assert json.loads(third.received)["error"]["type"] == "rate_limit_error"
        go_on.set()
        assert [(await task).status for task in tasks] == [200, 200]
        fourth = await Caller(app, "/v1/chat/completions", body()).run()
        assert fourth.status == 200

    run(scene)


def test_a_request_that_waits_can_leave() -> None:
    reached, go_on = threading.Event(), threading.Event()

    def block(_: int) -> None:
        reached.set()
        assert go_on.wait(PATIENCE)

    async def scene() -> None:
        served = model("hello", on_step=block)
        app = create_app(served, Settings(parallel=1))
        first = asyncio.ensure_future(Caller(app, "/v1/chat/completions", body()).run())
        await asyncio.to_thread(reached.wait, PATIENCE)
        waiting = Caller(app, "/v1/chat/completions", body(messages=[{"role": "user", "content": "waits"}]))
        task = asyncio.ensure_future(waiting.run())
        waiting.leave.set()
        await task
        go_on.set()
        assert (await first).status == 200
        assert not any("waits" in prompt for prompt in served.engine.prompts)  # type: ignore[attr-defined]

    run(scene)


def test_many_requests_at_once_do_not_mix() -> None:
    async def scene() -> None:
        app = create_app(model(lambda prompt: prompt.split("user>")[1].split("<")[0] * 5), Settings(parallel=4))
        callers = [
            Caller(app, "/v1/chat/completions", body(messages=[{"role": "user", "content": f"word{number}"}]))
            for number in range(12)
        ]
        await asyncio.gather(*(caller.run() for caller in callers))
        for number, caller in enumerate(callers):
            assert json.loads(caller.received)["choices"][0]["message"]["content"] == f"word{number}" * 5

    run(scene)


def test_a_stream_that_waits_its_turn_begins_at_once() -> None:
    reached, go_on = threading.Event(), threading.Event()

    def block(_: int) -> None:
        reached.set()
        assert go_on.wait(PATIENCE)

    async def scene() -> None:
        app = create_app(model("hello", on_step=block), Settings(parallel=1))
        first = asyncio.ensure_future(Caller(app, "/v1/chat/completions", body()).run())
        await asyncio.to_thread(reached.wait, PATIENCE)
        waiting = Caller(app, "/v1/chat/completions", body(stream=True))
        task = asyncio.ensure_future(waiting.run())
        await asyncio.wait_for(waiting.begun.wait(), PATIENCE)
        assert waiting.status == 200
        assert waiting.received == b": waiting\n\n"
        # What is wrong with a request is still told by the status.
        schema = {"type": "json_schema", "json_schema": {"name": "x", "strict": True, "schema": {"type": "odd"}}}
        wrong = await Caller(app, "/v1/chat/completions", body(stream=True, response_format=schema)).run()
        assert wrong.status == 400
        go_on.set()
        await asyncio.gather(first, task)
        assert waiting.received.endswith(b"data: [DONE]\n\n")

    run(scene)


def test_nobody_waits_for_a_generation_for_ever() -> None:
    reached, go_on = threading.Event(), threading.Event()

    def block(_: int) -> None:
        reached.set()
        assert go_on.wait(PATIENCE)

    async def scene() -> None:
        limits = msgspec.structs.replace(Limits(), server_queue_seconds=0.5)
        app = create_app(model("hello", on_step=block), Settings(parallel=1, limits=limits))
        first = asyncio.ensure_future(Caller(app, "/v1/chat/completions", body()).run())
        await asyncio.to_thread(reached.wait, PATIENCE)
        whole = Caller(app, "/v1/chat/completions", body())
        streamed = Caller(app, "/v1/chat/completions", body(stream=True))
        await asyncio.gather(whole.run(), streamed.run())
        assert whole.status == 503
        assert whole.headers[b"retry-after"] == b"1"
        assert json.loads(whole.received)["error"]["code"] == "E-REQUEST-QUEUE"
        assert streamed.status == 200
        last = streamed.received.rstrip().split(b"\n\n")[-1].removeprefix(b"data: ")
        assert json.loads(last)["error"]["code"] == "E-REQUEST-QUEUE"
        go_on.set()
        assert (await first).status == 200

    run(scene)


def test_a_server_that_ends_says_so() -> None:
    reached, go_on = threading.Event(), threading.Event()

    def block(step: int) -> None:
        if step == 2:
            reached.set()
            assert go_on.wait(PATIENCE)

    async def scene() -> None:
        app = create_app(model("hello", on_step=block), Settings(parallel=1))
        streamed, whole = Caller(app, "/v1/chat/completions", body(stream=True)), None
        task = asyncio.ensure_future(streamed.run())
        await asyncio.to_thread(reached.wait, PATIENCE)
        whole = Caller(app, "/v1/chat/completions", body())
        other = asyncio.ensure_future(whole.run())
        await asyncio.wait_for(streamed.begun.wait(), PATIENCE)
        await asyncio.sleep(0.1)
        task.cancel()
        other.cancel()
        await asyncio.gather(task, other, return_exceptions=True)
        go_on.set()
        last = streamed.received.rstrip().split(b"\n\n")[-1].removeprefix(b"data: ")
        assert json.loads(last)["error"]["code"] == "E-REQUEST-SHUTDOWN"
        assert whole.status == 503
        assert json.loads(whole.received)["error"]["code"] == "E-REQUEST-SHUTDOWN"

    run(scene)


def test_a_fault_after_the_first_byte_is_reported_in_the_stream(caplog: pytest.LogCaptureFixture) -> None:
    def fail(step: int) -> None:
        if step == 2:
            raise RuntimeError("the accelerator is on fire")

    async def scene() -> None:
        app = create_app(model("hello", on_step=fail))
        streamed = await Caller(app, "/v1/chat/completions", body(stream=True)).run()
        assert streamed.status == 200
        last = streamed.received.rstrip().split(b"\n\n")[-1]
        error = json.loads(last.removeprefix(b"data: "))["error"]
        assert error["type"] == "server_error"
        whole = await Caller(app, "/v1/chat/completions", body()).run()
        assert whole.status == 500
        # What happened inside is for the log, not for the client.
        assert b"fire" not in streamed.received + whole.received

    run(scene)
    assert "fire" in caplog.text
