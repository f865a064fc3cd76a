"""OpenChatML 2.2: transcripts with channels, tool calls and private reasoning; interoperation with Harmony."""

from __future__ import annotations

from syntagma.openchatml import harmony
from syntagma.openchatml.document import shared_capabilities
from syntagma.openchatml.errors import OpenChatMLError, user_summary
from syntagma.openchatml.interchange import from_json, to_json
from syntagma.openchatml.model import Header, Message, Partial, Place, Report, Transcript, Warn
from syntagma.openchatml.openai import Loss, from_openai, to_openai
from syntagma.openchatml.reader import StreamReader, parse
from syntagma.openchatml.response import (
    Multiplexer,
    ResponseCancel,
    ResponseDelta,
    ResponseDone,
    ResponseError,
    ResponseEvent,
    ResponseFlush,
    ResponseStream,
    ToolCancel,
)
from syntagma.openchatml.router import Reply, RoutedTool, ToolRouter
from syntagma.openchatml.stream import BodyDelta, BodyStarted, MessageFinished, ReadError, ReadEvent
from syntagma.openchatml.validator import Finding, Validation, validate
from syntagma.openchatml.visibility import Shown, is_visible, keep_for_sampling, show, tool_input, visible
from syntagma.openchatml.writer import render, render_message

__all__ = [
    "BodyDelta",
    "BodyStarted",
    "Finding",
    "Header",
    "Loss",
    "Message",
    "MessageFinished",
    "Multiplexer",
    "OpenChatMLError",
    "Partial",
    "Place",
    "ReadError",
    "ReadEvent",
    "Reply",
    "Report",
    "ResponseCancel",
    "ResponseDelta",
    "ResponseDone",
    "ResponseError",
    "ResponseEvent",
    "ResponseFlush",
    "ResponseStream",
    "RoutedTool",
    "Shown",
    "StreamReader",
    "ToolCancel",
    "ToolRouter",
    "Transcript",
    "Validation",
    "Warn",
    "from_json",
    "from_openai",
    "harmony",
    "is_visible",
    "keep_for_sampling",
    "parse",
    "render",
    "render_message",
    "shared_capabilities",
    "show",
    "to_json",
    "to_openai",
    "tool_input",
    "user_summary",
    "validate",
    "visible",
]
