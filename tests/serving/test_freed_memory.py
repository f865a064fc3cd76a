"""What a request held is let go of with it, and goes back to the system."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from syntagma.serving import create_app, freed_memory
from syntagma.serving.disconnects import unless_gone
from tests.serving.support import body, model
from tests.serving.test_life import Caller, run


class Body:
    """Something that a request holds."""


async def forever() -> Any:
    await asyncio.Event().wait()


@pytest.mark.parametrize("fails", [True, False])
def test_an_answer_that_fails_keeps_nothing(fails: bool) -> None:
    async def answer(body: Body) -> None:
        if fails:
            raise ValueError(str(body))

    async def scene() -> None:
        body = Body()
        alive = weakref.ref(body)
        try:
            await unless_gone(forever, answer(body))
        except ValueError:
            assert fails
        del body
        # A turn of the loop, in which tasks that are over are forgotten.
        await asyncio.sleep(0)
        assert alive() is None

    gc.disable()
    try:
        run(scene)
    finally:
        gc.enable()


class End(NamedTuple):
    """A way in which a request ends."""

    request: dict[str, Any]
    status: int
    fails: bool = False
    """whether the model does"""
    leaves: bool = False
    reads: bool = True


TOOLS = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {}}}}]
ENDS = {
    "whole": End(body(), 200),
    "stream": End(body(stream=True), 200),
    "constrained": End(body(response_format={"type": "json_object"}), 200),
    "tools": End(body(stream=True, tools=TOOLS), 200),
    "refused": End(body(messages="x"), 400),
    "too long": End(body(messages=[{"role": "user", "content": "long " * 100_000}]), 400),
    "bad grammar": End(body(response_format={"type": "regex", "regex": "("}), 400),
    "fails": End(body(), 500, fails=True),
    "stream fails": End(body(stream=True), 200, fails=True),
    "several": End(body(stream=True, n=3), 200),
    "several fail": End(body(stream=True, n=3), 200, fails=True),
    "left": End(body(stream=True, messages=[{"role": "user", "content": "endless"}]), 200, leaves=True),
    "never read": End(
        body(stream=True, messages=[{"role": "user", "content": "endless"}]), 200, leaves=True, reads=False
    ),
}


@pytest.mark.some(5)
@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
def test_no_request_is_left_to_the_garbage_collector(end: End) -> None:
    def script(prompt: str) -> str:
        return "x" * 10**6 if "endless" in prompt else '{"a": 1}'

    def on_step(_: int) -> None:
        if end.fails:
            raise ValueError("the model fails")

    async def ask(app: Any) -> None:
        caller = Caller(app, "/v1/chat/completions", end.request)
        caller.reads = end.reads
        running = asyncio.ensure_future(caller.run())
        if end.leaves:
            await caller.begun.wait()
            caller.leave.set()
        await running
        assert caller.status == end.status
        # The thread that wrote has ended, and the tasks that are over are forgotten.
        await asyncio.sleep(0.05)

    def ours() -> list[str]:
        return [repr(type(one)) for one in gc.garbage if type(one).__module__.startswith("syntagma.")]

    async def scene() -> None:
        app = create_app(model(script, on_step=on_step, context_length=100_000))
        # What is made once, at the first request, may be.
        await ask(app)
        gc.collect()
        gc.set_debug(gc.DEBUG_SAVEALL)
        await ask(app)
        gc.collect()
        assert ours() == []

    gc.disable()
    try:
        run(scene)
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()


@pytest.mark.parametrize("seldom", [0.3, 1e9])
def test_memory_goes_back_soon_where_the_process_has_grown_and_else_seldom(
    monkeypatch: pytest.MonkeyPatch, seldom: float
) -> None:
    held = 0
    given_back: list[int] = []
    monkeypatch.setattr(freed_memory, "_PAUSE_S", 0.01)
    monkeypatch.setattr(freed_memory, "_SELDOM_S", seldom)
    monkeypatch.setattr(freed_memory, "held_memory", lambda: held)
    monkeypatch.setattr(freed_memory, "give_back", lambda: given_back.append(held))

    async def scene() -> None:
        nonlocal held
        app = create_app(model("short"))
        # The first time; grown; hardly grown; grown; shrunk; grown from there.
        for held_now, soon in ((100, True), (101, False), (200, True), (201, False), (50, False), (90, True)):
            held = held_now << 20
            given_back.clear()
            await Caller(app, "/tokenize", {"prompt": "a"}).run()
            if soon or seldom < 1:
                while not given_back:
                    await asyncio.sleep(0.01)
            await asyncio.sleep(0.05)
            assert given_back == ([held] if soon or seldom < 1 else [])

    run(scene)


def test_giving_back_asks_the_library_where_it_can(monkeypatch: pytest.MonkeyPatch) -> None:
    freed_memory.give_back()
    asked: list[int] = []
    for found, expected in ((asked.append, [0]), (None, [])):
        asked.clear()
        trim: Callable[[int], Any] | None = found
        monkeypatch.setattr(freed_memory, "_trim", lambda trim=trim: trim)
        freed_memory.give_back()
        assert asked == expected


def test_memory_goes_back_once_for_requests_that_end_together(monkeypatch: pytest.MonkeyPatch) -> None:
    given_back = []
    monkeypatch.setattr(freed_memory, "_PAUSE_S", 0.01)
    monkeypatch.setattr(freed_memory, "_SELDOM_S", 0.1)
    monkeypatch.setattr(freed_memory, "give_back", lambda: given_back.append(True))

    async def scene() -> None:
        freed = freed_memory.FreedMemory()
        for _ in range(2):
            for _ in range(5):
                freed.request_ended()
            await asyncio.sleep(0.5)

    run(scene)
    assert len(given_back) == 2


def test_what_is_due_when_the_server_ends_hurts_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[bool] = []
    reported: list[dict[str, Any]] = []
    monkeypatch.setattr(freed_memory, "_PAUSE_S", 0.01)
    monkeypatch.setattr(freed_memory, "held_memory", lambda: looked.append(True) or 1 << 30)

    async def scene() -> None:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, said: reported.append(said))
        freed_memory.FreedMemory().request_ended()
        await loop.shutdown_default_executor()
        while not looked:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.02)

    run(scene)
    assert not reported
