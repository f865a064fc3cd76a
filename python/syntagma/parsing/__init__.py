"""The lenient reading: raw model output, in any chunks → events → a message."""

from __future__ import annotations

from syntagma.parsing.arguments.json_machine import JsonMachine
from syntagma.parsing.header_router import is_name
from syntagma.parsing.message_header import Header, HeaderShape, read_header
from syntagma.parsing.policies import Policies
from syntagma.parsing.prompt_tail import start_state
from syntagma.parsing.stream_parser import StreamParser

__all__ = [
    "Header",
    "HeaderShape",
    "JsonMachine",
    "Policies",
    "StreamParser",
    "is_name",
    "read_header",
    "start_state",
]
