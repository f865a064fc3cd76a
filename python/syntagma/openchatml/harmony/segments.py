"""Rendered Harmony as segments: control tokens and text are kept apart, so no text can become a control token."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Literal, TypeAlias

from syntagma.entry import entry
from syntagma.errors import ArgumentError
from syntagma.openchatml.errors import UNREPRESENTABLE, error_for

__all__ = ["Segment", "encode", "is_plain", "plain_text"]

Segment: TypeAlias = tuple[Literal["token", "text"], str]

# Every special token of the o200k_harmony vocabulary, not only Harmony's: a tokenizer would encode all of them as such.
_SPECIAL = re.compile(
    r"<\|(?:start|end|message|channel|constrain|return|call|startoftext|endoftext|endofprompt|reserved_[0-9]+)\|>"
)


@entry
def is_plain(text: str) -> bool:
    """Whether a text spells no special token."""
    return _SPECIAL.search(text) is None


@entry
def plain_text(segments: Iterable[Segment], *, checked: bool = True) -> str:
    """The segments as one text.

    Args:
        segments: the rendered segments.
        checked: refuse text that spells a control token, because Harmony has no way to escape it. Unchecked text is
            ambiguous; it is what openai-harmony returns.

    Raises:
        UnrepresentableError: `X-HIP-UNREPRESENTABLE`, a text spells a control token.
    """
    segments = list(segments)
    if checked:
        expected = [text for kind, text in segments if kind == "token"]
        whole = "".join(text for _, text in segments)
        if _SPECIAL.findall(whole) != expected:
            hint = "pass the segments to the tokenizer instead of plain text"
            raise error_for(UNREPRESENTABLE, "a text spells a control token, which Harmony cannot escape", hint=hint)
        return whole
    return "".join(text for _, text in segments)


@entry
def encode(
    segments: Iterable[Segment], encode_text: Callable[[str], list[int]], special: Mapping[str, int]
) -> list[int]:
    """Token ids of segments.

    Args:
        segments: the rendered segments.
        encode_text: encodes ordinary text; it must never produce special tokens.
        special: ids of the control tokens by their text.

    Raises:
        ArgumentError: `E-ARGUMENT-VALUE`, `special` lacks a token.
    """
    ids: list[int] = []
    text: list[str] = []
    for kind, value in segments:
        if kind == "text":
            text.append(value)
            continue
        if text:
            ids += encode_text("".join(text))
            text = []
        if value not in special:
            raise ArgumentError("E-ARGUMENT-VALUE", f"there is no id for {value}", pointer="/special")
        ids.append(special[value])
    return ids + (encode_text("".join(text)) if text else [])
