"""Headers of messages as grammars."""

from __future__ import annotations

from collections.abc import Iterator

from syntagma.constraints.literals import literal
from syntagma.constraints.whitespace import SOME_WHITESPACE, WHITESPACE
from syntagma.format_schema import Markers, MessagesSpec, leading, opening
from syntagma.grammars import Grammar

__all__ = ["HeaderWriter"]


class HeaderWriter:
    """Writes headers as the format shows them. Where it shows whitespace, any may be written, or none beside a marker.

    Where it shows none, none may be written: a marker is its own token, and the next text is certain.

    Args:
        messages: the description of the format's messages.
        markers: cuts its literals.
    """

    def __init__(self, messages: MessagesSpec, markers: Markers) -> None:
        self._body = messages.body
        starts = (opening(start, markers)[0] for start in messages.start)
        fields = (field for field in messages.fields if not field[0].isspace())
        self._marks = sorted({*starts, *fields, messages.body}, key=len, reverse=True)

    def opener(self, text: str) -> list[Grammar]:
        """The beginning of a header, without whitespace before the body."""
        header, body, rest = text.partition(self._body)
        space = leading(header)
        return [*([SOME_WHITESPACE] if space else []), *self.rest(header[len(space) :] + body), *literal(rest.rstrip())]

    def rest(self, text: str) -> Iterator[Grammar]:
        """A further part of a header, after a word or name; another follows it, unless it ends at the body."""
        shown, spaced, after_marker, at = "", False, False, 0
        while at < len(text):
            mark = next((one for one in self._marks if text.startswith(one, at)), "")
            piece = mark or text[at]
            at += len(piece)
            if not mark and piece.isspace():
                yield from literal(shown)
                shown, spaced = "", True
                continue
            if spaced:
                yield WHITESPACE if after_marker or mark else SOME_WHITESPACE
            shown, spaced, after_marker = shown + piece, False, bool(mark)
        yield from literal(shown)
        if spaced:
            yield WHITESPACE if after_marker else SOME_WHITESPACE
