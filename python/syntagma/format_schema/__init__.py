"""The specs of formats: values, and their TOML."""

from __future__ import annotations

from syntagma.format_schema.envelope import Constant, Envelope, EnvelopeNode, EnvelopePlaceholder, Members
from syntagma.format_schema.header import HeaderPattern, default_fields, message_ends, opening, split_header
from syntagma.format_schema.markers import LiteralPiece, Markers, PlacedPiece
from syntagma.format_schema.parts import (
    ContentSpec,
    MessagesSpec,
    Notation,
    PromptSpec,
    ReasoningSpec,
    ReasoningState,
    ToolsSpec,
    TypeMeaning,
)
from syntagma.format_schema.pattern import PLACEHOLDERS, Item, Literal, Pattern, Placeholder, leading, trailing
from syntagma.format_schema.spec import (
    FormatSpec,
    answer_before_calls,
    as_data,
    ends_at_next,
    has_required_fields,
    kept,
    required_fields,
    shown_headers,
    texts_in_turn,
    used_markers,
)
from syntagma.format_schema.start import StartState
from syntagma.format_schema.structure import structure_steps
from syntagma.format_schema.toml import FormatFile, Tables, read_tables, read_toml, write_toml
from syntagma.format_schema.value_ends import argument_line, is_open, value_ends
from syntagma.format_schema.weak_texts import begins_exactly, is_weak, needs_known_name, stands_alone

__all__ = [
    "PLACEHOLDERS",
    "Constant",
    "ContentSpec",
    "Envelope",
    "EnvelopeNode",
    "EnvelopePlaceholder",
    "FormatFile",
    "FormatSpec",
    "HeaderPattern",
    "Item",
    "Literal",
    "LiteralPiece",
    "Markers",
    "Members",
    "MessagesSpec",
    "Notation",
    "Pattern",
    "PlacedPiece",
    "Placeholder",
    "PromptSpec",
    "ReasoningSpec",
    "ReasoningState",
    "StartState",
    "Tables",
    "ToolsSpec",
    "TypeMeaning",
    "answer_before_calls",
    "argument_line",
    "as_data",
    "begins_exactly",
    "default_fields",
    "ends_at_next",
    "has_required_fields",
    "is_open",
    "is_weak",
    "kept",
    "leading",
    "message_ends",
    "needs_known_name",
    "opening",
    "read_tables",
    "read_toml",
    "required_fields",
    "shown_headers",
    "split_header",
    "stands_alone",
    "structure_steps",
    "texts_in_turn",
    "trailing",
    "used_markers",
    "value_ends",
    "write_toml",
]
