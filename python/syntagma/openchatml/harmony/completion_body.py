"""The body of a Harmony message while it is being read."""

from __future__ import annotations

from syntagma.json_types import WHITESPACE
from syntagma.parsing import JsonMachine

__all__ = ["CompletionBody"]


class CompletionBody:
    """Collects the text of the current body in pieces. One object serves all bodies in turn.

    Attributes:
        parts: the pieces of the text so far.
    """

    __slots__ = ("_arguments", "_checked", "_reported", "parts")

    def __init__(self) -> None:
        self.parts: list[str] = []
        self._reported = 0  # parts that events have reported
        self._arguments: JsonMachine | None = None
        self._checked = 0  # parts that the machine has read

    def begin(self, *, is_call: bool) -> None:
        """Begin a new body. `is_call`: it contains the arguments of a call."""
        self.parts = []
        self._reported = 0
        self._arguments = JsonMachine() if is_call else None
        self._checked = 0

    @property
    def text(self) -> str:
        """The text so far."""
        return "".join(self.parts)

    def take_unreported(self) -> str:
        """The text that no event has reported yet; it counts as reported afterwards."""
        if self._reported == len(self.parts):
            return ""
        text = "".join(self.parts[self._reported :])
        self._reported = len(self.parts)
        return text

    def is_in_string(self) -> bool:
        """Whether a JSON string is open in a call's arguments: a control token spelled there is read as text."""
        machine = self._arguments
        if machine is None:
            return False
        for part in self.parts[self._checked :]:
            if not self._checked and not part.strip(WHITESPACE).startswith("{"):
                self._arguments = None
                return False
            machine.feed(part, 0, len(part))
            self._checked += 1
        return machine.in_string
