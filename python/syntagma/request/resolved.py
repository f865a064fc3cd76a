"""`ResolvedRequest`: one request, read and checked once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, get_args

import msgspec

from syntagma.answer_types import JsonType
from syntagma.errors import ArgumentError, ArgumentTypeError, LimitError, RequestError
from syntagma.limits import Limits
from syntagma.messages import Tool, ToolChoice, ToolLike, tools_from
from syntagma.request.options import Budgets, Enforce, ReasoningChoice, ReasoningFormat
from syntagma.request.response_format import ResponseFormat, ResponseKind, asked_format
from syntagma.request.tool_choice import ResolvedToolChoice, read_choice

__all__ = ["ResolvedRequest", "resolve_request"]

_ENFORCE: tuple[str, ...] = get_args(Enforce)
_REASONING_CHOICES: tuple[str, ...] = get_args(ReasoningChoice)
_REASONING_FORMATS: tuple[str, ...] = get_args(ReasoningFormat)
_DEFAULT_LIMITS = Limits()


class ResolvedRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One request, read and checked.

    Attributes:
        tools: the declared tools; None: undeclared; empty: no tools.
        choice: the tools that may or must be called.
        response_format: the constraint on the content.
        parallel_tool_calls: whether more than one call is allowed.
        enforce: how far the grammar constrains calls that are not required.
        budgets: bounds on the parts of the turn, or None.
        reasoning: whether the output begins inside reasoning.
        reasoning_format: `none`: reasoning stays in content.
        template_kwargs: the variables with which the prompt was rendered.
        history_calls: number of calls in the conversation before this turn; None: unknown.
        limits: bounds on the request and on the text.
    """

    tools: tuple[Tool, ...] | None
    choice: ResolvedToolChoice
    response_format: ResponseFormat
    parallel_tool_calls: bool
    enforce: Enforce
    budgets: Budgets | None
    reasoning: ReasoningChoice
    reasoning_format: ReasoningFormat
    template_kwargs: Mapping[str, Any] | None
    history_calls: int | None
    limits: Limits

    @property
    def allows_calls(self) -> bool:
        """Whether calls are allowed. With a response format other than text, only declared tools can be called."""
        return self.choice.mode != "none" and (self.tools is not None or self.response_format.is_text)

    @property
    def reasoning_in_content(self) -> bool:
        """Whether reasoning is left in content, with its markers."""
        return self.reasoning_format == "none"

    @property
    def constrains(self) -> bool:
        """Whether the request constrains the model at all; if not, no grammar is needed."""
        if self.choice.forced or not self.response_format.is_text:
            return True
        if self.budgets is not None and self.budgets.bounds():
            return True
        declared, callable_tools = self.tools or (), self.choice.tools or ()
        if self.choice.mode == "none":
            return bool(declared)
        return bool(callable_tools) and (
            self.enforce != "off"
            or not self.parallel_tool_calls
            or len(callable_tools) < len(declared)
            or any(tool.strict for _, tool in callable_tools)
        )


