"""Requests of `/v1/responses` as inner requests."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from typing import Any, Final

from starlette.responses import Response as HttpResponse

from syntagma.conversion.custom_calls import custom_names
from syntagma.conversion.responses import name_in, read_tool
from syntagma.errors import RequestError
from syntagma.request import ResolvedRequest, ResponseFormat
from syntagma.serving.answer_fields import refuse_token_fields
from syntagma.serving.body import bad_field, bounded, decode_body, refuse_fields, typed_body, unread_fields, unsupported
from syntagma.serving.constraint_fields import response_format_beside
from syntagma.serving.conversation import RequestNotes
from syntagma.serving.dialect import Asked
from syntagma.serving.errors import error_response
from syntagma.serving.inner import InnerRequest
from syntagma.serving.known_members import CONSTRAINTS, RESPONSE_FORMAT, TOOL_CHOICE, TOOLS
from syntagma.serving.offered import OfferedTools, offered, with_moved
from syntagma.serving.resolving import budgets_of, resolved, thinking_of
from syntagma.serving.responses.conversation import conversation_of, opened
from syntagma.serving.responses.store import Keeping, ResponseStore, items_of
from syntagma.serving.responses.wire import Reasoning, Response, ResponsesRequest
from syntagma.serving.responses.writer import ResponsesWriter
from syntagma.serving.sampling_fields import OPTION_PLACES, generation_options
from syntagma.serving.settings import Settings

__all__ = ["ResponsesDialect"]

_PLACES: Final = {
    **OPTION_PLACES,
    "/logprobs": "/top_logprobs",
    "/max_tokens": "/max_output_tokens",
    "/tools/*/function": "/tools/*",
    "/tool_choice/function": "/tool_choice",
    "/tool_choice/custom": "/tool_choice",
    "/tool_choice/allowed_tools": "/tool_choice",
    "/template_kwargs/reasoning_effort": "/reasoning/effort",
    "/messages": "/input",
}
"""pointers in chat completions → pointers in the request, see `placed`"""
_SHAPES: Final = {**CONSTRAINTS, "/text/format": RESPONSE_FORMAT, "/tools": TOOLS, "/tool_choice": TOOL_CHOICE}
"""the shapes of members that no struct describes"""
_REFUSED: Final = (
    *("background", "background_options", "conversation", "prompt", "max_tool_calls"),
    *("access_programs", "context_management", "image", "moderation"),
)
"""fields that are not supported"""
_SEALED: Final = "reasoning.encrypted_content"


class ResponsesDialect:
    """`POST /v1/responses`.

    Args:
        store: stores answers.
    """

    def __init__(self, store: ResponseStore) -> None:
        self._store = store

    def read(self, body: bytes, settings: Settings) -> Asked:
        """See `Dialect`.

        Raises:
            RequestError: `E-REQUEST-JSON`, `E-REQUEST-FIELD`, `E-REQUEST-LIMIT`, `E-REQUEST-UNSUPPORTED`,
                `E-REQUEST-TOOL-CHOICE`, `E-REQUEST-RESPONSE-FORMAT`; `E-REQUEST-RESPONSE`, the previous response is
                not stored.
            ArgumentError, LimitError: the messages or tools are wrong.
        """
        data = decode_body(body)
        request = typed_body(data, ResponsesRequest)
        _refuse_unsupported(request)
        before: Sequence[dict[str, Any]] = ()
        earlier: Sequence[dict[str, Any]] = ()
        if request.previous_response_id is not None:
            stored = self._store.get(request.previous_response_id, "/previous_response_id")
            before, earlier = stored.messages, stored.all_items
        notes = RequestNotes(data)
        given = self._with_references(request.input, notes)
        conversation = [*before, *conversation_of(given, notes)]
        tools = offered(request.tools or (), ("function", "custom", None), read_tool)
        inner = _inner(request, conversation, tools, settings)

        def writer(model: str) -> ResponsesWriter:
            custom = custom_names(inner.resolved.tools)
            answer = _answer(request, model)
            if not _stores(request):
                return ResponsesWriter(answer, custom, tools.names, seals=True)
            keeping = Keeping(self._store, [*earlier, *items_of(given)], conversation)
            return ResponsesWriter(answer, custom, tools.names, keeping, seals=_SEALED in (request.include or ()))

        left_out = (*tools.left_out, *notes.left_out)
        unread = (*unread_fields(data, ResponsesRequest, _SHAPES), *notes.unread_members)
        return Asked(inner, request.stream is True, writer, unread, left_out)

    def read_count(self, body: bytes, settings: Settings) -> InnerRequest:
        """The prompt whose tokens are to be counted; raises as `read`."""
        return self.read(body, settings).request

    def _with_references(self, given: str | list[dict[str, Any]], notes: RequestNotes) -> str | list[dict[str, Any]]:
        """The input, with the items that it refers to by their ids.

        Raises:
            RequestError: `E-REQUEST-RESPONSE`, 404: no stored response has an item of this id.
        """
        if isinstance(given, str):
            return given
        return [self._meant(item, f"/input/{index}", notes) for index, item in enumerate(given)]

    def _meant(self, item: dict[str, Any], pointer: str, notes: RequestNotes) -> dict[str, Any]:
        """What an item stands for: another, by its id, or reasoning of ours that came without its text."""
        if item.get("type") == "item_reference":
            return self._store.item(item.get("id"), f"{pointer}/id")
        if item.get("type") != "reasoning" or item.get("content"):
            return item
        text = opened(item.get("encrypted_content"))
        if text is not None:
            return {"type": "reasoning", "id": item.get("id"), "content": [{"type": "reasoning_text", "text": text}]}
        if not item.get("summary"):
            with contextlib.suppress(RequestError):
                return self._store.item(item.get("id"), pointer)
            notes.unread_members.append(pointer)
        return item

    def refuse(self, error: BaseException) -> HttpResponse:
        """See `Dialect`."""
        return error_response(error)


def _refuse_unsupported(request: ResponsesRequest) -> None:
    refuse_token_fields(request)
    refuse_fields(request, _REFUSED)
    if request.truncation not in (None, "disabled"):
        raise unsupported("/truncation", "a conversation is not truncated here", hint='the only value is "disabled"')


def _stores(request: ResponsesRequest) -> bool:
    return request.store is not False


def _inner(
    request: ResponsesRequest, conversation: Sequence[dict[str, Any]], tools: OfferedTools, settings: Settings
) -> InnerRequest:
    system = [] if request.instructions is None else [{"role": "system", "content": request.instructions}]
    places = with_moved(_PLACES, tools.moved)
    limits = settings.limits
    most = request.max_output_tokens
    if most is not None and most < 1:
        raise bad_field("/max_output_tokens", f"must be at least 1, not {most}")
    top = bounded("top_logprobs", request.top_logprobs, 0, 0, limits.server_top_logprobs)
    wants_logprobs = bool(top) or "message.output_text.logprobs" in (request.include or ())
    effort = None if request.reasoning is None else request.reasoning.effort
    return InnerRequest(
        model=request.model,
        messages=[*system, *conversation],
        resolved=_resolved(request, tools.tools, places, settings),
        options=generation_options(request, settings, max_tokens=most, logprobs=top if wants_logprobs else None),
        thinking=thinking_of(effort),
        places=places,
    )


def _resolved(
    request: ResponsesRequest, tools: list[dict[str, Any]], places: Mapping[str, str], settings: Settings
) -> ResolvedRequest:
    effort = None if request.reasoning is None else request.reasoning.effort
    return resolved(
        tools,
        settings,
        places,
        tool_choice="auto" if request.tool_choice is None else _choice(request.tool_choice),
        parallel_tool_calls=request.parallel_tool_calls is not False,
        shape=_shape(request),
        budgets=budgets_of(request.thinking_token_budget, settings, "/thinking_token_budget"),
        template_kwargs={} if effort is None else {"reasoning_effort": effort},
    )


def _choice(choice: str | Mapping[str, Any]) -> str | dict[str, Any]:
    """A tool choice in the form of chat completions."""
    if isinstance(choice, str):
        return choice
    match choice.get("type"):
        case "function" | "custom" as kind:
            # The name stands beside the type; some libraries send it in the place of chat completions.
            return {"type": kind, kind: choice.get(kind, {"name": _chosen(choice)})}
        case "allowed_tools":
            named = [
                {"type": "function", "function": {"name": _chosen(tool) if isinstance(tool, Mapping) else tool}}
                for tool in choice.get("tools") or ()
            ]
            return {"type": "allowed_tools", "allowed_tools": {"mode": choice.get("mode", "auto"), "tools": named}}
        case None:
            raise bad_field("/tool_choice/type", "is required")
        case kind:
            raise unsupported("/tool_choice/type", f"a tool choice of type {kind!r} is not supported")


def _chosen(choice: Mapping[str, Any]) -> Any:
    """The name by which the model knows a chosen tool."""
    name, namespace = choice.get("name"), choice.get("namespace")
    return name_in(namespace, name) if isinstance(name, str) and isinstance(namespace, str) else name


def _shape(request: ResponsesRequest) -> ResponseFormat:
    shape = None if request.text is None else request.text.format
    return response_format_beside("/text/format", shape, request)


def _answer(request: ResponsesRequest, model: str) -> Response:
    """The answer before anything is written."""
    shape = request.text.format if request.text is not None and request.text.format is not None else {"type": "text"}
    return Response(
        id="",
        created_at=0,
        frequency_penalty=request.frequency_penalty or 0.0,
        instructions=request.instructions,
        max_output_tokens=request.max_output_tokens,
        model=model,
        parallel_tool_calls=request.parallel_tool_calls is not False,
        presence_penalty=request.presence_penalty or 0.0,
        previous_response_id=request.previous_response_id,
        prompt_cache_key=request.prompt_cache_key,
        reasoning=request.reasoning or Reasoning(),
        safety_identifier=request.safety_identifier,
        store=_stores(request),
        temperature=1.0 if request.temperature is None else request.temperature,
        text={"format": shape},
        tool_choice="auto" if request.tool_choice is None else request.tool_choice,
        tools=[_shown_tool(tool) for tool in request.tools or ()],
        top_logprobs=request.top_logprobs or 0,
        top_p=1.0 if request.top_p is None else request.top_p,
        user=request.user,
        metadata=request.metadata or {},
    )


def _shown_tool(tool: dict[str, Any]) -> dict[str, Any]:
    """A tool with all members of its type; those that were not given are null."""
    return {"description": None, "parameters": None, "strict": None, **tool} if tool.get("type") == "function" else tool
