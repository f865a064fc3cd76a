"""Requests of `/v1/messages` as inner requests."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

import msgspec
from starlette.responses import Response

from syntagma.conversion.anthropic import read_messages, read_system, read_tool
from syntagma.conversion.drafts import Drafts
from syntagma.request import Budgets, ResolvedRequest
from syntagma.serving.answer_fields import refuse_token_fields
from syntagma.serving.body import bad_field, decode_body, refuse_fields, typed_body, unread_fields
from syntagma.serving.constraint_fields import response_format_beside
from syntagma.serving.conversation import RequestNotes, text_messages
from syntagma.serving.dialect import Asked
from syntagma.serving.errors import error_headers, json_response
from syntagma.serving.inner import InnerRequest
from syntagma.serving.known_members import CONSTRAINTS, RESPONSE_FORMAT
from syntagma.serving.messages.errors import error_payload
from syntagma.serving.messages.wire import CountRequest, MessagesRequest
from syntagma.serving.messages.writer import MessagesWriter
from syntagma.serving.offered import OfferedTools, offered, with_moved
from syntagma.serving.resolving import budgets_of, resolved
from syntagma.serving.sampling_fields import OPTION_PLACES, SamplingFields, generation_options
from syntagma.serving.settings import Settings

__all__ = ["MessagesDialect"]

_FORMAT: Final = "/output_config/format"
_PLACES: Final = {
    **OPTION_PLACES,
    "/tools/*/function/parameters": "/tools/*/input_schema",
    "/tools/*/function": "/tools/*",
    "/tool_choice/function": "/tool_choice",
    "/template_kwargs/reasoning_effort": "/output_config/effort",
}
"""pointers in chat completions → pointers in the request, see `placed`"""
_BUDGET: Final = "/thinking/budget_tokens"
_SHAPES: Final = {**CONSTRAINTS, _FORMAT: RESPONSE_FORMAT}
"""the shapes of members that no struct describes"""
_CHOICES: Final = {"auto": "auto", "any": "required", "none": "none"}


class MessagesDialect:
    """`POST /v1/messages`."""

    def read(self, body: bytes, settings: Settings) -> Asked:
        """See `Dialect`.

        Raises:
            RequestError: `E-REQUEST-JSON`, `E-REQUEST-FIELD`, `E-REQUEST-LIMIT`, `E-REQUEST-UNSUPPORTED`,
                `E-REQUEST-TOOL-CHOICE`, `E-REQUEST-RESPONSE-FORMAT`.
            ArgumentError, LimitError: the messages or tools are wrong.
        """
        data = decode_body(body)
        request = typed_body(data, MessagesRequest)
        if request.max_tokens < 1:
            raise bad_field("/max_tokens", f"must be at least 1, not {request.max_tokens}")
        refuse_token_fields(request)
        refuse_fields(request, ("container", "inference_geo"))
        if request.stop is not None and request.stop_sequences is not None:
            raise bad_field("/stop", "must not stand beside stop_sequences")
        stop = "stop" if request.stop_sequences is None else "stop_sequences"
        options = generation_options(request, settings, max_tokens=request.max_tokens, stop=stop)
        notes = RequestNotes(data)
        tools = _tools(data)
        inner = msgspec.structs.replace(_inner(request, data, settings, notes, tools), options=options)
        shows_thinking = request.thinking is None or request.thinking.display != "omitted"
        writer = partial(MessagesWriter, shows_thinking=shows_thinking)
        # The reader of messages reports their unread members itself.
        unread = (*unread_fields(data, MessagesRequest, _SHAPES, "messages"), *notes.unread_members)
        return Asked(inner, request.stream is True, writer, unread, tools.left_out)

    def read_count(self, body: bytes, settings: Settings) -> InnerRequest:
        """The prompt whose tokens are to be counted; raises as `read`."""
        data = decode_body(body)
        return _inner(typed_body(data, CountRequest), data, settings, RequestNotes(data), _tools(data))

    def refuse(self, error: BaseException) -> Response:
        """See `Dialect`."""
        status, payload = error_payload(error)
        return json_response(payload, status, error_headers(error, status))


def _tools(data: dict[str, Any]) -> OfferedTools:
    # Tools of other types are Anthropic's own: its servers run them, or its clients, by what its models know of them.
    return offered(
        data.get("tools") or (), ("custom", None), lambda tool, place, notes, _: read_tool(tool, place, notes)
    )


def _inner(
    request: CountRequest, data: dict[str, Any], settings: Settings, notes: RequestNotes, tools: OfferedTools
) -> InnerRequest:
    places = with_moved(_places(request), tools.moved)
    messages = _messages(request, data, notes)
    last = request.messages[-1]
    continues = last.role == "assistant" and bool(messages[-1].get("content"))
    return InnerRequest(
        model=request.model,
        messages=messages,
        resolved=_resolved(request, tools.tools, settings, places),
        options=generation_options(SamplingFields(), settings, max_tokens=None),
        # A final assistant message is the beginning of the answer.
        continue_final_message=continues,
        final_message=f"/messages/{len(request.messages) - 1}/content",
        places=places,
        add_generation_prompt=not continues,
        # Clients of this form send it with every request; what it asks for first is that the model reasons.
        budget_may_fall=None if _own_budget(request) is None else _BUDGET,
        thinking=None if request.thinking is None else request.thinking.type != "disabled",
    )


def _messages(request: CountRequest, data: dict[str, Any], notes: RequestNotes) -> list[dict[str, Any]]:
    if not request.messages:
        raise bad_field("/messages", "must have at least one message")
    drafts = Drafts(notes)
    read_system(data.get("system"), "/system", notes, drafts)
    read_messages([(item, f"/messages/{index}") for index, item in enumerate(data["messages"])], notes, drafts)
    return text_messages(drafts, notes)


def _resolved(
    request: CountRequest, tools: list[dict[str, Any]], settings: Settings, places: Mapping[str, str]
) -> ResolvedRequest:
    choice, config = request.tool_choice, request.output_config
    shape = response_format_beside(_FORMAT, None if config is None else config.format, request)
    wanted: str | dict[str, Any] = "auto"
    if choice is not None:
        named = {"type": "function", "function": {"name": choice.name}}
        wanted = _CHOICES.get(choice.type, named)
    effort = {} if config is None or config.effort is None else {"reasoning_effort": config.effort}
    return resolved(
        tools,
        settings,
        places,
        tool_choice=wanted,
        parallel_tool_calls=choice is None or choice.disable_parallel_tool_use is not True,
        shape=shape,
        budgets=_budgets(request, settings),
        template_kwargs=effort,
    )


def _own_budget(request: CountRequest) -> int | None:
    """Anthropic's bound on the tokens of reasoning; None: none is given."""
    return None if request.thinking is None else request.thinking.budget_tokens


def _budgets(request: CountRequest, settings: Settings) -> Budgets | None:
    own, shared = _own_budget(request), request.thinking_token_budget
    if own is None:
        return budgets_of(shared, settings, "/thinking_token_budget")
    if shared is not None:
        raise bad_field("/thinking_token_budget", "must not stand beside thinking.budget_tokens")
    return budgets_of(own, settings, _BUDGET, least=1)


def _places(request: CountRequest) -> Mapping[str, str]:
    return _PLACES if _own_budget(request) is None else {"/thinking_token_budget": _BUDGET, **_PLACES}
