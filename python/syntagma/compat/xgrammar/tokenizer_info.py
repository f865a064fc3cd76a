"""`TokenizerInfo` and `VocabType` under xgrammar's names."""

from __future__ import annotations

import base64
import binascii
import json
import warnings
from collections.abc import Sequence
from enum import Enum
from typing import Any

import msgspec

from syntagma import decoding
from syntagma.compat.xgrammar.arguments import checked, integer, integers, members, wrong_type, wrong_value
from syntagma.compat.xgrammar.exception import DeserializeFormatError, WrongValueError
from syntagma.compat.xgrammar.serialization import read, write
from syntagma.compat.xgrammar.support import data, errors, refuse
from syntagma.decoding.vocabularies.token_bytes import byte_fallback, byte_level
from syntagma.decoding.vocabularies.tokenizer_objects import read_huggingface
from syntagma.decoding.vocabularies.tokens import Tokens
from syntagma.errors import ArgumentTypeError

__all__ = ["TokenizerInfo", "VocabType", "tokenizer_info_of"]


class VocabType(Enum):
    """How a vocabulary writes bytes as text."""

    RAW = 0
    """as they are"""
    BYTE_FALLBACK = 1
    """`<0x0A>` is one byte, `▁` is a space"""
    BYTE_LEVEL = 2
    """every character is one byte of the byte-level alphabet"""


