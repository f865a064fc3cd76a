"""An OpenAI-compatible server over any `Backend`: `create_app` makes an ASGI application, `serve` runs it."""

from __future__ import annotations

from syntagma.serving.app import create_app
from syntagma.serving.model import ServedModel
from syntagma.serving.operations import Operations
from syntagma.serving.records import Observer
from syntagma.serving.settings import Settings

__all__ = ["Observer", "Operations", "ServedModel", "Settings", "create_app"]
