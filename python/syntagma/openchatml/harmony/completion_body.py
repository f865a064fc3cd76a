"""The body of a Harmony message while it is read."""

from __future__ import annotations

from syntagma.parsing import JsonMachine

__all__ = ["CompletionBody"]

_WHITESPACE = " \t\r\n"


class CompletionBody:
    """Text of one body after the other, in pieces.

    Attributes:
        parts: the text so far.
    """

    __slots__ = ("_arguments", "_checked", "_reported", "parts")

    def __init__(self) -> None:
        self.parts: list[str] = []
        self._reported = 0  # parts that events have reported
        self._arguments: JsonMachine | None = None
        self._checked = 0  # parts that the machine has read

    def begin(self, *, is_call: bool) -> None:
        """A body begins; `is_call`: it holds the arguments of a call."""
        self.parts = []
        self._reported = 0
        self._arguments = JsonMachine() if is_call else None
        self._checked = 0

    @property
    def text(self) -> str:
        """The text so far."""
        return "".join(self.parts)

    def take_unreported(self) -> str:
        """The text that was not yet reported; it counts as reported from now on."""
        if self._reported == len(self.parts):
            return ""
        text = "".join(self.parts[self._reported :])
        self._reported = len(self.parts)
        return text

    def is_in_string(self) -> bool:
        """Whether a string of a call's arguments is open: what is spelled there is text, as far as text can tell."""
        machine = self._arguments
        if machine is None:
            return False
        for part in self.parts[self._checked :]:
            if not self._checked and not part.strip(_WHITESPACE).startswith("{"):
                self._arguments = None
                return False
            machine.feed(part, 0, len(part))
            self._checked += 1
        return machine.in_string
