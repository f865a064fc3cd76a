"""A rendered prompt that knows where the assistant's turn begins."""

from __future__ import annotations

__all__ = ["Prompt"]


class Prompt(str):
    """A prompt.

    Attributes:
        start: offset in code points of the assistant's turn. What follows was written by the template, to open the
            turn, or by the assistant; never by user, tool or system.
    """

    __slots__ = ("start",)

    start: int

    def __new__(cls, text: str, start: int) -> Prompt:
        """A prompt of this text whose assistant's turn begins at `start`."""
        prompt = super().__new__(cls, text)
        prompt.start = start
        return prompt

    @property
    def opening(self) -> str:
        """The text from `start` on."""
        return self[self.start :]

    def __getnewargs__(self) -> tuple[str, int]:  # type: ignore[override]
        return str(self), self.start
