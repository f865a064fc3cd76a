"""The guard around all endpoints: it answers an exception in the form that the client reads."""

from __future__ import annotations

import asyncio
import logging
from http import HTTPStatus
from typing import TYPE_CHECKING

from starlette.requests import ClientDisconnect

from syntagma.errors import RequestError
from syntagma.serving.errors import error_body
from syntagma.serving.records import current_record
from syntagma.serving.refusals import refusal

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

__all__ = ["Guard"]

_log = logging.getLogger("syntagma.serving")


class Guard:
    """An ASGI application around another: no exception leaves it.

    Args:
        app: the other application.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request; see ASGI."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            await self._app(scope, receive, send)
            return
        except ClientDisconnect:
            return
        except asyncio.CancelledError:
            # The ASGI server ends, and no longer waits for answers.
            answer = refusal(scope["path"], RequestError("E-REQUEST-SHUTDOWN", "the server ends", status=503))
        except Exception as error:
            if error_body(error)[0] == HTTPStatus.INTERNAL_SERVER_ERROR:
                _log.error("%s failed", scope["path"], exc_info=error)
            answer = refusal(scope["path"], error)
        record = current_record()
        if record is None or record.status is None:
            await answer(scope, receive, send)
