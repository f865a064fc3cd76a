"""Where a fault is stands once in an error: in `param`, or before the sentence where an endpoint has no such member."""

from __future__ import annotations

import re
from typing import Any

import pytest

from syntagma import ArgumentError
from syntagma.decoding.sampling import Sampling
from tests.serving.support import WEATHER, client

CHAT, COMPLETIONS, RESPONSES, MESSAGES = (
    "/v1/chat/completions",
    "/v1/completions",
    "/v1/responses",
    "/v1/messages",
)
USER = [{"role": "user", "content": "hi"}]
BODIES: dict[str, dict[str, Any]] = {
    CHAT: {"messages": USER},
    COMPLETIONS: {"prompt": "hi"},
    RESPONSES: {"input": "hi"},
    MESSAGES: {"messages": USER, "max_tokens": 9},
}
# Fields → the place that is at fault, and the sentence.
SHARED: list[tuple[dict[str, Any], str, str]] = [
    ({"temperature": 3}, "temperature", "must be from 0 to 2, not 3"),
    ({"temperature": "hot"}, "temperature", "must be a number, not a string"),
    ({"top_p": 1.5}, "top_p", "must be above 0 and at most 1, not 1.5"),
    ({"allowed_token_ids": [1] * 50 + [-1]}, "allowed_token_ids", "must be ids of at least 0"),
    ({"logit_bias": {"5": "x"}}, "logit_bias", "a value in it must be a number, not a string"),
    ({"logit_bias": {"5": 1000}}, "logit_bias[5]", "must be from -100 to 100, not 1000"),
    ({"stop": ["x", ""]}, "stop[1]", "must not be empty"),
    ({"stop": ["x" * 300]}, "stop[0]", "must have at most 256 bytes, not 300"),
    ({"stop_token_ids": ["a"]}, "stop_token_ids[0]", "must be an integer, not a string"),
    ({"min_tokens": -1}, "min_tokens", "must be from 0 to max_tokens, not -1"),
    ({"response_format": {}}, "response_format.type", "is required"),
    ({"regex": 5}, "regex", "must be a string, not an integer"),
    ({"regex": "a", "ebnf": "b"}, "ebnf", "must not stand beside regex, which holds the answer already"),
    ({"structured_outputs": {"choice": []}}, "structured_outputs.choice", "must be a list of at least one text"),
    ({"stream": 1}, "stream", "must be true or false, not an integer"),
    ({"regex": "("}, "regex", "the pattern cannot be read: unclosed group (line 1, column 1)"),
]
OWN: list[tuple[str, dict[str, Any], str, str]] = [
    (CHAT, {"messages": None}, "messages", "must be a list, not null"),
    (CHAT, {"messages": [{"role": "robot"}]}, "messages[0].role", "must be 'assistant' or 'developer' or 'function'"),
    (CHAT, {"messages": [{"role": "it's"}]}, "messages[0].role", "must be 'assistant' or 'developer' or 'function'"),
    (CHAT, {"messages": [{"role": "user", "content": [{}]}]}, "messages[0].content[0].type", "is required"),
    (CHAT, {"n": 0}, "n", "must be at least 1, not 0"),
    (CHAT, {"n": 17}, "n", "must be at most 16, not 17"),
    (CHAT, {"functions": [WEATHER["function"]], "tools": [WEATHER]}, "functions", "must not stand beside tools"),
    (CHAT, {"audio": {"voice": "x"}}, "audio", "is not supported"),
    (RESPONSES, {"input": [{}]}, "input[0].role", "must be one of user, assistant, system, developer"),
    (RESPONSES, {"text": {"format": {"type": "x"}}}, "text.format.type", "unknown type 'x'"),
    (MESSAGES, {"messages": [{"role": "tool", "content": "x"}]}, "messages[0].role", "must be 'assistant' or 's"),
    (MESSAGES, {"thinking": {"type": "enabled", "budget_tokens": 0}}, "thinking.budget_tokens", "must be at least 1"),
]
CASES = [(path, *case) for path in BODIES for case in SHARED] + OWN


@pytest.mark.parametrize(("path", "fields", "place", "sentence"), CASES)
def test_a_place_is_said_once(path: str, fields: dict[str, Any], place: str, sentence: str) -> None:
    answer = client().post(path, json=BODIES[path] | {"model": "scripted"} | fields)
    assert answer.status_code == 400, answer.text
    error = answer.json()["error"]
    message = error["message"]
    if path == MESSAGES:
        assert message.startswith(f"{place}: ")
        message = message.removeprefix(f"{place}: ")
    else:
        assert error["param"] == place
    assert message.startswith(sentence)
    pointer = "/" + place.replace("[", "/").replace("]", "").replace(".", "/")
    assert pointer not in message
    assert not re.search(rf"\b{re.escape(place)}\b", message.splitlines()[0])


@pytest.mark.parametrize("path", BODIES)
def test_what_is_missing_is_the_place(path: str) -> None:
    for name in BODIES[path]:
        body = {key: value for key, value in BODIES[path].items() if key != name} | {"model": "scripted"}
        error = client().post(path, json=body).json()["error"]
        if path == MESSAGES:
            assert error["message"] == f"{name}: is required"
        else:
            assert (error["param"], error["message"]) == (name, "is required")


def test_the_library_s_own_errors_do_not_repeat_it() -> None:
    with pytest.raises(ArgumentError) as refused:
        Sampling(top_p=2)
    assert str(refused.value) == "E-ARGUMENT-VALUE: must be above 0 and at most 1, not 2 (at /top_p)"
