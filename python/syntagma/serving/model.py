"""A model as the server serves it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

from syntagma.codec import ChatCodec
from syntagma.codec.chat_codec import History
from syntagma.decoding.backend import Backend
from syntagma.decoding.upstream import ScoredToken, ScoringUpstream, TokenizingUpstream, Upstream
from syntagma.generation import Model
from syntagma.generation.remote import Lookalikes, Unheld
from syntagma.serving.rounds import Rounds
from syntagma.upstreams.loop_thread import wait

__all__ = ["ServedModel"]

_SCHEMAS_ALONE = ("json_schema",)


class ServedModel:
    """A model with the name under which it is served.

    Args:
        engine: computes the logits (a backend) or writes the text (an upstream).
        codec: renders prompts for it, constrains it and reads what it writes.
        name: its name, as requests give it in `model`; None: the engine's own.
        unheld: what to do about a constraint that an upstream cannot be held to; see `Model`.
        lookalikes: what to do about look-alikes in prompts of an upstream; see `Model`.
        history: what to do about calls in a conversation that were cut off; see `ChatCodec.render`.
    """

    def __init__(
        self,
        engine: Backend | Upstream,
        codec: ChatCodec,
        *,
        name: str | None = None,
        unheld: Unheld = "refuse",
        lookalikes: Lookalikes = "break",
        history: History = "repair",
    ) -> None:
        self.model = Model(engine, codec, unheld=unheld, lookalikes=lookalikes)
        self.engine = engine
        self.codec = codec
        self.history: History = history
        self.name = name or engine.model_name
        self.computes = not isinstance(engine, Upstream)
        """whether the model computes in this process; stored, since an `isinstance` check against a protocol is slow"""
        self.rounds = Rounds(self.model.generator) if self.computes and self.model.generator.is_batching else None
        """advances its answers together; None: each is computed by itself, or by a running engine"""
        self.created = int(time.time())
        """seconds since the epoch"""
        self._was_asked = False
        """whether a thread has asked the engine for tokens or scores, over connections of its own"""

    @property
    def holds_calls(self) -> bool:
        """Whether a grammar can constrain calls while the model writes."""
        return not isinstance(self.engine, Upstream) or any(
            language not in _SCHEMAS_ALONE for language in self.engine.languages
        )

    def ask_tokens(self, text: str) -> list[int] | None:
        """The token ids of a text, by the engine; waits for it. None: it does not tell them.

        Raises:
            UpstreamError: the engine failed.
        """
        if not isinstance(self.engine, TokenizingUpstream):
            return None
        self._was_asked = True
        return wait(self.engine.tokenize(text))

    def ask_scores(self, prompt: str | Sequence[int], top: int) -> list[tuple[ScoredToken, ...]] | None:
        """The prompt's tokens with their log-probabilities, by the engine; waits for it. None: it does not tell them.

        Raises:
            UpstreamError: the engine failed.
        """
        if not isinstance(self.engine, ScoringUpstream):
            return None
        self._was_asked = True
        return wait(self.engine.score_prompt(prompt, top))

    def follow(self, codec: ChatCodec) -> None:
        """Use another codec from the next request on; requests that have begun keep theirs."""
        self.codec = self.model.codec = codec

    async def close(self) -> None:
        """Stop the threads, or close the connections of this event loop."""
        if isinstance(self.engine, Upstream):
            await self.engine.close()
            if self._was_asked:
                await asyncio.to_thread(wait, self.engine.close())
        else:
            self.model.close()
