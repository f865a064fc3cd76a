"""The dialect of Anthropic's `POST /v1/messages`, and of its `count_tokens`.

Facts: Anthropic's API reference, "Messages" and "Streaming messages".
"""

from __future__ import annotations

from syntagma.serving.messages.reader import MessagesDialect

__all__ = ["MessagesDialect"]
