"""OpenChatML 2.2: transcripts with channels, tool calls and private reasoning; interoperation with Harmony."""

from __future__ import annotations

from syntagma.openchatml.document import shared_capabilities
from syntagma.openchatml.errors import OpenChatMLError, user_summary
from syntagma.openchatml.model import Header, Message, Partial, Place, Report, Transcript, Warn
from syntagma.openchatml.reader import StreamReader, parse
from syntagma.openchatml.validator import Finding, Validation, validate
from syntagma.openchatml.visibility import Shown, is_visible, keep_for_sampling, show, tool_input, visible
from syntagma.openchatml.writer import render, render_message

__all__ = [
    "Finding",
    "Header",
    "Message",
    "OpenChatMLError",
    "Partial",
    "Place",
    "Report",
    "Shown",
    "StreamReader",
    "Transcript",
    "Validation",
    "Warn",
    "is_visible",
    "keep_for_sampling",
    "parse",
    "render",
    "render_message",
    "shared_capabilities",
    "show",
    "tool_input",
    "user_summary",
    "validate",
    "visible",
]
