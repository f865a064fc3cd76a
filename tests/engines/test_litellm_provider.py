"""`integrations.litellm` with the shipped model: whole, streamed, and both in asyncio."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import syntagma as sg
from syntagma.integrations.litellm import handler
from tests.docs.blocks import run_blocks
from tests.engines.cases import CASES, TOOLS, Case, record

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # it would be downloaded
litellm = pytest.importorskip("litellm")

# Libraries below it are ahead of it.
pytestmark = pytest.mark.filterwarnings("default")
PAGE = Path(__file__).resolve().parents[2] / "docs" / "engines" / "litellm.md"
MESSAGES = [{"role": "user", "content": "Set a timer for 7 minutes"}]
SECOND = [
    *MESSAGES,
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "call_1", "type": "function", "function": {"name": "set_timer", "arguments": '{"minutes": 7}'}}
        ],
    },
    {"role": "tool", "tool_call_id": "call_1", "content": "done"},
]


@pytest.fixture(scope="module")
def model() -> sg.Model:
    return sg.load("embedded")


@pytest.fixture(autouse=True)
def provider(model: sg.Model) -> Iterator[None]:
    before = litellm.custom_provider_map
    litellm.custom_provider_map = [
        {"provider": "syntagma", "custom_handler": handler(model)},
        {"provider": "several", "custom_handler": handler({"small": model})},
    ]
    yield
    litellm.custom_provider_map = before


def options_of(case: Case) -> dict[str, Any]:
    options = {"messages": case.messages, "temperature": case.temperature, "seed": 1, "max_tokens": case.max_tokens}
    extra = {name: value for name, value in case.request.items() if name == "template_kwargs"}
    named = {name: value for name, value in case.request.items() if name not in extra}
    options |= {"tools": TOOLS} if case.tools else {}
    return {**options, **named, **({"extra_body": extra} if extra else {})}


def joined(chunks: list[Any]) -> tuple[dict[str, Any], str | None]:
    """The message of a streamed answer, put together as clients do."""
    message: dict[str, Any] = {"content": "", "reasoning_content": "", "tool_calls": []}
    reason = None
    for chunk in chunks:
        delta = chunk.choices[0].delta
        message["content"] += delta.content or ""
        message["reasoning_content"] += getattr(delta, "reasoning_content", None) or ""
        for call in delta.tool_calls or []:
            if call.index == len(message["tool_calls"]):
                message["tool_calls"].append({"function": {"name": "", "arguments": ""}})
            found = message["tool_calls"][call.index]["function"]
            found["name"] += call.function.name or ""
            found["arguments"] += call.function.arguments or ""
        reason = chunk.choices[0].finish_reason or reason
    return message, reason


@pytest.mark.parametrize("way", ["whole", "streamed"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_table_of_cases(case: Case, way: str) -> None:
    options = options_of(case)
    if way == "whole":
        answer = litellm.completion(model="syntagma/embedded", **options)
        choice = answer.choices[0]
        message = choice.message.model_dump()
        assert answer.usage.completion_tokens > 0
        assert answer.usage.prompt_tokens > 10
        case.check(message, choice.finish_reason)
    else:
        case.check(*joined(list(litellm.completion(model="syntagma/embedded", stream=True, **options))))
    record("litellm", case.name, way)


def test_asyncio(model: sg.Model) -> None:
    async def run() -> tuple[Any, list[Any]]:
        asked = {"model": "syntagma/embedded", "messages": MESSAGES, "tools": TOOLS, "temperature": 0}
        whole, stream = await asyncio.gather(
            litellm.acompletion(tool_choice="required", **asked),
            litellm.acompletion(tool_choice="required", stream=True, **asked),
        )
        return whole, [chunk async for chunk in stream]

    whole, chunks = asyncio.run(run())
    expected = model.chat(MESSAGES, tools=TOOLS, tool_choice="required", temperature=0).tool_calls[0]
    call = whole.choices[0].message.tool_calls[0].function
    message, reason = joined(chunks)
    assert (call.name, call.arguments) == (expected.name, expected.arguments)
    assert message["tool_calls"][0]["function"] == {"name": call.name, "arguments": call.arguments}
    assert reason == "tool_calls"


def test_a_stream_that_is_left_stops_the_model() -> None:
    asked = {"model": "syntagma/embedded", "messages": MESSAGES, "max_tokens": 300, "temperature": 1.5}
    stream = litellm.completion(stream=True, **asked)
    next(iter(stream))
    stream.completion_stream.close()
    with pytest.raises(StopIteration):
        next(stream.completion_stream)


def test_a_conversation_with_calls_goes_on() -> None:
    asked = {"model": "several/small", "tools": TOOLS, "temperature": 0, "max_tokens": 60}
    answer = litellm.completion(messages=SECOND, tool_choice="none", **asked)
    assert answer.choices[0].message.content


def test_a_class_is_a_response_format() -> None:
    pydantic = pytest.importorskip("pydantic")
    reminder = pydantic.create_model("Reminder", name=(str, pydantic.Field(max_length=12)), hour=(int, ...))
    asked = {"model": "syntagma/embedded", "messages": MESSAGES, "temperature": 0}
    answer = litellm.completion(response_format=reminder, **asked)
    assert reminder.model_validate_json(answer.choices[0].message.content)


@pytest.mark.parametrize("wrong", [{"logit_sorcery": 3}, {"n": 2}])
def test_what_is_not_known_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(Exception, match=r"E-ARGUMENT-VALUE|UnsupportedParams"):
        litellm.completion(model="syntagma/embedded", messages=MESSAGES, **wrong)


def test_models_have_names() -> None:
    assert litellm.completion(model="several/small", messages=MESSAGES, max_tokens=3).choices[0].message
    with pytest.raises(Exception, match="small"):
        litellm.completion(model="several/other", messages=MESSAGES)
    with pytest.raises(sg.ArgumentTypeError):
        handler("embedded")  # type: ignore[arg-type]


def test_the_page_runs(capsys: pytest.CaptureFixture[str]) -> None:
    run_blocks(PAGE)
    assert '"minutes": 7' in capsys.readouterr().out
