"""Reads vocabularies from Hugging Face's `tokenizer.json`, without their libraries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from syntagma.decoding.vocabularies.token_bytes import TokenSpelling, byte_fallback, byte_level, metaspace
from syntagma.decoding.vocabularies.tokens import Tokens
from syntagma.errors import VocabularyError

__all__ = ["read_tokenizer_json", "tokens_of_json"]

_MAX_MERGES_CHECKED = 2_000
# Far above any vocabulary; larger ids would only cost memory.
_MAX_TOKENS = 1 << 24


def read_tokenizer_json(path: str | Path, *, eos_token_ids: Sequence[int] | None = None) -> Tokens:
    """Read a vocabulary.

    Without `eos_token_ids`, the tokens that end a turn are those named in `generation_config.json`, `config.json` or
    `tokenizer_config.json` in the same folder, the first that names any.

    Raises:
        VocabularyError: `E-VOCAB-FILE`, the file cannot be read; `E-VOCAB-MODEL`, its model is not supported;
            `E-VOCAB-TOKEN`, a token has a character outside of the spelling; `E-VOCAB-ROUNDTRIP`, merges contradict the
            spelling; `E-VOCAB-EOS`, no end-of-turn token is known.
    """
    path = Path(path)
    vocabulary = _Vocabulary(_read_json(path), str(path))
    return vocabulary.tokens(tuple(eos_token_ids) if eos_token_ids is not None else _eos(path, vocabulary.ids))


def tokens_of_json(text: str, *, source: str, eos_token_ids: Sequence[int]) -> Tokens:
    """Read a vocabulary from the text of a `tokenizer.json`. `source` is its name in errors."""
    return _Vocabulary(_parse(text.encode(), source), source).tokens(tuple(eos_token_ids))


class _Vocabulary:
    """The checked model and added tokens of a tokenizer."""

    def __init__(self, data: dict[str, Any], source: str) -> None:
        self._source = source
        model = data.get("model")
        vocabulary = model.get("vocab") if isinstance(model, dict) else None
        if not isinstance(vocabulary, dict | list):
            raise VocabularyError(
                "E-VOCAB-MODEL", "there is no model with a vocabulary", source=source, pointer="/model/vocab"
            )
        spelling = _spelling(data, source)
        try:
            # BPE and WordPiece map text to id; Unigram lists [text, score] in the order of ids.
            pairs = (
                vocabulary.items()
                if isinstance(vocabulary, dict)
                else ((row[0], i) for i, row in enumerate(vocabulary))
            )
            texts = {self._id(token_id): str(text) for text, token_id in pairs}
            self._added = {self._id(token["id"]): token for token in data.get("added_tokens") or ()}
            contents = {token_id: str(token["content"]) for token_id, token in self._added.items()}
        except (KeyError, TypeError, IndexError) as error:
            raise VocabularyError(
                "E-VOCAB-MODEL", f"a token lacks its text or its id ({error})", source=source
            ) from error
        _check_spaces(spelling, texts, source)
        self._table = [b""] * (max((*texts, *contents), default=-1) + 1)
        for token_id, text in texts.items():
            if token_id in contents:
                continue
            spelled = spelling(text)
            if spelled is None:
                raise VocabularyError(
                    "E-VOCAB-TOKEN",
                    f"token {token_id} ({text!r}) has a character outside of the byte alphabet",
                    source=source,
                    hint="the tokenizer's decoder contradicts its pre-tokenizer; give the tokens with from_tokens",
                )
            self._table[token_id] = spelled
        for token_id, text in contents.items():
            self._table[token_id] = text.encode("utf-8", "surrogatepass")
        _check_merges(data["model"], texts, self._table, source)
        self.ids = {text: i for i, text in contents.items()} | {text: i for i, text in texts.items()}

    def _id(self, value: object) -> int:
        if isinstance(value, int) and 0 <= value < _MAX_TOKENS:
            return value
        raise VocabularyError("E-VOCAB-MODEL", f"{value!r} is not a token id", source=self._source)

    def tokens(self, eos_token_ids: tuple[int, ...]) -> Tokens:
        """The tokens, with these ends of a turn."""
        return Tokens(
            table=self._table,
            eos_token_ids=eos_token_ids,
            special_token_ids=tuple(sorted(i for i, token in self._added.items() if token.get("special"))),
            added_token_ids=tuple(sorted(self._added)),
        )


def _read_json(path: Path) -> dict[str, Any]:
    try:
        return _parse(path.read_bytes(), str(path))
    except OSError as error:
        raise VocabularyError(
            "E-VOCAB-FILE",
            f"the file cannot be read: {error.strerror}",
            source=str(path),
            hint="give the path of a tokenizer.json",
        ) from error


def _parse(text: bytes, source: str) -> dict[str, Any]:
    try:
        data = msgspec.json.decode(text)
    except msgspec.DecodeError as error:
        raise VocabularyError("E-VOCAB-FILE", f"the file is not JSON: {error}", source=source) from error
    if not isinstance(data, dict):
        raise VocabularyError("E-VOCAB-FILE", "the file is not a JSON object", source=source)
    return data


def _steps(node: Any, key: str) -> Iterator[dict[str, Any]]:
    """A decoder or pre-tokenizer and, if it is a sequence, its members."""
    if isinstance(node, dict):
        yield node
        for member in node.get(key) or ():
            yield from _steps(member, key)


def _spelling(data: dict[str, Any], source: str) -> TokenSpelling:
    decoders = {step.get("type") for step in _steps(data.get("decoder"), "decoders")}
    before = {step.get("type") for step in _steps(data.get("pre_tokenizer"), "pretokenizers")}
    if "ByteLevel" in decoders or (not decoders and "ByteLevel" in before):
        return byte_level
    if "ByteFallback" in decoders or data["model"].get("byte_fallback"):
        return byte_fallback
    if "Metaspace" in decoders | before:
        return metaspace
    raise VocabularyError(
        "E-VOCAB-MODEL",
        f"the decoder {', '.join(sorted(map(str, decoders))) or 'none'} is not supported",
        source=source,
        pointer="/decoder",
        hint="supported: byte-level, byte-fallback and metaspace vocabularies; for others use from_tokens",
    )


def _check_spaces(spelling: TokenSpelling, texts: dict[int, str], source: str) -> None:
    """Check that the spelling of spaces matches the decoder. Most words of a vocabulary begin with a space."""
    if spelling is byte_level or any("▁" in text for text in texts.values()):
        return
    if any(text.startswith("Ġ") for text in texts.values()):
        raise VocabularyError(
            "E-VOCAB-ROUNDTRIP",
            "the tokens use the byte-level alphabet, but the decoder does not, so no token would be a space",
            source=source,
            pointer="/decoder",
            hint="fix the decoder, or give the tokens with from_tokens",
        )


def _check_merges(model: dict[str, Any], texts: dict[int, str], table: list[bytes], source: str) -> None:
    """Check the bytes of tokens against merges: the result of a merge must be its two parts concatenated."""
    ids = {text: token_id for token_id, text in texts.items()}
    merges = model.get("merges") or []
    for merge in merges[:: max(1, len(merges) // _MAX_MERGES_CHECKED)]:
        first, second = merge.split(" ", 1) if isinstance(merge, str) else merge
        known = [ids.get(text) for text in (first, second, first + second)]
        if None in known:
            continue
        left, right, both = (table[token_id] for token_id in known if token_id is not None)
        if left + right != both:
            raise VocabularyError(
                "E-VOCAB-ROUNDTRIP",
                f"{first!r} and {second!r} merge to bytes {both!r}, not {left + right!r}",
                source=source,
            )


def _eos(path: Path, ids: dict[str, int]) -> tuple[int, ...]:
    for name in ("generation_config.json", "config.json", "tokenizer_config.json"):
        config_path = path.with_name(name)
        if not config_path.is_file():
            continue
        config = _read_json(config_path)
        given = config.get("eos_token_id")
        if isinstance(given, int):
            return (given,)
        if isinstance(given, list) and given:
            return tuple(given)
        token = config.get("eos_token")
        text = token.get("content") if isinstance(token, dict) else token
        if text in ids:
            return (ids[text],)
    raise VocabularyError(
        "E-VOCAB-EOS",
        "no configuration file in the folder names an end-of-sequence token",
        source=str(path),
        hint="give eos_token_ids=[…]",
    )
