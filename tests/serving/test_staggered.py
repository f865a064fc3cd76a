"""Requests that come together begin in turn, and all of them are answered."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from syntagma.serving.staggered import Staggered
from tests.serving.test_life import Caller, run


@pytest.mark.parametrize("count", [1, 4, 5, 203])
def test_few_begin_in_one_iteration_of_the_event_loop_in_the_order_in_which_they_came(count: int) -> None:
    begun: list[int] = []

    async def app(scope: Any, _receive: Any, send: Any) -> None:
        begun.append(int(scope["path"]))
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    async def scene() -> None:
        staggered = Staggered(app)
        # A second time, when the first ones are over.
        for _ in range(2):
            begun.clear()
            callers = [asyncio.ensure_future(Caller(staggered, f"{at}").run()) for at in range(count)]
            most = before = 0
            while len(begun) < count:
                await asyncio.sleep(0)
                most, before = max(most, len(begun) - before), len(begun)
            assert most <= 8
            assert begun == list(range(count))
            assert [caller.status for caller in await asyncio.gather(*callers)] == [200] * count

    run(scene)


def test_one_that_is_cancelled_while_it_waits_holds_up_nobody() -> None:
    begun: list[str] = []

    async def app(scope: Any, _receive: Any, _send: Any) -> None:
        begun.append(scope["path"])

    async def scene() -> None:
        staggered = Staggered(app)
        callers = [asyncio.ensure_future(Caller(staggered, f"{at}").run()) for at in range(30)]
        await asyncio.sleep(0)
        for caller in callers[10:20]:
            caller.cancel()
        await asyncio.gather(*callers, return_exceptions=True)
        assert begun == [f"{at}" for at in (*range(10), *range(20, 30))]

    run(scene)