class TokenizerInfo:
    """A vocabulary.

    Args:
        encoded_vocab: the tokens in order of their ids, as text or bytes; empty ones are never allowed.
        vocab_type: how text represents bytes.
        vocab_size: the width of the logits, at least the number of tokens.
        stop_token_ids: tokens that end a turn; None: those whose text is a known stop token, which may be wrong.
        add_prefix_space: stored, but has no effect.

    Raises:
        WrongTypeError: tokens that are neither text nor bytes, or another argument of the wrong type.
        WrongValueError: a lone surrogate in a text.
        RuntimeError: a `vocab_size` below the number of tokens, or a stop token that does not exist.
    """

    @checked
    def __init__(
        self,
        encoded_vocab: Sequence[bytes] | Sequence[str],
        vocab_type: VocabType = VocabType.RAW,
        *,
        vocab_size: int | None = None,
        stop_token_ids: list[int] | int | None = None,
        add_prefix_space: bool = False,
    ) -> None:
        if not isinstance(vocab_type, VocabType):
            raise wrong_type("vocab_type", "VocabType", vocab_type)
        if vocab_size is not None:
            vocab_size = integer("vocab_size", vocab_size)
        encoded_vocab = members("encoded_vocab", encoded_vocab)
        table = [_spell(token, vocab_type) for token in encoded_vocab]
        stops = _stops(stop_token_ids)
        if stops is None:
            stops = _detect_stops(encoded_vocab)
        tokens = Tokens(table=table, eos_token_ids=stops, special_token_ids=stops, added_token_ids=stops)
        self._set(tokens, vocab_type, vocab_size, add_prefix_space)

    def _set(self, tokens: Tokens, vocab_type: VocabType, vocab_size: int | None, add_prefix_space: bool) -> None:
        with errors():
            inner = decoding.TokenizerInfo(tokens, vocab_size)
        self._keep(inner, tokens, vocab_type, add_prefix_space)

    def _keep(
        self, inner: decoding.TokenizerInfo, tokens: Tokens, vocab_type: VocabType, add_prefix_space: bool
    ) -> None:
        self._info = inner
        self._tokens = tokens
        self._vocab_type = vocab_type
        self._add_prefix_space = add_prefix_space
        self._by_stops: dict[tuple[int, ...], TokenizerInfo] = {}
        self._by_added: dict[tuple[int, ...], TokenizerInfo] = {}
        self._ids: dict[bytes, int] | None = None
        self._compilers: dict[tuple[Any, ...], decoding.GrammarCompiler] = {}

    @property
    def syntagma(self) -> decoding.TokenizerInfo:
        """The library's own vocabulary."""
        return self._info

    @classmethod
    def _around(cls, inner: decoding.TokenizerInfo) -> TokenizerInfo:
        """Wrap a vocabulary of the library."""
        info = cls.__new__(cls)
        info._keep(inner, inner._tokens, VocabType.RAW, False)
        return info

    @classmethod
    def _of(
        cls, tokens: Tokens, vocab_type: VocabType, vocab_size: int | None, add_prefix_space: bool
    ) -> TokenizerInfo:
        info = cls.__new__(cls)
        info._set(tokens, vocab_type, vocab_size, add_prefix_space)
        return info

    def _with_stops(self, stops: tuple[int, ...]) -> TokenizerInfo:
        """The same vocabulary with other stop tokens; each is made once."""
        known = self._by_stops.get(stops)
        if known is None:
            before = set(self._tokens.eos_token_ids)
            special = tuple(sorted({*self._tokens.special_token_ids, *stops} | before))
            tokens = Tokens(
                table=self._tokens.table,
                eos_token_ids=stops,
                special_token_ids=special,
                added_token_ids=tuple(sorted({*self._tokens.added_token_ids, *stops})),
            )
            known = self._by_stops[stops] = self._of(tokens, self._vocab_type, self.vocab_size, self._add_prefix_space)
        return known

    def _naming(self, texts: Sequence[str]) -> TokenizerInfo:
        """The vocabulary extended so that tokens can be named by these texts; itself if they already can."""
        if not texts:
            return self
        if self._ids is None:
            self._ids = {spelled: token for token, spelled in reversed(list(enumerate(self._tokens.table))) if spelled}
        found = {self._ids[text.encode()] for text in texts if text.encode() in self._ids}
        known = {self._tokens.table[token] for token in self._tokens.added_token_ids}
        added = tuple(sorted(token for token in found if self._tokens.table[token] not in known))
        if not added:
            return self
        named = self._by_added.get(added)
        if named is None:
            tokens = msgspec.structs.replace(
                self._tokens, added_token_ids=tuple(sorted({*self._tokens.added_token_ids, *added}))
            )
            named = self._by_added[added] = self._of(tokens, self._vocab_type, self.vocab_size, self._add_prefix_space)
        return named

    def _compiler(self) -> decoding.GrammarCompiler:
        """A compiler for matchers with other stop tokens; made once."""
        return self._compilers.setdefault((), decoding.GrammarCompiler(self._info))

    @staticmethod
    def from_huggingface(
        tokenizer: Any, *, vocab_size: int | None = None, stop_token_ids: list[int] | int | None = None
    ) -> TokenizerInfo:
        """The vocabulary of a fast `transformers` tokenizer.

        Args:
            tokenizer: the tokenizer.
            vocab_size: the width of the model's logits; later tokens are left out. None: the tokenizer's own.
            stop_token_ids: tokens that end a turn; None: the tokenizer's `eos_token_id`.

        Raises:
            WrongTypeError: not a tokenizer, or another argument of the wrong type.
            WrongValueError: an empty list of stop tokens.
            RuntimeError: the bytes of the tokens do not match what the tokenizer encodes.
            NotImplementedError: a slow tokenizer.
        """
        stops = _stops(stop_token_ids)
        if stops == ():
            raise wrong_value("stop_token_ids", "stop_token_ids is empty: name a token, or give None")
        if vocab_size is not None:
            vocab_size = integer("vocab_size", vocab_size)
        if not hasattr(tokenizer, "get_vocab"):
            raise wrong_type("tokenizer", "a tokenizer with get_vocab", tokenizer)
        vocabulary = tokenizer.get_vocab()
        if stops is None:
            eos = getattr(tokenizer, "eos_token_id", None)
            stops = _stops(eos)
        if stops is None:
            warnings.warn(
                "no stop token was given and the tokenizer has none; known stop texts are searched", stacklevel=2
            )
            ids = {str(text): token for text, token in vocabulary.items()}
            stops = tuple(ids[text] for text in data()["stop_tokens"] if text in ids)
        try:
            with errors():
                tokens, _ = read_huggingface(tokenizer, eos_token_ids=stops)
        except RuntimeError as error:
            if isinstance(error.__cause__, ArgumentTypeError):
                refuse("TokenizerInfo.from_huggingface(slow tokenizer)")
            raise
        if vocab_size is not None and vocab_size < len(tokens.table):
            tokens = _cut(tokens, vocab_size)
        vocab_type = _vocab_type(vocabulary)
        return TokenizerInfo._of(tokens, vocab_type, vocab_size, _adds_prefix_space(tokenizer, vocab_type))

    @property
    def vocab_type(self) -> VocabType:
        """How the vocabulary writes bytes as text."""
        return self._vocab_type

    @property
    def vocab_size(self) -> int:
        """The width of the logits."""
        return self._info.vocab_size

    @property
    def add_prefix_space(self) -> bool:
        """Whether the tokenizer adds a space before text."""
        return self._add_prefix_space

    @property
    def prepend_space_in_tokenization(self) -> bool:
        """The older name of `add_prefix_space`."""
        warnings.warn("prepend_space_in_tokenization is deprecated, use add_prefix_space", stacklevel=2)
        return self._add_prefix_space

    @property
    def decoded_vocab(self) -> list[bytes]:
        """The bytes of every token."""
        return list(self._tokens.table)

    @property
    def stop_token_ids(self) -> list[int]:
        """Tokens that end a turn."""
        return list(self._tokens.eos_token_ids)

    @property
    def special_token_ids(self) -> list[int]:
        """Tokens that text never matches, without the stop tokens: special and empty ones, and padding."""
        empty = {token for token, spelled in enumerate(self._tokens.table) if not spelled}
        padding = range(len(self._tokens.table), self.vocab_size)
        return sorted((empty | set(self._tokens.special_token_ids) | set(padding)) - set(self._tokens.eos_token_ids))

    def dump_metadata(self) -> str:
        """What `from_vocab_and_metadata` needs in addition to the vocabulary, as JSON."""
        return json.dumps(
            {
                "vocab_type": self._vocab_type.value,
                "vocab_size": self.vocab_size,
                "add_prefix_space": self._add_prefix_space,
                "stop_token_ids": self.stop_token_ids,
            },
            separators=(",", ":"),
        )

    @staticmethod
    def from_vocab_and_metadata(encoded_vocab: Sequence[bytes] | Sequence[str], metadata: str) -> TokenizerInfo:
        """Make the vocabulary from its tokens and what `dump_metadata` wrote.

        Raises:
            WrongTypeError: the metadata is not a string, or tokens are neither text nor bytes.
            RuntimeError: the metadata is not valid.
        """
        if not isinstance(metadata, str):
            raise wrong_type("metadata", "str", metadata)
        try:
            known = json.loads(metadata)
            return TokenizerInfo(
                encoded_vocab,
                VocabType(known["vocab_type"]),
                vocab_size=known["vocab_size"],
                stop_token_ids=known["stop_token_ids"],
                add_prefix_space=known["add_prefix_space"],
            )
        except WrongValueError:
            raise
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise RuntimeError(f"the metadata is not valid: {error}") from error

    def serialize_json(self) -> str:
        """The whole vocabulary as JSON text."""
        return write(
            "TokenizerInfo",
            metadata=json.loads(self.dump_metadata()),
            vocab=[base64.b64encode(token).decode() for token in self._tokens.table],
            special_token_ids=list(self._tokens.special_token_ids),
            added_token_ids=list(self._tokens.added_token_ids),
        )

    @staticmethod
    def deserialize_json(json_string: str) -> TokenizerInfo:
        """Read what `serialize_json` wrote.

        Raises:
            InvalidJSONError, DeserializeFormatError, DeserializeVersionError: not the text of a vocabulary.
        """
        fields = ("metadata", "vocab", "special_token_ids", "added_token_ids")
        metadata, vocab, special, added = read(json_string, "TokenizerInfo", *fields)
        try:
            tokens = Tokens(
                table=[base64.b64decode(token, validate=True) for token in members("vocab", vocab)],
                eos_token_ids=tuple(integers("stop_token_ids", metadata["stop_token_ids"])),
                special_token_ids=tuple(integers("special_token_ids", special)),
                added_token_ids=tuple(integers("added_token_ids", added)),
            )
            kind = VocabType(integer("vocab_type", metadata["vocab_type"]))
            prefix = metadata["add_prefix_space"]
            if not isinstance(prefix, bool):
                raise wrong_type("add_prefix_space", "bool", prefix)
            return TokenizerInfo._of(tokens, kind, integer("vocab_size", metadata["vocab_size"]), prefix)
        except (ValueError, KeyError, TypeError, RuntimeError, binascii.Error) as error:
            raise DeserializeFormatError(f"the text is not a TokenizerInfo: {error}") from error


