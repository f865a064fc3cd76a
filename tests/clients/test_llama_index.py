"""LlamaIndex: `OpenAILike` over chat completions, and `OpenAILikeResponses` over responses."""

from __future__ import annotations

from typing import Any

import pytest

from tests.clients import asks
from tests.clients.asks import CHAT, RESPONSES
from tests.clients.page import check_program

like = pytest.importorskip("llama_index.llms.openai_like")
openai = pytest.importorskip("openai")
pydantic = pytest.importorskip("pydantic")

from llama_index.core.llms import ChatMessage  # noqa: E402
from llama_index.core.prompts import PromptTemplate  # noqa: E402
from llama_index.core.tools import FunctionTool  # noqa: E402

Reminder = pydantic.create_model("Reminder", name=str, hour=int)
BOTH = pytest.mark.parametrize("endpoint", [CHAT, RESPONSES])


def set_timer(minutes: int) -> str:
    """Set a timer"""
    return f"{minutes} minutes"


TOOL = FunctionTool.from_defaults(set_timer, description="Set a timer")


def model(endpoint: str) -> Any:
    options = {
        "model": asks.MODEL,
        "api_base": asks.URL,
        "api_key": asks.KEY,
        "temperature": 0,
        "max_retries": 0,
        "context_window": 1024,
        "is_chat_model": True,
        "is_function_calling_model": True,
    }
    if endpoint == RESPONSES:
        return like.OpenAILikeResponses(**options)
    return like.OpenAILike(**options, should_use_structured_outputs=True)


def calls_of(endpoint: str, choice: Any) -> Any:
    made = model(endpoint)
    answer = made.chat_with_tools([TOOL], user_msg=asks.QUESTION, tool_choice=choice)
    return answer, made.get_tool_calls_from_response(answer)


@BOTH
def test_chat(endpoint: str) -> None:
    assert model(endpoint).chat([ChatMessage(role="user", content=asks.GREETING)]).message.content
    assert model(endpoint).complete(asks.GREETING).text


@BOTH
def test_stream(endpoint: str) -> None:
    asked = [ChatMessage(role="user", content=asks.GREETING)]
    pieces = [part.delta for part in model(endpoint).stream_chat(asked) if part.delta]
    assert len(pieces) > 1
    assert "".join(pieces) == model(endpoint).chat(asked).message.content


@BOTH
def test_auto(endpoint: str) -> None:
    calls = calls_of(endpoint, "auto")[1]
    asks.check_call(calls[0].tool_name, calls[0].tool_kwargs)


@BOTH
def test_required(endpoint: str) -> None:
    calls = calls_of(endpoint, "required")[1]
    asks.check_call(calls[0].tool_name, calls[0].tool_kwargs)


@BOTH
def test_named(endpoint: str) -> None:
    calls = calls_of(endpoint, "set_timer")[1]
    asks.check_call(calls[0].tool_name, calls[0].tool_kwargs)


@BOTH
def test_streamed_call(endpoint: str) -> None:
    made = model(endpoint)
    parts = list(made.stream_chat_with_tools([TOOL], user_msg=asks.QUESTION))
    calls = made.get_tool_calls_from_response(parts[-1])
    asks.check_call(calls[0].tool_name, calls[0].tool_kwargs)


@BOTH
def test_result(endpoint: str) -> None:
    answer, calls = calls_of(endpoint, "auto")
    result = ChatMessage(role="tool", content=asks.RESULT, additional_kwargs={"tool_call_id": calls[0].tool_id})
    asked = ChatMessage(role="user", content=asks.QUESTION)
    again = model(endpoint).chat_with_tools([TOOL], chat_history=[asked, answer.message, result])
    asks.check_after_result(again.message.content)


@BOTH
def test_structured(endpoint: str) -> None:
    found = model(endpoint).structured_predict(Reminder, PromptTemplate("{question}"), question=asks.REMINDER)
    asks.check_reminder(found)


@BOTH
def test_errors(endpoint: str) -> None:
    with pytest.raises(openai.BadRequestError) as raised:
        model(endpoint).chat([ChatMessage(role="user", content=asks.TOO_LONG)])
    assert raised.value.code == "context_length_exceeded"


def test_the_program_of_the_page() -> None:
    check_program("llama_index")
