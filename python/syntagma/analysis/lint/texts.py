"""Rules about texts: what a template changes of them, and user texts that it takes for its own markers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from syntagma.analysis.certify.shown import spellings, written_text
from syntagma.analysis.lint.report import Edit, Slip
from syntagma.analysis.lint.subject import ANSWER, Subject, message_of, user
from syntagma.analysis.render.conversation import SampleCall, SampleTurn, declared_tools

__all__ = ["altered_calls", "altered_texts", "interpreted_texts"]

_TEXTS = (
    "\n\n   Warm the kettle first. \n\n",
    "Warm Kettles Are Copper.",
    'If a < b & c > d, say "now".',
    " ".join(f"The kettle number {number} is warm." for number in range(60)) + " None is left.",
)
"""texts in which a template might remove whitespace, change the case, escape signs or cut the end"""
_ARGUMENTS = (
    *_TEXTS[1:],
    _TEXTS[0],
    "Warm  it slowly,\n\ttwice a day.",
    "It is in C:\\kettles\\new now.",
    "Größe der Kanne: 温かい",
)
_NAME, _KEY = "boilWater", "kettleKind"
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))")
_CONTROLS = {"n": "\n", "t": "\t", "r": "\r"}
_FILTERS = re.compile(r"\s*\|\s*(?:trim|lower|upper|escape|e|capitalize|title)\b(?:\(\))?(?!\w)")
_METHODS = re.compile(r"\.(?:strip|lower|upper|title|capitalize|lstrip|rstrip)\(\)")
_CUTS = re.compile(r"(\b[\w.]*content)\[:\d+\]")
_LITERAL_LENGTHS = range(3, 61)
_MAX_LITERALS = 60


def altered_texts(subject: Subject) -> Iterator[Slip]:
    """A text of a message is written otherwise than it was given."""
    for role in ("system", "user", "assistant", "tool"):
        said: set[str] = set()
        for text in _TEXTS:
            messages = _messages(subject, role, text)
            rendered = subject.render(messages, tools=role == "tool") if messages else None
            if not isinstance(rendered, str) or any(spelling in rendered for spelling in spellings(text)):
                continue
            change = written_text(text, rendered).change
            if change and change not in said:
                said.add(change)
                yield Slip(
                    message=f"content of role {role}: {change}",
                    request=subject.request(messages, tools=role == "tool"),
                    shown=rendered[-300:],
                    edits=_as_given(subject.template.source),
                )


def _messages(subject: Subject, role: str, text: str) -> list[dict[str, Any]]:
    """A conversation with this text in this role; empty if the template shows no such role."""
    found = subject.analysis.capabilities
    if role == "system":
        return [{"role": "system", "content": text}, user()] if found.system else []
    if role == "user":
        return [user(text)]
    if role == "assistant":
        return [user(), message_of(subject, SampleTurn(content=text)), user("And then?")]
    if not found.tool_results:
        return []
    call = subject.call()
    turn = message_of(subject, SampleTurn(calls=(call,)))
    return [user(), turn, {"role": "tool", "tool_call_id": call.id, "name": call.name, "content": text}]


def altered_calls(subject: Subject) -> Iterator[Slip]:
    """The name, a key or a text of a call is written otherwise than it was given, as an object or as JSON text."""
    if not subject.shows_calls:
        return
    said: set[str] = set()
    for form in ("an object", "JSON text"):
        for text in _ARGUMENTS:
            call = SampleCall(_NAME, {_KEY: text}, subject.call().id)
            message = message_of(subject, SampleTurn(calls=(call,)))
            given = call.arguments if form == "an object" else json.dumps(call.arguments, ensure_ascii=False)
            entry = {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": given}}
            request = {"messages": [user(), {**message, "tool_calls": [entry]}], "tools": declared_tools((call,))}
            rendered = subject.render(request["messages"], tools=request["tools"])
            if not isinstance(rendered, str):
                continue
            shown = rendered.rpartition(request["messages"][0]["content"])[2]
            for what, part in (
                ("names of tools", _NAME),
                (f"keys of arguments given as {form}", _KEY),
                (f"texts in arguments given as {form}", text),
            ):
                change = "" if what in said else _change(part, shown)
                if change:
                    said.add(what)
                    edits = _as_given(subject.template.source)
                    yield Slip(message=f"{what}: {change}", request=request, shown=shown[-300:], edits=edits)


def _change(part: str, shown: str) -> str:
    """How a part of a call is changed in a render; empty if it is not, or not there at all."""
    forms = [shown]
    # Each escape that is taken out makes the text shorter, so this ends.
    while (plain := _unescaped(forms[-1])) != forms[-1]:
        forms.append(plain)
    return "" if any(part in form for form in forms) else written_text(part, shown).change


def _unescaped(text: str) -> str:
    """A text without the escapes of JSON and of other literals, which may escape more than they have to, or less."""
    return _ESCAPE.sub(lambda found: chr(int(found[1], 16)) if found[1] else _CONTROLS.get(found[2], found[2]), text)


def _as_given(source: str) -> tuple[Edit, ...]:
    """Every filter, method and slice that changes a text, taken out."""
    found = [Edit(*match.span(), "") for pattern in (_FILTERS, _METHODS) for match in pattern.finditer(source)]
    found += [Edit(*match.span(), match[1]) for match in _CUTS.finditer(source)]
    return tuple(sorted(found))


def interpreted_texts(subject: Subject) -> Iterator[Slip]:
    """A user's text that holds one of the template's own literals is taken apart or left out."""
    literals = [
        text
        for text in subject.template.string_literals()
        if len(text) in _LITERAL_LENGTHS and not text.isidentifier() and not text.isspace() and text.strip() == text
    ]
    for literal in literals[:_MAX_LITERALS]:
        for text in (f"Is {literal} a word?", literal):
            messages = [user(), {"role": "assistant", "content": ANSWER}, user(text)]
            rendered = subject.render(messages, prompt=True)
            without = subject.render([*messages[:2], user("Is it a word?")], prompt=True)
            if isinstance(rendered, str) and isinstance(without, str) and _is_taken_apart(text, rendered):
                message = f"a user's text with {literal!r} is not written as it is"
                yield Slip(message=message, request=subject.request(messages), shown=rendered[-300:])
                return


def _is_taken_apart(text: str, rendered: str) -> bool:
    """Whether a part of a text is missing in a render; other letters and entities do not count as missing."""
    written = written_text(text, rendered).text
    return written is None or len(written) < len(text)
