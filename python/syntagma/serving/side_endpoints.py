"""Endpoints at which the model writes nothing: each makes an answer from a body, in a thread."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from syntagma.serving.body import decode_body, typed_body
from syntagma.serving.chat import ChatDialect
from syntagma.serving.messages import MessagesDialect
from syntagma.serving.model import ServedModel
from syntagma.serving.parsing_endpoints import (
    ParseFunctionCallRequest,
    SeparateReasoningRequest,
    parsed_calls,
    separated_reasoning,
)
from syntagma.serving.render_endpoints import DerenderRequest, derendered, rendered
from syntagma.serving.responses import ResponsesDialect, ResponseStore
from syntagma.serving.running import in_request, prepared
from syntagma.serving.settings import Settings
from syntagma.serving.small_answers import InputTokenCount, PromptText, TokenCount
from syntagma.serving.token_endpoints import TokenizeRequest, detokenized, encoded, tokenized

__all__ = ["SideEndpoints"]


class SideEndpoints:
    """The endpoints of one server.

    Args:
        named: the model that a request names; raises `RequestError`.
        store: the stored answers of `/v1/responses`.
        settings: the settings of the server.
    """

    def __init__(self, named: Callable[[str | None], ServedModel], store: ResponseStore, settings: Settings) -> None:
        self._named = named
        self._store = store
        self._settings = settings

    def count_tokens(self, body: bytes) -> Any:
        """`/v1/messages/count_tokens`."""
        asked = MessagesDialect().read_count(body, self._settings)
        served = self._named(asked.model)
        return TokenCount(input_tokens=len(encoded(served, prepared(served, asked))))

    def count_input_tokens(self, body: bytes) -> Any:
        """`/v1/responses/input_tokens`."""
        asked = ResponsesDialect(self._store).read_count(body, self._settings)
        served = self._named(asked.model)
        return InputTokenCount(input_tokens=len(encoded(served, prepared(served, asked))))

    def tokenize(self, body: bytes) -> Any:
        """`/tokenize`."""
        data = decode_body(body)
        with_texts = data.get("return_token_strs") is True
        if "messages" in data:
            asked = ChatDialect().read_fields(data, self._settings).request
            served = self._named(asked.model)
            ids = encoded(served, prepared(served, asked))
        else:
            text = typed_body(data, TokenizeRequest)
            served = self._named(text.model)
            ids = encoded(served, text.prompt)
        return tokenized(ids, served, with_texts=with_texts)

    def detokenize(self, body: bytes) -> Any:
        """`/detokenize`."""
        data = decode_body(body)
        return detokenized(data, self._named(data.get("model")))

    def apply_template(self, body: bytes) -> Any:
        """`/apply-template`."""
        asked = ChatDialect().read(body, self._settings).request
        return PromptText(prompt=str(prepared(self._named(asked.model), asked).prompt))

    def render(self, body: bytes) -> Any:
        """`/v1/chat/completions/render`."""
        asked = ChatDialect().read(body, self._settings)
        served = self._named(asked.request.model)
        with in_request(asked.request):
            turn = prepared(served, asked.request)
            return rendered(turn, asked.request.options, served, stream=asked.stream)

    def derender(self, body: bytes) -> Any:
        """`/v1/chat/completions/derender`."""
        request = typed_body(decode_body(body), DerenderRequest)
        # Without the request no tools are known: all that is not reasoning is content.
        chat = request.chat_request or {"messages": [{"role": "user", "content": "?"}]}
        asked = ChatDialect().read_fields(chat, self._settings)
        served = self._named(request.model or asked.request.model)
        return derendered(request, prepared(served, asked.request), served, asked.writer(served.name))

    def parse_function_call(self, body: bytes) -> Any:
        """`/parse_function_call`."""
        asked = typed_body(decode_body(body), ParseFunctionCallRequest)
        return parsed_calls(asked, self._named(asked.model), self._settings.limits)

    def separate_reasoning(self, body: bytes) -> Any:
        """`/separate_reasoning`."""
        asked = typed_body(decode_body(body), SeparateReasoningRequest)
        return separated_reasoning(asked, self._named(asked.model), self._settings.limits)