def tokenizer_info_of(value: object, name: str = "tokenizer_info") -> TokenizerInfo:
    """A vocabulary that was given as one of this package or of the library.

    Raises:
        WrongTypeError: something else.
    """
    if isinstance(value, TokenizerInfo):
        return value
    if isinstance(value, decoding.TokenizerInfo):
        return TokenizerInfo._around(value)
    raise wrong_type(
        name, "TokenizerInfo", value, hint="make one from the tokenizer first: TokenizerInfo.from_huggingface"
    )


def _stops(given: object) -> tuple[int, ...] | None:
    if given is None:
        return None
    if isinstance(given, list | tuple):
        return tuple(integers("stop_token_ids", given))
    return (integer("stop_token_ids", given),)


def _spell(token: str | bytes, vocab_type: VocabType) -> bytes:
    if not isinstance(token, str | bytes):
        raise wrong_type("encoded_vocab", "text or bytes for every token", token)
    if isinstance(token, bytes):
        if vocab_type is VocabType.RAW:
            return token
        token = token.decode("utf-8", "surrogateescape")
    if vocab_type is VocabType.BYTE_FALLBACK:
        return byte_fallback(token)
    spelled = byte_level(token) if vocab_type is VocabType.BYTE_LEVEL else None
    return token.encode("utf-8", "surrogateescape") if spelled is None else spelled


