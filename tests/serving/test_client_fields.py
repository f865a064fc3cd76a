"""Every field that the own clients of OpenAI and Anthropic send stands among those of the endpoint."""

from __future__ import annotations

from typing import Any, get_type_hints

import msgspec
import pytest
from anthropic.types.message_create_params import MessageCreateParamsNonStreaming
from openai.types.chat.completion_create_params import CompletionCreateParamsNonStreaming as ChatParams
from openai.types.completion_create_params import CompletionCreateParamsNonStreaming
from openai.types.responses.response_create_params import ResponseCreateParamsNonStreaming

from syntagma.serving.chat.wire import ChatRequest
from syntagma.serving.completions.wire import CompletionRequest
from syntagma.serving.messages.wire import MessagesRequest
from syntagma.serving.responses.wire import ResponsesRequest
from tests.serving.support import client
from tests.serving.test_held_or_refused import ENDPOINTS


@pytest.mark.parametrize(
    ("kind", "params"),
    [
        (ChatRequest, ChatParams),
        (CompletionRequest, CompletionCreateParamsNonStreaming),
        (ResponsesRequest, ResponseCreateParamsNonStreaming),
        (MessagesRequest, MessageCreateParamsNonStreaming),
    ],
)
def test_every_field_of_the_client_is_one_of_the_endpoint(kind: type[msgspec.Struct], params: Any) -> None:
    known = {field.encode_name for field in msgspec.structs.fields(kind)}
    assert set(get_type_hints(params)) - known == set()


REFUSED = [
    *(("/v1/chat/completions", name) for name in ("audio", "moderation", "web_search_options")),
    *(("/v1/responses", name) for name in ("access_programs", "context_management", "image", "moderation")),
    *(("/v1/messages", name) for name in ("container", "inference_geo")),
]


@pytest.mark.parametrize(("path", "field"), REFUSED)
def test_what_cannot_be_had_is_refused_by_name(path: str, field: str) -> None:
    answer = client().post(path, json={**ENDPOINTS[path], field: {"any": 1}})
    assert answer.status_code == 400
    assert field in answer.text


def test_texts_are_the_one_modality() -> None:
    asked = ENDPOINTS["/v1/chat/completions"]
    answer = client().post("/v1/chat/completions", json={**asked, "modalities": ["text"], "store": True})
    assert answer.status_code == 200
    assert "x-syntagma-ignored" not in answer.headers
    refused = client().post("/v1/chat/completions", json={**asked, "modalities": ["text", "audio"]})
    assert refused.json()["error"]["param"] == "modalities[1]"
