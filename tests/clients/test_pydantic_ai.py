"""Pydantic AI: agents over its models for OpenAI's two APIs and for Anthropic's."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.clients import asks
from tests.clients.asks import CHAT, MESSAGES, RESPONSES
from tests.clients.page import check_program

pydantic_ai = pytest.importorskip("pydantic_ai")
pydantic = pytest.importorskip("pydantic")

from pydantic_ai import Agent, ModelHTTPError, NativeOutput, ToolOutput  # noqa: E402
from pydantic_ai.models.anthropic import AnthropicModel  # noqa: E402
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel  # noqa: E402
from pydantic_ai.providers.anthropic import AnthropicProvider  # noqa: E402
from pydantic_ai.providers.openai import OpenAIProvider  # noqa: E402

# The library goes by names of models, of which it does not know ours.
PROFILE: Any = {"supports_json_schema_output": True}
Reminder = pydantic.create_model("Reminder", name=str, hour=int)
ALL = pytest.mark.parametrize("endpoint", [CHAT, RESPONSES, MESSAGES])


def agent(endpoint: str, **options: Any) -> Any:
    if endpoint == MESSAGES:
        provider: Any = AnthropicProvider(api_key=asks.KEY, base_url=asks.HOST)
        model: Any = AnthropicModel(asks.MODEL, provider=provider, profile=PROFILE)
    else:
        provider = OpenAIProvider(base_url=asks.URL, api_key=asks.KEY)
        model = (OpenAIChatModel if endpoint == CHAT else OpenAIResponsesModel)(asks.MODEL, provider=provider)
    return Agent(model, model_settings={"temperature": 0, "max_tokens": 100}, retries=0, **options)


def timed(endpoint: str, **settings: Any) -> tuple[str, list[int]]:
    """What an agent with a tool says at the end, and what its tool was called with."""
    minutes_given: list[int] = []
    made = agent(endpoint)

    @made.tool_plain
    def set_timer(minutes: int) -> str:
        """Set a timer"""
        minutes_given.append(minutes)
        return f"{minutes} minutes"

    return str(made.run_sync(asks.QUESTION, **settings).output), minutes_given


@ALL
def test_chat(endpoint: str) -> None:
    done = agent(endpoint).run_sync(asks.GREETING)
    assert done.output
    assert done.usage.output_tokens > 0


@ALL
def test_stream(endpoint: str) -> None:
    async def run() -> list[str]:
        async with agent(endpoint).run_stream(asks.GREETING) as stream:
            return [piece async for piece in stream.stream_text(delta=True, debounce_by=None)]

    pieces = asyncio.run(run())
    assert len(pieces) > 1
    assert "".join(pieces) == agent(endpoint).run_sync(asks.GREETING).output


@ALL
def test_auto(endpoint: str) -> None:
    assert timed(endpoint)[1] == [7]


@ALL
def test_result(endpoint: str) -> None:
    asks.check_after_result(timed(endpoint)[0])


@ALL
def test_required(endpoint: str) -> None:
    """Output by a tool: the model must call one."""
    asks.check_reminder(agent(endpoint, output_type=ToolOutput(Reminder)).run_sync(asks.REMINDER).output)


@ALL
def test_streamed_call(endpoint: str) -> None:
    async def run() -> Any:
        async with agent(endpoint, output_type=ToolOutput(Reminder)).run_stream(asks.REMINDER) as stream:
            return await stream.get_output()

    asks.check_reminder(asyncio.run(run()))


@ALL
def test_structured(endpoint: str) -> None:
    asks.check_reminder(agent(endpoint, output_type=NativeOutput(Reminder)).run_sync(asks.REMINDER).output)


@ALL
def test_errors(endpoint: str) -> None:
    with pytest.raises(ModelHTTPError) as raised:
        agent(endpoint).run_sync(asks.TOO_LONG)
    assert raised.value.status_code == 400
    assert "too long" in str(raised.value.body)


def test_the_program_of_the_page() -> None:
    check_program("pydantic_ai")
