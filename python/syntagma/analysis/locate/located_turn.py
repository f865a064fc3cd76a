"""The positions of reasoning, content and calls in a rendered turn.

The extent of a value is found by decoding it, not by looking for its quotes.
"""

from __future__ import annotations

import json
from typing import Any, Literal, TypeAlias

import msgspec

from syntagma.analysis.locate.json_spans import JsonSpan, read_json, values_around
from syntagma.analysis.render.conversation import SampleCall, SampleTurn
from syntagma.analysis.render.turn_renderer import Context, RenderedTurn

__all__ = ["Element", "LocatedCall", "LocatedTurn", "Slot", "is_arguments", "locate_turn"]

SlotKind: TypeAlias = Literal["name", "id", "arguments", "key", "value"]


class Slot(msgspec.Struct, frozen=True):
    """A place that a call fills: half-open range of code points in the text of its turn."""

    kind: SlotKind
    start: int
    end: int
    encoded: bool = False
    """whether it holds arguments written as JSON inside a string"""


class LocatedCall(msgspec.Struct, frozen=True):
    """A call in a turn: a JSON value that holds name and arguments (`json`), or a sequence of slots."""

    start: int
    end: int
    call: SampleCall
    json: JsonSpan | None = None
    in_array: bool = False
    """whether the JSON value is an element of an array of calls"""
    slots: tuple[Slot, ...] = ()

    @property
    def tagged(self) -> bool:
        """Whether the arguments are separate."""
        return any(slot.kind == "key" for slot in self.slots)


class Element(msgspec.Struct, frozen=True):
    """Reasoning (`R`), content (`C`) or a call (`T`) in a turn."""

    kind: Literal["R", "C", "T"]
    start: int
    end: int
    call: LocatedCall | None = None


class LocatedTurn(msgspec.Struct, frozen=True):
    """A rendered turn and the elements found in it, in the order of the text."""

    turn: SampleTurn
    context: Context
    text: str
    elements: tuple[Element, ...]

    @property
    def shape(self) -> str:
        """The kinds of its elements: letters of `RCT`."""
        return "".join(kind for kind in "RCT" if any(element.kind == kind for element in self.elements))

    @property
    def calls(self) -> tuple[LocatedCall, ...]:
        """The calls that were found."""
        return tuple(element.call for element in self.elements if element.call is not None)

    @property
    def head(self) -> str:
        """The text before the first element."""
        return self.text[: self.elements[0].start] if self.elements else self.text

    @property
    def tail(self) -> str:
        """The text after the last element."""
        return self.text[self.elements[-1].end :] if self.elements else ""

    def before(self, kind: str) -> str:
        """The text between the first element of that kind and the element before it, or the beginning."""
        at = self._first(kind)
        return self.text[self.elements[at - 1].end if at else 0 : self.elements[at].start]

    def after(self, kind: str) -> str:
        """The text between the first element of that kind and the next element, or the end."""
        at = self._first(kind)
        end = self.elements[at + 1].start if at + 1 < len(self.elements) else len(self.text)
        return self.text[self.elements[at].end : end]

    def next_kind(self, kind: str) -> str:
        """The kind of the element that follows the first one of that kind; empty at the end."""
        at = self._first(kind)
        return self.elements[at + 1].kind if at + 1 < len(self.elements) else ""

    def _first(self, kind: str) -> int:
        return next(i for i, element in enumerate(self.elements) if element.kind == kind)


def locate_turn(rendered: RenderedTurn) -> LocatedTurn:
    """Find the elements of a rendered turn; those that do not appear are left out."""
    turn, text = rendered.turn, rendered.text
    found: list[Element] = []
    for kind, part in (("R", turn.reasoning), ("C", turn.content)):
        at = text.find(part) if part else -1
        if part and at >= 0:
            found.append(Element(kind, at, at + len(part)))  # type: ignore[arg-type]  # one of the two letters
    ends = [element.end for element in found]
    found += [Element("T", call.start, call.end, call) for call in _locate_calls(text, turn.calls, ends)]
    elements = tuple(sorted(found, key=lambda element: element.start))
    return LocatedTurn(turn, rendered.context, text, elements)


