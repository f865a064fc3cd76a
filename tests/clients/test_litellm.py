"""LiteLLM: its routes to OpenAI's two APIs and to Anthropic's."""

from __future__ import annotations

import asyncio
import os
from typing import Any

import pytest

# Without it, importing asks the network for prices.
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

from tests.clients import asks
from tests.clients.asks import CHAT, MESSAGES, RESPONSES
from tests.clients.page import check_program

litellm = pytest.importorskip("litellm")

ALL = pytest.mark.parametrize("endpoint", [CHAT, RESPONSES, MESSAGES])
TOOL: Any = {"type": "function", "function": asks.TIMER}
FLAT_TOOL: Any = {"type": "function", **asks.TIMER}
FORMAT: Any = {
    "type": "json_schema",
    "json_schema": {"name": "reminder", "schema": asks.REMINDER_SCHEMA, "strict": True},
}


def route(endpoint: str, model: str = asks.MODEL) -> dict[str, Any]:
    provider = "anthropic" if endpoint == MESSAGES else "openai"
    base = asks.HOST if endpoint == MESSAGES else asks.URL
    return {"model": f"{provider}/{model}", "api_base": base, "api_key": asks.KEY, "num_retries": 0}


def ask(endpoint: str, given: Any = asks.QUESTION, model: str = asks.MODEL, **fields: Any) -> Any:
    messages = [{"role": "user", "content": given}] if isinstance(given, str) else given
    if endpoint == RESPONSES:
        return litellm.responses(input=messages, temperature=0, **route(endpoint, model), **fields)
    return litellm.completion(messages=messages, temperature=0, max_tokens=100, **route(endpoint, model), **fields)


def text_of(endpoint: str, answer: Any) -> str:
    return str(answer.output_text if endpoint == RESPONSES else answer.choices[0].message.content)


def call_of(endpoint: str, answer: Any) -> Any:
    if endpoint == RESPONSES:
        return next(item for item in answer.output if item.type == "function_call")
    assert answer.choices[0].finish_reason == "tool_calls"
    return answer.choices[0].message.tool_calls[0].function


def tools(endpoint: str) -> list[Any]:
    return [FLAT_TOOL if endpoint == RESPONSES else TOOL]


@ALL
def test_chat(endpoint: str) -> None:
    answer = ask(endpoint, asks.GREETING)
    assert text_of(endpoint, answer)
    usage = answer.usage
    assert (usage.output_tokens if endpoint == RESPONSES else usage.completion_tokens) > 0


@ALL
def test_stream(endpoint: str) -> None:
    chunks = list(ask(endpoint, asks.GREETING, stream=True))
    if endpoint == RESPONSES:
        pieces = [event.delta for event in chunks if event.type == "response.output_text.delta"]
    else:
        pieces = [piece for chunk in chunks if chunk.choices and (piece := chunk.choices[0].delta.content)]
    assert len(pieces) > 1
    assert "".join(pieces) == text_of(endpoint, ask(endpoint, asks.GREETING))


def called(endpoint: str, choice: Any) -> None:
    call = call_of(endpoint, ask(endpoint, tools=tools(endpoint), tool_choice=choice))
    asks.check_call(call.name, call.arguments)


@ALL
def test_auto(endpoint: str) -> None:
    called(endpoint, "auto")


@ALL
def test_required(endpoint: str) -> None:
    called(endpoint, "required")


@ALL
def test_named(endpoint: str) -> None:
    name = {"name": "set_timer"}
    called(endpoint, {"type": "function", **(name if endpoint == RESPONSES else {"function": name})})


@ALL
def test_streamed_call(endpoint: str) -> None:
    chunks = list(ask(endpoint, tools=tools(endpoint), stream=True))
    if endpoint == RESPONSES:
        assert "response.function_call_arguments.delta" in [chunk.type for chunk in chunks]
        call = call_of(endpoint, chunks[-1].response)
        asks.check_call(call.name, call.arguments)
        return
    built = litellm.stream_chunk_builder(chunks)
    call = built.choices[0].message.tool_calls[0].function
    asks.check_call(call.name, call.arguments)
    assert built.choices[0].finish_reason == "tool_calls"


@ALL
def test_result(endpoint: str) -> None:
    first = ask(endpoint, tools=tools(endpoint))
    asked: Any = {"role": "user", "content": asks.QUESTION}
    if endpoint == RESPONSES:
        output = {
            "type": "function_call_output",
            "call_id": call_of(endpoint, first).call_id,
            "output": asks.RESULT,
        }
        conversation = [asked, *(item.model_dump() for item in first.output), output]
    else:
        message = first.choices[0].message
        result = {"role": "tool", "tool_call_id": message.tool_calls[0].id, "content": asks.RESULT}
        conversation = [asked, message.model_dump(), result]
    asks.check_after_result(text_of(endpoint, ask(endpoint, conversation, tools=tools(endpoint))))


@ALL
def test_structured(endpoint: str) -> None:
    if endpoint == RESPONSES:
        shape = {"format": {"type": "json_schema", **FORMAT["json_schema"]}}
        answer = ask(endpoint, asks.REMINDER, text=shape)
    else:
        answer = ask(endpoint, asks.REMINDER, response_format=FORMAT)
    asks.check_reminder(text_of(endpoint, answer))


@ALL
def test_errors(endpoint: str) -> None:
    with pytest.raises(litellm.ContextWindowExceededError):
        ask(endpoint, asks.TOO_LONG)
    with pytest.raises(litellm.NotFoundError):
        ask(endpoint, asks.GREETING, model="nobody")


@pytest.mark.parametrize("endpoint", [MESSAGES])
def test_messages_as_they_are(endpoint: str) -> None:
    """Anthropic's own requests, passed on."""

    async def run() -> Any:
        return await litellm.anthropic.messages.acreate(
            messages=[{"role": "user", "content": asks.GREETING}], max_tokens=100, **route(endpoint)
        )

    answer = asyncio.run(run())
    assert answer["content"][0]["text"]


def test_the_program_of_the_page() -> None:
    check_program("litellm")
