"""The interface of argument sources. Each source reads one way to write arguments; all give one JSON object.

A source is made at the commit point: the call's name is known, and its arguments begin. From there on:

1. `declare`, once: the schema of the tool's parameters, if there is one.
2. `feed`, for all text that comes. It returns how far it has read, and a fragment of JSON text. The joined fragments
   are the arguments. There are three outcomes:

   * neither `done` nor `bad`: more text is needed. Text that `feed` has not read (half an escape, half a marker) is
     given to it again, with what follows.
   * `done`: the arguments are complete. The text that was not read is not theirs.
   * `bad`: the next character cannot belong to the arguments. The fragments up to here stay.
   At a repair, `feed` stops before it, and `take_repair` says what is repaired; then `feed` is called again.
3. Before `done` or `bad`: `finish`, if the stream ends; `close`, if the call ends.

Between two calls of `feed`, `open_string` says whether the next text can be passed on without `feed`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, NamedTuple

from syntagma.parsing.repairs import Repairs

__all__ = ["ArgumentSource", "OpenString"]


class OpenString(NamedTuple):
    """An open string value that is passed on as it comes. Text without any of the stops is more of it.

    Attributes:
        stops: characters that `feed` must see: they may end the string, or begin an escape.
        spell: escapes such text for the inside of a JSON string; None: it is escaped already.
    """

    stops: frozenset[str]
    spell: Callable[[str], str] | None = None


class ArgumentSource(ABC):
    """Reads the arguments of one call. The defaults are those of a source that types nothing and holds nothing back.

    Attributes:
        done: whether the arguments are complete.
        bad: whether the next character cannot belong to the arguments.
        withheld: how many of the last characters read are not passed on yet.
    """

    __slots__ = ()

    withheld: int = 0

    ends_at_markers: ClassVar[bool] = False
    """whether a marker outside of strings cannot belong to the arguments, so that it may end their message"""

    done: bool
    bad: bool
    _mending: Repairs | None = None
    """the repairs of a source that mends slips"""

    def declare(self, schema: Mapping[str, Any] | None) -> None:  # noqa: B027  # optional
        """Take the schema of the tool's parameters (None: undeclared), which says how raw values are typed."""

    @abstractmethod
    def feed(self, text: str, pos: int, end: int) -> tuple[int, str]:
        """Read `text[pos:end]` as far as the arguments go.

        Returns:
            the index of the first character that was not read, and the JSON text of what was.
        """

    def finish(self, rest: str) -> str:  # noqa: ARG002  # optional
        """End the arguments where the stream ends; `rest` is the text that `feed` has not read.

        Returns:
            the JSON text that `rest` adds to an open string.
        """
        return ""

    def close(self, rest: str) -> str | None:  # noqa: ARG002  # optional
        """End incomplete arguments where the call ends; `rest` is the text that `feed` has not read.

        Returns:
            the JSON text that completes them; None: it is not certain.
        """
        return None

    @property
    def ends_with_text(self) -> bool:
        """Whether nothing closes the arguments, so that they may end with the text."""
        return False

    @property
    def has_repair(self) -> bool:
        """Whether `feed` has stopped at a repair that `take_repair` has not returned yet."""
        return self._mending is not None and bool(self._mending.repairs)

    def take_repair(self) -> str | None:
        """The repair at which `feed` has stopped, as a sentence, returned once; None: there is none."""
        return self._mending.take() if self._mending is not None else None

    @property
    def pending(self) -> str:
        """The JSON text that was read, or stands next, and is passed on unless what follows shows a slip."""
        return ""

    @property
    def in_string(self) -> bool:
        """Whether a string is open, in which a marker that is not a token is text."""
        return False

    @property
    def open_string(self) -> OpenString | None:
        """The open string, if its text is passed on as it comes; None: all text goes through `feed`."""
        return None
