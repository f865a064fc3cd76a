"""`ChatCodec`: prompt, grammar and parser of one model in one object."""

from __future__ import annotations

import datetime
import functools
import json
import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec

from syntagma.analysis import Analysis, Capabilities, analyze
from syntagma.constraints import Budgets, Enforce, build_grammar, read_choice, read_response_format, read_tools
from syntagma.errors import ArgumentError, ArgumentTypeError
from syntagma.format_schema import StartState
from syntagma.formats import ChatFormat
from syntagma.grammars import Grammar
from syntagma.limits import Limits
from syntagma.messages import Message, Tool, ToolChoice, ToolLike, tools_from
from syntagma.parsing import Policies, StreamParser, start_state
from syntagma.templates import ChatTemplate, Prompt

__all__ = ["ChatCodec", "Turn"]

MessageLike = Message | Mapping[str, Any]


class _Request(msgspec.Struct, frozen=True, kw_only=True):
    """What one turn was asked to be, and how it is to be read."""

    tools: tuple[Tool, ...] | None
    tool_choice: ToolChoice
    parallel_tool_calls: bool
    response_format: Mapping[str, Any] | None
    enforce: Enforce
    budgets: Budgets | None
    reasoning: Literal["auto", "open", "closed", "off"]
    reasoning_format: Literal["auto", "none", "deepseek"]
    stream_reasoning: bool
    template_kwargs: Mapping[str, Any] | None
    policies: Policies
    history_calls: int
    id_seed: str | None
    strict: bool
    limits: Limits | None


class Turn:
    """One turn of a model: what it is given, what it may write, and how that is read.

    Attributes:
        prompt: the rendered prompt; `prompt.start` is where the assistant's turn begins in it.
        format: the format that the model writes.
    """

    def __init__(self, prompt: Prompt, fmt: ChatFormat, request: _Request, *, constrained: bool) -> None:
        self.prompt = prompt
        self.format = fmt
        self._request = request
        self._constrained = constrained

    @property
    def tools(self) -> tuple[Tool, ...] | None:
        """The declared tools; None if none were declared."""
        return self._request.tools

    @functools.cached_property
    def start(self) -> StartState:
        """What the prompt has already begun."""
        request = self._request
        return start_state(
            self.format.spec,
            prompt=self.prompt,
            reasoning=request.reasoning,
            template_kwargs=request.template_kwargs,
        )

    @functools.cached_property
    def grammar(self) -> Grammar | None:
        """What the model may write, built when first asked for; None where the request holds the model to nothing.

        That is so with a text answer, `tool_choice="auto"` (or no tools), `enforce="off"` and no tool that is strict:
        the parser then reads whatever the model writes.

        Raises:
            FormatError, GrammarError, LimitError: as `syntagma.constraints.build_grammar`.
        """
        if not self._constrained:
            return None
        request = self._request
        return build_grammar(
            self.format.spec,
            request.tools,
            start=self.start,
            tool_choice=request.tool_choice,
            parallel_tool_calls=request.parallel_tool_calls,
            response_format=request.response_format,
            enforce=request.enforce,
            budgets=request.budgets,
            limits=request.limits,
        )

    def parser(self) -> StreamParser:
        """A fresh parser for one answer to the prompt."""
        request = self._request
        return StreamParser(
            self.format.spec,
            request.tools,
            prompt=self.prompt,
            id_seed=request.id_seed,
            reasoning=request.reasoning,
            reasoning_format=request.reasoning_format,
            stream_reasoning=request.stream_reasoning,
            tool_choice=request.tool_choice,
            response_format=request.response_format,
            template_kwargs=request.template_kwargs,
            policies=request.policies,
            history_calls=request.history_calls,
            strict=request.strict,
            limits=request.limits,
        )

    @property
    def triggers(self) -> tuple[str, ...]:
        """What begins a call as the format writes it."""
        return self.format.triggers

    @property
    def stop_strings(self) -> tuple[str, ...]:
        """What ends the turn, for engines whose vocabulary has no token for it."""
        return self.format.stop_strings

    @property
    def preserved_tokens(self) -> tuple[str, ...]:
        """Markers: tokens that a detokenizer must not drop."""
        return self.format.preserved_tokens


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
        shown = [_shown(message, wants) for message in messages]
        if wants.needs_system and not any(message.get("role") == "system" for message in shown):
            shown.insert(0, {"role": "system", "content": ""})
        return template.render_prompt(
            shown,
            tools=declared,
            documents=documents,
            add_generation_prompt=add_generation_prompt,
            continue_final_message=continue_final_message,
            template_kwargs={**wants.variables, **(template_kwargs or {})},
            now=now,
        )

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
            budgets: bounds on the parts of the turn; none is supported yet.
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
        held = enforce != "off" or any(tool.strict for _, tool in choice.tools or ())
        constrained = (
            choice.forced
            or answer.kind != "text"
            or (choice.mode == "auto" and bool(choice.tools) and held)
            or (choice.mode == "none" and bool(declared))
        )
        if budgets is not None:
            budgets.check()
        prompt = self.render(
            messages,
            tools=declared,
            documents=documents,
            add_generation_prompt=add_generation_prompt,
            continue_final_message=continue_final_message,
            template_kwargs=template_kwargs,
            now=now,
        )
        request = _Request(
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
            history_calls=sum(_calls_in(message) for message in messages),
            id_seed=id_seed,
            strict=strict,
            limits=limits,
        )
        return Turn(prompt, self.format, request, constrained=constrained)