def _detect_stops(encoded_vocab: Sequence[bytes] | Sequence[str]) -> tuple[int, ...]:
    known = {text.encode() for text in data()["stop_tokens"]}
    texts = ((token if isinstance(token, bytes) else token.encode("utf-8", "replace")) for token in encoded_vocab)
    return tuple(token for token, text in enumerate(texts) if text in known)


def _cut(tokens: Tokens, size: int) -> Tokens:
    return Tokens(
        table=tokens.table[:size],
        eos_token_ids=tuple(token for token in tokens.eos_token_ids if token < size),
        special_token_ids=tuple(token for token in tokens.special_token_ids if token < size),
        added_token_ids=tuple(token for token in tokens.added_token_ids if token < size),
    )


def _vocab_type(vocabulary: dict[str, int]) -> VocabType:
    if "<0x0A>" in vocabulary:
        return VocabType.BYTE_FALLBACK
    return VocabType.BYTE_LEVEL if "Ċ" in vocabulary else VocabType.RAW


def _adds_prefix_space(tokenizer: Any, vocab_type: VocabType) -> bool:
    backend = getattr(tokenizer, "backend_tokenizer", tokenizer)
    first = backend.encode("a", add_special_tokens=False).tokens[:1]
    return bool(first) and str(first[0]).startswith("▁" if vocab_type is VocabType.BYTE_FALLBACK else "Ġ")
