"""A model as the server serves it."""

from __future__ import annotations

import time

from syntagma.codec import ChatCodec
from syntagma.decoding.backend import Backend
from syntagma.decoding.upstream import Upstream
from syntagma.generation import Model
from syntagma.generation.remote import Lookalikes, Unheld
from syntagma.serving.rounds import Rounds

__all__ = ["ServedModel"]

_SCHEMAS_ALONE = ("json_schema",)


class ServedModel:
    """A model with the name under which it is served.

    Args:
        engine: what computes the logits, or what writes the text.
        codec: renders prompts for it, constrains it and reads what it writes.
        name: the `model` that requests name; None: the engine's own.
        unheld: what becomes of a constraint that an upstream cannot be held to; see `Model`.
        lookalikes: what becomes of texts of others that an upstream would read as control tokens; see `Model`.
    """

    def __init__(
        self,
        engine: Backend | Upstream,
        codec: ChatCodec,
        *,
        name: str | None = None,
        unheld: Unheld = "refuse",
        lookalikes: Lookalikes = "break",
    ) -> None:
        self.model = Model(engine, codec, unheld=unheld, lookalikes=lookalikes)
        self.engine = engine
        self.codec = codec
        self.name = name or engine.model_name
        self.computes = not isinstance(engine, Upstream)
        """whether the model computes in this process; kept, since asking what a protocol covers takes long"""
        self.rounds = Rounds(self.model.generator) if self.computes and self.model.generator.is_batching else None
        """advances its answers together; None where each is computed by itself, or elsewhere"""
        self.created = int(time.time())
        """seconds since the epoch"""

    @property
    def holds_calls(self) -> bool:
        """Whether calls can be held to a grammar while the model writes."""
        return not isinstance(self.engine, Upstream) or any(
            language not in _SCHEMAS_ALONE for language in self.engine.languages
        )

    def follow(self, codec: ChatCodec) -> None:
        """Take another codec, which counts for requests from now on; those that have begun keep theirs."""
        self.codec = self.model.codec = codec

    async def close(self) -> None:
        """Give back what is held: threads, or the connections of this event loop."""
        if isinstance(self.engine, Upstream):
            await self.engine.close()
        else:
            self.model.close()
