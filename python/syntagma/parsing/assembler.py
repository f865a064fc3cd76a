"""Events → the message so far."""

from __future__ import annotations

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
from syntagma.parsing.policies import Policies

__all__ = ["Assembler"]


class _Call:
    """A call that is being put together."""

    __slots__ = ("arguments", "complete", "end", "ended", "id", "name", "start")

    def __init__(self, event: ToolCallStart) -> None:
        self.id = event.id
        self.name = event.name
        self.arguments: list[str] = []
        self.start, self.end = event.span
        self.complete = False
        self.ended = False


class Assembler:
    """Collects the events of one message.

    Attributes:
        incomplete: the text ended inside reasoning or a call, or was cut by a length limit.
    """

    def __init__(self, policies: Policies) -> None:
        self._policies = policies
        self._content: list[str] = []
        self._reasoning: list[str] = []
        self._calls: list[_Call] = []
        self._diagnostics: list[Diagnostic] = []
        self.incomplete = False

    @property
    def complete_calls(self) -> int:
        """How many calls are complete."""
        return sum(call.complete for call in self._calls)

    def add(self, event: Event) -> None:
        """Take one event in."""
        match event:
            case ContentDelta():
                self._content.append(event.text)
            case ReasoningDelta():
                self._reasoning.append(event.text)
            case ToolCallStart():
                self._calls.append(_Call(event))
            case ToolCallDelta():
                call = self._calls[event.index]
                call.arguments.append(event.arguments)
                call.end = event.span[1]
            case ToolCallEnd():
                call = self._calls[event.index]
                call.complete, call.ended, call.end = event.complete, True, event.span[1]
                call.id = event.id or call.id
            case Malformed():
                self._diagnostics.append(Diagnostic(event.code, event.message, event.span))
            case MessageEnd():
                self.incomplete = self.incomplete or event.finish_reason == "length"

    def message(self) -> Message:
        """The message as far as it was read."""
        kept = [call for call in self._calls if call.complete or not call.ended or self._policies.truncated == "emit"]
        return Message(
            content="".join(self._content) if self._content else None,
            reasoning_content="".join(self._reasoning) if self._reasoning else None,
            tool_calls=tuple(
                ToolCall(
                    id=call.id,
                    name=call.name,
                    arguments="".join(call.arguments),
                    complete=call.complete,
                    span=(call.start, call.end),
                )
                for call in kept
            ),
            incomplete=self.incomplete or any(not call.complete for call in self._calls),
            diagnostics=tuple(self._diagnostics),
        )
