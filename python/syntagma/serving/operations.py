"""Settings of access: keys, bounds on them, and origins."""

from __future__ import annotations

import re
from typing import Final

import msgspec

from syntagma.errors import RequestError
from syntagma.serving.keys import Key

__all__ = ["Operations"]

_ALL: Final = ("*", "null")
"""the origins that stand for all pages, and for pages that are files"""
_ORIGIN: Final = re.compile(r"(?!https://[^/]*:443$|http://[^/]*:80$)[a-z][a-z0-9+.-]*://[a-z0-9.\-_\[\]:]+")


class Operations(msgspec.Struct, frozen=True, kw_only=True):
    """Who may use the server, how much, and from which web pages.

    Attributes:
        keys: the accepted keys; empty: no key is needed.
        origins: the origins of web pages that may send requests, such as `https://example.org`; `*`: all.
        rate: requests that a key may make per minute; also the size of its first burst. None: no bound.
        concurrency: requests of a key that may be answered at once; None: no bound.

    Raises:
        RequestError: `E-REQUEST-ARGUMENT`, there is a bound but no key, two keys have one name, or no web page can
            have the origin.
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