def resolve_request(
    tools: Sequence[ToolLike] | None = None,
    *,
    tool_choice: ToolChoice = "auto",
    response_format: Mapping[str, Any] | type[Any] | JsonType | ResponseFormat | None = None,
    reasoning: ReasoningChoice = "auto",
    reasoning_format: ReasoningFormat = "auto",
    template_kwargs: Mapping[str, Any] | None = None,
    history_calls: int | None = None,
    limits: Limits | None = None,
    parallel_tool_calls: bool = True,
    enforce: Enforce = "parameters",
    budgets: Budgets | None = None,
    for_reading: bool = False,
) -> ResolvedRequest:
    """Read and check one request.

    Args:
        tools: the declared tools; None: undeclared; empty: no tools.
        tool_choice: see `SharedOptions`.
        response_format: see `SharedOptions`.
        reasoning: see `SharedOptions`.
        reasoning_format: see `SharedOptions`.
        template_kwargs: see `SharedOptions`.
        history_calls: see `SharedOptions`.
        limits: see `SharedOptions`.
        parallel_tool_calls: see `RequestOptions`.
        enforce: see `RequestOptions`.
        budgets: see `RequestOptions`.
        for_reading: the output already exists and is only parsed. Then an invalid tool choice or response format is not
            an error, and the number of tools is not limited.

    Raises:
        RequestError: `E-REQUEST-TOOL-CHOICE` or `E-REQUEST-RESPONSE-FORMAT`, the option is invalid; `pointer` names the
            part.
        ArgumentError: `E-TOOL-…`, see `syntagma.messages.tools_from`; `E-ARGUMENT-REASONING` or
            `E-ARGUMENT-REASONING-FORMAT`, an unknown word; `E-ARGUMENT-VALUE`, `history_calls` is not a number of at
            least 0, or `enforce` is unknown.
        LimitError: `E-LIMIT-TOOLS`, there are too many tools.
    """
    _check_word("E-ARGUMENT-REASONING", "reasoning", reasoning, _REASONING_CHOICES)
    _check_word("E-ARGUMENT-REASONING-FORMAT", "reasoning_format", reasoning_format, _REASONING_FORMATS)
    if history_calls is not None and (not isinstance(history_calls, int) or history_calls < 0):
        hint = "a number of at least 0, or None"
        raise ArgumentError("E-ARGUMENT-VALUE", f"history_calls must not be {history_calls!r}", hint=hint)
    _check_word("E-ARGUMENT-VALUE", "enforce", enforce, _ENFORCE)
    _check_type("parallel_tool_calls", parallel_tool_calls, bool)
    if template_kwargs is not None:
        _check_type("template_kwargs", template_kwargs, Mapping)
    if budgets is not None:
        _check_type("budgets", budgets, Budgets)
    if limits is not None:
        _check_type("limits", limits, Limits)
    bounds = limits or _DEFAULT_LIMITS
    if not for_reading and isinstance(tools, Sequence):
        _check_number(tools, bounds)
    declared = tools_from(tools)
    return ResolvedRequest(
        tools=declared,
        choice=_lenient_choice(tool_choice, declared) if for_reading else read_choice(tool_choice, declared),
        response_format=_lenient_format(response_format) if for_reading else asked_format(response_format),
        parallel_tool_calls=parallel_tool_calls,
        enforce=enforce,
        budgets=budgets,
        reasoning=reasoning,
        reasoning_format=reasoning_format,
        template_kwargs=template_kwargs,
        history_calls=history_calls,
        limits=bounds,
    )


def _check_word(code: str, name: str, given: object, known: tuple[str, ...]) -> None:
    if given not in known:
        hint = "one of " + ", ".join(f'"{word}"' for word in known)
        raise ArgumentError(code, f"unknown value {given!r} of {name}", hint=hint)


def _check_type(name: str, given: object, wanted: type) -> None:
    if not isinstance(given, wanted):
        message = f"{name} must be {wanted.__name__}, not {type(given).__name__}"
        raise ArgumentTypeError("E-ARGUMENT-TYPE", message, pointer=f"/{name}")


def _check_number(tools: Sequence[ToolLike], limits: Limits) -> None:
    if len(tools) > limits.tools:
        raise LimitError(
            "E-LIMIT-TOOLS",
            f"there are {len(tools)} tools; {limits.tools} are allowed",
            limit="tools",
            given=len(tools),
            allowed=limits.tools,
            pointer="/tools",
        )


def _lenient_choice(choice: ToolChoice, tools: tuple[Tool, ...] | None) -> ResolvedToolChoice:
    """The tool choice, or `auto` if it is invalid."""
    try:
        return read_choice(choice, tools)
    except RequestError:
        return read_choice("auto", tools)


def _lenient_format(value: Mapping[str, Any] | type[Any] | JsonType | ResponseFormat | None) -> ResponseFormat:
    """The response format; if it is invalid, a format of the kind that its type names."""
    try:
        return asked_format(value)
    except RequestError:
        kind = value.get("type", "text") if isinstance(value, Mapping) else "text"
        kinds: dict[object, ResponseKind] = {"text": "text", "json_object": "object", "json_schema": "schema"}
        return ResponseFormat(kind=kinds.get(kind, "grammar"))
