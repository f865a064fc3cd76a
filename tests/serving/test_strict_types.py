"""Every answer of every dialect is what the clients' own types list, whole and streamed, whatever was asked."""

from __future__ import annotations

from typing import Any, Literal

import pytest
from anthropic.types import ErrorResponse, Message, MessageTokensCount, RawMessageStreamEvent
from openai.types import Completion, CompletionChoice, Model
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from openai.types.responses import Response, ResponseStreamEvent
from openai.types.shared import ErrorObject
from starlette.testclient import TestClient

from tests.serving.strict import read, streamed
from tests.serving.support import CALL, WEATHER, client


class ChunkChoice(CompletionChoice):
    """A choice of a chunk: OpenAI's API sends null until the last, which its one type for both does not say."""

    finish_reason: Literal["stop", "length", "content_filter"] | None  # type: ignore[assignment]


class CompletionChunk(Completion):
    """A chunk of a completion."""

    choices: list[ChunkChoice]  # type: ignore[assignment]


PARAMETERS = WEATHER["function"]["parameters"]  # type: ignore[index]
SCHEMA = {"type": "object", "properties": {"a": {"enum": [1, 2]}}, "required": ["a"], "additionalProperties": False}
SCRIPTS = ("hello", "", "<note>well</note>Let me see." + CALL + CALL, CALL, "<note>well", "é€😀")

CHAT = "/v1/chat/completions"
COMPLETIONS = "/v1/completions"
RESPONSES = "/v1/responses"
MESSAGES = "/v1/messages"

USER = {"messages": [{"role": "user", "content": "hi"}]}
MOST = 150
"""tokens: enough for every script, and where a shape never lets a script end, soon reached"""
FLAT = {"type": "function", "name": "weather", "parameters": PARAMETERS}
CUSTOM = {"type": "custom", "name": "note", "format": {"type": "grammar", "syntax": "regex", "definition": "[a-z]{3}"}}
NAMED = {"type": "function", "function": {"name": "weather"}}
SHAPE = {"name": "n", "schema": SCHEMA, "strict": True}
CLAUDE = {"name": "weather", "description": "Tells the weather.", "input_schema": PARAMETERS}

# What a request may ask for, by endpoint; each is asked alone, beside what every request needs.
ASKED: dict[str, tuple[dict[str, Any], list[dict[str, Any]]]] = {
    CHAT: (
        {**USER, "max_tokens": MOST},
        [
            {},
            {"max_tokens": 3},
            {"n": 2, "logprobs": True, "top_logprobs": 2},
            {"tools": [WEATHER], "logprobs": True},
            {"tools": [WEATHER], "tool_choice": "required"},
            {"tools": [WEATHER], "tool_choice": NAMED, "parallel_tool_calls": False},
            {"response_format": {"type": "json_schema", "json_schema": SHAPE}},
            {"stream_options": {"include_usage": True}},
            {"stop": ["l"]},
        ],
    ),
    COMPLETIONS: (
        {"prompt": "Say:", "max_tokens": MOST},
        [{}, {"max_tokens": 3}, {"logprobs": 2}, {"echo": True}, {"n": 2}, {"stop": "l"}],
    ),
    RESPONSES: (
        {"input": "hi", "max_output_tokens": MOST},
        [
            {},
            {"max_output_tokens": 3},
            {"top_logprobs": 2, "include": ["message.output_text.logprobs"]},
            {"tools": [FLAT]},
            {"tools": [{**FLAT, "description": "Tells the weather.", "strict": True}], "tool_choice": "required"},
            {"tools": [FLAT], "tool_choice": {"type": "function", "name": "weather"}},
            {"tools": [CUSTOM], "tool_choice": "required"},
            {"text": {"format": {"type": "json_schema", **SHAPE}}},
            {"text": {"format": {"type": "json_object"}}, "max_output_tokens": 30},
            {"reasoning": {"effort": "low", "summary": "auto"}},
            {"instructions": "be kind", "metadata": {"a": "b"}, "user": "u", "store": False, "presence_penalty": 0.5},
        ],
    ),
    MESSAGES: (
        {**USER, "max_tokens": MOST},
        [
            {},
            {"max_tokens": 3},
            {"tools": [CLAUDE]},
            {"tools": [CLAUDE], "tool_choice": {"type": "any"}},
            {"tools": [CLAUDE], "tool_choice": {"type": "tool", "name": "weather"}},
            {"output_config": {"format": {"type": "json_schema", "schema": SCHEMA}}},
            {"thinking": {"type": "enabled", "budget_tokens": 50}},
            {"thinking": {"type": "disabled"}},
            {"stop_sequences": ["l"]},
        ],
    ),
}
KINDS = {
    CHAT: (ChatCompletion, ChatCompletionChunk),
    COMPLETIONS: (Completion, CompletionChunk),
    RESPONSES: (Response, ResponseStreamEvent),
    MESSAGES: (Message, RawMessageStreamEvent),
}
EVERY = [(url, fields) for url, (_, choices) in ASKED.items() for fields in choices]


