"""A rendered prompt that knows where the assistant's turn begins, and who wrote what."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final, Literal, Protocol

from syntagma.entry import entry
from syntagma.errors import ArgumentError, TemplateError
from syntagma.templates.lookalikes import cuts, lookalikes, markers_in, separated
from syntagma.templates.rendering import Rendering
from syntagma.templates.segments import Segment, joined

__all__ = ["Encodes", "Prompt"]

ZERO_WIDTH_SPACE: Final = "\u200b"


class Encodes(Protocol):
    """A vocabulary that encodes text."""

    @property
    def control_tokens(self) -> Mapping[str, int]:
        """The tokens that no text of others may become, id by text."""
        ...

    def encode(self, text: str, *, trusted: Sequence[tuple[int, int]] | None = None) -> list[int]:
        """Token ids of a text, with control tokens only where it is trusted."""
        ...


class Prompt(str):
    """A prompt. What it knows beside its text is found out when it is first asked for.

    Attributes:
        start: offset in code points of the assistant's turn. What follows was written by the template, to open the
            turn, or by the assistant; never by user, tool or system.
        segments: the prompt in pieces with their origins, which add up to it. A text that belongs to the template is
            `template`; one of which this is not certain is not.
        begun: offset in code points of what the assistant has written already, where its final message is continued;
            else the end.
    """

    __slots__ = ("_begun", "_encoded", "_rendering", "_segments", "_start")

    _begun: int | None
    _encoded: tuple[Encodes, list[int]] | None
    _rendering: Rendering | None
    _segments: tuple[Segment, ...] | None
    _start: int | None

    @entry
    def __new__(
        cls, text: str, start: int, segments: Sequence[Segment] | None = None, begun: int | None = None
    ) -> Prompt:
        """A prompt of this text whose assistant's turn begins at `start`.

        Args:
            text: the prompt.
            start: see above.
            segments: see above; None, or none: nothing of the text is the template's.
            begun: see above; None: the end.

        Raises:
            ArgumentError: `E-ARGUMENT-VALUE`, the segments do not add up to the text.
        """
        prompt = super().__new__(cls, text)
        if not segments:
            segments = (Segment(str(text), "user"),) if text else ()
        if "".join(segment.text for segment in segments) != text:
            raise ArgumentError("E-ARGUMENT-VALUE", "the segments of a prompt add up to its text", pointer="/segments")
        prompt._start = start
        prompt._begun = len(text) if begun is None else begun
        prompt._segments = joined(segments)
        prompt._rendering = prompt._encoded = None
        return prompt

    @classmethod
    @entry
    def rendered(cls, rendering: Rendering) -> Prompt:
        """The prompt of a conversation.

        Raises:
            TemplateError, LimitError: as `ChatTemplate.render`.
        """
        prompt = super().__new__(cls, rendering.text())
        prompt._start = prompt._begun = prompt._segments = prompt._encoded = None
        prompt._rendering = rendering
        return prompt

    @property
    def start(self) -> int:
        """Offset in code points of the assistant's turn."""
        if self._start is None:
            assert self._rendering is not None
            self._start = self._rendering.start(str(self))
        return self._start

    @property
    def begun(self) -> int:
        """Offset in code points of what the assistant has written already."""
        if self._begun is None:
            assert self._rendering is not None
            self._begun = self._rendering.begun(str(self))
        return self._begun

    @property
    def segments(self) -> tuple[Segment, ...]:
        """The prompt in pieces with their origins.

        Raises:
            LimitError: `E-LIMIT-TEMPLATE-…`, the render with origins takes far longer than the one without.
        """
        if self._segments is None:
            assert self._rendering is not None
            self._segments = self._rendering.segments(str(self))
        return self._segments

    @property
    def opening(self) -> str:
        """The text from `start` on."""
        return self[self.start :]

    def template_ranges(self) -> list[tuple[int, int]]:
        """Where the template's own text stands, as half-open ranges of code points, ascending."""
        found = []
        done = 0
        for text, origin in self.segments:
            if origin == "template":
                found.append((done, done + len(text)))
            done += len(text)
        return found

    @entry
    def ids(self, info: Encodes) -> list[int]:
        """Token ids, in which control tokens come only from the template's own text; nothing is added at either end.

        Args:
            info: the vocabulary, a `TokenizerInfo`.

        Raises:
            VocabularyError: as `TokenizerInfo.encode`.
        """
        if self._encoded is None or self._encoded[0] is not info:
            self._encoded = info, info.encode(str(self), trusted=self.template_ranges())
        return list(self._encoded[1])

    def markers(self) -> frozenset[str]:
        """What looks like a marker in the template's own text of this prompt.

        That is a piece without whitespace in angle brackets, and capitals in square brackets: a guess, for want of a
        vocabulary.
        """
        return markers_in(self.segments)

    @entry
    def without_lookalikes(
        self, markers: Collection[str], *, mode: Literal["break", "refuse"] = "break", separator: str = ZERO_WIDTH_SPACE
    ) -> Prompt:
        """The prompt for an engine that takes text, where no text of others is a marker to it.

        Args:
            markers: the texts that the engine reads as tokens, each of two characters or more.
            mode: `break` puts `separator` between two characters of each text that is a marker and not wholly the
                template's; `refuse` raises.
            separator: what breaks a look-alike. The default, U+200B, is not visible; a space is safer where a tokenizer
                drops such characters.

        Raises:
            TemplateError: `E-TEMPLATE-LOOKALIKE`, there is one, in mode `refuse`.
            ArgumentError: `E-ARGUMENT-VALUE`, a marker is too short, holds the separator, or the separator is empty.
        """
        for marker in markers:
            if len(marker) < 2 or not separator or separator in marker:
                raise ArgumentError("E-ARGUMENT-VALUE", f"the marker {marker!r} cannot be broken by {separator!r}")
        if mode == "refuse":
            for start, end in lookalikes(self.segments, markers):
                raise TemplateError(
                    "E-TEMPLATE-LOOKALIKE",
                    f"text of others is the marker {self[start:end]!r}",
                    hint='mode="break" breaks such texts; an engine that takes token ids needs neither',
                    offset=start,
                )
            return self
        places = cuts(self.segments, markers)
        if not places:
            return self
        segments = separated(self.segments, places, separator)
        start, begun = (at + len(separator) * sum(place <= at for place in places) for at in (self.start, self.begun))
        return Prompt("".join(segment.text for segment in segments), start, segments, begun)

    def __getnewargs__(self) -> tuple[str, int, tuple[Segment, ...], int]:  # type: ignore[override]
        return str(self), self.start, self.segments, self.begun

    def __getstate__(self) -> None:
        return None
