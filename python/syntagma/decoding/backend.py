"""The interface of engines that compute logits: token ids in, logits out.

Encoding, sampling, masking and parsing happen outside of a backend. `syntagma.generation` drives it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias, Union, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from syntagma.decoding.tokenizer_info import TokenizerInfo

if TYPE_CHECKING:
    import torch

__all__ = ["Backend", "Batch", "BatchBackend", "Logits", "ScoringBackend", "Session", "on_host"]

Logits: TypeAlias = Union[NDArray[np.float32], "torch.Tensor"]
"""shape [vocab_size]: one logit per token id. An array of float32, which the caller may overwrite, or a floating tensor
of torch, which the caller only reads: tokens are then chosen on its device, for all sequences of a pass at once."""


class Session(Protocol):
    """One sequence that is being generated, with its cache. Not safe for several threads.

    A class that inherits from it need not define `extend`.
    """

    def prefill(self, token_ids: Sequence[int]) -> Logits:
        """Read the prompt (at least one token) and return the logits after its last token.

        Raises:
            ModelError: `E-MODEL-CONTEXT`, the prompt is longer than the context.
        """
        ...

    def step(self, token_id: int) -> Logits:
        """Append one token and return the logits after it.

        Raises:
            ModelError: `E-MODEL-CONTEXT`, the context is full.
        """
        ...

    def extend(self, token_ids: Sequence[int]) -> Logits:
        """Append at least one token and return the logits after the last, in one pass if the model can.

        Raises:
            ModelError: `E-MODEL-CONTEXT`, the context is full.
        """
        for token_id in token_ids[:-1]:
            self.step(token_id)
        return self.step(token_ids[-1])


class Batch(Protocol):
    """Sequences that are computed together. The caller identifies each by a number. For one thread at a time.

    A call that raises leaves every sequence unchanged.
    """

    @property
    def tokens_at_once(self) -> int:
        """Total tokens that one pass can read in about the same time as one token of each sequence."""
        ...

    @property
    def prompt_tokens_at_once(self) -> int:
        """Tokens of prompts that one pass reads, at least one: so long all other sequences wait."""
        ...

    def prefill_part(self, key: int, token_ids: Sequence[int]) -> None:
        """Read a part of a prompt, at least one token: its beginning, or what follows the parts that were read.

        Raises:
            ModelError: as `prefill`.
        """
        ...

    def prefill(self, token_ids: Mapping[int, Sequence[int]]) -> Sequence[Logits]:
        """Begin sequences: read their prompts, at least one token each, and return the logits after each, in order.

        Where parts of a prompt were read, its rest is given.

        Raises:
            ModelError: `E-MODEL-CONTEXT`, a prompt is longer than the context.
        """
        ...

    def extend(self, token_ids: Mapping[int, Sequence[int]]) -> Sequence[Logits]:
        """Append at least one token to each given sequence, in one pass, and return the logits after the last of each.

        Raises:
            ModelError: `E-MODEL-CONTEXT`, a context is full.
        """
        ...

    def drop(self, keys: Collection[int]) -> None:
        """Discard sequences. Unknown numbers are ignored."""
        ...


class Backend(Protocol):
    """A model with its tokenizer. Safe for several threads; a `Session` is not."""

    @property
    def model_name(self) -> str:
        """The name under which the model is served."""
        ...

    @property
    def tokenizer_info(self) -> TokenizerInfo:
        """The vocabulary. `vocab_size` is the width of the logits; `encode` encodes prompts.

        A vocabulary that was read from a tokenizer can encode. Others need `TokenizerInfo.with_encoder`.
        """
        ...

    @property
    def context_length(self) -> int:
        """The largest number of tokens of prompt and answer together."""
        ...

    def open(self) -> Session:
        """A new, empty sequence."""
        ...


@runtime_checkable
class BatchBackend(Backend, Protocol):
    """A model that computes several sequences in one pass."""

    def open_batch(self) -> Batch | None:
        """A new batch without sequences; None if this model's network cannot be batched."""
        ...


@runtime_checkable
class ScoringBackend(Backend, Protocol):
    """A model that can score the tokens of a given text."""

    def score(self, token_ids: Sequence[int]) -> NDArray[np.float32]:
        """The logits after each token, float32 [tokens, vocab_size].

        Raises:
            ModelError: `E-MODEL-CONTEXT`, there are more tokens than the context length.
        """
        ...


def on_host(logits: Logits) -> NDArray[np.float32]:
    """Logits as an array of float32, which may be overwritten; the same object if they are one."""
    if isinstance(logits, np.ndarray):
        return logits
    import torch

    copied: NDArray[np.float32] = logits.to("cpu", torch.float32, copy=True).numpy()
    return copied
