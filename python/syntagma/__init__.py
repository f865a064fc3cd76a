"""Everything between an LLM's raw token stream and a typed chat message."""

from __future__ import annotations

__version__ = "0.1.0"
