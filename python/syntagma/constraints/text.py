"""Free text and literals as grammars."""

from __future__ import annotations

from collections.abc import Sequence

from syntagma.constraints.literals import core, forbidden_in_content, forbidden_in_reasoning
from syntagma.format_schema import FormatSpec, MessagesSpec, Pattern, message_ends, pieces
from syntagma.grammars import Grammar

__all__ = ["answer_text", "has_bare_calls", "held_off", "literal", "quoted", "reasoning_text", "unclosed_text"]


def literal(text: str) -> list[Grammar]:
    """A literal as its pieces: markers, and the text between them with its blanks as written."""
    return [Grammar.marker(piece.text) if piece.is_marker else Grammar.literal(piece.text) for piece in pieces(text)]


def reasoning_text(spec: FormatSpec, block: Pattern) -> Grammar:
    """Thoughts up to (and without) the closer of `block`."""
    return _free(forbidden_in_reasoning(spec), core(block.closer))


def answer_text(spec: FormatSpec, *, closer: str = "") -> Grammar:
    """Text of the answer that no reader takes for anything else; `closer` is the literal that comes behind it."""
    forbidden = forbidden_in_content(spec)
    if not has_bare_calls(spec):
        return _free(forbidden, core(closer))
    # A call without opener is tried at the first character that is not blank: what begins there must be no object.
    held = " | ".join(quoted(text) for text in forbidden)
    free = f"except!({held})" if held else "any!"
    return Grammar.from_ebnf(f"start ::= {free} & ~(#'\\s*\\{{' any!) ;")


def unclosed_text(spec: FormatSpec, messages: MessagesSpec, *, followed: bool) -> Grammar:
    """Text of a message that only the next one ends; `followed`: one comes, whose beginning it must not join."""
    ends = message_ends(messages)
    return Grammar.from_ebnf(f"start ::= {held_off(ends, forbidden_in_content(spec), followed=followed)} ;")


def held_off(ends: Sequence[str], others: Sequence[str] = (), *, followed: bool = True) -> str:
    """EBNF of text that holds none of `ends` and `others`; `followed`: nor does it with one of `ends` behind it."""
    held = " | ".join(quoted(text) for text in dict.fromkeys((*ends, *others)))
    joined = {
        end[:size]
        for end in ends
        for size in range(1, len(end))
        for behind in ends
        if (end[:size] + behind).startswith(end)
    }
    edges = "".join(f" & ~(any! {quoted(text)})" for text in sorted(joined)) if followed else ""
    return f"except!({held}){edges}"


def has_bare_calls(spec: FormatSpec) -> bool:
    """Whether a call may begin with its JSON object, without any literal before it."""
    return spec.tools is not None and any(
        not section.opener.strip() and not call.opener.strip() and call.placeholders[:1] == ("envelope",)
        for form in spec.tools.forms
        for section in form.section
        for call in form.call
    )


def quoted(text: str) -> str:
    """Text as a string of the grammar language."""
    return '"' + "".join(char if char.isalnum() else f"\\u{{{ord(char):x}}}" for char in text) + '"'


def _free(without: Sequence[str], closer: str) -> Grammar:
    others = tuple(text for text in without if text != closer)
    return Grammar.text(without=others, closer=closer or None)
