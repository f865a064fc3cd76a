"""`GET /`: links to what the server has, as a page for browsers and as JSON for all else.

Nothing on it depends on who asks or on what is served, so it needs no key. Addresses are relative, because a proxy may
give the server another prefix.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from syntagma.serving.errors import json_response
from syntagma.serving.openapi import ENDPOINTS
from syntagma.serving.small_answers import Links

__all__ = ["links"]

_PATHS: Final = {
    "health": "health",
    "ready": "ready",
    "models": "v1/models",
    "openapi": "openapi.json",
    "metrics": "metrics",
    "version": "version",
}
_INSPECTOR: Final = ("inspector/", "What happens to a request and its answer.")
_HEADERS: Final = {
    "vary": "accept",
    "content-security-policy": "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
}


def links(*, inspector: bool) -> Callable[[Request], Awaitable[Response]]:
    """The endpoint `/`.

    Args:
        inspector: whether the server has the inspector's page.
    """
    shown = {name: (path, ENDPOINTS[f"GET /{path}"].summary) for name, path in _PATHS.items()}
    if inspector:
        shown["inspector"] = _INSPECTOR
    as_json = Links(links={name: path for name, (path, _) in shown.items()})
    items = "".join(f'<li><a href="{path}">{path}</a>: {summary}' for path, summary in shown.values())
    page = f'<!doctype html><html lang="en"><meta charset="utf-8"><title>Syntagma</title><ul>{items}</ul></html>'

    async def endpoint(request: Request) -> Response:
        browser = "text/html" in request.headers.get("accept", "")
        response = Response(page, media_type="text/html") if browser else json_response(as_json)
        response.headers.update(_HEADERS)
        return response

    return endpoint
