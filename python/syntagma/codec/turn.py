"""One prepared turn: prompt, grammar and parser that belong together."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from syntagma.constraints import Budgets, Enforce, build_grammar
from syntagma.format_schema import StartState
from syntagma.formats import ChatFormat
from syntagma.grammars import Grammar
from syntagma.limits import Limits
from syntagma.messages import Tool, ToolChoice
from syntagma.parsing import Policies, StreamParser, start_state
from syntagma.templates import Prompt

__all__ = ["Turn", "TurnRequest"]


class TurnRequest(msgspec.Struct, frozen=True, kw_only=True):
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

    def __init__(self, prompt: Prompt, fmt: ChatFormat, request: TurnRequest, *, constrained: bool) -> None:
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
            reasoning_format=request.reasoning_format,
            template_kwargs=request.template_kwargs,
        )

    @functools.cached_property
    def grammar(self) -> Grammar | None:
        """What the model may write, built when first asked for; None where the request holds the model to nothing.

        That is so with a text answer where no tools are declared, or where any of them may be called any number of
        times: `tool_choice="auto"`, `enforce="off"`, no tool that is strict. The parser then reads whatever the model
        writes.

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
