"""The addresses of the page: its files, and what it asks."""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files
from typing import Any, Final, NamedTuple, TypeVar

import msgspec

from syntagma import formats
from syntagma.errors import RequestError, SyntagmaError
from syntagma.inspector.describing import fault_of
from syntagma.inspector.inspector import Inspector
from syntagma.inspector.values import Asked
from syntagma.typed import as_type

__all__ = ["PAGE_FILES", "Reply", "answer", "page_file", "refused"]

BODY_BYTES: Final = 1 << 20
"""a request has at most so many bytes"""
_TYPES: Final = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}
_JSON: Final = "application/json"
# Nothing comes from elsewhere, and nothing that is typed in is ever run.
_HEADERS: Final = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
}


T = TypeVar("T")


class Reply(NamedTuple):
    """A response of a web server.

    Attributes:
        status: of HTTP.
        headers: names in lower case.
        body: the bytes.
    """

    status: int
    headers: dict[str, str]
    body: bytes


class _At(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is asked about one place."""

    asked: Asked
    at: int
    token: str = ""


class _GoOn(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A request for more of the answer."""

    asked: Asked
    seed: int = 0


def answer(inspector: Inspector, path: str, body: bytes | None) -> Reply:
    """Answer one request of the page.

    Args:
        inspector: looks at requests.
        path: relative to the address of the inspector, without a leading slash; empty for the page itself.
        body: of a POST; None for a GET.

    Returns:
        The reply: 200, 400 with a fault, 404, 405 or 413.
    """
    if not path.startswith("api/"):
        if body is not None:
            return _reply(405, _fault("E-REQUEST-METHOD", "a page is read, not written"))
        return page_file(path)
    if body is not None and len(body) > BODY_BYTES:
        return _reply(413, _fault("E-REQUEST-BODY", f"a request has at most {BODY_BYTES:,} bytes"))
    try:
        return _reply(200, _asked(inspector, path.removeprefix("api/"), body))
    except LookupError:
        return _reply(404, _fault("E-REQUEST-ROUTE", f"there is no {path}"))
    except RequestError as error:
        return _reply(error.status, fault_of(error))
    except SyntagmaError as error:
        return _reply(400, fault_of(error))


def _asked(inspector: Inspector, name: str, body: bytes | None) -> Any:
    if name == "begin" and body is None:
        return {"model": inspector.model_name, "formats": formats.names()}
    if body is None:
        raise LookupError(name)
    try:
        given = msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError) as error:
        raise RequestError("E-REQUEST-JSON", f"the request is not JSON: {error}") from error
    match name:
        case "look":
            return inspector.look(_typed(given, Asked))
        case "step":
            place = _typed(given, _At)
            return inspector.step(place.asked, place.at, place.token)
        case "continue":
            more = _typed(given, _GoOn)
            return inspector.go_on(more.asked, more.seed)
        case _:
            raise LookupError(name)


def _typed(value: Any, kind: type[T]) -> T:
    try:
        return as_type(value, kind)
    except msgspec.ValidationError as error:
        raise RequestError("E-REQUEST-FIELD", f"the request cannot be read: {error}") from error


def refused(error: RequestError) -> Reply:
    """The reply to a request that is refused before the page's own checks, in the form that the page reads."""
    return _reply(error.status, fault_of(error))


def _fault(code: str, message: str) -> Any:
    return fault_of(RequestError(code, message))


def _reply(status: int, value: Any) -> Reply:
    return Reply(status, {**_HEADERS, "content-type": _JSON}, msgspec.json.encode(value))


def page_file(name: str) -> Reply:
    """One of the page's files, or 404.

    Args:
        name: relative to the address of the inspector; empty for the page itself.
    """
    name = name or "index.html"
    known = _files().get(name)
    if known is None:
        return _reply(404, _fault("E-REQUEST-ROUTE", f"there is no {name[:80]!r}"))
    return Reply(200, {**_HEADERS, "content-type": _TYPES[name.rpartition(".")[2]]}, known)


@lru_cache(maxsize=1)
def _files() -> dict[str, bytes]:
    """The page's files by name. Only those are handed out: a path is never one of the system."""
    folder = files("syntagma.inspector") / "static"
    return {one.name: one.read_bytes() for one in folder.iterdir() if one.name.rpartition(".")[2] in _TYPES}


PAGE_FILES: Final = frozenset(_files())
"""the names of the page's files, which tell nothing of a model"""
