"""The OpenAI Agents SDK: its default model, over responses, and the one over chat completions."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.clients import asks
from tests.clients.asks import CHAT, RESPONSES
from tests.clients.page import check_program

agents = pytest.importorskip("agents")
openai = pytest.importorskip("openai")
pydantic = pytest.importorskip("pydantic")

Reminder = pydantic.create_model("Reminder", name=str, hour=int)
BOTH = pytest.mark.parametrize("endpoint", [RESPONSES, CHAT])


@agents.function_tool
def set_timer(minutes: int) -> str:
    """Set a timer"""
    return f"{minutes} minutes"


def run(endpoint: str, text: str, *, streams: bool = False, choice: str | None = None, **options: Any) -> Any:
    """The finished run of an agent, and its events where it streams."""
    agents.set_tracing_disabled(disabled=True)

    async def go() -> Any:
        async with openai.AsyncOpenAI(base_url=asks.URL, api_key=asks.KEY, max_retries=0) as client:
            kind = agents.OpenAIResponsesModel if endpoint == RESPONSES else agents.OpenAIChatCompletionsModel
            agent = agents.Agent(
                name="clock",
                model=kind(asks.MODEL, client),
                model_settings=agents.ModelSettings(temperature=0, tool_choice=choice),
                **options,
            )
            if not streams:
                return await agents.Runner.run(agent, text, max_turns=3)
            stream = agents.Runner.run_streamed(agent, text, max_turns=3)
            return stream, [event.data async for event in stream.stream_events() if event.type == "raw_response_event"]

    return asyncio.run(go())


def check_run(done: Any) -> None:
    """Hold a run with the tool: it was called once, and its result answered."""
    kinds = [item.type for item in done.new_items]
    assert kinds == ["tool_call_item", "tool_call_output_item", "message_output_item"]
    asks.check_call(done.new_items[0].raw_item.name, done.new_items[0].raw_item.arguments)
    asks.check_after_result(done.final_output)


@BOTH
def test_chat(endpoint: str) -> None:
    done = run(endpoint, asks.GREETING)
    assert done.final_output
    assert done.context_wrapper.usage.output_tokens > 0


@BOTH
def test_stream(endpoint: str) -> None:
    stream, found = run(endpoint, asks.GREETING, streams=True)
    pieces = [event.delta for event in found if event.type == "response.output_text.delta"]
    assert len(pieces) > 1
    assert "".join(pieces) == stream.final_output == run(endpoint, asks.GREETING).final_output


@BOTH
def test_auto(endpoint: str) -> None:
    check_run(run(endpoint, asks.QUESTION, tools=[set_timer]))


@BOTH
def test_result(endpoint: str) -> None:
    check_run(run(endpoint, asks.QUESTION, tools=[set_timer], choice="auto"))


# After a call that was asked for, the SDK asks for none.
@BOTH
def test_required(endpoint: str) -> None:
    check_run(run(endpoint, asks.QUESTION, tools=[set_timer], choice="required"))


@BOTH
def test_named(endpoint: str) -> None:
    check_run(run(endpoint, asks.QUESTION, tools=[set_timer], choice="set_timer"))


@BOTH
def test_streamed_call(endpoint: str) -> None:
    stream, found = run(endpoint, asks.QUESTION, streams=True, tools=[set_timer])
    assert "response.function_call_arguments.delta" in [event.type for event in found]
    check_run(stream)


@BOTH
def test_structured(endpoint: str) -> None:
    asks.check_reminder(run(endpoint, asks.REMINDER, output_type=Reminder).final_output)


@BOTH
def test_errors(endpoint: str) -> None:
    for streams in (False, True):
        with pytest.raises(openai.BadRequestError) as raised:
            run(endpoint, asks.TOO_LONG, streams=streams)
        assert raised.value.code == "context_length_exceeded"


def test_the_program_of_the_page() -> None:
    check_program("openai_agents")
