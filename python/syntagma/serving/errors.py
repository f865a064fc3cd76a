"""Exceptions as HTTP answers, in the shape that OpenAI clients read."""

from __future__ import annotations

import re
from typing import Any, Final

import msgspec
from starlette.responses import Response

from syntagma.errors import (
    ArgumentError,
    FormatError,
    GrammarError,
    LimitError,
    RequestError,
    SyntagmaError,
    TemplateError,
    UpstreamError,
)
from syntagma.json_pointer import steps_of
from syntagma.option_hints import in_options

__all__ = [
    "ERROR_HEADER",
    "ErrorAnswer",
    "ErrorBody",
    "error_body",
    "error_headers",
    "error_response",
    "json_response",
    "param_of",
]

# Errors that the content of a request can cause. All others are faults of the server.
_REQUESTS_FAULT = (ArgumentError, LimitError, TemplateError, GrammarError, FormatError)
# Further ones by code.
_REQUESTS_CODES = ("E-MODEL-CONTEXT", "E-MODEL-PROMPT", "E-MATCH-DEAD")
# Codes that clients know by another name.
_KNOWN_CODES = {
    "E-MODEL-CONTEXT": "context_length_exceeded",
    "E-REQUEST-MODEL": "model_not_found",
    "E-REQUEST-KEY": "invalid_api_key",
}
_KINDS = {
    400: "invalid_request_error",
    401: "invalid_request_error",
    404: "invalid_request_error",
    405: "invalid_request_error",
    408: "invalid_request_error",
    413: "invalid_request_error",
    429: "rate_limit_error",
    502: "server_error",
    501: "server_error",
    503: "server_error",
    504: "server_error",
}
ERROR_HEADER: Final = "x-syntagma-error"
"""the header with the code of an error, for dialects whose bodies have none, and for logs"""
_COME_BACK = (429, 503)
_OF_ENGINES: Final = {
    "E-UPSTREAM-ANSWER": "the engine's answer cannot be read",
    "E-UPSTREAM-BROKEN": "the engine's answer broke off",
    "E-UPSTREAM-BUSY": "the engine is busy or not ready",
    "E-UPSTREAM-CONNECT": "the engine cannot be reached",
    "E-UPSTREAM-FAILED": "the engine failed",
    "E-UPSTREAM-KEY": "the engine rejects the server's key",
    "E-UPSTREAM-REFUSED": "the engine does not take such requests",
}
"""what clients are told in place of an engine's words, which are for the operator"""
_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


class ErrorBody(msgspec.Struct, kw_only=True):
    """The value of `error`."""

    message: str
    type: str
    param: str | None
    code: str | None


class ErrorAnswer(msgspec.Struct, kw_only=True):
    """The body of an answer that is an error."""

    error: ErrorBody


def param_of(pointer: str | None) -> str | None:
    """A JSON pointer as the path that clients show: `/tools/0/function` → `tools[0].function`."""
    if pointer is None:
        return None
    path = ""
    for key in steps_of(pointer):
        if key.isdecimal():
            path += f"[{key}]"
        elif _PLAIN_KEY.match(key):
            path += f".{key}" if path else key
        else:
            path += f"[{msgspec.json.encode(key).decode()}]"
    return path or None


def error_body(error: BaseException) -> tuple[int, ErrorBody]:
    """HTTP status and body of an exception. For a fault of the server, the body says nothing about the inside."""
    if isinstance(error, RequestError):
        return error.status, _body(error, error.status)
    if isinstance(error, UpstreamError):
        body = _body(error, error.status)
        # What it says of the request itself is for the client, who acts on it.
        if error.status != 400 and error.code in _OF_ENGINES:
            body.message = _OF_ENGINES[error.code]
        return error.status, body
    if isinstance(error, _REQUESTS_FAULT) or (isinstance(error, SyntagmaError) and error.code in _REQUESTS_CODES):
        return 400, _body(error, 400)
    code = error.code if isinstance(error, SyntagmaError) else None
    return 500, ErrorBody(message="the server failed", type="server_error", param=None, code=code)


def _body(error: SyntagmaError, status: int) -> ErrorBody:
    lines = [error.message]
    if error.line is not None:
        # The place within the text that `param` names.
        lines[0] += f" (line {error.line}, column {error.column})"
    if error.excerpt:
        lines.append(error.excerpt)
    if error.hint:
        lines.append(f"hint: {in_options(error.hint)}")
    return ErrorBody(
        message="\n".join(lines),
        type=_KINDS.get(status, "invalid_request_error"),
        param=param_of(error.pointer),
        code=_KNOWN_CODES.get(error.code, error.code),
    )


def error_response(error: BaseException) -> Response:
    """The HTTP answer to an exception."""
    status, body = error_body(error)
    return json_response(ErrorAnswer(error=body), status, error_headers(error, status))


def error_headers(error: BaseException, status: int) -> dict[str, str]:
    """The headers of the answer to an exception."""
    headers = {ERROR_HEADER: error.code} if isinstance(error, SyntagmaError) else {}
    return headers | ({"retry-after": "1"} if status in _COME_BACK else {})


def json_response(payload: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """A JSON answer."""
    return Response(msgspec.json.encode(payload), status, headers, "application/json")
