"""`integrations.langchain` with the shipped model: whole, streamed, tools, structured output, asyncio."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

import syntagma as sg
from syntagma.integrations.langchain import chat_model
from tests.docs.blocks import run_blocks
from tests.engines.cases import LEFT_NAME, MESSAGES, TABLE, Case, Sampling, check_message, options_of, record

langchain_core = pytest.importorskip("langchain_core")
pydantic = pytest.importorskip("pydantic")

from langchain_core.exceptions import OutputParserException  # noqa: E402
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage  # noqa: E402
from langchain_core.tools import tool  # noqa: E402

PAGE = Path(__file__).resolve().parents[2] / "docs" / "engines" / "langchain.md"
QUESTION = "Set a timer for 7 minutes"
Reminder = pydantic.create_model(
    "Reminder", name=(str, pydantic.Field(max_length=12)), hour=(int, pydantic.Field(ge=0, le=23))
)


@tool
def set_timer(minutes: int) -> str:
    """Set a timer"""
    return f"{minutes} minutes"


@pytest.fixture(scope="module")
def model() -> sg.Model:
    return sg.load("embedded")


def wire(message: Any) -> dict[str, Any]:
    """A message of LangChain as OpenAI writes it."""
    calls = [{"function": {"name": call["name"], "arguments": call["args"]}} for call in message.tool_calls]
    reasoning = message.additional_kwargs.get("reasoning_content")
    return {"content": message.content, "reasoning_content": reasoning, "tool_calls": calls}


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("case", TABLE, ids=lambda case: case.name)
def test_the_table_of_cases(model: sg.Model, case: Case, stream: bool) -> None:
    asked, sampling = options_of(case), Sampling(case)
    chat = chat_model(model, temperature=sampling.temperature, seed=sampling.seed, max_tokens=sampling.max_tokens)
    tools = asked.pop("tools")
    bound = chat.bind_tools(tools, **asked) if tools else chat.bind(**asked)
    if stream:
        chunks = list(bound.stream(MESSAGES))
        message = sum(chunks[1:], chunks[0])
    else:
        message = bound.invoke(MESSAGES)
    usage = (message.usage_metadata["input_tokens"], message.usage_metadata["output_tokens"])
    check_message(case, wire(message), message.response_metadata["finish_reason"], usage)
    record("langchain", case, stream=stream)


def test_a_stream_that_is_left_stops_the_model(model: sg.Model) -> None:
    stream = chat_model(model, temperature=1.5, max_tokens=300).stream(MESSAGES)
    next(stream)
    stream.close()
    with pytest.raises(StopIteration):
        next(stream)
    record("langchain", LEFT_NAME, stream=True)


def test_tools_are_called_and_answered(model: sg.Model) -> None:
    chat = chat_model(model, temperature=0)
    for choice in ("any", "required", "set_timer", True):
        answer = chat.bind_tools([set_timer], tool_choice=choice).invoke(QUESTION)
        assert answer.tool_calls[0]["name"] == "set_timer"
        assert answer.tool_calls[0]["args"] == {"minutes": 7}
    result = set_timer.invoke(answer.tool_calls[0])
    assert isinstance(result, ToolMessage)
    again = chat.bind_tools([set_timer], tool_choice="none").invoke([HumanMessage(QUESTION), answer, result])
    assert again.content
    assert not again.tool_calls


def test_a_call_that_was_cut_is_an_invalid_one(model: sg.Model) -> None:
    chat = chat_model(model, temperature=0, max_tokens=12).bind_tools([set_timer], tool_choice="any")
    answer = chat.invoke(QUESTION)
    assert not answer.tool_calls
    assert [call["name"] for call in answer.invalid_tool_calls] == ["set_timer"]


@pytest.mark.parametrize("schema", [Reminder, Reminder.model_json_schema()], ids=["a class", "a schema"])
def test_structured_output(model: sg.Model, schema: Any) -> None:
    for seed in range(3):
        chat = chat_model(model, temperature=1.5, seed=seed, max_tokens=200)
        found = chat.with_structured_output(schema).invoke("A reminder for Emma at 9")
        Reminder.model_validate(found if isinstance(found, dict) else found.model_dump())
        assert isinstance(found, dict) == isinstance(schema, dict)
    whole = chat.with_structured_output(schema, include_raw=True).invoke("A reminder for Emma at 9")
    assert isinstance(whole["raw"], AIMessage)
    assert whole["parsed"] == found
    assert whole["parsing_error"] is None
    cut = chat.with_structured_output(schema, include_raw=True, max_tokens=3).invoke("Emma")
    assert cut["parsed"] is None
    assert cut["parsing_error"] is not None
    with pytest.raises(OutputParserException):
        chat.with_structured_output(schema, max_tokens=3).invoke("Emma")


def test_parts_of_structured_output_come_as_they_are_written(model: sg.Model) -> None:
    chat = chat_model(model, temperature=0).with_structured_output(Reminder.model_json_schema())
    parts = list(chat.stream("A reminder for Emma at 9"))
    assert len(parts) > 2
    Reminder.model_validate(parts[-1])


def test_asyncio(model: sg.Model) -> None:
    chat = chat_model(model, temperature=0).bind_tools([set_timer], tool_choice="any")

    async def run() -> tuple[Any, list[Any]]:
        return await chat.ainvoke(QUESTION), [chunk async for chunk in chat.astream(QUESTION)]

    whole, chunks = asyncio.run(run())
    structured = chat_model(model, temperature=0).with_structured_output(Reminder)
    assert isinstance(asyncio.run(structured.ainvoke("Emma at 9")), Reminder)
    assert whole.tool_calls[0]["args"] == {"minutes": 7}
    pieces = [piece["args"] for chunk in chunks for piece in chunk.tool_call_chunks]
    assert json.loads("".join(pieces)) == {"minutes": 7}
    assert len(pieces) > 1


def test_messages_reach_the_template(model: sg.Model) -> None:
    chat = chat_model(model, temperature=0, max_tokens=20)
    messages = [SystemMessage("Be brief."), HumanMessage("Hello there")]
    expected = model.chat(
        [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello there"}],
        temperature=0,
        max_tokens=20,
    )
    assert chat.invoke(messages).content == expected.content


def test_what_is_not_known_is_refused(model: sg.Model) -> None:
    with pytest.raises(sg.ArgumentError, match="E-ARGUMENT-VALUE"):
        chat_model(model, sorcery=3).invoke("Hello")
    with pytest.raises(sg.ArgumentTypeError):
        chat_model("embedded")  # type: ignore[arg-type]


def test_the_page_runs() -> None:
    run_blocks(PAGE)
