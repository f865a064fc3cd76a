"""Chunks of bytes or text, cut anywhere → text without surrogates."""

from __future__ import annotations

import codecs
import re

from syntagma.errors import ArgumentTypeError

__all__ = ["TextDecoder"]

_SURROGATE = re.compile("[\ud800-\udfff]")


class TextDecoder:
    """Decodes UTF-8 that may be cut inside a sequence; every maximal invalid subpart becomes one U+FFFD.

    Attributes:
        begun: whether a sequence of bytes has begun.
    """

    def __init__(self) -> None:
        # Made when the first bytes come: most parsers get text.
        self._decoder: codecs.IncrementalDecoder | None = None
        self.begun = False

    def decode(self, chunk: str | bytes) -> str:
        """The text that is certain so far.

        Raises:
            ArgumentTypeError: `E-ARGUMENT-CHUNK`, neither text nor bytes.
        """
        if isinstance(chunk, str):
            if not chunk.isascii():
                chunk = _SURROGATE.sub("\ufffd", chunk)
            return self.flush() + chunk if self.begun else chunk
        if isinstance(chunk, bytes | bytearray | memoryview):
            if self._decoder is None:
                self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
            text = self._decoder.decode(bytes(chunk))
            self.begun = bool(self._decoder.getstate()[0])
            return text
        raise ArgumentTypeError("E-ARGUMENT-CHUNK", f"a chunk is str or bytes, not {type(chunk).__name__}")

    def flush(self) -> str:
        """The text of an incomplete sequence, at the end of the input."""
        if not self.begun or self._decoder is None:
            return ""
        self.begun = False
        pending = self._decoder.decode(b"", final=True)
        self._decoder.reset()
        return pending
