"""Exceptions in the shape that Anthropic's clients read."""

from __future__ import annotations

from typing import Literal

import msgspec

from syntagma.serving.errors import error_body

__all__ = ["MessagesError", "error_payload"]

_TYPES = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    408: "timeout_error",
    413: "request_too_large",
    429: "rate_limit_error",
    503: "overloaded_error",
    529: "overloaded_error",
}


class ErrorText(msgspec.Struct, kw_only=True):
    """The value of `error`."""

    type: str
    message: str


class MessagesError(msgspec.Struct, kw_only=True):
    """The body of an answer that is an error."""

    type: Literal["error"] = "error"
    error: ErrorText


def error_payload(error: BaseException) -> tuple[int, MessagesError]:
    """HTTP status and body of an exception."""
    status, body = error_body(error)
    kind = _TYPES.get(status, "invalid_request_error" if status < 500 else "api_error")
    message = body.message if body.param is None else f"{body.param}: {body.message}"
    return status, MessagesError(error=ErrorText(type=kind, message=message))
