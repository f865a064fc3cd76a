"""The keys that clients show, and who may go on with them."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from syntagma.errors import RequestError

__all__ = ["Key", "key_of", "key_shown", "keys_of_file"]

_BEARER: Final = b"bearer "
_LEAST: Final = 8
"""characters of a key"""


class Key(msgspec.Struct, frozen=True):
    """A key that is accepted; what clients show is not kept.

    Attributes:
        name: how logs and metrics call it.
        digest: the SHA-256 of what clients show, in hexadecimal.
    """

    name: str
    digest: str


def key_of(secret: str, name: str | None = None) -> Key:
    """The key that clients show as `secret`. Without a name, it is called by the beginning of its digest.

    Raises:
        RequestError: `E-REQUEST-ARGUMENT`, it is too short to be a secret, or no header can hold it.
    """
    if len(secret) < _LEAST or not secret.isascii() or not secret.isprintable() or " " in secret:
        # What was given is not repeated: it may be half of a key.
        raise RequestError(
            "E-REQUEST-ARGUMENT",
            f"a key has {_LEAST} characters or more, all of them printable ASCII without blanks",
            hint="make one: openssl rand -hex 32",
        )
    digest = _digest(secret.encode())
    return Key(name=name or f"key-{digest[:8]}", digest=digest)


def keys_of_file(text: str, source: str) -> tuple[Key, ...]:
    """The keys of a file: one a line, as `KEY` or `NAME KEY`; `#` begins a comment line.

    Raises:
        RequestError: `E-REQUEST-ARGUMENT`, with the line.
    """
    keys = []
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        if len(words) > 2:
            raise RequestError("E-REQUEST-ARGUMENT", "a line is KEY or NAME KEY", source=source, line=number)
        try:
            keys.append(key_of(words[-1], words[0] if len(words) == 2 else None))
        except RequestError as error:
            error.source, error.line = source, number
            raise
    if not keys:
        raise RequestError("E-REQUEST-ARGUMENT", "the file has no key", source=source)
    return tuple(keys)


def key_shown(headers: Iterable[tuple[bytes, bytes]], keys: Sequence[Key]) -> Key | None:
    """The key of a request, from `Authorization: Bearer` or `x-api-key`; None: it shows none that is accepted.

    It takes the same time for every request that shows something: all keys are compared, whichever it is.
    """
    found = None
    for name, value in headers:
        if name == b"authorization" and value[: len(_BEARER)].lower() == _BEARER:
            shown = value[len(_BEARER) :].strip()
        elif name == b"x-api-key":
            shown = value
        else:
            continue
        digest = _digest(shown)
        for key in keys:
            if hmac.compare_digest(digest, key.digest):
                found = key
    return found


def _digest(secret: bytes) -> str:
    return hashlib.sha256(secret).hexdigest()
