"""What reads the arguments of a call. Each source knows one way of writing them; all give one JSON object.

A source is made where a call is certain: its name is known, and its arguments begin. From there on:

1. `declare`, once: the schema of the tool's parameters, if there is one.
2. `feed`, for all text that comes. It returns how far it has read, and a fragment of JSON text. The fragments, joined,
   are the arguments. There are three outcomes:

   * neither `done` nor `bad`: more text is needed. What `feed` has not read (half an escape, half a marker) it wants to
     see again, with what follows.
   * `done`: the arguments are whole. The text that was not read is not theirs.
   * `bad`: the next character cannot belong to the arguments. The fragments up to here stay.
   Where something is repaired, `feed` stops before it, and `take_repair` says what it is: `feed` comes next again.
3. `finish`, only if the stream ends before one of the last two; `close`, only if the call ends there.

Between two calls of `feed`, `open_string` says whether the next text can be passed on without `feed`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, NamedTuple

__all__ = ["ArgumentSource", "OpenString"]


class OpenString(NamedTuple):
    """A string value that is passed on as it comes. Text without any of the stops is more of it.

    Attributes:
        stops: characters that `feed` must see: they may end the string, or begin an escape.
        spell: turns such text into the inside of a JSON string; None: it is one already.
    """

    stops: frozenset[str]
    spell: Callable[[str], str] | None = None


class ArgumentSource(ABC):
    """Reads the arguments of one call. The defaults are those of a source that types nothing and keeps nothing back.

    Attributes:
        done: the arguments are whole.
        bad: the next character cannot belong to the arguments.
        withheld: how many of the last characters that were read are not passed on yet.
    """

    __slots__ = ()

    withheld: int = 0

    ends_at_markers: ClassVar[bool] = False
    """A marker outside of a string cannot belong to the arguments, so that it may end the message they are in."""

    done: bool
    bad: bool

    def declare(self, schema: Mapping[str, Any] | None) -> None:  # noqa: B027  # optional
        """Take the schema of the tool's parameters (None: undeclared), which says how raw values are typed."""

    @abstractmethod
    def feed(self, text: str, pos: int, end: int) -> tuple[int, str]:
        """Read `text[pos:end]` as far as the arguments go.

        Returns:
            the index of the first character that was not read, and the JSON text of what was.
        """

    def finish(self, rest: str) -> str:  # noqa: ARG002  # optional
        """The stream has ended; `rest` is the text that `feed` has not read.

        Returns:
            what `rest` adds to a string that is open, as JSON text.
        """
        return ""

    def close(self, rest: str) -> str | None:  # noqa: ARG002  # optional
        """The call ends here, though the arguments are not whole; `rest` is the text that `feed` has not read.

        Returns:
            what makes them whole, as JSON text; None: nothing that is certain does.
        """
        return None

    @property
    def ends_with_text(self) -> bool:
        """Nothing closes the arguments, so that they may end where the text does."""
        return False

    @property
    def has_repair(self) -> bool:
        """Something is repaired where `feed` has stopped, and `take_repair` has not said what."""
        return False

    def take_repair(self) -> str | None:
        """What is repaired where `feed` has stopped, as a sentence, given once; None: nothing."""
        return None

    @property
    def in_string(self) -> bool:
        """A string is open, in which a marker that is not a token is text."""
        return False

    @property
    def open_string(self) -> OpenString | None:
        """The string that is open, if its text is passed on as it comes; None: all text goes through `feed`."""
        return None