def _locate_calls(text: str, calls: tuple[SampleCall, ...], ends: list[int]) -> list[LocatedCall]:
    """The calls in order, up to the first that is not found; `ends`: the ends of other elements."""
    found: list[LocatedCall] = []
    at = 0
    for index, call in enumerate(calls):
        name_at = text.find(call.name, at)
        if name_at < 0:
            break
        if found and found[-1].start <= name_at < found[-1].end:
            break
        at = max([at, *(end for end in ends if end <= name_at)])
        next_names = [text.find(other.name, name_at + len(call.name)) for other in calls[index + 1 : index + 2]]
        stop = next_names[0] if next_names and next_names[0] >= 0 else len(text)
        located = _in_json(text, calls[index:], at, name_at) or _in_slots(text, call, at, name_at, stop)
        if not located:
            break
        found += located
        at = found[-1].end
        if len(found) >= len(calls):
            break
        if len(located) > 1:
            found += _locate_calls(text, calls[len(found) :], [at])
            break
    return found


def _in_json(text: str, calls: tuple[SampleCall, ...], at: int, name_at: int) -> list[LocatedCall]:
    """The calls inside the outermost JSON value that holds the first one's name; empty if there is no such value."""
    call = calls[0]
    for span in values_around(text, at, name_at):
        if span.end <= name_at or not span.holds(call.name):
            continue
        if span.members and len(calls) > 1 and span.holds(calls[1].name):
            # An object around all calls: they are the items of the inner array that contains the first one.
            inner = next((one for one in span.walk() if any(_holds_call(item, call) for item in one.items)), None)
            if inner is None:
                return []
            span = inner  # noqa: PLW2901 - go on with the inner array
        if not span.items:
            return [LocatedCall(span.start, span.end, call, span)] if _holds_call(span, call) else []
        found: list[LocatedCall] = []
        waiting = list(calls)
        for item in span.items:
            if waiting and item.members and _holds_call(item, waiting[0]):
                found += [LocatedCall(item.start, item.end, waiting.pop(0), item, in_array=True)]
        return found
    return []


def _holds_call(span: JsonSpan, call: SampleCall) -> bool:
    return span.holds(call.name) and any(is_arguments(inner, call) for inner in span.walk())


def is_arguments(span: JsonSpan, call: SampleCall) -> bool:
    """Whether a JSON value is the call's arguments, or a string that decodes to them."""
    if isinstance(span.value, str) and span.value[:1] in ("{", "["):
        try:
            return bool(json.loads(span.value) == call.arguments)
        except (ValueError, RecursionError):
            return False
    return bool(span.value == call.arguments) and isinstance(span.value, dict)


def _in_slots(text: str, call: SampleCall, at: int, name_at: int, stop: int) -> list[LocatedCall]:
    """The call as its name, id and arguments, in the order of the text; empty if the arguments are not found."""
    slots = [Slot("name", name_at, name_at + len(call.name))]
    id_at = text.find(call.id, at, stop) if call.id and call.id != call.name else -1
    if id_at >= 0 and not id_at <= name_at < id_at + len(call.id):
        slots.append(Slot("id", id_at, id_at + len(call.id)))
    arguments = _arguments_slot(text, call, at, stop) or _arguments_slot(text, call, at, len(text))
    if arguments is not None:
        slots.append(arguments)
    else:
        tagged = _tagged_slots(text, call.arguments, name_at + len(call.name), stop)
        if not tagged:
            return []
        slots += tagged
    slots.sort(key=lambda slot: slot.start)
    return [LocatedCall(slots[0].start, slots[-1].end, call, slots=tuple(slots))]


def _arguments_slot(text: str, call: SampleCall, at: int, stop: int) -> Slot | None:
    """The arguments as one JSON object, or as a string that decodes to one, beginning in `text[at:stop]`."""
    for start in range(at, stop):
        if text[start] == "{":
            span = read_json(text, start)
            if span is not None and span.value == call.arguments:
                return Slot("arguments", span.start, span.end)
        elif text[start] == '"' and text.startswith('{\\"', start + 1):
            try:
                value, end = json.JSONDecoder().raw_decode(text, start)
                if isinstance(value, str) and json.loads(value) == call.arguments:
                    return Slot("arguments", start, end, encoded=True)
            except (ValueError, RecursionError):
                continue
    return None


def _tagged_slots(text: str, arguments: dict[str, Any], at: int, stop: int) -> list[Slot]:
    """The keys and values of the arguments in order; empty if one is missing."""
    slots: list[Slot] = []
    for key, value in arguments.items():
        key_at = text.find(key, at, stop)
        written = str(value)
        value_at = text.find(written, key_at + len(key), stop) if key_at >= 0 else -1
        if key_at < 0 or value_at < 0:
            return []
        at = value_at + len(written)
        slots += [Slot("key", key_at, key_at + len(key)), Slot("value", value_at, at)]
    return slots
