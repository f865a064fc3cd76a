"""`Prompt`: a rendered prompt that knows where the assistant's turn begins, and the origin of each part."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final, Literal, Protocol

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
        """The tokens that no text of others may become: their ids, by text."""
        ...

    def encode(self, text: str, *, trusted: Sequence[tuple[int, int]] | None = None) -> list[int]:
        """The token ids of a text, with control tokens only in the trusted ranges."""
        ...


class Prompt(str):
    """A prompt: a string with further attributes, which are computed when they are first read.

    Attributes:
        start: offset of the assistant's turn, in code points. The text after it comes from the template or the
            assistant, never from user, tool or system.
        segments: the prompt in pieces with their origins. Only text that certainly belongs to the template has the
            origin `template`.
        begun: offset of the text that the assistant has already written, in code points, if the prompt continues the
            final message; else the length of the prompt.
    """

    __slots__ = ("_begun", "_encoded", "_rendering", "_segments", "_start")

    _begun: int | None
    _encoded: tuple[Encodes, list[int]] | None
    _rendering: Rendering | None
    _segments: tuple[Segment, ...] | None
    _start: int | None

    def __new__(
        cls, text: str, start: int, segments: Sequence[Segment] | None = None, begun: int | None = None
    ) -> Prompt:
        """Create a prompt from its text.

        Args:
            text: the prompt.
            start: see above.
            segments: see above; None or empty: no text is the template's.
            begun: see above; None: the length of the prompt.

        Raises:
            ArgumentError: `E-ARGUMENT-VALUE`, the segments do not add up to the text.
        """
        prompt = super().__new__(cls, text)
        if not segments:
            segments = (Segment(str(text), "user"),) if text else ()
        if "".join(segment.text for segment in segments) != text:
            raise ArgumentError("E-ARGUMENT-VALUE", "the segments do not add up to the text", pointer="/segments")
        prompt._start = start
        prompt._begun = len(text) if begun is None else begun
        prompt._segments = joined(segments)
        prompt._rendering = prompt._encoded = None
        return prompt

    @classmethod
    def rendered(cls, rendering: Rendering) -> Prompt:
        """The prompt of a conversation.

        Raises:
            TemplateError, LimitError: see `ChatTemplate.render`.
        """
        prompt = super().__new__(cls, rendering.text())
        prompt._start = prompt._begun = prompt._segments = prompt._encoded = None
        prompt._rendering = rendering
        return prompt

    @property
    def start(self) -> int:
        """The offset of the assistant's turn, in code points."""
        if self._start is None:
            assert self._rendering is not None
            self._start = self._rendering.start(str(self))
        return self._start

    @property
    def begun(self) -> int:
        """The offset of the text that the assistant has already written, in code points."""
        if self._begun is None:
            assert self._rendering is not None
            self._begun = self._rendering.begun(str(self))
        return self._begun

    @property
    def segments(self) -> tuple[Segment, ...]:
        """The prompt in pieces with their origins.

        Raises:
            LimitError: `E-LIMIT-TEMPLATE-…`, rendering with origins takes more than ten times `template_seconds`.
        """
        if self._segments is None:
            assert self._rendering is not None
            self._segments = self._rendering.segments(str(self))
        return self._segments

    def without_end(self, size: int) -> Prompt:
        """The prompt without its last characters.

        Args:
            size: how many, at least 0; none of them was written before `begun`.

        Raises:
            ArgumentError: `E-ARGUMENT-VALUE`, the size is negative or larger than the prompt.
        """
        if not 0 <= size <= len(self):
            raise ArgumentError("E-ARGUMENT-VALUE", f"size must be from 0 to {len(self)}, not {size}")
        text, segments = self[: len(self) - size], []
        done = 0
        for part, origin in self.segments:
            segments.append(Segment(part[: max(0, len(text) - done)], origin))
            done += len(part)
        return Prompt(text, self.start, segments, self.begun)

    @property
    def opening(self) -> str:
        """The text from `start` on."""
        return self[self.start :]

    def template_ranges(self) -> list[tuple[int, int]]:
        """The ranges of the template's own text: half-open, in code points, ascending."""
        found = []
        done = 0
        for text, origin in self.segments:
            if origin == "template":
                found.append((done, done + len(text)))
            done += len(text)
        return found

    def ids(self, info: Encodes) -> list[int]:
        """The token ids of the prompt, with nothing added. Control tokens come only from the template's own text.

        Args:
            info: the vocabulary, a `TokenizerInfo`.

        Raises:
            VocabularyError: see `TokenizerInfo.encode`.
        """
        if self._encoded is None or self._encoded[0] is not info:
            self._encoded = info, info.encode(str(self), trusted=self.template_ranges())
        return list(self._encoded[1])

    def markers(self) -> frozenset[str]:
        """Likely markers in the template's own text of this prompt.

        These are words in angle brackets and capitals in square brackets: a guess, for use without a vocabulary.
        """
        return markers_in(self.segments)

    def without_lookalikes(
        self, markers: Collection[str], *, mode: Literal["break", "refuse"] = "break", separator: str = ZERO_WIDTH_SPACE
    ) -> Prompt:
        """The prompt for an engine that takes text, without markers in texts of others.

        Args:
            markers: the texts that the engine reads as tokens, each of two characters or more.
            mode: `break` inserts `separator` into each marker that is not completely the template's own text; `refuse`
                raises if there is one.
            separator: the text that breaks a look-alike. The default, U+200B, is invisible; a space is safer if the
                tokenizer drops such characters.

        Raises:
            TemplateError: `E-TEMPLATE-LOOKALIKE`, in mode `refuse`: there is a look-alike.
            ArgumentError: `E-ARGUMENT-VALUE`, a marker is too short or contains the separator, or this is empty.
        """
        for marker in markers:
            if len(marker) < 2 or not separator or separator in marker:
                hint = "a marker has at least two characters and does not contain the separator, which is not empty"
                message = f"the marker {marker!r} cannot be broken by {separator!r}"
                raise ArgumentError("E-ARGUMENT-VALUE", message, hint=hint)
        if mode == "refuse":
            for start, end in lookalikes(self.segments, markers):
                raise TemplateError(
                    "E-TEMPLATE-LOOKALIKE",
                    f"text of others contains the marker {self[start:end]!r}",
                    hint='mode="break" breaks such texts; engines that take token ids do not need this',
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
