"""The lenient reading: raw model output, in any chunks → events → a message."""

from __future__ import annotations

from syntagma.parsing.arguments.json_machine import JsonMachine
from syntagma.parsing.compiled_format import compiled_format
from syntagma.parsing.field_spans import FieldSpan, field_spans
from syntagma.parsing.header_router import is_name
from syntagma.parsing.message_call import object_in
from syntagma.parsing.message_header import Header, HeaderShape, read_header
from syntagma.parsing.message_markers import HeaderText, MarkerEffect, MarkerKind, marker_effect
from syntagma.parsing.options import ParserOptions, ReadingOptions
from syntagma.parsing.partial_value import FieldProblem, OpenText, PartialValue
from syntagma.parsing.place import ParserPlace
from syntagma.parsing.policies import Policies
from syntagma.parsing.states import INLINE, MEANING, MESSAGES, State, Transitions
from syntagma.parsing.stream_parser import StreamParser, start_state

__all__ = [
    "INLINE",
    "MEANING",
    "MESSAGES",
    "FieldProblem",
    "FieldSpan",
    "Header",
    "HeaderShape",
    "HeaderText",
    "JsonMachine",
    "MarkerEffect",
    "MarkerKind",
    "OpenText",
    "ParserOptions",
    "ParserPlace",
    "PartialValue",
    "Policies",
    "ReadingOptions",
    "State",
    "StreamParser",
    "Transitions",
    "compiled_format",
    "field_spans",
    "is_name",
    "marker_effect",
    "object_in",
    "read_header",
    "start_state",
]
