"""The dialect of OpenAI's `POST /v1/responses`, and the answers that it stores.

Facts: OpenAI's API reference, "Responses" and "Streaming events".
"""

from __future__ import annotations

from syntagma.serving.responses.reader import ResponsesDialect
from syntagma.serving.responses.store import ResponseStore
from syntagma.serving.responses.stored import stored_routes

__all__ = ["ResponseStore", "ResponsesDialect", "stored_routes"]
