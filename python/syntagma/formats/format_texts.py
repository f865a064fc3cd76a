"""The texts of a format that an engine needs, for objects that have a format."""

from __future__ import annotations

from syntagma.formats.chat_format import ChatFormat

__all__ = ["FormatTexts"]


class FormatTexts:
    """Gives the texts of `format` that an engine needs."""

    __slots__ = ()

    format: ChatFormat

    @property
    def triggers(self) -> tuple[str, ...]:
        """The texts that begin the calls of a turn, for engines that switch a grammar on lazily."""
        return self.format.triggers

    @property
    def stop_strings(self) -> tuple[str, ...]:
        """The texts that end the turn, for engines whose vocabulary has no token for them."""
        return self.format.stop_strings

    @property
    def preserved_tokens(self) -> tuple[str, ...]:
        """The markers of the format; a detokenizer must not drop these tokens."""
        return self.format.preserved_tokens
