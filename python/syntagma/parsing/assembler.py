"""Events → the message so far."""

from __future__ import annotations

from functools import partial

from syntagma.events import (
    ContentDelta,
    Event,
    Malformed,
    MessageEnd,
    ReasoningDelta,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
)
from syntagma.messages import Diagnostic, Message, ToolCall
from syntagma.parsing.fast_path import DeltaKind, DeltaSink
from syntagma.parsing.partial_value import ValueReader
from syntagma.parsing.policies import Policies
from syntagma.parsing.text.text_buffer import TextBuffer

__all__ = ["Assembler"]


class _Call:
    """A call that is being put together."""

    __slots__ = ("arguments", "complete", "end", "ended", "id", "name", "start")

    def __init__(self, event: ToolCallStart) -> None:
        self.id = event.id
        self.name = event.name
        self.arguments = TextBuffer()
        self.start, self.end = event.span
        self.complete = False
        self.ended = False


class _Watched(TextBuffer):
    """A buffer that goes on with another, and that a reader reads along with."""

    __slots__ = ("reader",)

    def __init__(self, text: TextBuffer) -> None:
        super().__init__()
        self.reader = ValueReader()
        self.write(text.value())

    def write(self, text: str) -> None:
        """See `TextBuffer`."""
        super().write(text)
        self.reader.write(text)


class Assembler:
    """Collects the events of one message, in buffers: a list of small pieces would need many times their memory.

    Attributes:
        incomplete: whether the text ended inside reasoning or a call, or was cut by a length limit.
    """

    def __init__(self, policies: Policies) -> None:
        self._policies = policies
        self._content: TextBuffer | None = None
        self._reasoning: TextBuffer | None = None
        self._calls: list[_Call] = []
        self._diagnostics: list[Diagnostic] = []
        self.incomplete = False

    def name_of(self, index: int) -> str:
        """The name of a call."""
        return self._calls[index].name

    def watch(self, index: int | None) -> ValueReader | None:
        """The reader of the arguments of a call, or of the content (None), as it grows; None: there is none yet."""
        text = self._content if index is None else self._calls[index].arguments if index < len(self._calls) else None
        if text is None or isinstance(text, _Watched):
            return None if text is None else text.reader
        watched = _Watched(text)
        if index is None:
            self._content = watched
        else:
            self._calls[index].arguments = watched
        return watched.reader

    @property
    def complete_calls(self) -> int:
        """The number of complete calls."""
        return sum(call.complete for call in self._calls)

    def sink(self, kind: DeltaKind) -> DeltaSink | None:
        """The sink for more text of this kind, which needs no `add`; None: there was no such text yet."""
        if kind == "arguments":
            index = len(self._calls) - 1
            return DeltaSink(partial(ToolCallDelta, index), self._calls[index].arguments)
        buffer = self._content if kind == "content" else self._reasoning
        return None if buffer is None else DeltaSink(ContentDelta if kind == "content" else ReasoningDelta, buffer)

    def passed(self, kind: DeltaKind, end: int) -> None:
        """Note that text of this kind went to its sink, up to absolute position `end`."""
        if kind == "arguments":
            self._calls[-1].end = end

    def add(self, event: Event) -> None:
        """Add one event."""
        if isinstance(event, ToolCallDelta):
            call = self._calls[event.index]
            call.arguments.write(event.arguments)
            call.end = event.span[1]
        elif isinstance(event, ContentDelta):
            if self._content is None:
                self._content = TextBuffer()
            self._content.write(event.text)
        elif isinstance(event, ReasoningDelta):
            if self._reasoning is None:
                self._reasoning = TextBuffer()
            self._reasoning.write(event.text)
        elif isinstance(event, ToolCallStart):
            self._calls.append(_Call(event))
        elif isinstance(event, ToolCallEnd):
            call = self._calls[event.index]
            call.complete, call.ended, call.end = event.complete, True, event.span[1]
            call.id = event.id or call.id
        elif isinstance(event, Malformed):
            self._diagnostics.append(Diagnostic(event.code, event.message, event.span))
        elif isinstance(event, MessageEnd):
            self.incomplete = self.incomplete or event.finish_reason == "length"

    def message(self, *, open_end: int | None = None) -> Message:
        """The message as far as it was read.

        Args:
            open_end: absolute position up to which the arguments of the last call went to their sink; None: they did
                not.
        """
        kept = [call for call in self._calls if call.complete or not call.ended or self._policies.truncated == "emit"]
        return Message(
            content=None if self._content is None else self._content.value(),
            reasoning_content=None if self._reasoning is None else self._reasoning.value(),
            tool_calls=tuple(
                ToolCall(
                    id=call.id,
                    name=call.name,
                    arguments=call.arguments.value(),
                    complete=call.complete,
                    span=(call.start, call.end if open_end is None or call is not self._calls[-1] else open_end),
                )
                for call in kept
            ),
            incomplete=self.incomplete or any(not call.complete for call in self._calls),
            diagnostics=tuple(self._diagnostics),
        )
