"""`--limits`: bounds on inputs and work, from names or from files."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Any

import msgspec

from syntagma.cli.inputs import read_text
from syntagma.errors import RequestError
from syntagma.limits import Limits

if TYPE_CHECKING:
    from syntagma.cli.serve_options import ServeOptions

__all__ = ["limits_of"]


def limits_of(options: ServeOptions) -> Limits:
    """The bounds of a server.

    Raises:
        RequestError: `E-REQUEST-ARGUMENT`, a name is unknown or a value is wrong; `E-REQUEST-FILE`, a file cannot be
            read.
    """
    given: dict[str, Any] = {"server_queue_seconds": options.queue_timeout}
    for one in options.limits or ():
        name, equals, value = one.partition("=")
        given |= {name.strip(): _number(value)} if equals else _of_file(one)
    unknown = sorted(given.keys() - {field.name for field in msgspec.structs.fields(Limits)})
    if unknown:
        raise _wrong(f"there is no limit {unknown[0]!r}", hint="docs/reference/limits.md lists them")
    try:
        return msgspec.convert(given, Limits, strict=True)
    except msgspec.ValidationError as error:
        raise _wrong(str(error)) from error


def _number(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def _of_file(path: str) -> dict[str, Any]:
    try:
        return tomllib.loads(read_text(path))
    except tomllib.TOMLDecodeError as error:
        raise RequestError("E-REQUEST-FILE", f"is no TOML: {error}", source=path) from error


def _wrong(message: str, hint: str | None = None) -> RequestError:
    return RequestError("E-REQUEST-ARGUMENT", f"--limits: {message}", hint=hint)
