"""The states of the transcript reader and its transitions: the whole syntax in one table.

Each state has one step, a method of the class that reads this part. A step reads up to the next relevant token and
returns its kind, or None if more text is needed. `TRANSITIONS` maps the kind to the next state.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Literal, TypeAlias

__all__ = ["SEEN", "TRANSITIONS", "Seen", "State"]


class State(StrEnum):
    """The part of a transcript that a reader is in."""

    OPENING = "opening"
    """at the start: only whitespace was read"""
    DOCUMENT_HEADER = "document_header"
    BETWEEN_MESSAGES = "between_messages"
    STRAY_TEXT = "stray_text"
    """in text that belongs to no message"""
    MESSAGE_HEADER = "message_header"
    BODY = "body"
    LITERAL = "literal"
    """in a literal block of a body"""
    LEGACY_BETWEEN = "legacy_between"
    LEGACY_STRAY_TEXT = "legacy_stray_text"
    LEGACY_HEADER = "legacy_header"
    LEGACY_BODY = "legacy_body"


Seen: TypeAlias = Literal[
    "start",  # this and the next three: the control tokens of these names
    "message",
    "literal",
    "endliteral",
    "section",  # the channel token or the constrain token
    "terminator",  # the end, call or return token
    "delimiter",  # a line that opens or closes a document header
    "next",  # the start token of the next message, in a body that it ends
    "limit",  # a header that is too long
    "text",  # anything else
    "legacy_start",  # the tokens of the first published syntax
    "legacy_end",
    "legacy_edge",  # a token for the beginning or the end of the text
    "line_end",
]
"""the kind of token at which a step ended"""

SEEN: Mapping[str, Seen] = {
    "start": "start",
    "channel": "section",
    "constrain": "section",
    "message": "message",
    "end": "terminator",
    "call": "terminator",
    "return": "terminator",
    "literal": "literal",
    "endliteral": "endliteral",
}
"""the kind of each control token, by name"""

TRANSITIONS: Mapping[State, Mapping[Seen, State]] = {
    State.OPENING: {
        "delimiter": State.DOCUMENT_HEADER,
        "text": State.DOCUMENT_HEADER,  # a header without delimiters
        "limit": State.BODY,
        "start": State.BETWEEN_MESSAGES,
        "legacy_start": State.LEGACY_BETWEEN,
    },
    State.DOCUMENT_HEADER: {
        "delimiter": State.BETWEEN_MESSAGES,
        "limit": State.BODY,
        "start": State.BETWEEN_MESSAGES,
        "legacy_start": State.LEGACY_BETWEEN,
    },
    State.BETWEEN_MESSAGES: {
        "start": State.MESSAGE_HEADER,
        "terminator": State.BETWEEN_MESSAGES,  # a redundant end token
        "text": State.STRAY_TEXT,
    },
    State.STRAY_TEXT: {"start": State.MESSAGE_HEADER},
    State.MESSAGE_HEADER: {
        "start": State.MESSAGE_HEADER,
        "section": State.MESSAGE_HEADER,
        "message": State.BODY,
        "terminator": State.BETWEEN_MESSAGES,
        "literal": State.MESSAGE_HEADER,
        "endliteral": State.MESSAGE_HEADER,
        "limit": State.BODY,
    },
    State.BODY: {
        "terminator": State.BETWEEN_MESSAGES,
        "literal": State.LITERAL,
        "next": State.MESSAGE_HEADER,
        # All other tokens are text.
        "start": State.BODY,
        "section": State.BODY,
        "message": State.BODY,
        "endliteral": State.BODY,
    },
    State.LITERAL: {"endliteral": State.BODY},
    State.LEGACY_BETWEEN: {
        "legacy_start": State.LEGACY_HEADER,
        "legacy_edge": State.LEGACY_BETWEEN,
        "text": State.LEGACY_STRAY_TEXT,
    },
    State.LEGACY_STRAY_TEXT: {"legacy_start": State.LEGACY_BETWEEN},
    State.LEGACY_HEADER: {"line_end": State.LEGACY_BODY, "limit": State.LEGACY_BODY},
    State.LEGACY_BODY: {"legacy_end": State.LEGACY_BETWEEN},
}
