"""`ChatCodec`: prompt, grammar and parser of one model in one object."""

from __future__ import annotations

from syntagma.codec.chat_codec import ChatCodec
from syntagma.codec.normalise import MessageLike
from syntagma.codec.turn import Turn

__all__ = ["ChatCodec", "MessageLike", "Turn"]
