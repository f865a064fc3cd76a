"""The names of openai-harmony 0.0.8, over `syntagma.openchatml.harmony`.

Nothing is downloaded: an encoding is made of a tokenizer that you bring (`load_harmony_encoding(tokenizer=…)`).

What differs: malformed headers are recovered instead of raising or losing the rest, unless `strict=True` is given; the
classes are plain ones, not pydantic's. What that library has and this one has not is in `NOT_OFFERED`, and raises
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
