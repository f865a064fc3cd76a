"""What follows from the literals of a format: markers, triggers, stop strings, and what free text may not hold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from syntagma.format_schema import FormatSpec, MessagesSpec, Pattern, Placeholder, ToolsSpec, pieces
from syntagma.format_schema import Literal as LiteralItem

__all__ = ["core", "forbidden_in_content", "forbidden_in_reasoning", "preserved_tokens"]
__all__ += ["stop_strings", "triggers"]


def core(literal: str) -> str:
    """What a reader looks for to find an opener: its first marker, or its text up to the first blank."""
    bare = literal.strip()
    first = next(iter(pieces(bare)), None)
    if first is None:
        return ""
    return first.text if first.is_marker else bare.split(maxsplit=1)[0]


def preserved_tokens(spec: FormatSpec) -> tuple[str, ...]:
    """Every marker of the format, once, in the order of the file: tokens that a detokenizer must not drop."""
    return _unique(_markers(_literals(spec)))


def triggers(spec: FormatSpec) -> tuple[str, ...]:
    """What begins a call as the format writes it: the literal before the first placeholder, its end stripped."""
    if spec.tools is None:
        return ()
    found = []
    for section in spec.tools.section:
        if section.opener.strip():
            found.append(section.opener.rstrip())
            continue
        for call in spec.tools.call:
            if call.opener.strip():
                found.append(call.opener.rstrip())
            elif call.placeholders[:1] == ("envelope",):
                found += [envelope.pattern.opener.rstrip() for envelope in spec.tools.envelope]
    return _unique(found)


def stop_strings(spec: FormatSpec) -> tuple[str, ...]:
    """What ends the turn, for engines whose vocabulary has no token for it.

    Closers of calls and sections are not among them: they may stand inside a string argument.
    """
    return _unique(atom.strip() for atom in spec.end_of_turn if atom.strip())[:1]


def forbidden_in_content(spec: FormatSpec) -> tuple[str, ...]:
    """What an answer may not hold, so that it is read as the answer that it was written as.

    These are the markers of the format and, where an opener has no marker, the text that a reader takes for it. In the
    body of a message with a header only what headers consist of, and what ends messages, means anything.
    """
    if spec.messages is not None:
        return _framing(spec)
    found = list(_markers(_structure(spec)))
    found += [core(literal) for literal in _openers(spec)]
    if spec.reasoning is not None:
        found += [core(block.closer) for block in spec.reasoning.block]
    if spec.content is not None:
        found += [core(block.closer) for block in spec.content.block]
        found += [sentinel.strip() for sentinel in spec.content.drop]
    found += _ends(spec)
    return _shortest(found)


def forbidden_in_reasoning(spec: FormatSpec) -> tuple[str, ...]:
    """What thoughts may not hold beside their own closer: what interrupts them, other closers, the end of the turn."""
    if spec.reasoning is None:
        return ()
    if spec.messages is not None:
        return _framing(spec)
    found = [core(marker) for marker in spec.reasoning.interrupt]
    found += [core(block.closer) for block in spec.reasoning.block]
    found += _ends(spec)
    return _shortest(found)


def _framing(spec: FormatSpec) -> tuple[str, ...]:
    """The markers of headers, what ends messages, and the end of the turn."""
    assert spec.messages is not None
    found = [*_markers(_headers(spec.messages)), *spec.messages.end, *_ends(spec)]
    if spec.content is not None:
        found += [sentinel.strip() for sentinel in spec.content.drop]
    return _shortest(found)


def _ends(spec: FormatSpec) -> list[str]:
    return [atom.strip() for atom in spec.end_of_turn]


def _openers(spec: FormatSpec) -> Iterator[str]:
    if spec.reasoning is not None:
        for block in spec.reasoning.block:
            yield block.opener
    if spec.content is not None:
        for block in spec.content.block:
            yield block.opener
    for form in _forms(spec):
        for pattern in (*form.section, *form.call):
            yield pattern.opener


def _structure(spec: FormatSpec) -> Iterator[str]:
    """Literals of reasoning, wrapper and calls."""
    if spec.reasoning is not None:
        yield from _of(spec.reasoning.block)
        yield from spec.reasoning.interrupt
    if spec.content is not None:
        yield from _of(spec.content.block)
    for form in _forms(spec):
        yield from _of((*form.section, *form.call, *form.argument))
        yield form.separator
        yield form.argument_separator


def _literals(spec: FormatSpec) -> Iterator[str]:
    yield from _structure(spec)
    if spec.content is not None:
        yield from spec.content.drop
    yield from spec.end_of_turn
    if spec.messages is not None:
        yield from _headers(spec.messages)


def _headers(messages: MessagesSpec) -> Iterator[str]:
    yield from messages.start
    yield from messages.fields
    yield messages.body
    yield from messages.end


def _forms(spec: FormatSpec) -> tuple[ToolsSpec, ...]:
    return () if spec.tools is None else spec.tools.forms


def _of(patterns: Iterable[Pattern]) -> Iterator[str]:
    for pattern in patterns:
        for item in pattern.written.items:
            match item:
                case LiteralItem(text):
                    yield text
                case Placeholder():
                    pass


def _markers(literals: Iterable[str]) -> Iterator[str]:
    for literal in literals:
        for piece in pieces(literal):
            if piece.is_marker:
                yield piece.text


def _unique(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text for text in texts if text))


def _shortest(texts: Iterable[str]) -> tuple[str, ...]:
    """Without those that hold another: forbidding the shorter one forbids them too."""
    unique = _unique(texts)
    return tuple(text for text in unique if not any(other != text and other in text for other in unique))
