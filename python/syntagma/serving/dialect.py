"""What an endpoint that answers with a text is made of: a reader of its requests, and writers of its answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple, Protocol

from starlette.responses import Response

from syntagma.serving.inner import Happening, InnerRequest
from syntagma.serving.settings import Settings

__all__ = ["Asked", "Dialect", "Writer"]


class Writer(Protocol):
    """Writes one answer: `whole` for each happening and then `body`; or `stream` for each, and then `end`."""

    def whole(self, happening: Happening) -> None:
        """Take what happened into an answer that goes out whole."""
        ...

    def body(self) -> bytes:
        """The answer, whole."""
        ...

    def stream(self, happening: Happening) -> Iterator[bytes]:
        """What happened, as events."""
        ...

    def end(self) -> Iterator[bytes]:
        """What comes after the last choice of a stream."""
        ...

    def failed(self, error: BaseException) -> bytes:
        """The event that says that a stream has failed; the last one."""
        ...


class Asked(NamedTuple):
    """A request that was read and checked."""

    request: InnerRequest
    stream: bool
    writer: Callable[[str], Writer]
    """from the name of the model to what writes the answer"""
    ignored: tuple[str, ...] = ()
    """pointers of members that nothing reads"""


class Dialect(Protocol):
    """One endpoint."""

    def read(self, body: bytes, settings: Settings) -> Asked:
        """Read and check a request.

        Raises:
            SyntagmaError: anything that is wrong with it, with the pointer of the field.
        """
        ...

    def refuse(self, error: BaseException) -> Response:
        """The answer to a request that fails before anything was sent."""
        ...
