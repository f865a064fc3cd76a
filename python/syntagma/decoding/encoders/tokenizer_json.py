"""Encodes with the `tokenizers` library, from the text of a `tokenizer.json`.

What the library does with the text between added tokens depends on where it stands (some vocabularies put a space
before the first word only), so a text is encoded in one piece. The tokenizer that does it knows each control token by a
random word instead of its text. The control tokens that are meant are replaced by their words first; what only looks
like one is text to this tokenizer, and everything else is as in the file.
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
"""characters of a text that takes some milliseconds"""


class TokenizerJsonEncoder:
    """Encodes with the `tokenizers` library, which is imported with the first text.

    Args:
        control: the control tokens of the vocabulary.
        source: the text of the file, or its path; the path is read with the first text, or when this is pickled.
    """

    def __init__(self, control: ControlTokens, source: str | Path) -> None:
        self._control = control
        self._source = source if isinstance(source, Path) else zlib.compress(source.encode("utf-8", "surrogatepass"), 1)
        self._lock = threading.Lock()
        self._guarded: _Guarded | None = None

    def encode(self, text: str, trusted: Sequence[Range]) -> list[int]:
        """Token ids of a text, as `Encoder.encode`.

        Raises:
            VocabularyError: `E-VOCAB-DEPENDENCY`, the library is missing; `E-VOCAB-FILE`, the file is not readable, or
                the library does not understand it.
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
            raise VocabularyError("E-VOCAB-FILE", f"cannot be read: {error}", source=str(self._source)) from error

    def __getstate__(self) -> tuple[ControlTokens, str]:
        return self._control, self._text()

    def __setstate__(self, state: tuple[ControlTokens, str]) -> None:
        TokenizerJsonEncoder.__init__(self, *state)


class _Guarded:
    """A tokenizer that knows control tokens by random words."""

    def __init__(self, control: ControlTokens, source: str) -> None:
        library = _library()
        description = json.loads(source)
        self._words = {text: _word_for(text) for text in control.ids}
        unknown = _rename(description, self._words, control.ids)
        try:
            self._tokenizer = library.Tokenizer.from_str(json.dumps(description))
        except Exception as error:  # the library raises bare Exception
            raise VocabularyError("E-VOCAB-FILE", f"the tokenizers library does not understand it: {error}") from error
        found = {self._tokenizer.token_to_id(word): control.ids[text] for text, word in self._words.items()}
        self._meant = {here: there for here, there in found.items() if here != there}
        self._control = frozenset(control.ids.values()) - {control.ids.get(unknown or "")}

    def encode(self, text: str, placed: Sequence[Placed]) -> list[int]:
        """Token ids of a text with control tokens at these places."""
        ids, seen = self._encode(text, placed)
        if len(seen) != len(placed) and not self._control.isdisjoint(one.token_id for one in placed):
            # The library looks for some added tokens in the normalised text, where it may not find them. What it
            # does not find is text to it, and must not be left as a random word.
            ids, _ = self._encode(text, [one for one in placed if one.start in seen])
        return ids

    def _encode(self, text: str, placed: Sequence[Placed]) -> tuple[list[int], set[int]]:
        """Token ids, and the starts of those of the placed tokens that were read."""
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
        # A batch is encoded with the interpreter released, a single text is not.
        return self._tokenizer.encode_batch([text], add_special_tokens=False)[0]


def _starts_read(
    placed: Sequence[Placed], pieces: Sequence[str], offsets: Sequence[tuple[int, int]], control: Sequence[bool]
) -> set[int]:
    """The starts of the placed tokens over which a control token was read."""
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
    # The library may look at the characters beside a token, so a word has the token's first and last one.
    return text[0] + secrets.token_hex(12) + text[-1]


def _rename(description: dict[str, Any], words: dict[str, str], ids: dict[str, int]) -> str | None:
    """Spell the control tokens of a tokenizer by their words, and leave out what would change ids.

    Returns the text of the token for unknown characters, if the vocabulary has one.
    """
    description |= {"truncation": None, "padding": None, "post_processor": None}
    added = description.get("added_tokens") or []
    known = {token["content"] for token in added}
    for token in added:
        if token["content"] in words:
            # What stands beside a control token must not be able to undo it.
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
    """Whether a merge makes, or is made of, the text of a control token."""
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
