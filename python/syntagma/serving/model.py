"""A model as the server holds it."""

from __future__ import annotations

import time

from syntagma.codec import ChatCodec
from syntagma.decoding.backend import Backend
from syntagma.generation import Generator

__all__ = ["ServedModel"]


class ServedModel:
    """A backend, the codec that speaks its format, and the generator that drives it.

    Args:
        backend: what computes.
        codec: renders, constrains and parses for it.
        name: the `model` that requests name; None: the backend's own.
    """

    def __init__(self, backend: Backend, codec: ChatCodec, *, name: str | None = None) -> None:
        self.backend = backend
        self.codec = codec
        self.name = name or backend.model_name
        self.generator = Generator(backend)
        self.created = int(time.time())
        """seconds since the epoch"""
