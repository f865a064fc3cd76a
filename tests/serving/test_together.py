"""Answers of a model that computes them together: each is what it is alone, whoever else is answered."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

import syntagma as sg
from syntagma.serving import ServedModel, Settings, create_app
from tests.serving.test_life import Caller, run

PATH = "/v1/chat/completions"
TIMER = {
    "type": "function",
    "function": {
        "name": "set_timer",
        "parameters": {
            "type": "object",
            "properties": {"minutes": {"type": "integer", "maximum": 90}},
            "required": ["minutes"],
            "additionalProperties": False,
        },
    },
}
SCHEMA = {"type": "object", "properties": {"city": {"enum": ["Oslo", "Lima"]}}, "required": ["city"]}
ASKED: list[dict[str, Any]] = [
    {"max_tokens": 40},
    {"tools": [TIMER], "tool_choice": "required"},
    {"response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": SCHEMA}}},
    {"logprobs": True, "top_logprobs": 2, "max_tokens": 9},
    {"n": 2, "max_tokens": 12, "stop": ["i"]},
]
REQUESTS = [
    {"messages": [{"role": "user", "content": text}], "temperature": 0, "stream": stream, **asked}
    for text in ("Hello", "Set a timer for 7 minutes, please")
    for stream in (False, True)
    for asked in ASKED
]


@pytest.fixture
def served() -> ServedModel:
    return ServedModel(*sg.backends.load("embedded"))


def body(served: ServedModel, asked: dict[str, Any]) -> dict[str, Any]:
    return {"model": served.name, **asked}


def said(caller: Caller) -> list[Any]:
    """What was answered, choice by choice, whole or streamed, without what is random."""
    assert caller.status == 200
    if caller.received.startswith(b"{"):
        choices = json.loads(caller.received)["choices"]
        return [
            [
                choice["finish_reason"],
                choice["message"].get("content") or "",
                "".join(call["function"]["arguments"] for call in choice["message"].get("tool_calls") or ()),
            ]
            for choice in choices
        ]
    assert caller.received.endswith(b"data: [DONE]\n\n")
    found: dict[int, list[Any]] = {}
    for line in caller.received.decode().splitlines():
        if not line.startswith("data: {"):
            continue
        for choice in json.loads(line[6:])["choices"]:
            one = found.setdefault(choice["index"], [None, "", ""])
            one[0] = choice["finish_reason"] or one[0]
            one[1] += choice["delta"].get("content") or ""
            for call in choice["delta"].get("tool_calls") or ():
                one[2] += call["function"].get("arguments") or ""
    return [found[index] for index in sorted(found)]


@pytest.mark.parametrize("parallel", [None, 3])
def test_many_at_once_are_answered_as_each_alone(served: ServedModel, parallel: int | None) -> None:
    async def scene() -> None:
        assert served.rounds is not None
        app = create_app(served, Settings(parallel=parallel))
        alone = [said(await Caller(app, PATH, body(served, asked)).run()) for asked in REQUESTS]
        assert len({str(one) for one in alone}) > 5
        leaving = [Caller(app, PATH, body(served, {**REQUESTS[5], "max_tokens": 900})) for _ in range(4)]
        gone = [asyncio.ensure_future(one.run()) for one in leaving]
        wrong = Caller(app, PATH, body(served, {"messages": [{"role": "user", "content": "a " * 3000}]}))
        every = [Caller(app, PATH, body(served, asked)) for asked in REQUESTS]
        tasks = [asyncio.ensure_future(one.run()) for one in (*every[:7], wrong, *every[7:])]
        await leaving[0].begun.wait()
        for one in leaving:
            one.leave.set()
        await asyncio.gather(*tasks, *gone)
        assert wrong.status == 400
        assert [said(one) for one in every] == alone

    run(scene)


def test_what_an_answer_took_is_told_while_others_are_written(served: ServedModel) -> None:
    async def scene() -> None:
        app = create_app(served)
        every = [Caller(app, PATH, body(served, asked)) for asked in REQUESTS[:3] * 3]
        await asyncio.gather(*(one.run() for one in every))
        usages = [json.loads(one.received)["usage"] for one in every]
        assert [usage["completion_tokens"] for usage in usages[:3]] * 3 == [one["completion_tokens"] for one in usages]

    run(scene)