def _calls_in(message: MessageLike) -> int:
    calls = message.tool_calls if isinstance(message, Message) else message.get("tool_calls")
    return len(calls or ())


def _shown(message: MessageLike, wants: Capabilities) -> dict[str, Any]:
    """A message as the dictionary that the template wants."""
    if isinstance(message, Message):
        data = message.to_openai()
    elif isinstance(message, Mapping):
        data = dict(message)
    else:
        raise ArgumentTypeError("E-MESSAGE-TYPE", f"a message is a mapping, not {type(message).__name__}")
    if data.get("role") != "assistant":
        return data
    if data.get("tool_calls"):
        data["tool_calls"] = [_shown_call(call, wants) for call in data["tool_calls"]]
    else:
        data.pop("tool_calls", None)
    if not data.get("content"):
        _empty_content(data, wants)
    return _shown_thoughts(data, wants)


def _empty_content(data: dict[str, Any], wants: Capabilities) -> None:
    if not data.get("tool_calls") or wants.empty_content == "text":
        data["content"] = ""
    elif wants.empty_content == "null":
        data["content"] = None
    else:
        data.pop("content", None)


def _shown_thoughts(data: dict[str, Any], wants: Capabilities) -> dict[str, Any]:
    """Thoughts in the field that the template reads; a template that reads none gets the usual one."""
    thoughts = data.pop("reasoning_content", None)
    other = data.pop("reasoning", None)
    thoughts = other if thoughts is None else thoughts
    if not isinstance(thoughts, str):
        return data
    field, _, block = (wants.reasoning or "reasoning_content").partition(":")
    if not block:
        data[field] = thoughts
        return data
    content = data.get("content")
    rest = content if isinstance(content, list) else [{"type": "text", "text": content}] if content else []
    data["content"] = [{"type": block, block: thoughts}, *rest]
    return data


def _shown_call(call: Any, wants: Capabilities) -> Any:
    """A call with its arguments as an object or as JSON text; what cannot be turned stays as it is."""
    if not isinstance(call, Mapping):
        return call
    inner = call.get("function")
    function = inner if isinstance(inner, Mapping) else call
    arguments = function.get("arguments")
    if wants.arguments == "object" and isinstance(arguments, str):
        try:
            arguments = json.loads(arguments or "{}")
        except (ValueError, RecursionError):
            return call
    elif wants.arguments == "string" and isinstance(arguments, Mapping):
        arguments = json.dumps(arguments, ensure_ascii=False)
    changed = {**function, "arguments": arguments}
    return {"type": "function", **call, "function": changed} if function is inner else changed
