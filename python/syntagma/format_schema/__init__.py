"""What a chat format may say: values, and their TOML."""

from __future__ import annotations

from syntagma.format_schema.envelope import Constant, Envelope, EnvelopeNode, EnvelopePlaceholder, Members
from syntagma.format_schema.header import (
    HeaderPattern,
    answer_before_calls,
    message_ends,
    opening,
    required_fields,
    shown_headers,
    split_header,
)
from syntagma.format_schema.markers import LiteralPiece, pieces
from syntagma.format_schema.pattern import PLACEHOLDERS, Item, Literal, Pattern, Placeholder
from syntagma.format_schema.reader import read_toml
from syntagma.format_schema.spec import (
    ContentSpec,
    FormatSpec,
    MessagesSpec,
    Notation,
    ReasoningSpec,
    ReasoningState,
    ToolsSpec,
)
from syntagma.format_schema.start import StartState
from syntagma.format_schema.writer import write_toml

__all__ = [
    "PLACEHOLDERS",
    "Constant",
    "ContentSpec",
    "Envelope",
    "EnvelopeNode",
    "EnvelopePlaceholder",
    "FormatSpec",
    "HeaderPattern",
    "Item",
    "Literal",
    "LiteralPiece",
    "Members",
    "MessagesSpec",
    "Notation",
    "Pattern",
    "Placeholder",
    "ReasoningSpec",
    "ReasoningState",
    "StartState",
    "ToolsSpec",
    "answer_before_calls",
    "message_ends",
    "opening",
    "pieces",
    "read_toml",
    "required_fields",
    "shown_headers",
    "split_header",
    "write_toml",
]
