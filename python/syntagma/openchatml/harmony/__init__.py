"""Harmony, the dialect of gpt-oss models: rendering, robust reading, conversion to and from OpenChatML (HIP-1, §12)."""

from __future__ import annotations

from syntagma.openchatml.harmony.chat import to_chat
from syntagma.openchatml.harmony.completion_reader import (
    HARMONY_TOKENS,
    HarmonyReader,
    HarmonyResult,
    parse_completion,
)
from syntagma.openchatml.harmony.convert import from_harmony, harmony_segments, to_harmony, with_call_ids
from syntagma.openchatml.harmony.render import render_conversation, render_message
from syntagma.openchatml.harmony.segments import Segment, encode, is_plain, plain_text
from syntagma.openchatml.harmony.token_reader import TokenReader

__all__ = [
    "HARMONY_TOKENS",
    "HarmonyReader",
    "HarmonyResult",
    "Segment",
    "TokenReader",
    "encode",
    "from_harmony",
    "harmony_segments",
    "is_plain",
    "parse_completion",
    "plain_text",
    "render_conversation",
    "render_message",
    "to_chat",
    "to_harmony",
    "with_call_ids",
]
