"""smolagents: its model for OpenAI's API, and an agent that calls tools."""

from __future__ import annotations

from typing import Any

import pytest

from tests.clients import asks
from tests.clients.asks import CHAT
from tests.clients.page import check_program

smolagents = pytest.importorskip("smolagents")
openai = pytest.importorskip("openai")

pytestmark = pytest.mark.parametrize("endpoint", [CHAT], indirect=True)
FORMAT = {
    "type": "json_schema",
    "json_schema": {"name": "reminder", "schema": asks.REMINDER_SCHEMA, "strict": True},
}


@smolagents.tool
def set_timer(minutes: int) -> str:
    """Set a timer

    Args:
        minutes: how long
    """
    return f"{minutes} minutes"


@pytest.fixture
def model() -> Any:
    return smolagents.OpenAIModel(
        model_id=asks.MODEL, api_base=asks.URL, api_key=asks.KEY, temperature=0, max_tokens=100
    )


def user(text: str) -> list[Any]:
    return [smolagents.ChatMessage(role="user", content=[{"type": "text", "text": text}])]


def called(model: Any, choice: Any) -> Any:
    message = model.generate(user(asks.QUESTION), tools_to_call_from=[set_timer], tool_choice=choice)
    call = message.tool_calls[0]
    asks.check_call(call.function.name, call.function.arguments)
    return message


def test_chat(model: Any) -> None:
    message = model.generate(user(asks.GREETING))
    assert message.content
    assert message.token_usage.output_tokens > 0


def test_stream(model: Any) -> None:
    pieces = [part.content for part in model.generate_stream(user(asks.GREETING)) if part.content]
    assert len(pieces) > 1
    assert "".join(pieces) == model.generate(user(asks.GREETING)).content


def test_auto(model: Any) -> None:
    called(model, "auto")


def test_required(model: Any) -> None:
    called(model, "required")


def test_named(model: Any) -> None:
    called(model, {"type": "function", "function": {"name": "set_timer"}})


def test_streamed_call(model: Any) -> None:
    parts = model.generate_stream(user(asks.QUESTION), tools_to_call_from=[set_timer])
    message = smolagents.models.agglomerate_stream_deltas(list(parts))
    call = message.tool_calls[0]
    asks.check_call(call.function.name, call.function.arguments)


def test_structured(model: Any) -> None:
    asks.check_reminder(model.generate(user(asks.REMINDER), response_format=FORMAT).content)


def test_result(model: Any) -> None:
    """An agent calls its tool and answers from the result, within a prompt that the small model can hold."""
    agent = smolagents.ToolCallingAgent(tools=[set_timer], model=model, max_steps=1, verbosity_level=0)
    agent.prompt_templates["system_prompt"] = ""
    agent.prompt_templates["final_answer"] = {"pre_messages": "Answer.", "post_messages": "{{task}}"}
    done = agent.run(asks.QUESTION, return_full_result=True)
    step = next(step for step in agent.memory.steps if isinstance(step, smolagents.ActionStep))
    assert (step.observations, step.error) == (asks.RESULT, None)
    assert done.output


def test_errors(model: Any) -> None:
    with pytest.raises(openai.BadRequestError) as raised:
        model.generate(user(asks.TOO_LONG))
    assert raised.value.code == "context_length_exceeded"


def test_the_program_of_the_page() -> None:
    check_program("smolagents")
