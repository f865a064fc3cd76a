"""The backend of the shipped model: a model folder as a `syntagma.decoding.backend.Backend`."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from syntagma.decoding.backend import Logits
from syntagma.decoding.tokenizer_info import TokenizerInfo
from syntagma.embedded.model import Network
from syntagma.embedded.tokenizer import ModelTokenizer
from syntagma.errors import ModelError

__all__ = ["EmbeddedBatch", "EmbeddedModel", "EmbeddedSession"]


class EmbeddedSession:
    """One sequence that is being generated. Not safe for several threads."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self._cache = network.new_cache()

    @property
    def length(self) -> int:
        """The number of tokens read so far."""
        return self._cache.length

    def prefill(self, token_ids: Sequence[int]) -> Logits:
        """Read the prompt, at least one token, and return the logits after its last token, float32 [vocab_size].

        Raises:
            ModelError: `E-MODEL-CONTEXT`, the prompt is longer than the context; `E-MODEL-TOKEN`, it is empty or has an
                unknown token.
        """
        return self._network.read_last(token_ids, self._cache)

    def step(self, token_id: int) -> Logits:
        """Append one token and return the logits after it, float32 [vocab_size].

        Raises:
            ModelError: see `prefill`.
        """
        return self._network.read_last((token_id,), self._cache)

    def extend(self, token_ids: Sequence[int]) -> Logits:
        """Append at least one token in one pass, and return the logits after the last, float32 [vocab_size].

        Raises:
            ModelError: see `prefill`.
        """
        return self._network.read_last(token_ids, self._cache)


class EmbeddedBatch:
    """Sequences that are computed together. Not safe for several threads."""

    tokens_at_once = 64
    """tokens of all sequences that are worth reading in one pass"""
    prompt_tokens_at_once = 256
    """tokens of prompts in one pass; wider ones are slower, since attention is computed for all pairs"""

    def __init__(self, network: Network) -> None:
        self._network = network
        self._cache = network.new_cache(0)
        self._keys: list[int] = []
        """the sequence in each row of the cache"""

    def prefill_part(self, key: int, token_ids: Sequence[int]) -> None:
        """Read a part of a prompt, from its beginning or from the end of the last part on.

        Raises:
            ModelError: as `prefill`; the part was not read.
        """
        self.prefill({key: token_ids})

    def prefill(self, token_ids: Mapping[int, Sequence[int]]) -> Sequence[Logits]:
        """Begin sequences with their prompts, or with what is left of them; the logits after each, in order.

        Raises:
            ModelError: `E-MODEL-CONTEXT` or `E-MODEL-TOKEN`, as `EmbeddedSession.prefill`; nothing was read.
        """
        begun = [key for key in token_ids if key in self._keys]
        fresh = [key for key in token_ids if key not in self._keys]
        lengths, first = self._cache.lengths.copy(), len(self._keys)
        self._cache.add(len(fresh))
        self._keys += fresh
        try:
            made = {
                key: self._network.read_rows([token_ids[key]], self._cache, self._keys.index(key))[0] for key in begun
            }
            if fresh:
                logits = self._network.read_rows([token_ids[key] for key in fresh], self._cache, first)
                made |= zip(fresh, logits, strict=True)
        except BaseException:
            self.drop(fresh)
            self._cache.lengths[:] = lengths
            raise
        return [made[key] for key in token_ids]

    def extend(self, token_ids: Mapping[int, Sequence[int]]) -> Sequence[Logits]:
        """Append tokens to sequences, in one pass, and return the logits after the last of each, in order.

        Raises:
            ModelError: see `prefill`; then nothing was appended.
        """
        logits = self._network.read_rows([token_ids.get(key, ()) for key in self._keys], self._cache)
        return [logits[self._keys.index(key)] for key in token_ids]

    def drop(self, keys: Collection[int]) -> None:
        """Discard sequences. Unknown ones are ignored."""
        for key in keys:
            if key in self._keys:
                row = self._keys.index(key)
                self._cache.drop(row)
                last = self._keys.pop()
                if row < len(self._keys):
                    self._keys[row] = last


class EmbeddedModel:
    """A model that is computed with NumPy alone. Immutable; safe for several threads.

    Attributes:
        path: the model's folder.
        tokenizer: the tokenizer.
        chat_template: the Jinja text of the chat template, or None if the folder has none.
    """

    def __init__(self, path: Path, *, name: str) -> None:
        if not path.is_dir():
            raise ModelError(
                "E-MODEL-FILE",
                "the folder does not exist",
                source=str(path),
                hint="a model folder contains config.json, tokenizer.json and model.safetensors",
            )
        self.path = path
        self._name = name
        self._network = Network(path)
        self.tokenizer = ModelTokenizer(path / "tokenizer.json")
        self._info = TokenizerInfo.from_tokenizer_json(
            path / "tokenizer.json", vocab_size=self._network.config.vocab_size
        )
        template = path / "chat_template.jinja"
        self.chat_template = template.read_text(encoding="utf-8") if template.is_file() else None

    @property
    def model_name(self) -> str:
        """The name under which the model is served."""
        return self._name

    @property
    def tokenizer_info(self) -> TokenizerInfo:
        """The vocabulary, with the width of the logits."""
        return self._info

    @property
    def context_length(self) -> int:
        """The largest number of tokens of prompt and answer together."""
        return self._network.config.max_position_embeddings

    @property
    def network(self) -> Network:
        """The network, without the tokenizer."""
        return self._network

    def encode(self, text: str) -> list[int]:
        """The token ids of a rendered prompt. The text of a special token becomes this token; nothing is added."""
        return self.tokenizer.encode(text)

    def open(self) -> EmbeddedSession:
        """A new, empty sequence."""
        return EmbeddedSession(self._network)

    def score(self, token_ids: Sequence[int]) -> Logits:
        """The logits after each token of a text, float32 [tokens, vocab_size].

        Raises:
            ModelError: see `EmbeddedSession.prefill`.
        """
        return self._network.read(token_ids, self._network.new_cache())

    def open_batch(self) -> EmbeddedBatch:
        """A new batch without sequences."""
        return EmbeddedBatch(self._network)
