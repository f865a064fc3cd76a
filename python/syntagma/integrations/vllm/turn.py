"""One turn, as the two parsers of vLLM share it."""

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
    """What both parsers know of one turn.

    vLLM asks a reasoning parser until reasoning is over, and then a tool parser, which alone is given the request. The
    first reads to learn when that is; the second reads the turn from its first character, and passes over the reasoning
    that was handed out already.

    Attributes:
        fmt: the format.
        template_kwargs: what the prompt was rendered with.
        prompt: the rendered prompt, once it is known.
        read: the output that the reasoning parser has read.
        handed_out: how many characters of reasoning it handed out.
        paired: whether there are both parsers.
        message: the message, once it was read whole.
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
        """A parser of the turn."""
        asked.setdefault("template_kwargs", self.template_kwargs)
        return self.fmt.parser(tools, prompt=self.prompt, **asked)

    def reasoning_is_over(self, text: str) -> bool:
        """Whether after a prompt, or a prompt and output, no more reasoning is to be expected first."""
        state = self.fmt.start_state(text, template_kwargs=self.template_kwargs)
        return self.fmt.spec.reasoning is None or state.reasoning == "done" or state.content_open

    def without_handed_out(self, events: Sequence[Event]) -> list[Event]:
        """The events without the reasoning that was handed out already."""
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
