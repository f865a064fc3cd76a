"""The state of one turn that the two parsers share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Unpack

from syntagma.events import Event, ReasoningDelta
from syntagma.formats import ChatFormat
from syntagma.messages import Message
from syntagma.parsing import StreamParser
from syntagma.request import SharedOptions

__all__ = ["SharedTurn"]


class SharedTurn:
    """The state of one turn, shared by the reasoning parser and the tool parser.

    vLLM calls the reasoning parser until reasoning has ended, and then the tool parser, which alone gets the request.
    The reasoning parser reads the text to find that end. The tool parser reads the turn from its first character, and
    skips the reasoning that was already returned.

    Attributes:
        fmt: the format.
        template_kwargs: the variables with which the prompt was rendered.
        prompt: the rendered prompt, once it is known.
        read: the output that the reasoning parser has read.
        handed_out: number of characters of reasoning that it has returned.
        paired: whether both parsers exist.
        message: the message, once the whole output was read.
    """

    def __init__(self, fmt: ChatFormat, template_kwargs: Mapping[str, Any] | None) -> None:
        self.fmt = fmt
        self.template_kwargs = template_kwargs
        self.prompt: str | None = None
        self.read = ""
        self.handed_out = 0
        self.paired = False
        self.message: Message | None = None

    def parser(self, tools: Sequence[Any] | None, **asked: Unpack[SharedOptions]) -> StreamParser:
        """A new parser of the turn."""
        asked.setdefault("template_kwargs", self.template_kwargs)
        return self.fmt.parser(tools, prompt=self.prompt, **asked)

    def reasoning_is_over(self, text: str) -> bool:
        """Whether no reasoning can follow directly after a prompt, or a prompt and output."""
        state = self.fmt.start_state(text, template_kwargs=self.template_kwargs)
        return self.fmt.spec.reasoning is None or state.reasoning == "done" or state.content_open

    def without_handed_out(self, events: Sequence[Event]) -> list[Event]:
        """The events without the reasoning that was already returned."""
        kept: list[Event] = []
        for event in events:
            if isinstance(event, ReasoningDelta) and self.handed_out:
                passed, self.handed_out = event.text[: self.handed_out], max(0, self.handed_out - len(event.text))
                if len(passed) == len(event.text):
                    continue
                kept.append(ReasoningDelta(event.text[len(passed) :], event.span))
            else:
                kept.append(event)
        return kept
