"""Reads completions of Harmony models from token ids."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Mapping

from syntagma.entry import entry
from syntagma.limits import Limits
from syntagma.openchatml.harmony.completion_reader import HARMONY_TOKENS, HarmonyReader
from syntagma.openchatml.read_events import ReadEvent
from syntagma.openchatml.tokens import spell

__all__ = ["TokenReader"]


class TokenReader:
    """Reads token ids: control tokens by id, all others as text, even if they spell a control token.

    Attributes:
        reader: the text reader, which has the messages and errors.
    """

    @entry
    def __init__(
        self,
        decode: Callable[[int], bytes],
        control: Mapping[int, str],
        *,
        role: str | None = "assistant",
        limits: Limits | None = None,
    ) -> None:
        """Create a reader.

        Args:
            decode: returns the bytes of a token that is not a control token.
            control: names of control tokens, such as `start`, by id. Leave it empty if the vocabulary has none: control
                tokens are then recognised by their text, across any number of tokens.
            role: the ids continue a prompt that ended after the start token and this role.
            limits: as for `HarmonyReader`.
        """
        self.reader = HarmonyReader(role=role, limits=limits)
        self._decode = decode
        self._control = {number: name.removeprefix("<|").removesuffix("|>") for number, name in control.items()}
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    @property
    def is_inside_character(self) -> bool:
        """Whether the last token ended inside a character."""
        return bool(self._decoder.getstate()[0])

    def feed(self, token: int) -> list[ReadEvent]:
        """Read one token and return its events."""
        if not self._control:
            return self.reader.feed(self._decode(token))
        name = self._control.get(token)
        if name is None:
            return self.reader.feed_text(self._decoder.decode(self._decode(token)))
        events = self.reader.feed_text(self._decoder.decode(b"", True))
        if name not in HARMONY_TOKENS:
            return events + self.reader.feed_text(spell(name))
        return events + self.reader.feed_token(name)

    def finish(self) -> list[ReadEvent]:
        """End the tokens and return the last events."""
        return self.reader.feed_text(self._decoder.decode(b"", True)) + self.reader.finish()
