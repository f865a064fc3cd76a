"""Encodes with the `tokenizers` library, from the text of a `tokenizer.json`.

The library encodes text between added tokens depending on its position (some vocabularies add a space only before the
first word), so a text must be encoded in one piece. Therefore the tokenizer is changed: each control token has a random
word instead of its text. Trusted control tokens are replaced by their words before encoding. Look-alikes are plain text
to this tokenizer, and everything else is as in the file.
"""

from __future__ import annotations

import json
import secrets
import threading
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from syntagma.decoding.encoders.control_tokens import ControlTokens, Placed, Range
from syntagma.errors import VocabularyError

__all__ = ["TokenizerJsonEncoder"]

_LONG = 16 * 1024
"""length from which encoding takes milliseconds, in characters"""


class TokenizerJsonEncoder:
    """Encodes with the `tokenizers` library, which is imported for the first text.

    Args:
        control: the control tokens of the vocabulary.
        source: the text of the file, or its path, which is read for the first text, or for pickling.
    """

    def __init__(self, control: ControlTokens, source: str | Path) -> None:
        self._control = control
        self._source = source if isinstance(source, Path) else zlib.compress(source.encode("utf-8", "surrogatepass"), 1)
        self._lock = threading.Lock()
        self._guarded: _Guarded | None = None

    def encode(self, text: str, trusted: Sequence[Range]) -> list[int]:
        """The token ids of a text, see `Encoder.encode`.

        Raises:
            VocabularyError: `E-VOCAB-DEPENDENCY`, the library is missing; `E-VOCAB-FILE`, the file cannot be read, or
                the library rejects it.
        """
        guarded = self._guarded
        if guarded is None:
            with self._lock:
                guarded = self._guarded = self._guarded or _Guarded(self._control, self._text())
        return guarded.encode(text, self._control.find(text, trusted))

    def _text(self) -> str:
        if isinstance(self._source, bytes):
            return zlib.decompress(self._source).decode("utf-8", "surrogatepass")
        try:
            return self._source.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            message = f"the file cannot be read: {error}"
            raise VocabularyError("E-VOCAB-FILE", message, source=str(self._source)) from error

    def __getstate__(self) -> tuple[ControlTokens, str]:
        return self._control, self._text()

    def __setstate__(self, state: tuple[ControlTokens, str]) -> None:
        TokenizerJsonEncoder.__init__(self, *state)


class _Guarded:
    """A tokenizer in which control tokens have random words instead of their texts."""

    def __init__(self, control: ControlTokens, source: str) -> None:
        library = _library()
        description = json.loads(source)
        self._words = {text: _word_for(text) for text in control.ids}
        unknown = _rename(description, self._words, control.ids)
        try:
            self._tokenizer = library.Tokenizer.from_str(json.dumps(description))
        except Exception as error:  # the library raises bare Exception
            raise VocabularyError("E-VOCAB-FILE", f"the tokenizers library rejects the file: {error}") from error
        found = {self._tokenizer.token_to_id(word): control.ids[text] for text, word in self._words.items()}
        self._meant = {here: there for here, there in found.items() if here != there}
        self._control = frozenset(control.ids.values()) - {control.ids.get(unknown or "")}

    def encode(self, text: str, placed: Sequence[Placed]) -> list[int]:
        """The token ids of a text with control tokens at these places."""
        ids, seen = self._encode(text, placed)
        if len(seen) != len(placed) and not self._control.isdisjoint(one.token_id for one in placed):
            # The library searches some added tokens in the normalised text, where it may not find them. Those it
            # does not find must be encoded as their own text, not as a random word.
            ids, _ = self._encode(text, [one for one in placed if one.start in seen])
        return ids

    def _encode(self, text: str, placed: Sequence[Placed]) -> tuple[list[int], set[int]]:
        """The token ids, and the starts of the placed tokens that the library found."""
        pieces: list[str] = []
        done = 0
        for one in placed:
            pieces += (text[done : one.start], self._words[text[one.start : one.end]])
            done = one.end
        pieces.append(text[done:])
        encoding = self._encoding("".join(pieces))
        ids: list[int] = encoding.ids
        if self._meant:
            ids = [self._meant.get(token_id, token_id) for token_id in ids]
        control = frozenset(one.token_id for one in placed)
        if sum(token_id in control for token_id in ids) == len(placed):
            return ids, {one.start for one in placed}
        return ids, _starts_read(placed, pieces, encoding.offsets, [token_id in control for token_id in ids])

    def _encoding(self, text: str) -> Any:
        if len(text) < _LONG:
            return self._tokenizer.encode(text, add_special_tokens=False)
        # The library releases the GIL for a batch, but not for a single text.
        return self._tokenizer.encode_batch([text], add_special_tokens=False)[0]


def _starts_read(
    placed: Sequence[Placed], pieces: Sequence[str], offsets: Sequence[tuple[int, int]], control: Sequence[bool]
) -> set[int]:
    """The starts of the placed tokens that the library read as control tokens."""
    ranges = [offset for offset, one in zip(offsets, control, strict=True) if one]
    found = set()
    place = 0
    for number, one in enumerate(placed):
        place += len(pieces[2 * number])
        if any(start <= place < end for start, end in ranges):
            found.add(one.start)
        place += len(pieces[2 * number + 1])
    return found


def _word_for(text: str) -> str:
    # The library may look at the ends of a token, so a word has the token's first and last character.
    return text[0] + secrets.token_hex(12) + text[-1]


def _rename(description: dict[str, Any], words: dict[str, str], ids: dict[str, int]) -> str | None:
    """Replace the control tokens in a tokenizer's description by their words, and remove settings that change ids.

    Returns the text of the token for unknown characters, or None.
    """
    description |= {"truncation": None, "padding": None, "post_processor": None}
    added = description.get("added_tokens") or []
    known = {token["content"] for token in added}
    for token in added:
        if token["content"] in words:
            # Adjacent text must not prevent the match of a control token.
            token |= {"content": words[token["content"]], "single_word": False}
    plain = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    missing = [{"id": ids[text], "content": word, **plain} for text, word in words.items() if text not in known]
    description["added_tokens"] = [*added, *missing]
    model = description["model"]
    vocabulary = model["vocab"]
    unknown: str | None = model.get("unk_token")
    if isinstance(vocabulary, dict):
        model["vocab"] = {words.get(text, text): token_id for text, token_id in vocabulary.items()}
    else:
        if isinstance(model.get("unk_id"), int):
            unknown = vocabulary[model["unk_id"]][0]
        model["vocab"] = [[words.get(text, text), score] for text, score in vocabulary]
    if isinstance(model.get("unk_token"), str):
        model["unk_token"] = words.get(model["unk_token"], model["unk_token"])
    if model.get("merges"):
        model["merges"] = [merge for merge in model["merges"] if not _touches(merge, words)]
    return unknown


def _touches(merge: Any, words: dict[str, str]) -> bool:
    """Whether the text of a control token is the result or a part of a merge."""
    first, second = merge.split(" ", 1) if isinstance(merge, str) else merge
    return first + second in words or first in words or second in words


def _library() -> Any:
    try:
        import tokenizers
    except ImportError:
        raise VocabularyError(
            "E-VOCAB-DEPENDENCY",
            "encoding text needs the tokenizers library",
            hint="pip install tokenizers",
        ) from None
    return tokenizers
