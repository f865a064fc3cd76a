"""What is wrong with a field is told under the name that the field has at this endpoint."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient

from syntagma.serving.chat.wire import ChatRequest
from syntagma.serving.completions.wire import CompletionRequest
from syntagma.serving.messages.wire import MessagesRequest
from syntagma.serving.responses.wire import ResponsesRequest
from tests.serving.support import client
from tests.serving.test_held_or_refused import ENDPOINTS

TYPES: dict[str, type[msgspec.Struct]] = {
    "/v1/chat/completions": ChatRequest,
    "/v1/completions": CompletionRequest,
    "/v1/responses": ResponsesRequest,
    "/v1/messages": MessagesRequest,
}
FIELDS = [(path, field.encode_name) for path, kind in TYPES.items() for field in msgspec.structs.fields(kind)]

WORDS = st.sampled_from(["", "a", "text", "auto", "none", "any", "tool", "function", "custom", "enabled", "user", "("])
NUMBERS = st.one_of(st.integers(-3, 3), st.sampled_from([17, 21, 129, 10**6, -(2**70), 2**70, 0.5, -0.5, 1e300]))
KEYS = st.sampled_from(
    [
        "type",
        "name",
        "function",
        "input_schema",
        "format",
        "regex",
        "json",
        "effort",
        "budget_tokens",
        "content",
        "role",
    ]
)
JUNK: st.SearchStrategy[Any] = st.recursive(
    st.one_of(st.none(), st.booleans(), NUMBERS, WORDS),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.one_of(KEYS, WORDS), inner, max_size=3)),
    max_leaves=5,
)


@pytest.fixture(scope="module")
def served() -> TestClient:
    return client("hello")


def param(path: str, answer: Any) -> str:
    """The path that the error names; Anthropic's errors have it in the message."""
    error = answer.json()["error"]
    found = error["message"].split(":")[0] if path == "/v1/messages" else error["param"]
    assert isinstance(found, str), error
    return found


@pytest.mark.some(72)
@pytest.mark.parametrize(("path", "field"), FIELDS, ids="".join)
@settings(max_examples=15, deadline=None)
@given(value=JUNK)
def test_an_error_names_the_field_that_was_given(served: TestClient, path: str, field: str, value: Any) -> None:
    answer = served.post(path, json={**ENDPOINTS[path], "max_tokens": 4, field: value})
    if answer.status_code != 200:
        # What is named and is not there is 404.
        names = field in ("model", "previous_response_id") and isinstance(value, str)
        assert answer.status_code == (404 if names else 400), answer.text
        # Where that is true, the last message is wrong, which is the user's.
        wanted = "messages[0].role" if field == "continue_final_message" and value is True else field
        assert param(path, answer).startswith(wanted), (param(path, answer), answer.text)


ASKED: list[tuple[str, dict[str, Any], str]] = [
    ("/v1/messages", {"stop_sequences": ["a", ""]}, "stop_sequences[1]"),
    ("/v1/messages", {"stop_sequences": ["a"], "stop": ["b"]}, "stop"),
    ("/v1/messages", {"thinking_token_budget": -1}, "thinking_token_budget"),
    ("/v1/messages", {"thinking": {"type": "enabled", "budget_tokens": 0}}, "thinking.budget_tokens"),
    (
        "/v1/messages",
        {"thinking": {"type": "enabled", "budget_tokens": 5}, "thinking_token_budget": 5},
        "thinking_token_budget",
    ),
    ("/v1/responses", {"thinking_token_budget": -1}, "thinking_token_budget"),
    ("/v1/completions", {"thinking_token_budget": 5}, "thinking_token_budget"),
    *((path, {"prompt_logprobs": 0}, "prompt_logprobs") for path in ENDPOINTS),
    *((path, {"return_token_ids": True}, "return_token_ids") for path in ("/v1/responses", "/v1/messages")),
    *((path, {"logit_bias": {"99999": 1}}, "logit_bias") for path in ENDPOINTS),
]


@pytest.mark.parametrize(("path", "fields", "named"), ASKED)
def test_what_is_refused_is_named(served: TestClient, path: str, fields: dict[str, Any], named: str) -> None:
    answer = served.post(path, json={**ENDPOINTS[path], **fields})
    assert answer.status_code == 400, answer.text
    assert param(path, answer).split("[9")[0] == named


PROMPTS = {"/v1/completions": "prompt", "/v1/responses": "input"}


@pytest.mark.parametrize("path", ENDPOINTS)
def test_a_prompt_that_is_too_long_is_the_fault_of_its_own_field(path: str) -> None:
    answer = client("hello", context_length=2).post(path, json=ENDPOINTS[path])
    assert answer.status_code == 400
    assert param(path, answer) == PROMPTS.get(path, "messages")
