"""`ChatCodec`: everything between messages and the raw text of one model."""

from __future__ import annotations

import datetime
import functools
import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from syntagma.analysis import Analysis, Capabilities, analyze
from syntagma.codec.normalise import MessageLike, call_count, shown_message, with_call_ids
from syntagma.codec.turn import Turn, TurnRequest
from syntagma.constraints import Budgets, Enforce, read_choice, read_response_format, read_tools
from syntagma.errors import ArgumentError, ArgumentTypeError, TemplateError
from syntagma.formats import ChatFormat
from syntagma.limits import Limits
from syntagma.messages import ToolChoice, ToolLike, tools_from
from syntagma.parsing import Policies
from syntagma.templates import ChatTemplate, Prompt

__all__ = ["ChatCodec"]


class ChatCodec:
    """Everything between messages and the tokens of one model. Immutable; threads may share it.

    Attributes:
        format: how the model writes.
        template: how prompts are rendered, or None.
        capabilities: what the template can show and wants.
    """

    def __init__(
        self, fmt: ChatFormat, template: ChatTemplate | None = None, capabilities: Capabilities | None = None
    ) -> None:
        self.format = fmt
        self.template = template
        self.capabilities = capabilities if capabilities is not None else Capabilities()

    @classmethod
    def from_template(cls, template: ChatTemplate, analysis: Analysis | None = None) -> ChatCodec:
        """The codec of a template; without an analysis, it is analysed now.

        Raises:
            TemplateError: `E-TEMPLATE-ANALYSIS`, it cannot be analysed.
        """
        found = analysis if analysis is not None else analyze(template)
        return cls(found.format, template, found.capabilities)

    @classmethod
    def from_pretrained(cls, directory: str | os.PathLike[str]) -> ChatCodec:
        """The codec of the default template in a model folder.

        Raises:
            TemplateError: `E-TEMPLATE-LOAD`, there is none; `E-TEMPLATE-ANALYSIS`, it cannot be analysed.
        """
        return cls.from_template(ChatTemplate.from_pretrained(directory))

    @classmethod
    def from_format(cls, fmt: ChatFormat, template: ChatTemplate | None = None) -> ChatCodec:
        """A codec whose format is known; the template, if any, is rendered without being analysed."""
        return cls(fmt, template)

    def render(
        self,
        messages: Sequence[MessageLike],
        *,
        tools: Sequence[ToolLike] | None = None,
        documents: Sequence[Mapping[str, Any]] | None = None,
        add_generation_prompt: bool = True,
        continue_final_message: bool = False,
        template_kwargs: Mapping[str, Any] | None = None,
        now: datetime.date | None = None,
    ) -> Prompt:
        """The prompt, with messages and tools brought into the form that the template wants.

        Raises:
            ArgumentError: `E-CODEC-TEMPLATE`, the codec has no template.
            TemplateError, LimitError: as `ChatTemplate.render`.
        """
        if self.template is None:
            raise ArgumentError("E-CODEC-TEMPLATE", "the codec has no template to render with")
        if isinstance(messages, str | bytes | Mapping) or not isinstance(messages, Sequence):
            raise ArgumentTypeError("E-MESSAGE-LIST", f"messages is a list, not {type(messages).__name__}")
        wants = self.capabilities
        declared: list[dict[str, Any]] | None = [tool.to_openai() for tool in tools_from(tools) or ()]
        if not declared and wants.no_tools in ("none", "undefined"):
            declared = None
        template = self.template.variant(lenient=wants.lenient, omit_none=wants.no_tools == "undefined")
        shown = [shown_message(message, wants) for message in messages]
        if wants.needs_system and not any(message.get("role") == "system" for message in shown):
            shown.insert(0, {"role": "system", "content": ""})
        render = functools.partial(
            template.render_prompt,
            tools=declared,
            documents=documents,
            add_generation_prompt=add_generation_prompt,
            continue_final_message=continue_final_message,
            template_kwargs={**wants.variables, **(template_kwargs or {})},
            now=now,
        )
        try:
            return render(shown)
        except TemplateError as refusal:
            # Some templates refuse ids that are not of their own form, such as those of another model's calls.
            if refusal.code != "E-TEMPLATE-RAISED" or not any(message.get("tool_calls") for message in shown):
                raise
            try:
                return render(with_call_ids(shown, wants.call_id_form))
            except TemplateError:
                raise refusal from None

    def prepare(
        self,
        messages: Sequence[MessageLike],
        *,
        tools: Sequence[ToolLike] | None = None,
        tool_choice: ToolChoice = "auto",
        response_format: Mapping[str, Any] | None = None,
        parallel_tool_calls: bool = True,
        template_kwargs: Mapping[str, Any] | None = None,
        documents: Sequence[Mapping[str, Any]] | None = None,
        add_generation_prompt: bool = True,
        continue_final_message: bool = False,
        reasoning: Literal["auto", "open", "closed", "off"] = "auto",
        reasoning_format: Literal["auto", "none", "deepseek"] = "auto",
        stream_reasoning: bool = True,
        enforce: Enforce = "off",
        budgets: Budgets | None = None,
        policies: Policies | None = None,
        id_seed: str | None = None,
        strict: bool = False,
        now: datetime.date | None = None,
        limits: Limits | None = None,
    ) -> Turn:
        """Prepare one turn. The request is checked here; its grammar is built when `Turn.grammar` is first read.

        Args:
            messages: the conversation; `Message`s or OpenAI dictionaries.
            tools: the declared tools; they stand in the prompt whatever `tool_choice` says.
            tool_choice: `auto`, `none`, `required`, a tool's name, or one of OpenAI's dictionaries.
            response_format: as OpenAI's, or `{"type": "grammar", "grammar": EBNF text}`.
            parallel_tool_calls: False: the grammar allows one call at most.
            template_kwargs: further variables of the template.
            documents: for templates that quote documents.
            add_generation_prompt: open the assistant's turn at the end of the prompt.
            continue_final_message: let the model go on with the final message.
            reasoning: overrides what the prompt says about reasoning.
            reasoning_format: `none` leaves thoughts in content.
            stream_reasoning: False: reasoning comes whole.
            enforce: how much of a call the grammar holds in `auto`: nothing, its name, or its parameters too.
            budgets: bounds on the parts of the turn; a turn with bounds always has a grammar.
            policies: what the parser does with odd calls.
            id_seed: makes minted call ids repeatable.
            strict: the parser raises instead of recovering.
            now: the clock behind the template's `strftime_now`.
            limits: bounds on the request.

        Raises:
            RequestError: `E-REQUEST-TOOL-CHOICE`, `E-REQUEST-RESPONSE-FORMAT`.
            ArgumentError: `E-CODEC-TEMPLATE`, `E-TOOL-…`, `E-MESSAGE-…`.
            LimitError: `E-LIMIT-TOOLS`, or as `ChatTemplate.render`.
            TemplateError: as `ChatTemplate.render`.
        """
        declared = read_tools(tools, limits or Limits())
        choice = read_choice(tool_choice, declared)
        answer = read_response_format(response_format)
        callable_tools = choice.tools or ()
        held = (
            enforce != "off"
            or not parallel_tool_calls
            or len(callable_tools) < len(declared or ())
            or any(tool.strict for _, tool in callable_tools)
        )
        constrained = (
            choice.forced
            or answer.kind != "text"
            or (choice.mode == "auto" and bool(callable_tools) and held)
            or (choice.mode == "none" and bool(declared))
            or (budgets is not None and bool(budgets.bounds()))
        )
        prompt = self.render(
            messages,
            tools=declared,
            documents=documents,
            add_generation_prompt=add_generation_prompt,
            continue_final_message=continue_final_message,
            template_kwargs=template_kwargs,
            now=now,
        )
        request = TurnRequest(
            tools=declared,
            tool_choice=tool_choice,
            parallel_tool_calls=parallel_tool_calls,
            response_format=response_format,
            enforce=enforce,
            budgets=budgets,
            reasoning=reasoning,
            reasoning_format=reasoning_format,
            stream_reasoning=stream_reasoning,
            template_kwargs=template_kwargs,
            policies=policies if policies is not None else Policies(),
            history_calls=sum(call_count(message) for message in messages),
            id_seed=id_seed,
            strict=strict,
            limits=limits,
        )
        return Turn(prompt, self.format, request, constrained=constrained)
