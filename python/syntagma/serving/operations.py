"""What an operator may choose beyond how requests are answered."""

from __future__ import annotations

import re
from typing import Final

import msgspec

from syntagma.errors import RequestError
from syntagma.serving.keys import Key

__all__ = ["Operations"]

_ALL: Final = ("*", "null")
"""every page; pages that are files"""
_ORIGIN: Final = re.compile(r"(?!https://[^/]*:443$|http://[^/]*:80$)[a-z][a-z0-9+.-]*://[a-z0-9.\-_\[\]:]+")


class Operations(msgspec.Struct, frozen=True, kw_only=True):
    """Who may ask, how much, and from where.

    Attributes:
        keys: those that are accepted; none: everybody may ask.
        origins: web pages that may ask, such as `https://example.org`; `*`: all.
        rate: requests that a key may make: so many at first, and so many more a minute; None: no bound.
        concurrency: requests of a key that are answered at once; None: no bound.

    Raises:
        RequestError: `E-REQUEST-ARGUMENT`, a bound on keys without keys, two keys of one name, or an origin that no
            web page has.
    """

    keys: tuple[Key, ...] = ()
    origins: tuple[str, ...] = ()
    rate: int | None = None
    concurrency: int | None = None

    def __post_init__(self) -> None:
        if not self.keys and (self.rate is not None or self.concurrency is not None):
            raise RequestError(
                "E-REQUEST-ARGUMENT", "bounds on what a key may ask need keys", hint="add --api-key or --api-keys"
            )
        for origin in self.origins:
            if origin not in _ALL and not _ORIGIN.fullmatch(origin):
                raise RequestError(
                    "E-REQUEST-ARGUMENT",
                    f"no web page has the origin {origin!r}",
                    hint="an origin is a scheme and a host in small letters, and a port if it is not the usual one: "
                    "https://example.org",
                )
        names = [key.name for key in self.keys]
        if len(set(names)) < len(names):
            raise RequestError("E-REQUEST-ARGUMENT", f"two keys are called {max(names, key=names.count)!r}")
