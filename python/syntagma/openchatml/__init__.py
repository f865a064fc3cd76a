"""OpenChatML 2.2: transcripts with channels, tool calls and private reasoning; interoperation with Harmony.

`§` in the docstrings of this package is a section of the specification, OpenChatML 2.2.
"""

from __future__ import annotations

from syntagma.openchatml import harmony
from syntagma.openchatml.document_header import shared_capabilities
from syntagma.openchatml.errors import OpenChatMLError, user_summary
from syntagma.openchatml.hierarchy import HIERARCHY, outranks
from syntagma.openchatml.interchange import from_json, to_json
from syntagma.openchatml.openai import Loss, from_openai, to_openai
from syntagma.openchatml.read_events import BodyDelta, BodyStarted, MessageFinished, ReadError, ReadEvent
from syntagma.openchatml.reasoning import ReasoningPart, split_reasoning
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
from syntagma.openchatml.tokens import CONTROL_TOKENS
from syntagma.openchatml.transcript import (
    DocumentHeader,
    Message,
    PartialMessage,
    Problem,
    ReadWarning,
    SourceLocation,
    Transcript,
)
from syntagma.openchatml.transcript_reader import StreamReader, parse
from syntagma.openchatml.transcript_writer import render, render_message
from syntagma.openchatml.validator import UnmetRequirement, Validation, validate
from syntagma.openchatml.visibility import Shown, is_visible, keep_for_sampling, show, tool_input, visible

__all__ = [
    "CONTROL_TOKENS",
    "HIERARCHY",
    "BodyDelta",
    "BodyStarted",
    "DocumentHeader",
    "Loss",
    "Message",
    "MessageFinished",
    "Multiplexer",
    "OpenChatMLError",
    "PartialMessage",
    "Problem",
    "ReadError",
    "ReadEvent",
    "ReadWarning",
    "ReasoningPart",
    "Reply",
    "ResponseCancel",
    "ResponseDelta",
    "ResponseDone",
    "ResponseError",
    "ResponseEvent",
    "ResponseFlush",
    "ResponseStream",
    "RoutedTool",
    "Shown",
    "SourceLocation",
    "StreamReader",
    "ToolCancel",
    "ToolRouter",
    "Transcript",
    "UnmetRequirement",
    "Validation",
    "from_json",
    "from_openai",
    "harmony",
    "is_visible",
    "keep_for_sampling",
    "outranks",
    "parse",
    "render",
    "render_message",
    "shared_capabilities",
    "show",
    "split_reasoning",
    "to_json",
    "to_openai",
    "tool_input",
    "user_summary",
    "validate",
    "visible",
]