@pytest.mark.some(80)
@pytest.mark.parametrize(("url", "fields"), EVERY, ids=[f"{url}-{' '.join(fields)}" for url, fields in EVERY])
@pytest.mark.parametrize("script", SCRIPTS)
def test_answers(url: str, fields: dict[str, Any], script: str) -> None:
    asked = {"model": "scripted", "temperature": 0, **ASKED[url][0], **fields}
    whole, part = KINDS[url]
    app = client(script)
    answer = app.post(url, json=asked)
    assert answer.status_code == 200, answer.text
    read(whole, answer.content)
    stream = app.post(url, json={**asked, "stream": True})
    assert stream.status_code == 200, stream.text
    assert streamed(part, stream.text)


def test_a_stored_response_is_read_again() -> None:
    app = client("hello")
    made = app.post(RESPONSES, json={"model": "scripted", "input": "hi"})
    stored = app.get(f"{RESPONSES}/{made.json()['id']}")
    assert read(Response, stored.content) == read(Response, made.content)


def test_models_and_counts() -> None:
    app = client("hello")
    (listed,) = app.get("/v1/models").json()["data"]
    assert read(Model, app.get("/v1/models/scripted").content).id == listed["id"] == "scripted"
    counted = app.post(f"{MESSAGES}/count_tokens", json={"model": "scripted", **USER})
    assert read(MessageTokensCount, counted.content).input_tokens > 0


def wrong(app: TestClient, url: str) -> list[Any]:
    """Answers to requests that cannot be served: a wrong value, an unknown model, no JSON, too many tokens."""
    base = {"model": "scripted", **ASKED[url][0]}
    long = {"prompt": "x" * 5000} if url == COMPLETIONS else {"input": "x" * 5000}
    long = long if url in (COMPLETIONS, RESPONSES) else {"messages": [{"role": "user", "content": "x" * 5000}]}
    return [
        app.post(url, json={**base, "temperature": 9}),
        app.post(url, json={**base, "model": "nobody"}),
        app.post(url, content=b"{"),
        app.post(url, json={**base, **long}),
    ]


@pytest.mark.parametrize("url", list(ASKED))
def test_errors(url: str) -> None:
    answers = wrong(client("hello", context_length=4096), url)
    assert [answer.status_code for answer in answers] == [400, 404, 400, 400]
    for answer in answers:
        if url == MESSAGES:
            read(ErrorResponse, answer.content)
        else:
            assert set(answer.json()) == {"error"}
            found = ErrorObject.model_validate(answer.json()["error"], strict=True)
            assert not found.model_extra


@pytest.mark.parametrize("url", list(ASKED))
def test_a_prompt_that_is_too_long_is_told_in_words_that_clients_know(url: str) -> None:
    message = wrong(client("hello", context_length=4096), url)[-1].json()["error"]["message"]
    assert "prompt is too long" in message
    assert "this model's maximum context length is 4096 tokens" in message
