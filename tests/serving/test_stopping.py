"""What many schemas of one request take is bounded together, and is not gone on with where nobody waits."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import CancelledError
from typing import Any

import pytest

from syntagma import Grammar, LimitError, Limits
from syntagma.serving import Settings
from syntagma.serving.running import Runner
from syntagma.stopping import unless_stopped, within_seconds
from tests.serving.support import body, client

READERS: list[Callable[[], Grammar]] = [
    lambda: Grammar.from_json_schema({"type": "integer"}),
    lambda: Grammar.from_regex("a*"),
    lambda: Grammar.from_ebnf('start ::= "a";'),
    lambda: Grammar.from_gbnf('root ::= "a"'),
    lambda: Grammar.from_lark('start: "a"'),
    lambda: Grammar.from_structural_tag({"type": "structural_tag", "format": {"type": "regex", "pattern": "a"}}),
]


def tools(count: int) -> list[dict[str, Any]]:
    schemas = ({"type": "object", "properties": {f"a{n}": {"type": "integer"}}} for n in range(count))
    return [{"type": "function", "function": {"name": f"t{n}", "parameters": one}} for n, one in enumerate(schemas)]


@pytest.mark.parametrize("read", READERS)
def test_nothing_is_read_that_nobody_waits_for(read: Callable[[], Grammar]) -> None:
    asked = [False, True]
    with unless_stopped(lambda: asked.pop(0)):
        read()
        with pytest.raises(CancelledError):
            read()
    read()


@pytest.mark.parametrize("read", READERS)
def test_what_is_read_together_has_its_time(read: Callable[[], Grammar]) -> None:
    with within_seconds(60):
        read()
        with within_seconds(-1), pytest.raises(LimitError) as refused:
            read()
        read()
    assert (refused.value.code, refused.value.limit) == ("E-LIMIT-GRAMMAR-TIME", "grammar_seconds")


def test_a_request_with_too_many_schemas_is_refused() -> None:
    asked = body(tools=tools(3), tool_choice="required")
    settings = Settings(limits=Limits(grammar_seconds=-1.0))
    answer = client(settings=settings).post("/v1/chat/completions", json=asked)
    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == "E-LIMIT-GRAMMAR-TIME"


def test_a_grammar_is_not_gone_on_with_after_its_client_has_left() -> None:
    begun, over = threading.Event(), threading.Event()

    def work() -> None:
        try:
            # Each is another schema, so that none is known already.
            for number in range(10**9):
                Grammar.from_json_schema({"const": [number, "nobody waits"]})
                begun.set()
        finally:
            over.set()

    async def leave() -> None:
        runner = Runner(None, Limits())
        asking = asyncio.ensure_future(runner._compile(work))
        while not begun.is_set():
            await asyncio.sleep(0.001)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        assert await asyncio.to_thread(over.wait, 60)
        runner.close()

    asyncio.run(leave())
