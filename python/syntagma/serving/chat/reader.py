"""Requests of `POST /v1/chat/completions`: all errors of a client are found here or by the codec."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

from starlette.responses import Response

from syntagma.conversion.custom_calls import custom_names
from syntagma.limits import Limits
from syntagma.request import ResolvedRequest
from syntagma.serving.answer_fields import prompt_logprobs_of
from syntagma.serving.body import bad_field, bounded, decode_body, refuse_fields, typed_body, unread_fields, unsupported
from syntagma.serving.chat.call_fields import WrittenCalls
from syntagma.serving.chat.conversation import conversation_of
from syntagma.serving.chat.wire import ChatRequest
from syntagma.serving.chat.writer import ChatWriter
from syntagma.serving.constraint_fields import response_format_of
from syntagma.serving.conversation import RequestNotes
from syntagma.serving.dialect import Asked
from syntagma.serving.errors import error_response
from syntagma.serving.inner import InnerRequest
from syntagma.serving.known_members import CONSTRAINTS, FUNCTIONS, TOOL_CHOICE, TOOLS
from syntagma.serving.offered import offered, with_moved
from syntagma.serving.resolving import budgets_of, resolved, thinking_of
from syntagma.serving.sampling_fields import OPTION_PLACES, generation_options
from syntagma.serving.settings import Settings

__all__ = ["ChatDialect"]

_SHAPES: Final = {
    **CONSTRAINTS,
    "/tools": TOOLS,
    "/tool_choice": TOOL_CHOICE,
    "/functions": FUNCTIONS,
    "/function_call": {"name": None},
}
"""the shapes of members that no struct describes"""

_PLACES: Final = {"/template_kwargs/reasoning_effort": "/reasoning_effort", "/template_kwargs": "/chat_template_kwargs"}
"""pointers of the codec → pointers in the request, see `placed`"""

_LEGACY_PLACES: Final = {
    "/tools/*/function": "/functions/*",
    "/tools": "/functions",
    "/tool_choice/function": "/function_call",
}
"""places in a current request → in one with OpenAI's older names, see `placed`"""


class ChatDialect:
    """`POST /v1/chat/completions`."""

    def read(self, body: bytes, settings: Settings) -> Asked:
        """See `Dialect`.

        Raises:
            RequestError: `E-REQUEST-JSON` (no JSON), `E-REQUEST-FIELD` (wrong type or value, with the pointer of the
                field), `E-REQUEST-LIMIT`, `E-REQUEST-UNSUPPORTED`, `E-REQUEST-TOOL-CHOICE`,
                `E-REQUEST-RESPONSE-FORMAT`.
            ArgumentError, LimitError: the messages or tools are wrong.
        """
        return self.read_fields(decode_body(body), settings)

    def read_fields(self, data: dict[str, Any], settings: Settings) -> Asked:
        """Read and check a body that is decoded already; raises as `read`."""
        request = typed_body(data, ChatRequest)
        _refuse_unsupported(request)
        tools = offered(request.tools or (), ("function", "custom", None))
        own = {**OPTION_PLACES, **_PLACES, **(_LEGACY_PLACES if request.functions is not None else {})}
        places = with_moved(own, tools.moved)
        notes = RequestNotes(data)
        last = len(request.messages) - 1
        if request.continue_final_message and request.messages and request.messages[last].role != "assistant":
            raise bad_field(f"/messages/{last}/role", "must be 'assistant' where continue_final_message is true")
        inner = InnerRequest(
            model=request.model,
            messages=conversation_of(data["messages"], notes),
            resolved=_resolved(request, tools.tools, settings, places),
            options=generation_options(
                request,
                settings,
                max_tokens=_max_tokens(request),
                logprobs=_logprobs(request, settings.limits),
                explain=request.explain,
            ),
            n=bounded("n", request.n, 1, 1, settings.limits.server_n),
            documents=request.documents,
            add_generation_prompt=request.add_generation_prompt is not False,
            continue_final_message=request.continue_final_message is True,
            final_message=f"/messages/{last}/content",
            stream_reasoning=request.stream_reasoning is not False,
            return_token_ids=request.return_token_ids is True,
            prompt_logprobs=prompt_logprobs_of(request, settings, stream=request.stream),
            places=places,
            thinking=thinking_of(request.reasoning_effort),
        )
        writer = partial(
            ChatWriter,
            calls=WrittenCalls(custom_names(inner.resolved.tools), legacy=request.functions is not None),
            wants_ids=inner.return_token_ids,
            wants_logprobs=inner.options.logprobs is not None,
            with_usage=request.stream_options is not None and request.stream_options.include_usage is True,
            with_diagnostics=request.include_diagnostics is True,
            reasoning_fields=() if request.include_reasoning is False else settings.reasoning_fields,
        )
        # The template takes all members of messages, except those in `notes`.
        unread = (*unread_fields(data, ChatRequest, _SHAPES, "messages"), *notes.unread_members)
        return Asked(inner, request.stream is True, writer, unread, tools.left_out)

    def refuse(self, error: BaseException) -> Response:
        """See `Dialect`."""
        return error_response(error)


