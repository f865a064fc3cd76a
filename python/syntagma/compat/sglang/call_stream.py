"""Turns a parser's events into items of calls, with the state that a serving layer reads from a detector."""

from __future__ import annotations

import contextlib
import functools
import logging
from collections.abc import Iterable, Sequence
from io import SEEK_END, StringIO
from typing import Any

from syntagma.compat.sglang.core_types import StreamingParseResult, ToolCallItem
from syntagma.compat.sglang.environ import UnknownTool
from syntagma.compat.sglang.protocol import as_tools
from syntagma.errors import ArgumentError
from syntagma.events import ContentDelta, Event, ToolCallDelta, ToolCallEnd, ToolCallStart
from syntagma.formats import ChatFormat
from syntagma.messages import ToolCall
from syntagma.parsing import Policies

__all__ = ["CallLog", "CallStream", "joined", "partial_end"]

_log = logging.getLogger(__name__)


class CallLog:
    """The calls of one stream so far. Fragments are joined only when they are read.

    Attributes:
        current: the index of the call being streamed, or of the next one; -1 before the first.
        name_sent: whether a call is being streamed.
    """

    def __init__(self) -> None:
        self.current = -1
        self.name_sent = False
        self._calls: list[dict[str, Any]] = []
        self._arguments: list[str] = []
        self._fragments: list[str] = []
        self._unread: list[tuple[dict[str, Any], str]] = []

    def start(self, name: str) -> None:
        """Begin a call."""
        self._join()
        self.current = max(self.current, 0)
        self.name_sent = True
        self._calls += [{} for _ in range(self.current + 1 - len(self._calls))]
        self._arguments += [""] * (self.current + 1 - len(self._arguments))
        self._calls[self.current] = {"name": name, "arguments": {}}
        self._arguments[self.current] = ""

    def add(self, fragment: str) -> None:
        """Add a fragment of its arguments."""
        self._fragments.append(fragment)

    def end(self, *, complete: bool) -> None:
        """End the call; arguments of one that is not complete are never read, even if they are JSON."""
        self._join()
        if complete:
            self._unread.append((self._calls[self.current], self._arguments[self.current]))
        self.current += 1
        self.name_sent = False

    @property
    def arguments(self) -> list[str]:
        """The arguments passed on so far for each call, as JSON text."""
        self._join()
        return self._arguments

    @arguments.setter
    def arguments(self, arguments: list[str]) -> None:
        self._join()
        self._arguments = arguments

    @property
    def calls(self) -> list[dict[str, Any]]:
        """`{"name", "arguments"}` of each call; the arguments are empty until they are complete."""
        unread, self._unread = self._unread, []
        for call, arguments in unread:
            with contextlib.suppress(ArgumentError):
                call["arguments"] = ToolCall(id="", name="", arguments=arguments).parsed_arguments()
        return self._calls

    @calls.setter
    def calls(self, calls: list[dict[str, Any]]) -> None:
        self._calls = calls

    def _join(self) -> None:
        if self._fragments:
            self._arguments[self.current] += "".join(self._fragments)
            self._fragments = []


class CallStream:
    """Reads one text for calls; reasoning stays in the rest, with its tags.

    Args:
        fmt: how calls are written.
        tools: the request's tools; None: calls are read untyped, of any name; empty: nothing is read as a call.
        unknown: what happens to calls of other tools.
        log: where the calls are recorded.
        closer: the text that ends a group of calls; None: `pending` is not kept.
    """

    def __init__(
        self,
        fmt: ChatFormat,
        tools: Sequence[Any] | None,
        unknown: UnknownTool,
        log: CallLog,
        closer: str | None = None,
    ) -> None:
        declared = as_tools(tools)
        policies = Policies(unknown_tool="content" if unknown == "content" else "pass")
        self._new_parser = functools.partial(
            fmt.parser, declared, reasoning_format="none", keep_raw=False, policies=policies
        )
        self._names = frozenset(tool.name for tool in declared) if declared and unknown == "drop" else None
        self._dropped = False
        self._openers, self._closer = fmt.triggers, closer
        self._log = log
        self.restart()

    def restart(self) -> None:
        """Read what follows as a new text, but continue counting the calls."""
        self._parser = self._new_parser()
        self._fed = self._ended = 0
        self._pending = StringIO()
        if self._log.name_sent:
            self._log.end(complete=False)

    @property
    def pending(self) -> str:
        """Text that was read and is not settled: that of a call being streamed, or what may become one."""
        return self._pending.getvalue()

    def feed(self, text: str | bytes) -> StreamingParseResult:
        """Read more of the text."""
        if self._closer is None or not isinstance(text, str):
            return self._result(self._parser.feed(text))
        found = StreamingParseResult()
        for character in text:
            # One by one, to know after which of them nothing is open.
            was = self._parser.state
            events = self._parser.feed(character)
            self._fed += 1
            self._pending.write(character)
            self._ended = max(
                (event.span[1] for event in events if isinstance(event, ToolCallEnd)), default=self._ended
            )
            settled = max((event.span[1] for event in events if isinstance(event, ContentDelta)), default=0)
            if was == "call" and self._parser.state != "call":
                settled = max(settled, self._behind_calls())
            if settled:
                held = self._pending.getvalue()
                self._pending = StringIO(held[len(held) - (self._fed - settled) :])
                self._pending.seek(0, SEEK_END)
            joined(found, self._result(events))
        return found

    def _behind_calls(self) -> int:
        """The position after a group of calls: of the next opener, or of other text; 0 inside a group."""
        behind = self.pending[self._ended - self._fed :] if self._ended < self._fed else ""
        found = [at for at in (behind.find(opener) for opener in self._openers) if at >= 0]
        if found:
            return self._ended + min(found)
        closer = self._closer or ""
        if closer not in behind:
            return 0
        return self._fed - len(behind[behind.index(closer) + len(closer) :].lstrip())

    def finish(self) -> StreamingParseResult:
        """End the text and return what was held back."""
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
                    _log.warning("a call of the undeclared tool %r is dropped", event.name)
                    continue
                self._log.start(event.name)
                calls.append(ToolCallItem(self._log.current, event.name))
            elif self._dropped:
                continue
            elif isinstance(event, ToolCallDelta):
                self._log.add(event.arguments)
                calls.append(ToolCallItem(self._log.current, None, event.arguments))
            elif isinstance(event, ToolCallEnd):
                self._log.end(complete=event.complete)
        return StreamingParseResult("".join(texts), calls)


def joined(found: StreamingParseResult, more: StreamingParseResult) -> None:
    """Append a later result to an earlier one."""
    found.normal_text += more.normal_text
    found.calls += more.calls


def partial_end(text: str, token: str) -> int:
    """How many characters at the end of `text` may begin `token`; a complete token does not count."""
    sizes = range(min(len(text), len(token) - 1), 0, -1)
    return next((size for size in sizes if token.startswith(text[-size:])), 0)
