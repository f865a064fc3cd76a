"""What a format's texts are to an engine, for objects that have a format."""

from __future__ import annotations

from syntagma.formats.chat_format import ChatFormat

__all__ = ["FormatTexts"]


class FormatTexts:
    """Passes on the texts of `format` that an engine is told."""

    __slots__ = ()

    format: ChatFormat

    @property
    def triggers(self) -> tuple[str, ...]:
        """What begins the calls of a turn as the format writes them, for engines that switch a grammar on lazily."""
        return self.format.triggers

    @property
    def stop_strings(self) -> tuple[str, ...]:
        """What ends the turn, for engines whose vocabulary has no token for it."""
        return self.format.stop_strings

    @property
    def preserved_tokens(self) -> tuple[str, ...]:
        """Markers: tokens that a detokenizer must not drop."""
        return self.format.preserved_tokens
