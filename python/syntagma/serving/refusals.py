"""Answers to requests that are refused before their endpoint reads them, in the form that its clients read."""

from __future__ import annotations

from typing import Final

from starlette.responses import Response

from syntagma.serving.errors import error_response
from syntagma.serving.messages import MessagesDialect

__all__ = ["refusal"]

_ANTHROPIC: Final = "/v1/messages"


def refusal(path: str, error: BaseException) -> Response:
    """The answer to a request for this path that is refused with an error."""
    if path == _ANTHROPIC or path.startswith(f"{_ANTHROPIC}/"):
        return MessagesDialect().refuse(error)
    return error_response(error)
