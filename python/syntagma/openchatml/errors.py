"""The errors of OpenChatML: the eight codes of its taxonomy (§14) and two of this package.

| code | class |
|---|---|
| `E-PARSE-HEADER` | `HeaderError` |
| `E-PARSE-CHANNEL-MISSING` | `ChannelMissingError` |
| `E-BODY-CONSTRAINT-VIOLATION` | `ConstraintError` |
| `E-CALL-SCHEMA` | `CallSchemaError` |
| `E-TOOL-TIMEOUT` | `ToolTimeoutError` |
| `E-TOOL-CANCELLED` | `ToolCancelledError` |
| `E-STREAM-TRUNCATED` | `TruncatedError` |
| `E-PERM-VISIBILITY` | `VisibilityError` |
| `X-TOOL-FAILED` | `ToolFailedError`: a tool raised |
| `X-HIP-UNREPRESENTABLE` | `UnrepresentableError`: Harmony text cannot hold the message |
"""

from __future__ import annotations

import logging
from typing import Any

from syntagma.entry import entry
from syntagma.errors import SyntagmaError

__all__ = [
    "CALL_SCHEMA",
    "CHANNEL_MISSING",
    "CONSTRAINT",
    "ERROR_CODES",
    "HEADER",
    "TOOL_CANCELLED",
    "TOOL_FAILED",
    "TOOL_TIMEOUT",
    "TRUNCATED",
    "UNREPRESENTABLE",
    "VISIBILITY",
    "CallSchemaError",
    "ChannelMissingError",
    "ConstraintError",
    "HeaderError",
    "OpenChatMLError",
    "ToolCancelledError",
    "ToolFailedError",
    "ToolTimeoutError",
    "TruncatedError",
    "UnrepresentableError",
    "VisibilityError",
    "error_for",
    "log_error",
    "user_summary",
]

_LOG = logging.getLogger("syntagma.openchatml")
_LOG.addHandler(logging.NullHandler())

HEADER = "E-PARSE-HEADER"
CHANNEL_MISSING = "E-PARSE-CHANNEL-MISSING"
CONSTRAINT = "E-BODY-CONSTRAINT-VIOLATION"
CALL_SCHEMA = "E-CALL-SCHEMA"
TOOL_TIMEOUT = "E-TOOL-TIMEOUT"
TOOL_CANCELLED = "E-TOOL-CANCELLED"
TRUNCATED = "E-STREAM-TRUNCATED"
VISIBILITY = "E-PERM-VISIBILITY"
TOOL_FAILED = "X-TOOL-FAILED"
UNREPRESENTABLE = "X-HIP-UNREPRESENTABLE"


class OpenChatMLError(SyntagmaError):
    """Base class of the errors of OpenChatML. `offset`, `line` and `column` are the place."""


class HeaderError(OpenChatMLError):
    """A malformed document header, message header, or text outside of any message."""


class ChannelMissingError(OpenChatMLError):
    """A message without a channel where the profile requires one."""


class ConstraintError(OpenChatMLError):
    """A body that is not of the type that its header declares."""


class CallSchemaError(OpenChatMLError):
    """A call whose tool, id, arguments or reply is missing or wrong."""


class ToolTimeoutError(OpenChatMLError):
    """A tool exceeded its deadline."""


class ToolCancelledError(OpenChatMLError):
    """A call was cancelled."""


class TruncatedError(OpenChatMLError):
    """The text ended inside a message, or a response ended without a stop token."""


class VisibilityError(OpenChatMLError):
    """An attempt to show a hidden message or private reasoning."""


class ToolFailedError(OpenChatMLError):
    """A tool raised an exception."""


class UnrepresentableError(OpenChatMLError):
    """A message that plain Harmony text cannot hold."""


_KINDS: dict[str, tuple[type[OpenChatMLError], str]] = {
    HEADER: (HeaderError, "The conversation could not be read."),
    CHANNEL_MISSING: (ChannelMissingError, "The conversation could not be read."),
    CONSTRAINT: (ConstraintError, "The answer did not have the expected form."),
    CALL_SCHEMA: (CallSchemaError, "A tool could not be used."),
    TOOL_TIMEOUT: (ToolTimeoutError, "A tool took too long."),
    TOOL_CANCELLED: (ToolCancelledError, "A tool was cancelled."),
    TRUNCATED: (TruncatedError, "The answer is incomplete."),
    VISIBILITY: (VisibilityError, "This part of the conversation is not shown."),
    TOOL_FAILED: (ToolFailedError, "A tool failed."),
    UNREPRESENTABLE: (UnrepresentableError, "The conversation could not be converted."),
}

ERROR_CODES = tuple(_KINDS)
"""all error codes of this package"""


def error_for(code: str, message: str, **place: Any) -> OpenChatMLError:
    """An error of the class that belongs to a code; of the base class if the code is not in the table above."""
    kind = _KINDS[code][0] if code in _KINDS else OpenChatMLError
    return kind(code, message, **place)


def log_error(code: str, message: str) -> None:
    """Log an error (§14) as a warning of the logger `syntagma.openchatml`. The record has the attribute `code`."""
    _LOG.warning("%s: %s", code, message, extra={"code": code})


@entry
def user_summary(code: str) -> str:
    """One sentence about an error code that is safe to show to an end user: it reveals no content."""
    return _KINDS[code][1] if code in _KINDS else "Something went wrong."
