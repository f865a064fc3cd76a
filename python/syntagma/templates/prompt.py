"""A rendered prompt that knows where the assistant's turn begins."""

from __future__ import annotations

__all__ = ["Prompt"]


class Prompt(str):
    """A prompt.

    Attributes:
        start: offset in code points behind which nothing was written by user, tool or system: what is there, the
            template wrote to open the assistant's turn, or the assistant itself.
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
        """The text behind `start`."""
        return self[self.start :]

    def __getnewargs__(self) -> tuple[str, int]:  # type: ignore[override]
        return str(self), self.start