def _refuse_unsupported(request: ChatRequest) -> None:
    refuse_fields(request, ("audio", "moderation", "web_search_options"))
    for index, kind in enumerate(request.modalities or ()):
        if kind != "text":
            raise unsupported(f"/modalities/{index}", "the model writes text only")
    if request.chat_template is not None:
        raise unsupported("/chat_template", "a request cannot bring its own template")


def _max_tokens(request: ChatRequest) -> int | None:
    for name in ("max_completion_tokens", "max_tokens"):
        value: int | None = getattr(request, name)
        if value is not None:
            if value < 1:
                raise bad_field(f"/{name}", f"must be at least 1, not {value}")
            return value
    return None


def _resolved(
    request: ChatRequest, tools: list[dict[str, Any]], settings: Settings, places: Mapping[str, str]
) -> ResolvedRequest:
    if request.functions is not None and request.tools is not None:
        raise bad_field("/functions", "must not stand beside tools")
    choice = request.tool_choice
    if request.functions is not None:
        choice = _legacy_choice(request.function_call)
    return resolved(
        tools or _legacy_tools(request.functions or ()),
        settings,
        places,
        tool_choice="auto" if choice is None else choice,
        parallel_tool_calls=request.parallel_tool_calls is not False and request.functions is None,
        shape=response_format_of(request),
        budgets=budgets_of(request.thinking_token_budget, settings, "/thinking_token_budget"),
        reasoning_format="none" if request.separate_reasoning is False else "auto",
        template_kwargs=_template_kwargs(request),
    )


def _template_kwargs(request: ChatRequest) -> dict[str, Any]:
    """The request's variables for the template; `reasoning_effort` is one of them, if given."""
    effort = {} if request.reasoning_effort is None else {"reasoning_effort": request.reasoning_effort}
    return effort | (request.chat_template_kwargs or {})


def _logprobs(request: ChatRequest, limits: Limits) -> int | None:
    if request.top_logprobs is not None and not request.logprobs:
        raise bad_field("/top_logprobs", "needs logprobs: true beside it")
    top = bounded("top_logprobs", request.top_logprobs, 0, 0, limits.server_top_logprobs)
    return top if request.logprobs else None


def _legacy_tools(functions: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """`functions` as tools."""
    return [{"type": "function", "function": function} for function in functions]


def _legacy_choice(choice: str | Mapping[str, Any] | None) -> str | dict[str, Any]:
    """`function_call` as a tool choice.

    Raises:
        RequestError: `E-REQUEST-FIELD`.
    """
    if choice is None:
        return "auto"
    if isinstance(choice, str):
        if choice not in ("auto", "none"):
            raise bad_field("/function_call", "must be 'auto', 'none', or an object with a name")
        return choice
    return {"type": "function", "function": {"name": choice.get("name")}}
