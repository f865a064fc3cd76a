"""anthropic-python: messages whole and streamed, tools, its runner of tools, structured output, counts of tokens."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.clients import asks
from tests.clients.asks import MESSAGES
from tests.clients.page import check_program

anthropic = pytest.importorskip("anthropic")
pydantic = pytest.importorskip("pydantic")

Reminder = pydantic.create_model("Reminder", name=str, hour=int)
pytestmark = pytest.mark.parametrize("endpoint", [MESSAGES], indirect=True)
TOOL: Any = {"name": "set_timer", "description": "Set a timer", "input_schema": asks.TIMER_SCHEMA}


@pytest.fixture
def client() -> Any:
    with anthropic.Anthropic(base_url=asks.HOST, api_key=asks.KEY, max_retries=0) as made:
        yield made


def asked(messages: Any = asks.QUESTION, **fields: Any) -> dict[str, Any]:
    given = [{"role": "user", "content": messages}] if isinstance(messages, str) else messages
    # This client has no temperature in every model's signature.
    return {
        "model": asks.MODEL,
        "max_tokens": 100,
        "messages": given,
        "extra_body": {"temperature": 0},
        **fields,
    }


def call_of(message: Any) -> Any:
    assert message.stop_reason == "tool_use"
    return next(block for block in message.content if block.type == "tool_use")


def test_chat(client: Any) -> None:
    message = client.messages.create(**asked(asks.GREETING))
    assert message.content[0].text
    assert message.usage.output_tokens > 0
    counted = client.messages.count_tokens(model=asks.MODEL, messages=[{"role": "user", "content": asks.GREETING}])
    assert counted.input_tokens == message.usage.input_tokens


def test_stream(client: Any) -> None:
    with client.messages.stream(**asked(asks.GREETING)) as stream:
        pieces = list(stream.text_stream)
        message = stream.get_final_message()
    assert len(pieces) > 1
    assert "".join(pieces) == message.content[0].text == client.messages.create(**asked(asks.GREETING)).content[0].text


def test_auto(client: Any) -> None:
    call = call_of(client.messages.create(**asked(tools=[TOOL], tool_choice={"type": "auto"})))
    asks.check_call(call.name, call.input)


def test_required(client: Any) -> None:
    call = call_of(client.messages.create(**asked(tools=[TOOL], tool_choice={"type": "any"})))
    asks.check_call(call.name, call.input)


def test_named(client: Any) -> None:
    choice = {"type": "tool", "name": "set_timer"}
    call = call_of(client.messages.create(**asked(tools=[TOOL], tool_choice=choice)))
    asks.check_call(call.name, call.input)


def test_streamed_call(client: Any) -> None:
    with client.messages.stream(**asked(tools=[TOOL])) as stream:
        kinds = [event.type for event in stream]
        call = call_of(stream.get_final_message())
    assert "input_json" in kinds
    asks.check_call(call.name, call.input)


def test_result(client: Any) -> None:
    first = client.messages.create(**asked(tools=[TOOL]))
    result = {"type": "tool_result", "tool_use_id": call_of(first).id, "content": asks.RESULT}
    conversation = [
        {"role": "user", "content": asks.QUESTION},
        {"role": "assistant", "content": first.content},
        {"role": "user", "content": [result]},
    ]
    again = client.messages.create(**asked(conversation, tools=[TOOL]))
    asks.check_after_result(again.content[0].text)

    @anthropic.beta_tool
    def set_timer(minutes: int) -> str:
        """Set a timer"""
        return f"{minutes} minutes"

    last = client.beta.messages.tool_runner(**asked(tools=[set_timer])).until_done()
    asks.check_after_result(last.content[0].text)


def test_structured(client: Any) -> None:
    message = client.messages.parse(**asked(asks.REMINDER, output_format=Reminder))
    asks.check_reminder(message.parsed_output)


def test_errors(client: Any) -> None:
    with pytest.raises(anthropic.BadRequestError, match="too long"):
        client.messages.create(**asked(asks.TOO_LONG))
    with pytest.raises(anthropic.BadRequestError):
        client.messages.create(**asked(tool_choice={"type": "any"}))
    with pytest.raises(anthropic.NotFoundError):
        client.messages.create(**asked(asks.GREETING, model="nobody"))
    with pytest.raises(anthropic.BadRequestError), client.messages.stream(**asked(asks.TOO_LONG)) as stream:
        stream.until_done()


def test_asyncio() -> None:
    async def run() -> tuple[str, str]:
        async with anthropic.AsyncAnthropic(base_url=asks.HOST, api_key=asks.KEY) as client:
            async with client.messages.stream(**asked(asks.GREETING)) as stream:
                pieces = [text async for text in stream.text_stream]
            whole = await client.messages.create(**asked(asks.GREETING))
            return "".join(pieces), whole.content[0].text

    streamed, whole = asyncio.run(run())
    assert streamed == whole


def test_the_program_of_the_page() -> None:
    check_program("anthropic_python")
