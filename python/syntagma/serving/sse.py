"""Server-sent events as bytes."""

from __future__ import annotations

from typing import Any

import msgspec

__all__ = ["COMMENT", "DONE", "event", "named_event"]

_encoder = msgspec.json.Encoder()

DONE = b"data: [DONE]\n\n"
"""the last event of a stream that did not fail"""

COMMENT = b": waiting\n\n"
"""a comment, which readers ignore; it tells proxies that the answer is still coming"""


def named_event(name: str, payload: Any) -> bytes:
    """One event with a name and a JSON payload."""
    return b"event: " + name.encode() + b"\n" + event(payload)


def event(payload: Any) -> bytes:
    """One event with a JSON payload. JSON text holds no raw line breaks, so one `data:` line is enough."""
    return b"data: " + _encoder.encode(payload) + b"\n\n"
