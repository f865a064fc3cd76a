"""A model as the server serves it."""

from __future__ import annotations

import time

from syntagma.codec import ChatCodec
from syntagma.decoding.backend import Backend
from syntagma.generation import Model

__all__ = ["ServedModel"]


class ServedModel:
    """A model with the name under which it is served.

    Args:
        backend: what computes the logits.
        codec: renders prompts for it, constrains it and reads what it writes.
        name: the `model` that requests name; None: the backend's own.
    """

    def __init__(self, backend: Backend, codec: ChatCodec, *, name: str | None = None) -> None:
        self.model = Model(backend, codec)
        self.backend = backend
        self.codec = codec
        self.name = name or backend.model_name
        self.created = int(time.time())
        """seconds since the epoch"""
