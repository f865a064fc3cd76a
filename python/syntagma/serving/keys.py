"""The keys that clients show, and which are accepted."""

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
"""characters that a key has at least"""


class Key(msgspec.Struct, frozen=True):
    """A key that is accepted; the secret itself is not kept.

    Attributes:
        name: its name in logs and metrics.
        digest: the SHA-256 of the secret, in hexadecimal.
    """

    name: str
    digest: str


def key_of(secret: str, name: str | None = None) -> Key:
    """The key of a secret. Without a name, it gets the beginning of its digest as one.

    Raises:
        RequestError: `E-REQUEST-ARGUMENT`, the secret is too short, or no header can hold it.
    """
    if len(secret) < _LEAST or not secret.isascii() or not secret.isprintable() or " " in secret:
        # The message does not repeat the text: it may be half of a key.
        raise RequestError(
            "E-REQUEST-ARGUMENT",
            f"a key has {_LEAST} characters or more, all of them printable ASCII without blanks",
            hint="make one: openssl rand -hex 32",
        )
    digest = _digest(secret.encode())
    return Key(name=name or f"key-{digest[:8]}", digest=digest)


def keys_of_file(text: str, source: str) -> tuple[Key, ...]:
    """The keys of a file, one per line: `KEY` or `NAME KEY`; `#` begins a comment line.

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
    """The key of a request, from `Authorization: Bearer` or `x-api-key`; None: it shows no accepted key.

    It takes the same time whatever is shown: all keys are compared.
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
