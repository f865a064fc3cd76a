"""Events of a parser → pieces of calls, with what a serving layer asks of a detector while they stream."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from typing import Any

from syntagma.compat.sglang.core_types import StreamingParseResult, ToolCallItem
from syntagma.compat.sglang.environ import UnknownTool
from syntagma.compat.sglang.protocol import as_tools
from syntagma.errors import ArgumentError
from syntagma.events import ContentDelta, Event, ToolCallDelta, ToolCallEnd, ToolCallStart
from syntagma.formats import ChatFormat
from syntagma.messages import ToolCall
from syntagma.parsing import Policies

__all__ = ["CallLog", "CallStream"]

_log = logging.getLogger(__name__)


class CallLog:
    """The calls of one stream so far. Fragments are joined when somebody asks for them.

    Attributes:
        current: ordinal of the call that streams, or that comes next; -1 before the first.
        name_sent: whether a call streams.
    """

    def __init__(self) -> None:
        self.current = -1
        self.name_sent = False
        self._calls: list[dict[str, Any]] = []
        self._arguments: list[str] = []
        self._fragments: list[str] = []
        self._read = 0

    def start(self, name: str) -> None:
        """A call begins."""
        self._join()
        self.current = len(self._calls)
        self.name_sent = True
        self._calls.append({"name": name, "arguments": {}})
        self._arguments.append("")

    def add(self, fragment: str) -> None:
        """More of its arguments."""
        self._fragments.append(fragment)

    def end(self) -> None:
        """It is over."""
        self.current += 1
        self.name_sent = False

    @property
    def arguments(self) -> list[str]:
        """What was passed on of the arguments of each call, as JSON text."""
        self._join()
        return self._arguments

    @property
    def calls(self) -> list[dict[str, Any]]:
        """`{"name", "arguments"}` of each call; the arguments are empty until they are whole."""
        self._join()
        ended = len(self._calls) - self.name_sent
        for at in range(self._read, ended):
            name = self._calls[at]["name"]
            try:
                whole = ToolCall(id="", name=name, arguments=self._arguments[at]).parsed_arguments()
            except ArgumentError:
                continue
            self._calls[at]["arguments"] = whole
        self._read = max(self._read, ended)
        return self._calls

    def _join(self) -> None:
        if self._fragments:
            self._arguments[-1] += "".join(self._fragments)
            self._fragments = []


class CallStream:
    """One text that is read for calls; reasoning stays in the rest, with its tags.

    Args:
        fmt: how calls are written.
        tools: the request's tools; None: calls are read untyped, of any name; empty: nothing is read as a call.
        unknown: what becomes of calls of other tools.

    Attributes:
        log: the calls so far.
    """

    def __init__(self, fmt: ChatFormat, tools: Sequence[Any] | None, unknown: UnknownTool) -> None:
        declared = as_tools(tools)
        policies = Policies(unknown_tool="content" if unknown == "content" else "pass")
        self._parser = fmt.parser(declared, reasoning_format="none", keep_raw=False, policies=policies)
        self._names = frozenset(tool.name for tool in declared) if declared and unknown == "drop" else None
        self._dropped = False
        self.log = CallLog()

    def feed(self, text: str | bytes) -> StreamingParseResult:
        """More of the text."""
        return self._result(self._parser.feed(text))

    def finish(self) -> StreamingParseResult:
        """The text is over: what was held back."""
        return self._result(self._parser.finish())

    def _result(self, events: Iterable[Event]) -> StreamingParseResult:
        texts: list[str] = []
        calls: list[ToolCallItem] = []
        for event in events:
            if isinstance(event, ContentDelta):
                texts.append(event.text)
            elif isinstance(event, ToolCallStart):
                self._dropped = self._names is not None and event.name not in self._names
                if self._dropped:
                    _log.warning("a call of the tool %r, which was not declared, is left out", event.name)
                    continue
                self.log.start(event.name)
                calls.append(ToolCallItem(self.log.current, event.name))
            elif self._dropped:
                continue
            elif isinstance(event, ToolCallDelta):
                self.log.add(event.arguments)
                calls.append(ToolCallItem(self.log.current, None, event.arguments))
            elif isinstance(event, ToolCallEnd):
                self.log.end()
        return StreamingParseResult("".join(texts), calls)
