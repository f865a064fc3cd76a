"""One request, read and checked once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, get_args

import msgspec

from syntagma.errors import ArgumentError, ArgumentTypeError, LimitError, RequestError
from syntagma.limits import Limits
from syntagma.messages import Tool, ToolChoice, ToolLike, tools_from
from syntagma.request.options import Budgets, Enforce, ReasoningChoice, ReasoningFormat
from syntagma.request.response_format import ResponseFormat, ResponseKind, read_response_format
from syntagma.request.tool_choice import ResolvedToolChoice, read_choice

__all__ = ["ResolvedRequest", "resolve_request"]

_ENFORCE: tuple[str, ...] = get_args(Enforce)
_REASONING_CHOICES: tuple[str, ...] = get_args(ReasoningChoice)
_REASONING_FORMATS: tuple[str, ...] = get_args(ReasoningFormat)
_DEFAULT_LIMITS = Limits()


class ResolvedRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One request, read and checked.

    Attributes:
        tools: the declared tools; None: undeclared; empty: none.
        choice: which of them may or must be called.
        response_format: what the content must be.
        parallel_tool_calls: whether more than one call may come.
        enforce: how much of a call that is not required the grammar constrains.
        budgets: bounds on the parts of the turn, or None.
        reasoning: whether the output begins inside reasoning.
        reasoning_format: `none`: reasoning stays in content.
        template_kwargs: the variables that the prompt was rendered with.
        history_calls: how many calls the conversation holds before this turn; None: unknown.
        limits: bounds on the request and on what is read.
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
        """Whether calls may come. Beside an answer with a shape, only calls of declared tools are calls."""
        return self.choice.mode != "none" and (self.tools is not None or self.response_format.is_text)

    @property
    def reasoning_in_content(self) -> bool:
        """Whether reasoning is left in content, with its tags."""
        return self.reasoning_format == "none"

    @property
    def constrains(self) -> bool:
        """Whether the request constrains the model at all; where not, no grammar is needed."""
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
    response_format: Mapping[str, Any] | ResponseFormat | None = None,
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
        tools: the declared tools; None: undeclared; empty: none.
        tool_choice: see `SharedOptions`, as all up to `limits`.
        response_format: the same.
        reasoning: the same.
        reasoning_format: the same.
        template_kwargs: the same.
        history_calls: the same.
        limits: the same.
        parallel_tool_calls: see `RequestOptions`, as those after it.
        enforce: the same.
        budgets: the same.
        for_reading: the output exists already and is only read. A tool choice or response format that no model could
            follow is then no error, and the number of tools is not limited.

    Raises:
        RequestError: `E-REQUEST-TOOL-CHOICE`, `E-REQUEST-RESPONSE-FORMAT`, with the pointer of what is wrong.
        ArgumentError: `E-TOOL-…`, see `syntagma.messages.tools_from`; `E-ARGUMENT-REASONING`,
            `E-ARGUMENT-REASONING-FORMAT`: an unknown word; `E-ARGUMENT-VALUE`, `history_calls` is no number from 0 on.
        LimitError: `E-LIMIT-TOOLS`, too many tools.
    """
    _check_word("E-ARGUMENT-REASONING", "reasoning", reasoning, _REASONING_CHOICES)
    _check_word("E-ARGUMENT-REASONING-FORMAT", "reasoning_format", reasoning_format, _REASONING_FORMATS)
    if history_calls is not None and (not isinstance(history_calls, int) or history_calls < 0):
        raise ArgumentError("E-ARGUMENT-VALUE", f"history_calls={history_calls!r}", hint="a number from 0 on, or None")
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
        response_format=_lenient_format(response_format) if for_reading else read_response_format(response_format),
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
        raise ArgumentError(code, f"{name}={given!r}", hint="one of " + ", ".join(f'"{word}"' for word in known))


def _check_type(name: str, given: object, wanted: type) -> None:
    if not isinstance(given, wanted):
        message = f"{name} takes no {type(given).__name__}"
        raise ArgumentTypeError("E-ARGUMENT-TYPE", message, pointer=f"/{name}")


def _check_number(tools: Sequence[ToolLike], limits: Limits) -> None:
    if len(tools) > limits.tools:
        raise LimitError(
            "E-LIMIT-TOOLS",
            f"{len(tools)} tools, {limits.tools} are allowed",
            limit="tools",
            given=len(tools),
            allowed=limits.tools,
            pointer="/tools",
        )


def _lenient_choice(choice: ToolChoice, tools: tuple[Tool, ...] | None) -> ResolvedToolChoice:
    """The tool choice, or `auto` where it cannot be resolved."""
    try:
        return read_choice(choice, tools)
    except RequestError:
        return read_choice("auto", tools)


def _lenient_format(value: Mapping[str, Any] | ResponseFormat | None) -> ResponseFormat:
    """The response format; where something in it is missing or unknown, its type alone says what the answer is."""
    try:
        return read_response_format(value)
    except RequestError:
        kind = value.get("type", "text") if isinstance(value, Mapping) else "text"
        kinds: dict[object, ResponseKind] = {"text": "text", "json_object": "object", "json_schema": "schema"}
        return ResponseFormat(kind=kinds.get(kind, "grammar"))
