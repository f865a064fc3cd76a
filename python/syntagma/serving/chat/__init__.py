"""The dialect of `POST /v1/chat/completions`."""

from __future__ import annotations

from syntagma.serving.chat.reader import ChatDialect

__all__ = ["ChatDialect"]
