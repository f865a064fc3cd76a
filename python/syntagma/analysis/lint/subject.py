"""The template that is linted, with its analysis and its renders."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import msgspec

from syntagma.analysis.analysis import analyze
from syntagma.analysis.render.conversation import SampleCall, SampleTurn, assistant_message, declared_tools, prepared
from syntagma.analysis.result import Analysis
from syntagma.errors import LimitError, SyntagmaError
from syntagma.limits import Limits
from syntagma.templates import ChatTemplate

__all__ = ["ANSWER", "QUESTION", "REASONING", "Subject", "message_of", "user"]

_NOW = datetime.date(2030, 1, 1)
QUESTION, ANSWER, REASONING = "Is the kettle warm?", "It warms up slowly.", "They mean the copper one."


def user(text: str = QUESTION) -> dict[str, Any]:
    """A user's message."""
    return {"role": "user", "content": text}


def message_of(subject: Subject, turn: SampleTurn) -> dict[str, Any]:
    """An assistant's message in the form that the template needs."""
    return assistant_message(turn, subject.analysis.capabilities.inputs)


class Subject:
    """A template with its analysis.

    Attributes:
        template: the template.
        control: the texts of control tokens; None: the vocabulary is unknown.
    """

    def __init__(self, template: ChatTemplate, control: frozenset[str] | None = None) -> None:
        self.template = template
        self.control = control

    @cached_property
    def analysis(self) -> Analysis:
        """The analysis, without a certificate."""
        return analyze(self.template, certify=False, candidates="derived")

    def call(self, index: int = 0, *, like_first: bool = False) -> SampleCall:
        """A call whose name, key and value occur nowhere else in the conversation.

        Args:
            index: 0 or 1.
            like_first: whether it has the name and arguments of the first call, and only another id.
        """
        name, arguments = (("boil_water", {"vessel": "samovar"}), ("pour_out", {"goblet": "porcelain"}))[
            0 if like_first else index
        ]
        form = self.analysis.capabilities.call_id_form
        word = f"Kx{index}Vt7Lm9"
        identity = form.replace("{word}", word).replace("{name}", name).replace("{index}", str(index))
        return SampleCall(name, arguments, identity)

    @cached_property
    def tools(self) -> list[dict[str, Any]]:
        """Declarations of both tools."""
        return declared_tools((self.call(), self.call(1)))

    def request(self, messages: Sequence[dict[str, Any]], *, tools: bool = False) -> dict[str, Any]:
        """The conversation as a request, for a finding."""
        made: dict[str, Any] = {"messages": list(messages)}
        return made | {"tools": self.tools} if tools else made

    def render(
        self,
        messages: Sequence[dict[str, Any]],
        *,
        tools: bool | Sequence[dict[str, Any]] = False,
        prompt: bool = False,
        limits: Limits | None = None,
    ) -> str | SyntagmaError:
        """The render, or the error.

        Args:
            messages: the conversation.
            tools: the declared tools; True: both tools.
            prompt: whether the generation prompt is added.
            limits: bounds in place of the template's.
        """
        inputs = self.analysis.capabilities.inputs
        template = self.template.variant(lenient=inputs.lenient, omit_none=inputs.omit_none, limits=limits)
        declared: list[dict[str, Any]] | None = None if isinstance(tools, bool) else list(tools)
        if declared is None and (tools or inputs.tools == "declared"):
            declared = self.tools
        elif declared is None and inputs.tools == "empty":
            declared = []
        try:
            return str(
                template.render(
                    prepared(messages, inputs),
                    tools=declared,
                    add_generation_prompt=prompt,
                    template_kwargs=inputs.variables | inputs.settings,
                    now=_NOW,
                )
            )
        except SyntagmaError as error:
            return error

    def steps(self, messages: Sequence[dict[str, Any]]) -> int | None:
        """The steps of a render: the smallest limit under which it succeeds; None if it never does."""
        limits = self.template.limits
        if not isinstance(self.render(messages), str):
            return None
        low, high = 1, limits.template_steps
        while low < high:
            middle = (low + high) // 2
            tried = msgspec.structs.replace(limits, template_steps=middle, template_steps_per_character=0)
            if isinstance(self.render(messages, limits=tried), LimitError):
                low = middle + 1
            else:
                high = middle
        return low

    def with_source(self, source: str) -> Subject:
        """The same subject with another source, which is analysed only if this one was not."""
        old = self.template
        changed = ChatTemplate(source, old.bos_token, old.eos_token, old.special_tokens, old.limits, name=old.name)
        subject = Subject(changed, self.control)
        if "analysis" in self.__dict__:
            subject.__dict__["analysis"] = self.analysis
        return subject

    @cached_property
    def shows_calls(self) -> bool:
        """Whether the template writes calls at all; if not, no rule about calls applies."""
        return self.analysis.capabilities.tool_calls
