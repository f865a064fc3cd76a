"""The options of a request, as callers pass them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias, TypedDict

import msgspec

from syntagma.answer_types import JsonType
from syntagma.entry import check_fields
from syntagma.errors import ArgumentError
from syntagma.limits import Limits
from syntagma.messages import ToolChoice

__all__ = ["Budgets", "Enforce", "ReasoningChoice", "ReasoningFormat", "RequestOptions", "SharedOptions"]

Enforce: TypeAlias = Literal["off", "name", "parameters"]
ReasoningChoice: TypeAlias = Literal["auto", "open", "closed", "off"]
ReasoningFormat: TypeAlias = Literal["auto", "none", "deepseek"]


class Budgets(msgspec.Struct, frozen=True, kw_only=True):
    """Limits for the parts of a turn; None is no limit.

    Attributes:
        reasoning_tokens: tokens of reasoning, without its opener and closer.
        content_tokens: tokens of content.
        argument_bytes: bytes of the arguments of one call.
        on_reasoning: what happens when the budget of reasoning is spent. `close`: the reasoning is closed, and the
            model continues with its answer.

    Raises:
        ArgumentError: `E-BUDGET-VALUE`, a budget is below 0; `pointer` names it.
    """

    reasoning_tokens: int | None = None
    content_tokens: int | None = None
    argument_bytes: int | None = None
    on_reasoning: Literal["close"] = "close"

    def __post_init__(self) -> None:
        check_fields(self)
        for field in ("reasoning_tokens", "content_tokens", "argument_bytes"):
            given = getattr(self, field)
            if given is not None and given < 0:
                raise ArgumentError(
                    "E-BUDGET-VALUE", f"{field} must be at least 0, not {given}", pointer=f"/budgets/{field}"
                )

    def bounds(self) -> list[tuple[str, str, int]]:
        """The limits: the label of a part in the grammar, `tokens` or `bytes`, and the maximum number."""
        fields = (
            ("reasoning", "tokens", self.reasoning_tokens),
            ("content", "tokens", self.content_tokens),
            ("arguments", "bytes", self.argument_bytes),
        )
        return [(label, unit, min(most, 2**32 - 1)) for label, unit, most in fields if most is not None]


class SharedOptions(TypedDict, total=False):
    """Keyword arguments that the parser and the grammar share.

    Attributes:
        tool_choice: `auto` (the default), `none`, `required`, a tool's name, or one of OpenAI's dictionaries
            (`function`, `allowed_tools`).
        response_format: what the answer is. A dictionary of OpenAI, or another one that
            `syntagma.request.read_response_format` lists; a JSON Schema; or a type of Python that has one: a model of
            pydantic, a dataclass, a TypedDict. `Message.parsed` is then the value. None: text.
        reasoning: whether the output begins inside reasoning; see the table in `syntagma.request`. The default,
            `auto`, reads it from the prompt.
        reasoning_format: `none` leaves reasoning in content, with its markers. `auto`, the default, and `deepseek` put
            it into `reasoning_content`.
        template_kwargs: the variables with which the prompt was rendered. A format may define their meaning for
            reasoning.
        history_calls: number of calls in the conversation before this turn. If a format numbers the calls of a
            conversation, the grammar continues from it; None: the grammar allows any number. Parsers ignore it.
        limits: bounds on the request and on the text. None: the defaults.
    """

    tool_choice: ToolChoice
    response_format: Mapping[str, Any] | type[Any] | JsonType | None
    reasoning: ReasoningChoice
    reasoning_format: ReasoningFormat
    template_kwargs: Mapping[str, Any] | None
    history_calls: int | None
    limits: Limits | None


class RequestOptions(SharedOptions, total=False):
    """Keyword arguments of a request: those of `SharedOptions`, and those that only the grammar needs.

    Attributes:
        parallel_tool_calls: False: at most one call. Default: True. If the template can render only one call per
            message, only one is allowed in any case, see `ChatCodec.prepare`.
        enforce: how far the grammar constrains a call of a declared tool if `tool_choice` is `auto`. `parameters`, the
            default: its name, and its parameters by their schema; `name`: its name; `off`: not at all, so that there is
            no grammar if nothing else in the request constrains the model. A required call, and a call of a tool with
            `strict: true`, always follows the schema.
        budgets: bounds on the parts of the turn. None: no bounds.
    """

    parallel_tool_calls: bool
    enforce: Enforce
    budgets: Budgets | None
