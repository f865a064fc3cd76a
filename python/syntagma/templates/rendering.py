"""`Rendering`: renders one conversation, as text and again for the prompt's other attributes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from syntagma.templates.continuation import Render, render_continued
from syntagma.templates.segments import Segment, segments_of
from syntagma.templates.turn_start import begun_at, continued_start, opened_start

__all__ = ["Rendering"]


class Rendering(msgspec.Struct, frozen=True, kw_only=True):
    """A template with the variables of one conversation.

    Attributes:
        render: renders the template.
        render_traced: renders it with the origin of each character.
        variables: the template's variables, including `add_generation_prompt`.
        continued: the prompt ends inside the final message.
    """

    render: Render
    render_traced: Render
    variables: Mapping[str, Any]
    continued: bool

    def text(self) -> str:
        """The prompt."""
        return self._written(self.render)

    def start(self, text: str) -> int:
        """The offset of the assistant's turn in the prompt."""
        return (continued_start if self.continued else opened_start)(self.render, self.variables, text)

    def begun(self, text: str) -> int:
        """The offset of the assistant's own text in the prompt: its length, unless the final message is continued."""
        return begun_at(self.render, self.variables, text) if self.continued else len(text)

    def segments(self, text: str) -> tuple[Segment, ...]:
        """The prompt in pieces, each with its origin."""
        return segments_of(text, self._written(self.render_traced))

    def _written(self, render: Render) -> str:
        return render_continued(render, self.variables) if self.continued else render(self.variables)
