"""The parts of a turn in a render: what must come back, and what the template left out or changed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Literal

import msgspec

from syntagma.analysis.render.conversation import SampleCall, SampleTurn
from syntagma.analysis.render.turn_renderer import RenderedTurn

__all__ = ["Loss", "ShownTurn", "WrittenText", "shown_turn", "shows_ids", "spellings", "written_text"]

_ENTITIES = {
    "<": ("&lt;",),
    ">": ("&gt;",),
    "&": ("&amp;",),
    '"': ("&quot;", "&#34;"),
    "'": ("&#x27;", "&#39;"),
}
_MIN_CUT = 8
"""code points that identify the beginning or end of a text"""


class Loss(msgspec.Struct, frozen=True):
    """A part that a template leaves out (`dropped`) or changes (`altered`)."""

    verdict: Literal["dropped", "altered"]
    what: str


class ShownTurn(msgspec.Struct, frozen=True):
    """The parts of a turn in a render.

    Attributes:
        turn: the turn that must come back: the fields as the template wrote them.
        losses: the parts that the template left out or changed.
        readable: whether changed texts are known exactly, so that they can be expected back.
        renamed: whether the name of a tool was changed: no declared tool has that name, so no grammar allows it.
    """

    turn: SampleTurn
    losses: tuple[Loss, ...] = ()
    readable: bool = True
    renamed: bool = False

    @property
    def verdict(self) -> Literal["works", "dropped", "altered"]:
        """The verdict on a turn that comes back as it is shown; changed parts weigh more than missing ones."""
        verdicts = {loss.verdict for loss in self.losses}
        return "altered" if "altered" in verdicts else "dropped" if verdicts else "works"

    @property
    def why(self) -> str:
        """The losses in one sentence."""
        return "; ".join(dict.fromkeys(loss.what for loss in self.losses))


class WrittenText(msgspec.Struct, frozen=True):
    """A text as it stands in a render; `change` says how the template changed it; empty: it did not."""

    text: str | None
    change: str = ""


def shown_turn(rendered: RenderedTurn) -> ShownTurn:
    """Compare a turn with its render.

    A changed text is expected back as it stands in the render, if the change is known: in other letters, with entities,
    cut off, or without whitespace at its ends.
    """
    turn, text = rendered.turn, rendered.text
    beside = "beside calls" if turn.calls else "before content" if turn.content is not None else ""
    losses: list[Loss] = []
    fields: dict[str, str | None] = {}
    readable = True
    for field in ("reasoning", "content"):
        given = getattr(turn, field)
        written = written_text(given, text) if given else WrittenText(None)
        fields[field] = written.text
        if written.change:
            losses.append(Loss("altered", f"{field}: {written.change}"))
            readable = readable and written.text is not None
        elif given and written.text is None:
            where = beside if field == "reasoning" or turn.calls else ""
            losses.append(Loss("dropped", f"{field} {where} is left out".replace("  ", " ")))
    calls: list[SampleCall] = []
    for call in turn.calls:
        shown = _written_call(call, text, [one.name for one in calls].count(call.name), losses)
        readable = readable and shown is not None
        if shown is not None and shown.name:
            calls.append(shown)
    if len(calls) < len(turn.calls) and readable:
        some = "of several calls, not all are written" if calls else "calls are left out"
        losses.append(Loss("dropped", some))
    made = SampleTurn(reasoning=fields["reasoning"], content=fields["content"], calls=tuple(calls))
    given = {call.name for call in turn.calls}
    return ShownTurn(made, tuple(losses), readable, renamed=any(call.name not in given for call in calls))


def _written_call(call: SampleCall, text: str, before: int, losses: list[Loss]) -> SampleCall | None:
    """The call as it is written, with an empty name if it is missing; None if it is changed beyond recognition.

    Args:
        call: the call.
        text: the render.
        before: the number of calls of the same name before it.
        losses: takes the changes.
    """
    if text.count(call.name) > before:
        name = call.name
    else:
        written = WrittenText(None) if before else written_text(call.name, text)
        if written.change:
            losses.append(Loss("altered", f"names of tools: {written.change}"))
            if written.text is None:
                return None
        elif written.text is None:
            return SampleCall("", {}, "")
        name = written.text or ""
    arguments = _written_value(call.arguments, text, losses)
    return None if arguments is _UNREADABLE else SampleCall(name, arguments, call.id)


_UNREADABLE: Any = object()


def _written_value(value: Any, text: str, losses: list[Loss]) -> Any:
    """A value of arguments with its texts as they are written; `_UNREADABLE` if one is changed beyond recognition."""
    if isinstance(value, dict):
        made = {key: _written_value(item, text, losses) for key, item in value.items()}
        return _UNREADABLE if any(item is _UNREADABLE for item in made.values()) else made
    if isinstance(value, list):
        items = [_written_value(item, text, losses) for item in value]
        return _UNREADABLE if any(item is _UNREADABLE for item in items) else items
    if not isinstance(value, str) or any(spelling in text for spelling in spellings(value)):
        return value
    written = written_text(value, text)
    if not written.change:
        return value
    losses.append(Loss("altered", f"texts in arguments: {written.change}"))
    return _UNREADABLE if written.text is None else written.text


def spellings(value: str) -> Iterator[str]:
    """The spellings of a text in a call: unchanged, in JSON, in JSON inside JSON, or in a literal of a language."""
    yield value
    for ascii_only in (False, True):
        once = json.dumps(value, ensure_ascii=ascii_only)[1:-1]
        yield once
        yield json.dumps(once, ensure_ascii=ascii_only)[1:-1]
    yield repr(value)[1:-1]


def written_text(given: str, text: str) -> WrittenText:
    """A text as it stands in a render; without text if nothing of it stands there, or too little to recognise it."""
    if given in text:
        return WrittenText(given)
    inside = given.strip()
    if not inside:
        return WrittenText(None)
    if inside in text:
        left, right = given.lstrip() in text, given.rstrip() in text
        ends = "the beginning" if left else "the end" if right else "both ends"
        return WrittenText(given, f"whitespace at {ends} is removed")
    escaped = _with_entities(inside, text)
    if escaped:
        return WrittenText(escaped, "`<`, `>`, `&` or quotes are written as entities")
    respaced = _with_other_whitespace(inside, text)
    if respaced:
        return WrittenText(respaced, "whitespace inside is written otherwise")
    at = text.casefold().find(inside.casefold())
    if at >= 0 and len(text.casefold()) == len(text):
        return WrittenText(text[at : at + len(inside)], "letters change their case")
    return _cut_or_changed(inside, text)


def _with_entities(given: str, text: str) -> str:
    """The text as it stands in a render with some of its signs as entities; empty if it is not there."""
    first = (given[0], *_ENTITIES.get(given[0], ()))
    for start in range(len(text)):
        if not text.startswith(first, start):
            continue
        at = start
        for char in given:
            spelling = next((one for one in (*_ENTITIES.get(char, ()), char) if text.startswith(one, at)), None)
            if spelling is None:
                break
            at += len(spelling)
        else:
            return text[start:at]
    return ""


def _with_other_whitespace(given: str, text: str) -> str:
    """The text as it stands in a render with other whitespace between its words; empty if it is not there."""
    words = given.split()
    start = text.find(words[0]) if len(words) > 1 else -1
    while start >= 0:
        at = start
        for word in words:
            rest = text[at:].lstrip() if at > start else text[at:]
            at = len(text) - len(rest)
            if not rest.startswith(word):
                break
            at += len(word)
        else:
            return text[start:at]
        start = text.find(words[0], start + 1)
    return ""


def _cut_or_changed(given: str, text: str) -> WrittenText:
    """A text of which only a part stands in a render, or that is changed beyond recognition."""
    low, high = 0, len(given)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if given[:middle] in text else (low, middle - 1)
    if low >= _MIN_CUT and given[-_MIN_CUT:] not in text:
        return WrittenText(given[:low], "long texts are cut off")
    words = _words(given)
    found = sum(word.casefold() in text.casefold() for word in words)
    if len(words) > 1 and found * 2 >= len(words):
        return WrittenText(None, "texts are written otherwise than they were given")
    return WrittenText(None)


def _words(text: str) -> list[str]:
    """The longer words of a text: short ones also occur in other texts."""
    return [word for word in text.split() if len(word) > 3 and word.isalnum()]


def shows_ids(rendered: RenderedTurn, shown: SampleTurn) -> bool:
    """Whether the render shows the ids of all calls."""
    return bool(shown.calls) and all(call.id and call.id in rendered.text for call in shown.calls)
