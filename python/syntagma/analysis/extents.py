"""Where thoughts, content and calls stand in a view. A value's extent is found by decoding it, not by its quotes."""

from __future__ import annotations

import json
from typing import Any, Literal, TypeAlias

import msgspec

from syntagma.analysis.conversations import Call
from syntagma.analysis.json_spans import JsonSpan, read_json, values_around
from syntagma.analysis.scene import Context, View

__all__ = ["CallExtent", "Element", "Reading", "Slot", "read_view"]

SlotKind: TypeAlias = Literal["name", "id", "arguments", "key", "value"]


class Slot(msgspec.Struct, frozen=True):
    """A place that a call fills, in the text of its view."""

    kind: SlotKind
    start: int
    end: int
    encoded: bool = False
    """arguments written as JSON inside a string"""


class CallExtent(msgspec.Struct, frozen=True):
    """A call in a view: a JSON value that holds name and arguments (`json`), or a sequence of slots."""

    start: int
    end: int
    call: Call
    json: JsonSpan | None = None
    in_array: bool = False
    slots: tuple[Slot, ...] = ()

    @property
    def tagged(self) -> bool:
        """Whether the arguments are written one by one."""
        return any(slot.kind == "key" for slot in self.slots)


class Element(msgspec.Struct, frozen=True):
    """Thoughts (`R`), content (`C`) or a call (`T`) in a view."""

    kind: Literal["R", "C", "T"]
    start: int
    end: int
    call: CallExtent | None = None


class Reading(msgspec.Struct, frozen=True):
    """A view and what was found in it, in the order of the text."""

    view: View
    elements: tuple[Element, ...]

    @property
    def text(self) -> str:
        """The text of the view."""
        return self.view.text

    @property
    def context(self) -> Context:
        """Whether the turn was the last message."""
        return self.view.context

    @property
    def shape(self) -> str:
        """What is there: letters of `RCT`."""
        return "".join(kind for kind in "RCT" if any(element.kind == kind for element in self.elements))

    @property
    def complete(self) -> bool:
        """Whether everything that was put in was found."""
        return self.shape == self.view.turn.shape and len(self.calls) == len(self.view.turn.calls)

    @property
    def calls(self) -> tuple[CallExtent, ...]:
        """The calls that were found."""
        return tuple(element.call for element in self.elements if element.call is not None)

    @property
    def head(self) -> str:
        """The text before the first element."""
        return self.text[: self.elements[0].start] if self.elements else self.text

    @property
    def tail(self) -> str:
        """The text behind the last element."""
        return self.text[self.elements[-1].end :] if self.elements else ""

    def before(self, kind: str) -> str:
        """The text between the first element of that kind and the element before it, or the beginning."""
        at = next(i for i, element in enumerate(self.elements) if element.kind == kind)
        return self.text[self.elements[at - 1].end if at else 0 : self.elements[at].start]

    def behind(self, kind: str) -> str:
        """The text between the first element of that kind and the next element, or the end."""
        at = next(i for i, element in enumerate(self.elements) if element.kind == kind)
        end = self.elements[at + 1].start if at + 1 < len(self.elements) else len(self.text)
        return self.text[self.elements[at].end : end]

    def follower(self, kind: str) -> str:
        """The kind of the element behind the first one of that kind; empty at the end."""
        at = next(i for i, element in enumerate(self.elements) if element.kind == kind)
        return self.elements[at + 1].kind if at + 1 < len(self.elements) else ""


def read_view(view: View) -> Reading:
    """Find what was put into a view; what does not appear is left out."""
    turn = view.turn
    found: list[Element] = []
    for kind, text in (("R", turn.reasoning), ("C", turn.content)):
        at = view.text.find(text) if text else -1
        if text and at >= 0:
            found.append(Element(kind, at, at + len(text)))  # type: ignore[arg-type]  # one of the two letters
    edges = [element.end for element in found]
    found += [Element("T", extent.start, extent.end, extent) for extent in _locate(view.text, turn.calls, edges)]
    return Reading(view, tuple(sorted(found, key=lambda element: element.start)))


def _locate(text: str, calls: tuple[Call, ...], edges: list[int]) -> list[CallExtent]:
    found: list[CallExtent] = []
    at = 0
    for index, call in enumerate(calls):
        name_at = text.find(call.name, at)
        if name_at < 0:
            break
        if found and found[-1].start <= name_at < found[-1].end:
            break
        at = max([at, *(edge for edge in edges if edge <= name_at)])
        following = [text.find(other.name, name_at + len(call.name)) for other in calls[index + 1 : index + 2]]
        stop = following[0] if following and following[0] >= 0 else len(text)
        extents = _in_json(text, calls[index:], at, name_at) or _in_slots(text, call, at, name_at, stop)
        if not extents:
            break
        found += extents
        at = found[-1].end
        if len(found) >= len(calls):
            break
        if len(extents) > 1:
            found += _locate(text[: len(text)], calls[len(found) :], [at])
            break
    return found


def _in_json(text: str, calls: tuple[Call, ...], at: int, name_at: int) -> list[CallExtent]:
    """The calls inside the outermost JSON value that holds the first one's name; none if there is no such value."""
    call = calls[0]
    for span in values_around(text, at, name_at):
        if span.end <= name_at or not span.holds(call.name):
            continue
        if span.members and len(calls) > 1 and span.holds(calls[1].name):
            # An object around all calls: they are the items of the list in it that holds the first one.
            inner = next((one for one in span.walk() if any(_holds_call(item, call) for item in one.items)), None)
            if inner is None:
                return []
            span = inner  # noqa: PLW2901 - the narrower value takes its place
        if not span.items:
            return [CallExtent(span.start, span.end, call, span)] if _holds_call(span, call) else []
        found: list[CallExtent] = []
        waiting = list(calls)
        for item in span.items:
            if waiting and item.members and _holds_call(item, waiting[0]):
                found += [CallExtent(item.start, item.end, waiting.pop(0), item, in_array=True)]
        return found
    return []


def _holds_call(span: JsonSpan, call: Call) -> bool:
    return span.holds(call.name) and any(is_arguments(inner, call) for inner in span.walk())


def is_arguments(span: JsonSpan, call: Call) -> bool:
    """Whether a JSON value is the call's arguments, or a string that decodes to them."""
    if isinstance(span.value, str) and span.value[:1] in ("{", "["):
        try:
            return bool(json.loads(span.value) == call.arguments)
        except (ValueError, RecursionError):
            return False
    return bool(span.value == call.arguments) and isinstance(span.value, dict)


def _in_slots(text: str, call: Call, at: int, name_at: int, stop: int) -> list[CallExtent]:
    """The call as name, id and arguments in the order of their places."""
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
    return [CallExtent(slots[0].start, slots[-1].end, call, slots=tuple(slots))]


def _arguments_slot(text: str, call: Call, at: int, stop: int) -> Slot | None:
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
