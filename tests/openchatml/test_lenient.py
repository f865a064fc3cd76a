"""Lenient reading takes any text under any limits: it raises nothing, and reads alike however the text is cut."""

from __future__ import annotations

import random
import re

import pytest

from syntagma import Limits
from syntagma.openchatml import StreamReader, harmony, parse
from syntagma.openchatml.tokens import TOKENS, spell

PIECES = [
    *map(spell, TOKENS), "<<|end|>", "<|im_start|>", "<|im_end|>", "[BOS]", "<", "<|", "\ufeff", "\n---\n", "---\n",
    "---", "...\n", "version: 2.2\n", "version: 3.0\n", "x: [1,\n", "x: {{{{{{\n", "x: " + "[" * 9 + "\n", "user",
    "assistant", "tool", "king", " to=functions.f", " to=python", " call_id=1", " name=n", " x=1", "analysis", "final",
    "commentary", "json", "{}", "\n", "\r\n", " ", " " * 50, "é", "😀", "\x00", "a" * 30, "0" * 60,
]  # fmt: skip


def soups(seed: int, count: int) -> list[str]:
    """Texts of pieces that mean something to a reader."""
    source = random.Random(seed)
    return ["".join(source.choices(PIECES, k=source.randint(0, 20))) for _ in range(count)]


LIMITS = [
    Limits(),
    Limits(openchatml_header_bytes=60, openchatml_message_header_chars=40, openchatml_header_depth=4),
    Limits(openchatml_header_bytes=0, openchatml_message_header_chars=0, openchatml_header_depth=1),
]


@pytest.mark.parametrize("limits", LIMITS, ids=("usual", "small", "none"))
@pytest.mark.parametrize("profile", [None, "harmony"])
def test_transcripts(limits: Limits, profile: str | None) -> None:
    for text in soups(len(str(profile)), 700):
        readings = []
        for size in (max(len(text), 1), 1, 3):
            reader = StreamReader(strict=False, limits=limits, profile=profile)
            for at in range(0, len(text), size):
                reader.feed(text[at : at + size])
            reader.finish()
            readings.append(reader.transcript)
        assert readings[1:] == readings[:-1], text


@pytest.mark.parametrize("limits", LIMITS, ids=("usual", "small", "none"))
@pytest.mark.parametrize("role", [None, "assistant"])
def test_harmony(limits: Limits, role: str | None) -> None:
    for text in soups(len(str(role)), 700):
        whole = harmony.parse_completion(text, role=role, limits=limits)
        for size in (1, 3):
            pieces = [text[at : at + size] for at in range(0, len(text), size)]
            assert harmony.parse_completion(pieces, role=role, limits=limits) == whole, text


WORDS = re.compile(r"w[0-9]+q")


@pytest.mark.parametrize("profile", [None, "harmony"])
def test_every_word_is_in_a_message_or_in_an_error(profile: str | None) -> None:
    source = random.Random(5)
    for _ in range(500):
        words = iter(f"w{number}q" for number in range(99))
        parts = [source.choice([*PIECES, next(words), next(words)]) for _ in range(source.randint(0, 20))]
        text = "".join(parts)
        read = parse(text, strict=False, profile=profile)
        held = [*read.messages, *read.errors, read.incomplete, read.header]
        assert set(WORDS.findall(text)) <= set(WORDS.findall(repr(held))), text
