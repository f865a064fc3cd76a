"""The interface of openai-harmony 0.0.8, implemented with `syntagma.openchatml.harmony`.

Nothing is downloaded: an encoding is made from your own tokenizer (`load_harmony_encoding(tokenizer=…)`).

There are two differences. Malformed headers are recovered instead of raising or losing text, unless `strict=True` is
given. The classes are plain, not pydantic's. Names that are missing here are in `NOT_OFFERED`, and raise
NotImplementedError.
"""

from __future__ import annotations

from syntagma.compat.harmony.encoding import (
    HarmonyEncoding,
    HarmonyEncodingName,
    RenderConversationConfig,
    RenderOptions,
    load_harmony_encoding,
)
from syntagma.compat.harmony.errors import NOT_OFFERED, HarmonyError
from syntagma.compat.harmony.messages import (
    Author,
    ChannelConfig,
    Content,
    Conversation,
    DeveloperContent,
    Message,
    ReasoningEffort,
    Role,
    SystemContent,
    TextContent,
    ToolDescription,
    ToolNamespaceConfig,
)
from syntagma.compat.harmony.streaming import StreamableParser, StreamState

__all__ = [
    "NOT_OFFERED",
    "Author",
    "ChannelConfig",
    "Content",
    "Conversation",
    "DeveloperContent",
    "HarmonyEncoding",
    "HarmonyEncodingName",
    "HarmonyError",
    "Message",
    "ReasoningEffort",
    "RenderConversationConfig",
    "RenderOptions",
    "Role",
    "StreamState",
    "StreamableParser",
    "SystemContent",
    "TextContent",
    "ToolDescription",
    "ToolNamespaceConfig",
    "load_harmony_encoding",
]
