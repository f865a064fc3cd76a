"""Streams that run at once and are read one after another."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

import pytest

from syntagma.serving.concurrent_chain import concurrent_chain


def test_all_run_while_the_first_is_read() -> None:
    log: list[str] = []

    async def stream(name: str, waits: asyncio.Event, sets: asyncio.Event) -> AsyncGenerator[str, None]:
        yield f"{name}1"
        sets.set()
        await waits.wait()
        log.append(name)
        yield f"{name}2"

    async def scene() -> list[str]:
        first, second = asyncio.Event(), asyncio.Event()
        # The first cannot go on before the second has begun.
        streams = [stream("a", second, first), stream("b", first, second)]
        return [item async for item in concurrent_chain(streams)]

    assert asyncio.run(asyncio.wait_for(scene(), 30)) == ["a1", "a2", "b1", "b2"]
    assert sorted(log) == ["a", "b"]


def test_an_error_comes_in_its_turn_and_closes_all() -> None:
    closed: list[str] = []

    async def endless(name: str) -> AsyncGenerator[str, None]:
        try:
            while True:
                yield name
                await asyncio.sleep(0.001)
        finally:
            closed.append(name)

    async def failing() -> AsyncGenerator[str, None]:
        yield "fails"
        raise ValueError("late")

    async def short() -> AsyncGenerator[str, None]:
        yield "short"

    seen: list[str] = []

    async def scene() -> None:
        async for item in concurrent_chain([short(), failing(), endless("x")]):
            seen.append(item)  # noqa: PERF401 - what came before the error is looked at

    with pytest.raises(ValueError, match="late"):
        asyncio.run(asyncio.wait_for(scene(), 30))
    assert seen == ["short", "fails"]
    assert closed == ["x"]


def test_closing_closes_all() -> None:
    closed: list[int] = []

    async def endless(number: int) -> AsyncGenerator[int, None]:
        try:
            while True:
                yield number
                await asyncio.sleep(0.001)
        finally:
            closed.append(number)

    async def scene() -> None:
        async with aclosing(concurrent_chain([endless(number) for number in range(3)])) as items:
            assert await anext(items) == 0
            await asyncio.sleep(0.01)

    asyncio.run(asyncio.wait_for(scene(), 30))
    assert sorted(closed) == [0, 1, 2]
