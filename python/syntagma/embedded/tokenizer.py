"""Encodes text with a folder's `tokenizer.json`, and decodes token ids incrementally."""

from __future__ import annotations

import codecs
import importlib.util
from collections.abc import Sequence
from pathlib import Path

from syntagma.decoding.encoders import ControlTokens, TokenizerJsonEncoder
from syntagma.decoding.vocabularies.tokenizer_json import read_tokenizer_json
from syntagma.embedded.files import read_file
from syntagma.errors import ModelError, VocabularyError

__all__ = ["Detokenizer", "ModelTokenizer"]


class ModelTokenizer:
    """The tokenizer of a model folder. It needs the `tokenizers` library.

    Attributes:
        token_bytes: the bytes of each token, by id.

    Raises:
        ModelError: `E-MODEL-DEPENDENCY`, the library is missing; `E-MODEL-FILE`, the file cannot be read;
            `E-MODEL-TOKENIZER`, the file or the spelling of its tokens is not supported.
    """

    def __init__(self, path: Path) -> None:
        _require_library()
        read_file(path)
        try:
            tokens = read_tokenizer_json(path, eos_token_ids=())
            self._encoder = TokenizerJsonEncoder(ControlTokens(tokens), path)
            self._encoder.encode("", ())
        except VocabularyError as error:
            message = f"the tokenizer is not supported: {error}"
            raise ModelError("E-MODEL-TOKENIZER", message, source=str(path)) from error
        self.token_bytes: list[bytes] = tokens.table

    def encode(self, text: str, *, markers: bool = True) -> list[int]:
        """The token ids of a text, with nothing added at either end.

        Args:
            text: the text.
            markers: whether the text of control tokens becomes these tokens. Use False for text of others.
        """
        return self._encoder.encode(text, [(0, len(text))] if markers else ())

    def decode(self, token_ids: Sequence[int]) -> str:
        """The text of tokens, including special ones. Invalid UTF-8 becomes U+FFFD."""
        return b"".join(self.token_bytes[token] for token in token_ids).decode("utf-8", "replace")

    def detokenizer(self) -> Detokenizer:
        """A decoder for tokens that arrive one by one."""
        return Detokenizer(self.token_bytes)


class Detokenizer:
    """Decodes tokens one by one. A character that is cut between tokens is withheld until it is complete."""

    def __init__(self, token_bytes: Sequence[bytes]) -> None:
        self._bytes = token_bytes
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def feed(self, token_id: int) -> str:
        """The text that is complete after this token; may be empty."""
        return self._decoder.decode(self._bytes[token_id])

    def finish(self) -> str:
        """The rest of the text: U+FFFD if the last character is incomplete, else empty."""
        return self._decoder.decode(b"", True)


def _require_library() -> None:
    if importlib.util.find_spec("tokenizers") is None:
        raise ModelError("E-MODEL-DEPENDENCY", "the tokenizers library is missing", hint="pip install tokenizers")
