"""What a request held is let go of with it, and large pieces go back to the system."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from syntagma.limits import Limits
from syntagma.serving import freed_memory
from syntagma.serving.disconnects import unless_gone
from syntagma.serving.running import Runner
from tests.serving.test_life import run


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


def test_memory_goes_back_after_long_bodies_only(monkeypatch: pytest.MonkeyPatch) -> None:
    given_back = []
    monkeypatch.setattr(freed_memory, "_PAUSE_S", 0.01)
    monkeypatch.setattr(freed_memory, "give_back", lambda: given_back.append(True))

    async def scene() -> None:
        runner = Runner(None, Limits())
        assert await runner.read(1000, lambda: "short") == "short"
        await asyncio.sleep(0.05)
        assert not given_back
        assert await asyncio.gather(*(runner.read(1 << 20, lambda: "long") for _ in range(5))) == ["long"] * 5
        with pytest.raises(ValueError, match="wrong"):
            await runner.read(1 << 20, wrong)
        while not given_back:
            await asyncio.sleep(0.01)
        runner.close()
        # What is due when the server ends hurts nobody.
        with pytest.raises(RuntimeError):
            await runner.read(1 << 20, lambda: "late")
        await asyncio.sleep(0.05)

    def wrong() -> str:
        raise ValueError("wrong")

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


def test_what_is_asked_for_at_once_is_given_back_once(monkeypatch: pytest.MonkeyPatch) -> None:
    given_back = []
    monkeypatch.setattr(freed_memory, "_PAUSE_S", 0.01)
    monkeypatch.setattr(freed_memory, "give_back", lambda: given_back.append(True))

    async def scene() -> None:
        with ThreadPoolExecutor(1) as threads:
            freed = freed_memory.FreedMemory(threads)
            for _ in range(2):
                for _ in range(5):
                    freed.give_back_soon()
                await asyncio.sleep(0.1)

    run(scene)
    assert len(given_back) == 2
