"""Calls of tools that a request does not declare, where they are not passed on."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Literal, TypeAlias

import msgspec

from syntagma.errors import RequestError
from syntagma.events import Event, ToolCallDelta, ToolCallEnd, ToolCallStart
from syntagma.messages import Message

__all__ = ["UnknownCalls", "UnknownTools"]

UnknownTools: TypeAlias = Literal["pass", "content", "drop", "refuse"]
"""What is done about such a call: it is passed on, its text is content, it is left out, or the answer fails."""


class UnknownCalls:
    """Leaves out such calls from the events of one answer, or refuses them.

    Args:
        rule: `drop` or `refuse`; for all others nothing is changed.
        declared: the names of the declared tools; None: all are known.
    """

    def __init__(self, rule: UnknownTools, declared: Collection[str] | None) -> None:
        self._rule = rule
        self._declared = None if rule in ("pass", "content") else declared
        self._dropped: set[int] = set()

    def kept(self, events: Sequence[Event]) -> Sequence[Event]:
        """The events of known calls, in the order of the message, and all others.

        Raises:
            RequestError: `E-REQUEST-ANSWER`, 502: the model called such a tool, and the rule is `refuse`.
        """
        return events if self._declared is None else list(self._kept(events, self._declared))

    def _kept(self, events: Iterable[Event], declared: Collection[str]) -> Iterable[Event]:
        for event in events:
            if not isinstance(event, ToolCallStart | ToolCallDelta | ToolCallEnd):
                yield event
                continue
            if isinstance(event, ToolCallStart) and event.name not in declared:
                if self._rule == "refuse":
                    message = f"the model called {event.name!r}, which is no tool of the request"
                    hint = "the server runs with --unknown-tools refuse"
                    raise RequestError("E-REQUEST-ANSWER", message, hint=hint, status=502)
                self._dropped.add(event.index)
            if event.index not in self._dropped:
                before = sum(index < event.index for index in self._dropped)
                yield msgspec.structs.replace(event, index=event.index - before) if before else event

    def message(self, message: Message) -> Message:
        """The message without such calls."""
        if not self._dropped:
            return message
        calls = tuple(call for index, call in enumerate(message.tool_calls) if index not in self._dropped)
        return msgspec.structs.replace(message, tool_calls=calls)
