"""openai-python: both of its APIs, whole, streamed, parsed, and with asyncio."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.clients import asks
from tests.clients.asks import CHAT, RESPONSES
from tests.clients.page import check_program

openai = pytest.importorskip("openai")
pydantic = pytest.importorskip("pydantic")

Reminder = pydantic.create_model("Reminder", name=str, hour=int)
BOTH = pytest.mark.parametrize("endpoint", [CHAT, RESPONSES])
CHAT_TOOL: Any = {"type": "function", "function": asks.TIMER}
TOOL: Any = {"type": "function", **asks.TIMER, "strict": True}


@pytest.fixture
def client() -> Any:
    with openai.OpenAI(base_url=asks.URL, api_key=asks.KEY, max_retries=0) as made:
        yield made


def chat(client: Any, text: str = asks.QUESTION, **fields: Any) -> Any:
    messages = [{"role": "user", "content": text}]
    return client.chat.completions.create(model=asks.MODEL, messages=messages, temperature=0, **fields)


def respond(client: Any, given: Any = asks.QUESTION, **fields: Any) -> Any:
    return client.responses.create(model=asks.MODEL, input=given, temperature=0, **fields)


def text_of(client: Any, endpoint: str) -> str:
    if endpoint == CHAT:
        return str(chat(client, asks.GREETING).choices[0].message.content)
    return str(respond(client, asks.GREETING).output_text)


@BOTH
def test_chat(client: Any, endpoint: str) -> None:
    assert text_of(client, endpoint)
    assert asks.MODEL in [model.id for model in client.models.list()]
    assert client.models.retrieve(asks.MODEL).id == asks.MODEL


@BOTH
def test_stream(client: Any, endpoint: str) -> None:
    if endpoint == CHAT:
        chunks = list(chat(client, asks.GREETING, stream=True, stream_options={"include_usage": True}))
        pieces = [chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices]
        assert chunks[-1].usage.completion_tokens > 0
    else:
        found = list(respond(client, asks.GREETING, stream=True))
        pieces = [event.delta for event in found if event.type == "response.output_text.delta"]
        assert found[-1].type == "response.completed"
        assert found[-1].response.output_text == "".join(pieces)
    assert len(pieces) > 1
    assert "".join(pieces) == text_of(client, endpoint)


def called(client: Any, endpoint: str, choice: str) -> None:
    """Hold the call that comes with a tool choice, which is a word or the name of the tool."""
    named = choice == "set_timer"
    if endpoint == CHAT:
        wanted: Any = {"type": "function", "function": {"name": choice}} if named else choice
        answer = chat(client, tools=[CHAT_TOOL], tool_choice=wanted).choices[0]
        assert answer.finish_reason == "tool_calls"
        asks.check_call(answer.message.tool_calls[0].function.name, answer.message.tool_calls[0].function.arguments)
    else:
        wanted = {"type": "function", "name": choice} if named else choice
        calls = [
            item for item in respond(client, tools=[TOOL], tool_choice=wanted).output if item.type == "function_call"
        ]
        asks.check_call(calls[0].name, calls[0].arguments)


@BOTH
def test_auto(client: Any, endpoint: str) -> None:
    called(client, endpoint, "auto")


@BOTH
def test_required(client: Any, endpoint: str) -> None:
    called(client, endpoint, "required")


@BOTH
def test_named(client: Any, endpoint: str) -> None:
    called(client, endpoint, "set_timer")


@BOTH
def test_streamed_call(client: Any, endpoint: str) -> None:
    # The helpers put the pieces together, and check their order on the way.
    if endpoint == CHAT:
        messages: Any = [{"role": "user", "content": asks.QUESTION}]
        tool = {**CHAT_TOOL, "function": {**asks.TIMER, "strict": True}}
        with client.chat.completions.stream(model=asks.MODEL, messages=messages, tools=[tool], temperature=0) as stream:
            kinds = [event.type for event in stream]
            call = stream.get_final_completion().choices[0].message.tool_calls[0].function
        assert "tool_calls.function.arguments.delta" in kinds
    else:
        with client.responses.stream(model=asks.MODEL, input=asks.QUESTION, tools=[TOOL], temperature=0) as stream:
            kinds = [event.type for event in stream]
            call = next(item for item in stream.get_final_response().output if item.type == "function_call")
        assert "response.function_call_arguments.delta" in kinds
    asks.check_call(call.name, call.arguments)


@BOTH
def test_result(client: Any, endpoint: str) -> None:
    if endpoint == CHAT:
        first = chat(client, tools=[CHAT_TOOL]).choices[0].message
        messages = [
            {"role": "user", "content": asks.QUESTION},
            first,
            {"role": "tool", "tool_call_id": first.tool_calls[0].id, "content": asks.RESULT},
        ]
        answer = client.chat.completions.create(model=asks.MODEL, messages=messages, tools=[CHAT_TOOL], temperature=0)
        asks.check_after_result(answer.choices[0].message.content)
        return
    asked = respond(client, tools=[TOOL])
    call = next(item for item in asked.output if item.type == "function_call")
    output = {"type": "function_call_output", "call_id": call.call_id, "output": asks.RESULT}
    stored = respond(client, [output], tools=[TOOL], previous_response_id=asked.id)
    asks.check_after_result(stored.output_text)
    conversation = [{"role": "user", "content": asks.QUESTION}, *asked.output, output]
    assert respond(client, conversation, tools=[TOOL], store=False).output_text == stored.output_text


@BOTH
def test_structured(client: Any, endpoint: str) -> None:
    if endpoint == CHAT:
        messages: Any = [{"role": "user", "content": asks.REMINDER}]
        answer = client.chat.completions.parse(
            model=asks.MODEL, messages=messages, response_format=Reminder, temperature=0
        )
        asks.check_reminder(answer.choices[0].message.parsed)
        return
    parsed = client.responses.parse(model=asks.MODEL, input=asks.REMINDER, text_format=Reminder, temperature=0)
    asks.check_reminder(parsed.output_parsed)


@BOTH
def test_errors(client: Any, endpoint: str) -> None:
    ask = chat if endpoint == CHAT else respond
    with pytest.raises(openai.BadRequestError) as long:
        ask(client, asks.TOO_LONG)
    assert long.value.code == "context_length_exceeded"
    with pytest.raises(openai.BadRequestError) as wrong:
        ask(client, tool_choice="required")
    assert wrong.value.param == "tool_choice"
    with pytest.raises(openai.NotFoundError) as unknown:
        client.models.retrieve("nobody")
    assert unknown.value.code == "model_not_found"
    with pytest.raises(openai.BadRequestError):
        list(ask(client, asks.TOO_LONG, stream=True))


@BOTH
def test_asyncio(endpoint: str) -> None:
    async def run() -> tuple[str, str]:
        async with openai.AsyncOpenAI(base_url=asks.URL, api_key=asks.KEY) as client:
            if endpoint == CHAT:
                stream = await chat(client, asks.GREETING, stream=True)
                pieces = [chunk.choices[0].delta.content or "" async for chunk in stream if chunk.choices]
                return "".join(pieces), str((await chat(client, asks.GREETING)).choices[0].message.content)
            stream = await respond(client, asks.GREETING, stream=True)
            pieces = [event.delta async for event in stream if event.type == "response.output_text.delta"]
            return "".join(pieces), str((await respond(client, asks.GREETING)).output_text)

    streamed, whole = asyncio.run(run())
    assert streamed == whole


def test_the_program_of_the_page() -> None:
    check_program("openai_python")
