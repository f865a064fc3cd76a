"""An OpenAI-compatible server over any `Backend` or `Upstream`: `create_app` makes its ASGI application."""

from __future__ import annotations

from syntagma.serving.app import create_app
from syntagma.serving.model import ServedModel
from syntagma.serving.operations import Operations
from syntagma.serving.records import Observer
from syntagma.serving.settings import Settings

__all__ = ["Observer", "Operations", "ServedModel", "Settings", "create_app"]
