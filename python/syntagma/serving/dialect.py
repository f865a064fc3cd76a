"""A dialect: the reader of an endpoint's requests and the writer of its answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple, Protocol

from starlette.responses import Response

from syntagma.serving.conversation import LeftOut
from syntagma.serving.inner import InnerRequest, Update
from syntagma.serving.settings import Settings

__all__ = ["Asked", "Dialect", "Writer"]


class Writer(Protocol):
    """Writes one answer: `whole` for each update, then `body`; or, in a stream, `stream` for each, then `end`."""

    def whole(self, update: Update) -> None:
        """Add an update to an answer that is sent as one body."""
        ...

    def body(self) -> bytes:
        """The body of that answer."""
        ...

    def stream(self, update: Update) -> Iterator[bytes]:
        """The server-sent events of an update."""
        ...

    def end(self) -> Iterator[bytes]:
        """The events after the last choice of a stream."""
        ...

    def failed(self, error: BaseException) -> bytes:
        """The last event of a stream that fails, with the error."""
        ...


class Asked(NamedTuple):
    """A request that was read and checked."""

    request: InnerRequest
    stream: bool
    writer: Callable[[str], Writer]
    """makes the writer of the answer; its argument is the model's name"""
    ignored: tuple[str, ...] = ()
    """pointers of members that nothing reads"""
    left_out: tuple[LeftOut, ...] = ()
    """tools and items that the model does not see"""

    @property
    def all_ignored(self) -> tuple[str, ...]:
        """Pointers of all that has no effect."""
        return (*self.ignored, *(left.pointer for left in self.left_out))


class Dialect(Protocol):
    """How one endpoint reads requests and refuses them."""

    def read(self, body: bytes, settings: Settings) -> Asked:
        """Read and check a request.

        Raises:
            SyntagmaError: something is wrong with it; with the pointer of the field.
        """
        ...

    def refuse(self, error: BaseException) -> Response:
        """The answer to a request that fails before anything is sent."""
        ...
