"""Exceptions as HTTP answers, in the shape that OpenAI clients read."""

from __future__ import annotations

import re
from typing import Any

import msgspec
from starlette.responses import Response

from syntagma.errors import (
    ArgumentError,
    FormatError,
    GrammarError,
    LimitError,
    ModelError,
    RequestError,
    SyntagmaError,
    TemplateError,
)

__all__ = ["ErrorBody", "error_body", "error_response", "json_response", "param_of"]

# What a request can cause by what it holds. Everything else is a fault of the server.
_REQUESTS_FAULT = (ArgumentError, LimitError, TemplateError, GrammarError, FormatError)
_MODEL_CODES = {"E-MODEL-CONTEXT": "context_length_exceeded", "E-MODEL-PROMPT": "empty_prompt"}
_KINDS = {
    400: "invalid_request_error",
    404: "invalid_request_error",
    405: "invalid_request_error",
    413: "invalid_request_error",
    429: "rate_limit_error",
}
_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


class ErrorBody(msgspec.Struct, kw_only=True):
    """What stands under `error`."""

    message: str
    type: str
    param: str | None
    code: str | None


def param_of(pointer: str | None) -> str | None:
    """A JSON pointer as the path that clients show: `/tools/0/function` → `tools[0].function`."""
    if pointer is None:
        return None
    path = ""
    for part in pointer.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        if key.isdecimal():
            path += f"[{key}]"
        elif _PLAIN_KEY.match(key):
            path += f".{key}" if path else key
        else:
            path += f"[{msgspec.json.encode(key).decode()}]"
    return path or None


def error_body(error: BaseException) -> tuple[int, ErrorBody]:
    """HTTP status and body of an exception. What is not the request's fault says nothing about the inside."""
    if isinstance(error, RequestError):
        return error.status, _body(error, error.status, error.code)
    if isinstance(error, ModelError) and error.code in _MODEL_CODES:
        return 400, _body(error, 400, _MODEL_CODES[error.code], param="messages")
    if isinstance(error, _REQUESTS_FAULT):
        return 400, _body(error, 400, error.code)
    code = error.code if isinstance(error, SyntagmaError) else None
    return 500, ErrorBody(message="the server failed", type="server_error", param=None, code=code)


def _body(error: SyntagmaError, status: int, code: str, *, param: str | None = None) -> ErrorBody:
    lines = [error.message]
    if error.place and error.pointer is None:
        lines[0] += f" ({error.place})"
    if error.excerpt:
        lines.append(error.excerpt)
    if error.hint:
        lines.append(f"hint: {error.hint}")
    return ErrorBody(
        message="\n".join(lines),
        type=_KINDS.get(status, "invalid_request_error"),
        param=param or param_of(error.pointer),
        code=code,
    )


def error_response(error: BaseException) -> Response:
    """The HTTP answer to an exception."""
    status, body = error_body(error)
    return json_response({"error": body}, status, {"retry-after": "1"} if status == 429 else None)


def json_response(payload: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """A JSON answer."""
    return Response(msgspec.json.encode(payload), status, headers, "application/json")
