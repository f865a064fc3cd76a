"""`TokenizerInfo`: a vocabulary, with the bytes of every token and the special tokens."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from syntagma import _engine
from syntagma.decoding.encoders import ControlTokens, Encoder, SectionEncoder, TokenizerJsonEncoder
from syntagma.decoding.vocabularies.gguf import read_gguf_tokens
from syntagma.decoding.vocabularies.tokenizer_json import read_tokenizer_json
from syntagma.decoding.vocabularies.tokenizer_objects import read_huggingface, read_sentencepiece, read_tiktoken
from syntagma.decoding.vocabularies.tokens import Tokens
from syntagma.entry import entry, strict_entry
from syntagma.errors import ArgumentError, ArgumentTypeError, VocabularyError

__all__ = ["TokenizerInfo"]

_STATE_VERSION = 2
"""version of the pickled state"""
_BYTES = 256
_ASCII_BLANKS = "\t\n\v\f\r\x1c\x1d\x1e\x1f "
_BLANKS = _ASCII_BLANKS + "\x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
_NORMALISED = 4
"""largest ratio of a text's bytes to those of its normalised form: a mathematical letter has 4 bytes, `e` has 1"""


class TokenizerInfo:
    """A vocabulary, for compilers and matchers. Immutable; safe for several threads.

    Special tokens never match text. They are allowed only where a grammar asks for them, or as the end of the turn.
    """

    __slots__ = ("_encoder", "_inner", "_longest", "_tokens")

    _longest: int | None

    def __init__(self, tokens: Tokens, vocab_size: int | None = None, encoder: Encoder | None = None) -> None:
        self._tokens = tokens
        self._inner = _vocabulary(tokens, vocab_size)
        self._encoder = encoder
        self._longest = None

    @classmethod
    def from_tokens(
        cls,
        tokens: Sequence[bytes],
        *,
        eos_token_ids: Sequence[int],
        special_token_ids: Sequence[int] = (),
        added_token_ids: Sequence[int] = (),
        vocab_size: int | None = None,
    ) -> TokenizerInfo:
        """A vocabulary from the bytes of its tokens.

        Args:
            tokens: the bytes of each token, by id. A token `b""` is never allowed.
            eos_token_ids: tokens that end a turn; they are special too.
            special_token_ids: tokens that text never matches.
            added_token_ids: further tokens that replace a marker with exactly their text.
            vocab_size: width of the logits, if it is padded. Ids beyond the tokens are never allowed.

        Raises:
            VocabularyError: `E-VOCAB-ID`, an id is outside of `tokens`; `E-VOCAB-SIZE`, `vocab_size` is too small.
        """
        special = tuple(sorted({*special_token_ids, *eos_token_ids}))
        return cls(
            Tokens(
                table=[bytes(token) for token in tokens],
                eos_token_ids=tuple(eos_token_ids),
                special_token_ids=special,
                added_token_ids=tuple(sorted({*special, *added_token_ids})),
            ),
            vocab_size,
        )

    @classmethod
    @entry
    def from_tokenizer_json(
        cls, path: str | Path, *, eos_token_ids: Sequence[int] | None = None, vocab_size: int | None = None
    ) -> TokenizerInfo:
        """A vocabulary from Hugging Face's `tokenizer.json`: byte-level, byte-fallback or metaspace.

        Raises:
            VocabularyError: `E-VOCAB-FILE`, `E-VOCAB-MODEL`, `E-VOCAB-TOKEN`, `E-VOCAB-ROUNDTRIP` or `E-VOCAB-EOS`:
                the file cannot be read, is not supported, contradicts itself, or has no end-of-turn token.
        """
        tokens = read_tokenizer_json(path, eos_token_ids=eos_token_ids)
        return cls(tokens, vocab_size, TokenizerJsonEncoder(ControlTokens(tokens), Path(path)))

    @classmethod
    @entry
    def from_gguf(
        cls, path: str | Path, *, eos_token_ids: Sequence[int] | None = None, vocab_size: int | None = None
    ) -> TokenizerInfo:
        """A vocabulary from a GGUF file.

        Raises:
            ModelError: `E-MODEL-GGUF`, the file is not a GGUF file or is damaged.
            VocabularyError: `E-VOCAB-MODEL`, `E-VOCAB-TOKEN` or `E-VOCAB-EOS`, as for `tokenizer.json`.
        """
        return cls(read_gguf_tokens(path, eos_token_ids=eos_token_ids), vocab_size)

    @classmethod
    def from_huggingface(
        cls, tokenizer: Any, *, eos_token_ids: Sequence[int] | None = None, vocab_size: int | None = None
    ) -> TokenizerInfo:
        """The vocabulary of a fast `transformers` tokenizer, or of a `tokenizers.Tokenizer`.

        Raises:
            ArgumentTypeError: `E-VOCAB-TYPE`, the object is neither.
            VocabularyError: as for `tokenizer.json`; `E-VOCAB-ROUNDTRIP`, decoded tokens differ from the encoded text.
        """
        tokens, description = read_huggingface(tokenizer, eos_token_ids=eos_token_ids)
        return cls(tokens, vocab_size, TokenizerJsonEncoder(ControlTokens(tokens), description))

    @classmethod
    def from_tiktoken(
        cls, encoding: Any, *, eos_token_ids: Sequence[int] | None = None, vocab_size: int | None = None
    ) -> TokenizerInfo:
        """The vocabulary of a `tiktoken.Encoding`.

        Raises:
            VocabularyError: `E-VOCAB-EOS`, it has no end-of-turn token; `E-VOCAB-ROUNDTRIP`, decoded tokens differ from
                the encoded text.
        """
        tokens = read_tiktoken(encoding, eos_token_ids=eos_token_ids)
        return cls(tokens, vocab_size, SectionEncoder(ControlTokens(tokens), encoding.encode_ordinary))

    @classmethod
    @entry
    def from_sentencepiece(
        cls, path: str | Path, *, eos_token_ids: Sequence[int] | None = None, vocab_size: int | None = None
    ) -> TokenizerInfo:
        """The vocabulary of a SentencePiece model file; needs the `sentencepiece` library.

        Raises:
            VocabularyError: `E-VOCAB-DEPENDENCY`, the library is missing; `E-VOCAB-FILE`, the file cannot be read;
                `E-VOCAB-EOS` or `E-VOCAB-ROUNDTRIP`, as for tiktoken.
        """
        tokens, first, later = read_sentencepiece(path, eos_token_ids=eos_token_ids)
        return cls(tokens, vocab_size, SectionEncoder(ControlTokens(tokens), first, later))

    @property
    def vocab_size(self) -> int:
        """The width of the logits, in tokens."""
        return self._inner.vocab_size

    @property
    def eos_token_ids(self) -> tuple[int, ...]:
        """Tokens that end a turn."""
        return self._tokens.eos_token_ids

    @property
    def special_token_ids(self) -> frozenset[int]:
        """Tokens that text never matches."""
        return frozenset(self._tokens.special_token_ids)

    @property
    def added_token_ids(self) -> frozenset[int]:
        """Tokens that replace a marker with exactly their text."""
        return frozenset(self._tokens.added_token_ids)

    @property
    def control_tokens(self) -> dict[str, int]:
        """The tokens that no text of others may become: their ids, by text.

        These are the special tokens, the ends of a turn, and the added tokens that are more than letters, digits and
        whitespace.
        """
        return dict(ControlTokens(self._tokens).ids)

    def token_bytes(self, token_id: int) -> bytes:
        """The bytes of a token; empty for ids that are never allowed.

        Raises:
            VocabularyError: `E-VOCAB-ID`, the id is outside of the vocabulary.
        """
        table = self._tokens.table
        try:
            if 0 <= token_id < self.vocab_size:
                return table[token_id] if token_id < len(table) else b""
        except TypeError as error:
            kind = type(token_id).__name__
            raise ArgumentTypeError("E-ARGUMENT-TYPE", f"a token id must be an integer, not a {kind}") from error
        raise VocabularyError("E-VOCAB-ID", f"token {token_id} is outside of the vocabulary of {self.vocab_size}")

    def decode(self, token_ids: Sequence[int]) -> bytes:
        """The bytes of the tokens, including special tokens."""
        return b"".join(self.token_bytes(token_id) for token_id in token_ids)

    def encode(self, text: str, *, trusted: Sequence[tuple[int, int]] | None = None) -> list[int]:
        """The token ids of a text, with nothing added at either end.

        The text of a control token becomes this token where it is trusted; elsewhere it is encoded as plain text.

        Args:
            text: the text.
            trusted: where control tokens may occur: half-open ranges of code points, ascending. A control token must be
                completely in one of them. None: everywhere; `()`: nowhere.

        Raises:
            VocabularyError: `E-VOCAB-ENCODER`, the vocabulary has no encoder (see `with_encoder`);
                `E-VOCAB-DEPENDENCY`, the `tokenizers` library is missing; `E-VOCAB-FILE`, the tokenizer's file can no
                longer be read; `E-VOCAB-CONTROL`, the tokenizer encodes plain text as a control token.
        """
        if self._encoder is None:
            raise VocabularyError(
                "E-VOCAB-ENCODER",
                "the vocabulary has no encoder for text",
                hint="info.with_encoder(encode_text) adds one; from_huggingface, from_tokenizer_json and from_tiktoken "
                "have one",
            )
        return self._encoder.encode(text, ((0, len(text)),) if trusted is None else trusted)

    def least_tokens(self, text: str) -> int:
        """A lower bound on the number of tokens of a text, without encoding it.

        It is the number of the text's bytes without whitespace, divided by the length of the longest token. For text
        that is not ASCII it allows for normalisation. It is 0 if one token may stand for unknown text of any length.
        """
        if self._longest is None:
            table = self._tokens.table
            spelled = {token for token in table if len(token) == 1}
            # Without a token for each byte, text of any length may become one token for unknown text.
            self._longest = max(map(len, table)) if len(spelled) == _BYTES else 0
        if not self._longest:
            return 0
        if text.isascii():
            return -(-(len(text) - sum(map(text.count, _ASCII_BLANKS))) // self._longest)
        size = len(text.encode("utf-8", "surrogatepass"))
        size -= sum(text.count(blank) * len(blank.encode()) for blank in _BLANKS)
        return -(-size // (_NORMALISED * self._longest))

    @strict_entry
    def with_encoder(self, encode_text: Callable[[str], Sequence[int]]) -> TokenizerInfo:
        """The same vocabulary, with a function that encodes plain text.

        Args:
            encode_text: returns the token ids of a text, adds nothing at either end, and encodes the text of special
                tokens as plain text. It is called for each text between two control tokens, and pickled with the
                vocabulary.
        """
        encoder = SectionEncoder(ControlTokens(self._tokens), encode_text)
        return TokenizerInfo(self._tokens, self.vocab_size, encoder)

    def __copy__(self) -> TokenizerInfo:
        return self

    def __deepcopy__(self, _memo: object) -> TokenizerInfo:
        return self

    def __getstate__(self) -> tuple[int, Tokens, int, Encoder | None]:
        return _STATE_VERSION, self._tokens, self.vocab_size, self._encoder

    def __setstate__(self, state: object) -> None:
        """Restore a pickled vocabulary.

        Raises:
            ArgumentError: `E-STATE-FORMAT`, the state is not that of a vocabulary; `E-STATE-VERSION`, it is of another
                version.
            VocabularyError: the state contradicts itself.
        """
        match state:
            case (int(version), *_) if version != _STATE_VERSION:
                message = f"the vocabulary was pickled in version {version}; only version {_STATE_VERSION} can be read"
                raise ArgumentError("E-STATE-VERSION", message)
            case (int(), Tokens() as tokens, int(vocab_size), encoder) if encoder is None or hasattr(encoder, "encode"):
                self._tokens, self._inner, self._encoder = tokens, _vocabulary(tokens, vocab_size), encoder
                self._longest = None
            case _:
                raise ArgumentError("E-STATE-FORMAT", "the state is not a pickled vocabulary")

    def __repr__(self) -> str:
        return f"<TokenizerInfo {self.vocab_size} tokens, {len(self.special_token_ids)} special>"


def _vocabulary(tokens: Tokens, vocab_size: int | None) -> _engine.Vocabulary:
    """The engine's vocabulary.

    Raises:
        VocabularyError: `E-VOCAB-ID`, an id is outside of the tokens; `E-VOCAB-SIZE`, `vocab_size` is too small.
    """
    count = len(tokens.table)
    width = count if vocab_size is None else vocab_size
    if width < count:
        raise VocabularyError("E-VOCAB-SIZE", f"vocab_size {width} is below the number of tokens, {count}")
    for name in ("eos_token_ids", "special_token_ids", "added_token_ids"):
        for token_id in getattr(tokens, name):
            if not 0 <= token_id < count:
                message = f"{name} contains {token_id}; the largest token id is {count - 1}"
                raise VocabularyError("E-VOCAB-ID", message)
    return _engine.Vocabulary(
        tokens.table,
        list(tokens.eos_token_ids),
        list(tokens.special_token_ids),
        list(tokens.added_token_ids),
        width,
    )
