"""LangChain: `ChatOpenAI` over both of OpenAI's APIs, and `ChatAnthropic`."""

from __future__ import annotations

from typing import Any

import pytest

from tests.clients import asks
from tests.clients.asks import CHAT, MESSAGES, RESPONSES
from tests.clients.page import check_program

openai = pytest.importorskip("langchain_openai")
anthropic = pytest.importorskip("langchain_anthropic")
pydantic = pytest.importorskip("pydantic")

from langchain_core.exceptions import ContextOverflowError  # noqa: E402
from langchain_core.messages import HumanMessage  # noqa: E402
from langchain_core.tools import tool  # noqa: E402

Reminder = pydantic.create_model("Reminder", name=str, hour=int)
ALL = pytest.mark.parametrize("endpoint", [CHAT, RESPONSES, MESSAGES])


@tool
def set_timer(minutes: int) -> str:
    """Set a timer"""
    return f"{minutes} minutes"


def model(endpoint: str) -> Any:
    if endpoint == MESSAGES:
        return anthropic.ChatAnthropic(
            model=asks.MODEL, base_url=asks.HOST, api_key=asks.KEY, temperature=0, max_tokens=100, max_retries=0
        )
    return openai.ChatOpenAI(
        model=asks.MODEL,
        base_url=asks.URL,
        api_key=asks.KEY,
        temperature=0,
        max_retries=0,
        use_responses_api=endpoint == RESPONSES,
    )


def call_of(message: Any) -> Any:
    assert not message.invalid_tool_calls
    return message.tool_calls[0]


@ALL
def test_chat(endpoint: str) -> None:
    message = model(endpoint).invoke(asks.GREETING)
    assert message.text
    assert message.usage_metadata["output_tokens"] > 0


@ALL
def test_stream(endpoint: str) -> None:
    chunks = list(model(endpoint).stream(asks.GREETING))
    texts = [chunk.text for chunk in chunks if chunk.text]
    assert len(texts) > 1
    assert "".join(texts) == model(endpoint).invoke(asks.GREETING).text


@ALL
def test_auto(endpoint: str) -> None:
    call = call_of(model(endpoint).bind_tools([set_timer]).invoke(asks.QUESTION))
    asks.check_call(call["name"], call["args"])


@ALL
def test_required(endpoint: str) -> None:
    call = call_of(model(endpoint).bind_tools([set_timer], tool_choice="any").invoke(asks.QUESTION))
    asks.check_call(call["name"], call["args"])


@ALL
def test_named(endpoint: str) -> None:
    call = call_of(model(endpoint).bind_tools([set_timer], tool_choice="set_timer").invoke(asks.QUESTION))
    asks.check_call(call["name"], call["args"])


@ALL
def test_streamed_call(endpoint: str) -> None:
    chunks = list(model(endpoint).bind_tools([set_timer]).stream(asks.QUESTION))
    assert sum(bool(chunk.tool_call_chunks) for chunk in chunks) > 1
    call = call_of(sum(chunks[1:], chunks[0]))
    asks.check_call(call["name"], call["args"])


@ALL
def test_result(endpoint: str) -> None:
    bound = model(endpoint).bind_tools([set_timer])
    asked = bound.invoke(asks.QUESTION)
    answer = bound.invoke([HumanMessage(asks.QUESTION), asked, set_timer.invoke(call_of(asked))])
    assert not answer.tool_calls
    asks.check_after_result(answer.text)


@ALL
@pytest.mark.parametrize("method", ["json_schema", "function_calling"])
def test_structured(endpoint: str, method: str) -> None:
    asks.check_reminder(model(endpoint).with_structured_output(Reminder, method=method).invoke(asks.REMINDER))


@ALL
def test_errors(endpoint: str) -> None:
    with pytest.raises(ContextOverflowError):
        model(endpoint).invoke(asks.TOO_LONG)
    with pytest.raises(ContextOverflowError):
        list(model(endpoint).stream(asks.TOO_LONG))


def test_the_program_of_the_page() -> None:
    check_program("langchain")
