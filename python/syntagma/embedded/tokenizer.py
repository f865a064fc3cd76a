"""Text to token ids through a folder's `tokenizer.json`, and token ids back to text as they come."""

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
    """The tokenizer of a model folder; it needs the `tokenizers` library.

    Attributes:
        token_bytes: the bytes that each token writes, by id.

    Raises:
        ModelError: `E-MODEL-DEPENDENCY` (the library is missing), `E-MODEL-FILE` (no readable file) or
            `E-MODEL-TOKENIZER` (the file, or how its tokens spell bytes, is not understood).
    """

    def __init__(self, path: Path) -> None:
        _require_library()
        read_file(path)
        try:
            tokens = read_tokenizer_json(path, eos_token_ids=())
            self._encoder = TokenizerJsonEncoder(ControlTokens(tokens), path)
            self._encoder.encode("", ())
        except VocabularyError as error:
            raise ModelError("E-MODEL-TOKENIZER", f"is not understood: {error}", source=str(path)) from error
        self.token_bytes: list[bytes] = tokens.table

    def encode(self, text: str, *, markers: bool = True) -> list[int]:
        """Token ids; nothing is added at either end.

        Args:
            text: what is encoded.
            markers: whether the text of special and added tokens becomes those tokens. False is for text of users and
                tools: no id of such a token comes out.
        """
        return self._encoder.encode(text, [(0, len(text))] if markers else ())

    def decode(self, token_ids: Sequence[int]) -> str:
        """The text that tokens write, special ones included; bytes that are no UTF-8 become U+FFFD."""
        return b"".join(self.token_bytes[token] for token in token_ids).decode("utf-8", "replace")

    def detokenizer(self) -> Detokenizer:
        """A reader of tokens that come one by one."""
        return Detokenizer(self.token_bytes)


class Detokenizer:
    """Turns tokens into text as they come; a character cut across tokens waits for its rest."""

    def __init__(self, token_bytes: Sequence[bytes]) -> None:
        self._bytes = token_bytes
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def feed(self, token_id: int) -> str:
        """The text that this token completes; may be empty."""
        return self._decoder.decode(self._bytes[token_id])

    def finish(self) -> str:
        """What is left: U+FFFD where the last character was cut off, else nothing."""
        return self._decoder.decode(b"", True)


def _require_library() -> None:
    if importlib.util.find_spec("tokenizers") is None:
        raise ModelError("E-MODEL-DEPENDENCY", "the tokenizers library is missing", hint="pip install tokenizers")
