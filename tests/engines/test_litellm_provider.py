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
from tests.engines.cases import LEFT_NAME, TABLE, TOOLS, Case, Sampling, check_message, joined, options_of, record
from tests.engines.cases import MESSAGES as QUESTION

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


def pieces(chunks: list[Any]) -> tuple[dict[str, Any], str | None]:
    """The message of a streamed answer, and why it ended."""
    reason = next(chunk.choices[0].finish_reason for chunk in reversed(chunks) if chunk.choices[0].finish_reason)
    return joined([chunk.choices[0].delta.model_dump() for chunk in chunks]), reason


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("case", TABLE, ids=lambda case: case.name)
def test_the_table_of_cases(case: Case, stream: bool) -> None:
    asked, sampling = options_of(case), Sampling(case)
    extra = {"template_kwargs": asked.pop("template_kwargs")} if "template_kwargs" in asked else {}
    asked |= {"temperature": sampling.temperature, "seed": sampling.seed, "max_tokens": sampling.max_tokens}
    asked = {name: value for name, value in asked.items() if value != []}
    answer = litellm.completion(
        model="syntagma/embedded", messages=QUESTION, stream=stream, **asked, **({"extra_body": extra} if extra else {})
    )
    if stream:
        check_message(case, *pieces(list(answer)))
    else:
        choice, usage = answer.choices[0], answer.usage
        check_message(
            case, choice.message.model_dump(), choice.finish_reason, (usage.prompt_tokens, usage.completion_tokens)
        )
    record("litellm", case, stream=stream)


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
    message, reason = pieces(chunks)
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
    record("litellm", LEFT_NAME, stream=True)


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


def test_the_page_runs() -> None:
    run_blocks(PAGE)
