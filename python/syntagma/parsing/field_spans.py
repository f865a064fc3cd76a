"""Where the fields of a message stand in the raw text that it was read from."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from itertools import pairwise

import msgspec

from syntagma.events import ContentDelta, Event, ReasoningDelta, ToolCallDelta, ToolCallEnd, ToolCallStart
from syntagma.json_pointer import pointer_of
from syntagma.parsing.json_places import JsonPlaces, Run

__all__ = ["FieldSpan", "field_spans"]

_CONTENT, _REASONING = pointer_of("content"), pointer_of("reasoning_content")
_WORD = re.compile(r"[\w-]")
_OTHER_WORDS = {"true": "True", "false": "False", "null": "None"}
"""words of JSON as most other notations spell them"""


class FieldSpan(msgspec.Struct, frozen=True):
    """Text of one field.

    Attributes:
        start: its first code point in the raw text.
        end: the code point after its last.
        pointer: JSON pointer of the field in the message. Empty: the message as a whole.
        is_value: whether it is the text of a value; if not, it is syntax of an object, an array, a call or the message.
    """

    start: int
    end: int
    pointer: str
    is_value: bool


def field_spans(raw: str, events: Iterable[Event], *, json_content: bool = False) -> list[FieldSpan]:
    """The spans of a message's fields in its raw text, which they cover without gaps.

    `/content` and `/reasoning_content` are their texts without markers. A call has `/tool_calls/0/name`, and each of
    its arguments a pointer of its own: `/tool_calls/0/arguments/city`, or `/tool_calls/0/arguments/points/0/x` for a
    nested value. Text between values (brackets, commas, keys, the tags around arguments) belongs to the object, array
    or call that it stands in; markers belong to the message, whose pointer is empty. Quotes belong to the string, and
    the closer of a raw value to the value.

    Args:
        raw: the text that was fed, as in `StreamParser.raw`.
        events: the parser's events in order, all or the first ones.
        json_content: whether the content is JSON, so that its values have pointers: `/content/city`.

    Returns:
        the spans in order, half-open, in code points of `raw`. Text of which no event has come yet counts as markers.
    """
    reader = _Reader(raw, json_content=json_content)
    for event in events:
        reader.read(event)
    return reader.spans()


class _Reader:
    """Labels each character; later labels override earlier ones."""

    def __init__(self, raw: str, *, json_content: bool) -> None:
        self._raw = raw
        self._labels: list[tuple[str, bool]] = [("", False)] * len(raw)
        self._content = JsonPlaces(_CONTENT) if json_content else None
        self._arguments = JsonPlaces()
        self._call = ""
        self._call_start = 0
        self._done = 0
        """the end of the text whose events were read"""

    def read(self, event: Event) -> None:
        """Label the text of one event."""
        start, end = event.span
        match event:
            case ContentDelta(text=text):
                places = self._content
                self._label(start, [Run(len(text), _CONTENT, True)] if places is None else places.feed(text))
            case ReasoningDelta(text=text):
                self._label(start, [Run(len(text), _REASONING, True)])
            case ToolCallStart(index=index, name=name):
                self._call = pointer_of("tool_calls", index)
                self._arguments = JsonPlaces(self._call + "/arguments")
                self._call_start = min(start, end)
                self._fill(self._call_start, end, (self._call, False))
                at = _find_name(self._raw, name, self._done, end)
                if at is not None:
                    self._fill(at, at + len(name), (self._call + "/name", True))
            case ToolCallDelta(arguments=text):
                self._argument_text(text, start, end)
            case ToolCallEnd():
                self._fill(self._done, end, (self._call, False))
        self._done = max(self._done, end)

    def spans(self) -> list[FieldSpan]:
        """The spans: neighbours with the same label in one."""
        labels = self._labels
        cuts = [0, *(at for at in range(1, len(labels)) if labels[at] != labels[at - 1]), len(labels)]
        return [FieldSpan(start, end, *labels[start]) for start, end in pairwise(cuts) if start < end]

    def _argument_text(self, text: str, start: int, end: int) -> None:
        runs = self._arguments.feed(text)
        if self._raw[start:end] == text:
            self._label(start, runs)
            return
        # Text that was held back has no event of its own: it belongs to the next one.
        start = min(start, self._done)
        whole = self._raw.find(text, self._call_start, end)
        values = {run.pointer for run in runs if run.is_value}
        outermost = min((run.pointer for run in runs), key=len, default=self._call)
        self._fill(start, end, (outermost, False))
        if whole >= 0 and len(runs) > 1:
            self._label(whole, runs)
        elif len(values) == 1:
            self._fill(start, end, (values.pop(), True))
        else:
            self._look_for(text, runs, start if start < end else self._call_start, end)

    def _look_for(self, text: str, runs: list[Run], start: int, end: int) -> None:
        """Find the values of one fragment, one after the other, in text that does not spell them as JSON."""
        at = 0
        for run in runs:
            piece = text[at : at + run.size]
            at += run.size
            if not run.is_value:
                continue
            for spelling in (piece, _without_escapes(piece), _OTHER_WORDS.get(piece, "")):
                found = self._raw.find(spelling, start, end) if spelling else -1
                if found >= 0:
                    self._fill(found, found + len(spelling), (run.pointer, True))
                    start = found + len(spelling)
                    break

    def _label(self, start: int, runs: list[Run]) -> None:
        for size, pointer, is_value in runs:
            self._fill(start, start + size, (pointer, is_value))
            start += size

    def _fill(self, start: int, end: int, label: tuple[str, bool]) -> None:
        start, end = max(0, start), min(end, len(self._labels))
        if start < end:
            self._labels[start:end] = [label] * (end - start)


def _find_name(raw: str, name: str, start: int, end: int) -> int | None:
    """The index of a call's name: the first place where it is a separate word and no key; else any separate word."""
    found = None
    at = raw.find(name, start, end)
    while at >= 0:
        after = at + len(name)
        is_word = not (_WORD.match(raw, after) or (at > start and _WORD.match(raw, at - 1)))
        if is_word and raw[after : after + 2].lstrip('"')[:1] not in (":", "="):
            return at
        found = at if found is None and is_word else found
        at = raw.find(name, at + 1, end)
    return found


def _without_escapes(piece: str) -> str:
    """A JSON string, or a part of one, with its escapes decoded."""
    inner = piece.removeprefix('"')
    inner = inner.removesuffix('"') if not inner.endswith('\\"') else inner
    try:
        return str(json.loads(f'"{inner}"', strict=False))
    except ValueError:
        return inner
