"""Turns that are a sequence of messages with headers: `[messages]` of a format."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator

import msgspec

from syntagma.analysis.infer.call_inference import CallPatterns
from syntagma.analysis.infer.frame import Frame, clean_tail
from syntagma.analysis.locate.atoms import atoms, visible_atoms
from syntagma.analysis.locate.located_turn import LocatedTurn
from syntagma.analysis.locate.observations import Observations

__all__ = ["MessageHeaders", "find_message_headers", "header_fields", "split_by_headers"]

_WORD_FIELD = re.compile(r"\s[\w-]+=")


class MessageHeaders(msgspec.Struct, frozen=True, kw_only=True):
    """How the messages of a turn are written."""

    start: str
    """the opener of every message; that of the first is in the generation prompt"""
    body: str
    """the marker that ends every header"""
    ends: tuple[str, ...]
    """the texts that end a message; the first is the one before further messages"""
    end_of_turn: str
    """the text after the last message"""
    reasoning: str | None
    """header, placeholder and end of reasoning"""
    content: tuple[str, ...]
    """the same for answers: alone, then before calls"""
    call_space: str
    """the whitespace at the beginning of headers of calls"""


class _Part(msgspec.Struct, frozen=True):
    """Reasoning, content or a call of a turn: its kind, the kind before it (empty: none), and the text before it."""

    kind: str
    previous: str
    before: str


def find_message_headers(seen: Observations, frame: Frame) -> MessageHeaders | None:
    """Find the headers of messages; None if a turn is not a sequence of messages with headers.

    A turn is one if its own header stands between any two parts, and reasoning and content, which may differ in all
    else, follow the same marker.

    Args:
        seen: the turns to compare.
        frame: the frame of a turn.
    """
    start, plain = frame.header, seen.best("C")
    parts = [part for located in seen.turns for part in _parts(located, frame)]
    gaps = [part for part in parts if part.previous]
    if plain is None or not start.strip() or not gaps or any(start not in gap.before for gap in gaps):
        return None
    headers = list(dict.fromkeys(part.before.rpartition(start)[2] for part in parts if part.kind != "T"))
    body = (visible_atoms(headers[0], frame.eos) or [""])[-1]
    if not _is_marker(body) or not all(_ends_with(header, body) for header in headers):
        return None
    tail = clean_tail(plain, frame.epilogue, frame.user_open).lstrip()
    shown = _shown_blocks(seen, frame)
    between = [end for _, _, end in shown] or visible_atoms(tail, frame.eos)[:1]
    last = next((end for end in between if tail.startswith(end)), "".join(visible_atoms(tail, frame.eos)[:1]))
    if not between or not all(between) or not last:
        return None
    reasoning = next((header + "{reasoning}" + end for kind, header, end in shown if kind == "R"), None)
    thoughts = {header for kind, header, _ in shown if kind == "R"}
    answers = [header + "{content}" + end for kind, header, end in shown if kind == "C" and header not in thoughts]
    alone = frame.body(plain) + "{content}"
    ends = [end for kind, _, end in shown if kind == "R"] + between + [last]
    calls = [part.before.rpartition(start)[2] for part in parts if part.kind == "T"]
    return MessageHeaders(
        start=start.strip(),
        body=body,
        ends=tuple(dict.fromkeys(ends)),
        end_of_turn=tail.removeprefix(last),
        reasoning=reasoning,
        content=tuple(dict.fromkeys((alone + last, *(answers or [alone + ends[0]])))),
        call_space=calls[0][: len(calls[0]) - len(calls[0].lstrip())] if calls else "",
    )


def _ends_with(header: str, body: str) -> bool:
    """Whether a header has a field before the marker that ends it."""
    return header.endswith(body) and bool(header.removesuffix(body).strip())


def _shown_blocks(seen: Observations, frame: Frame) -> list[tuple[str, str, str]]:
    """Kind, header and end of reasoning and content before another message, each once."""
    found: dict[tuple[str, str, str], None] = {}
    for located in seen.turns:
        for one, other in itertools.pairwise(_parts(located, frame)):
            if one.kind != "T":
                end = other.before.partition(frame.header)[0].strip()
                found[(one.kind, one.before.rpartition(frame.header)[2] if one.previous else one.before, end)] = None
    return list(found)


def _parts(located: LocatedTurn, frame: Frame) -> Iterator[_Part]:
    elements = located.elements
    yield _Part(elements[0].kind, "", frame.body(located))
    for one, other in itertools.pairwise(elements):
        yield _Part(other.kind, one.kind, located.text[one.end : other.start])


def _is_marker(text: str) -> bool:
    return len(text) > 2 and not text[0].isalnum() and not text[-1].isalnum()


def split_by_headers(calls: CallPatterns, headers: MessageHeaders) -> CallPatterns | None:
    """The patterns of a call that is a message; None if it has no such header."""
    call = (calls.section.partition("{calls}")[0] + calls.call).rpartition(headers.start)[2]
    closer = calls.section.partition("{calls}")[2]
    if headers.body not in call or "{name}" not in call + (calls.envelope or ""):
        return None
    if not call.rstrip().endswith(headers.ends):
        call += closer
    call = headers.call_space + call.lstrip()
    return msgspec.structs.replace(
        calls,
        section="{calls}",
        separator="",
        call=call,
        alternate="",
        bare="",
        after_content="",
        drop="",
        unproved_split=False,
    )


def header_fields(headers: Iterable[str], body: str) -> list[str]:
    """The prefixes of the fields in headers, those with the name of a tool first."""
    found: dict[str, bool] = {}
    for header in headers:
        text = header.partition(body)[0]
        places: list[tuple[int, str]] = [(match.start(), match.group()) for match in _WORD_FIELD.finditer(text)]
        at = 0
        for atom in atoms(text):
            if _is_marker(atom) and atom not in ("{name}", "{id}"):
                places.append((at, atom))
            at += len(atom)
        places.sort()
        for (start, prefix), (end, _) in itertools.pairwise([*places, (len(text), "")]):
            found[prefix] = found.get(prefix, False) or "{name}" in text[start:end]
    return sorted(found, key=lambda prefix: not found[prefix])
