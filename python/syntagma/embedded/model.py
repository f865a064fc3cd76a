"""A small Llama network in NumPy: token ids in, logits out, with a cache of keys and values.

All values are float32. It has rotary positions, gated feed-forward layers, root-mean-square normalisation, and
optionally fewer heads of keys and values than of queries.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from syntagma.embedded.cache import Cache
from syntagma.embedded.files import read_file
from syntagma.embedded.weights import Tensor, TensorFile
from syntagma.errors import ModelError
from syntagma.typed import as_type

__all__ = ["ModelConfig", "Network"]

_ARCHITECTURE = "llama"
_FEW = 3
"""up to this many rows, separate products are faster than one matrix product"""


class ModelConfig(msgspec.Struct, frozen=True, kw_only=True):
    """The sizes of a model, named as in a Hugging Face `config.json`."""

    model_type: str
    vocab_size: int
    hidden_size: int
    intermediate_size: int
    num_hidden_layers: int
    num_attention_heads: int
    max_position_embeddings: int
    num_key_value_heads: int | None = None
    head_dim: int | None = None
    rms_norm_eps: float = 1e-6
    rope_theta: float = 10_000.0
    rope_scaling: Any = None
    hidden_act: str = "silu"
    attention_bias: bool = False
    mlp_bias: bool = False
    tie_word_embeddings: bool = False

    @classmethod
    def read(cls, path: Path) -> ModelConfig:
        """Read a `config.json`.

        Raises:
            ModelError: `E-MODEL-FILE`, the file cannot be read; `E-MODEL-CONFIG`, a value is missing or invalid;
                `E-MODEL-ARCHITECTURE`, the network is of another kind.
        """
        raw = read_file(path)
        try:
            named = msgspec.json.decode(raw)
            kind = named.get("model_type") if isinstance(named, dict) else None
            if isinstance(kind, str) and kind != _ARCHITECTURE:
                raise _unknown(path, f"the architecture {kind!r} is not supported")
            config = as_type(named, cls)
        except (msgspec.DecodeError, msgspec.ValidationError) as error:
            raise ModelError("E-MODEL-CONFIG", str(error), source=str(path)) from error
        config._check(path)
        return config

    def _check(self, path: Path) -> None:
        sizes = [
            self.vocab_size,
            self.hidden_size,
            self.intermediate_size,
            self.num_hidden_layers,
            self.heads,
            self.kv_heads,
        ]
        # `width` divides by the number of heads, so the numbers are checked first.
        if min(*sizes, self.max_position_embeddings) < 1 or self.width < 1:
            raise ModelError("E-MODEL-CONFIG", "every size must be at least 1", source=str(path))
        if self.heads % self.kv_heads or self.width % 2:
            message = "num_attention_heads must be a multiple of num_key_value_heads, and the width of a head even"
            raise ModelError("E-MODEL-CONFIG", message, source=str(path))
        if self.rope_scaling or self.hidden_act != "silu" or self.attention_bias or self.mlp_bias:
            raise _unknown(path, "rope_scaling, biases and activations other than silu are not supported")

    @property
    def heads(self) -> int:
        """The number of heads of queries in a layer."""
        return self.num_attention_heads

    @property
    def kv_heads(self) -> int:
        """The number of heads of keys and values in a layer."""
        return self.num_key_value_heads or self.num_attention_heads

    @property
    def width(self) -> int:
        """The width of one head."""
        return self.head_dim or self.hidden_size // self.num_attention_heads


def _unknown(path: Path, reason: str) -> ModelError:
    return ModelError("E-MODEL-ARCHITECTURE", reason, source=str(path), hint="a plain Llama architecture can be loaded")


class _Layer:
    """The weights of one layer, transposed for `rows @ weight`. Weights with the same input are joined."""

    def __init__(self, file: TensorFile, config: ModelConfig, index: int) -> None:
        width, inner = config.hidden_size, config.intermediate_size
        queries, keys = config.heads * config.width, config.kv_heads * config.width
        prefix = f"model.layers.{index}."

        def matrix(name: str, out: int, into: int) -> Tensor:
            return file.read(f"{prefix}{name}.weight", (out, into)).T

        attention = (("q", queries), ("k", keys), ("v", keys))
        self.attention_norm = file.read(prefix + "input_layernorm.weight", (width,))
        self.qkv = _joined([matrix(f"self_attn.{name}_proj", size, width) for name, size in attention])
        self.out = np.ascontiguousarray(matrix("self_attn.o_proj", width, queries))
        self.feed_norm = file.read(prefix + "post_attention_layernorm.weight", (width,))
        self.gate_up = _joined([matrix(f"mlp.{name}_proj", inner, width) for name in ("gate", "up")])
        self.down = np.ascontiguousarray(matrix("mlp.down_proj", width, inner))


def _joined(parts: list[Tensor]) -> Tensor:
    return np.ascontiguousarray(np.concatenate(parts, axis=1))


class Network:
    """The network of a model folder. Immutable; safe for several threads.

    Raises:
        ModelError: see `ModelConfig.read` and `TensorFile`.
    """

    def __init__(self, folder: Path) -> None:
        self.config = config = ModelConfig.read(folder / "config.json")
        file = TensorFile(folder / "model.safetensors")
        embedding = (config.vocab_size, config.hidden_size)
        self._embedding = file.read("model.embed_tokens.weight", embedding)
        self._layers = [_Layer(file, config, index) for index in range(config.num_hidden_layers)]
        self._norm = file.read("model.norm.weight", (config.hidden_size,))
        head = self._embedding if config.tie_word_embeddings else file.read("lm_head.weight", embedding)
        self._head = np.ascontiguousarray(head.T)
        half = config.width // 2
        frequency = config.rope_theta ** (-np.arange(half, dtype=np.float64) / half)
        angle = np.arange(config.max_position_embeddings, dtype=np.float64)[:, None] * frequency
        self._cosine = np.concatenate([np.cos(angle)] * 2, axis=1).astype(np.float32)
        self._sine = np.concatenate([-np.sin(angle), np.sin(angle)], axis=1).astype(np.float32)

    def new_cache(self, rows: int = 1) -> Cache:
        """A cache with `rows` empty sequences."""
        config = self.config
        return Cache(config.num_hidden_layers, config.kv_heads, config.width, config.max_position_embeddings, rows=rows)

    def read(self, token_ids: Sequence[int], cache: Cache) -> Tensor:
        """Append tokens to the one sequence in `cache`, and return the logits after each, float32 [tokens, vocab_size].

        Raises:
            ModelError: `E-MODEL-CONTEXT`, the sequence becomes longer than the context; `E-MODEL-TOKEN`, there is no
                token, or one is outside of the vocabulary.
        """
        return np.asarray(self._hidden((token_ids,), cache, 0) @ self._head, np.float32)

    def read_last(self, token_ids: Sequence[int], cache: Cache) -> Tensor:
        """Like `read`, but returns only the logits after the last token, float32 [vocab_size]."""
        return np.asarray(self._hidden((token_ids,), cache, 0)[-1] @ self._head, np.float32)

    def read_rows(self, rows: Sequence[Sequence[int]], cache: Cache, first: int = 0) -> Tensor:
        """Append tokens to adjacent rows of `cache`, in one pass. If it raises, nothing is appended.

        Args:
            rows: the new token ids of each row. Some rows may be empty, but not all.
            cache: the cache.
            first: the index of the first row.

        Returns:
            The logits after the last token of each row, float32 [rows, vocab_size]; meaningless for empty rows.

        Raises:
            ModelError: see `read`.
        """
        ends = np.cumsum([len(row) for row in rows]) - 1
        return np.asarray(self._hidden(rows, cache, first)[ends] @ self._head, np.float32)

    def _hidden(self, rows: Sequence[Sequence[int]], cache: Cache, first: int) -> Tensor:
        config = self.config
        self._check(rows, cache, first)
        place = _Places(rows, cache.lengths[first : first + len(rows)])
        cache.reserve(place.end)
        cached = cache.data[:, :, :, first : first + len(rows)]
        rotation = self._cosine[place.positions][:, None], self._sine[place.positions][:, None]
        hidden = self._embedding[place.ids]
        for index, layer in enumerate(self._layers):
            normed = _normalised(hidden, layer.attention_norm, config.rms_norm_eps)
            mixed = self._attend(_product(normed, layer.qkv), cached[index], rotation, place)
            hidden = hidden + _product(mixed, layer.out)
            gate_up = _product(_normalised(hidden, layer.feed_norm, config.rms_norm_eps), layer.gate_up)
            gate, up = gate_up[:, : config.intermediate_size], gate_up[:, config.intermediate_size :]
            hidden = hidden + _product(gate / (1 + np.exp(-np.maximum(gate, -80))) * up, layer.down)
        cache.lengths[first : first + len(rows)] += place.counts
        return _normalised(hidden, self._norm, config.rms_norm_eps)

    def _check(self, rows: Sequence[Sequence[int]], cache: Cache, first: int) -> None:
        config = self.config
        for row, ids in enumerate(rows, first):
            if not any(map(len, rows)) or min(ids, default=0) < 0 or max(ids, default=0) >= config.vocab_size:
                message = f"there must be at least one token id, and all must be within 0…{config.vocab_size - 1}"
                raise ModelError("E-MODEL-TOKEN", message)
            if (end := int(cache.lengths[row]) + len(ids)) > config.max_position_embeddings:
                raise ModelError(
                    "E-MODEL-CONTEXT",
                    f"the text has {end} tokens: this model's maximum context length is "
                    f"{config.max_position_embeddings} tokens",
                    hint="shorten the messages or the list of tools",
                )

    def _attend(self, qkv: Tensor, cached: Tensor, rotation: tuple[Tensor, Tensor], place: _Places) -> Tensor:
        heads, kv_heads, width = self.config.heads, self.config.kv_heads, self.config.width
        split = qkv.reshape(-1, heads + 2 * kv_heads, width)
        rotated = split[:, : heads + kv_heads]
        half = width // 2
        swapped = np.concatenate((rotated[..., half:], rotated[..., :half]), axis=-1)
        rotated = rotated * rotation[0] + swapped * rotation[1]
        place.store(rotated[:, heads:], cached[0])
        place.store(split[:, heads + kv_heads :], cached[1])
        keys, values = cached[:, :, :, : place.end]
        queries = place.padded(rotated[:, :heads] * np.float32(width**-0.5))
        count, most = queries.shape[:2]
        # [kv_heads, rows, sharing heads x tokens, width]: heads that share keys are rows of one product.
        grouped = queries.reshape(count, most, kv_heads, -1, width).transpose(2, 0, 3, 1, 4)
        scores = (grouped.reshape(kv_heads, count, -1, width) @ keys.swapaxes(2, 3)).reshape(
            kv_heads, count, -1, most, place.end
        )
        if place.mask is not None:
            scores += place.mask
        scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
        scores /= scores.sum(axis=-1, keepdims=True)
        mixed: Tensor = (scores.reshape(kv_heads, count, -1, place.end) @ values).reshape(
            kv_heads, count, -1, most, width
        )
        return place.joined(mixed.transpose(1, 3, 0, 2, 4).reshape(count, most, heads * width))


class _Places:
    """The layout of the tokens of a pass: one flat list for products with weights, rows for attention.

    Attributes:
        ids: the token ids, row by row.
        positions: the position of each token in its row.
        counts: the number of tokens in each row.
        end: the number of positions of the longest row, including the new tokens.
        mask: added to scores of [kv_heads, rows, sharing heads, tokens, positions]; None if nothing is masked.
    """

    def __init__(self, rows: Sequence[Sequence[int]], lengths: NDArray[np.int64]) -> None:
        self.counts = np.array([len(row) for row in rows], np.int64)
        self.ids = np.fromiter(chain.from_iterable(rows), np.int64)
        self._row = np.repeat(np.arange(len(rows)), self.counts)
        self._within = np.arange(len(self.ids)) - np.repeat(np.cumsum(self.counts) - self.counts, self.counts)
        self.positions = lengths[self._row] + self._within
        ends = lengths + self.counts
        self.end = int(ends.max())
        self._shape = len(rows), int(self.counts.max())
        self._is_even = len(self.ids) == self._shape[0] * self._shape[1]
        self.mask: Tensor | None = None
        if self._shape[1] > 1 or int(ends.min()) < self.end:
            # A token attends to positions up to its own.
            seen = lengths[:, None] + np.arange(self._shape[1])
            hidden = np.arange(self.end) > seen[..., None]
            self.mask = np.where(hidden, np.float32(-np.inf), np.float32(0))[:, None]

    def store(self, tokens: Tensor, cached: Tensor) -> None:
        """Write values of tokens, [tokens, kv_heads, width], into the cache, [kv_heads, rows, capacity, width]."""
        if self._shape[0] == 1:
            cached[:, 0, self.positions[0] : self.end] = tokens.swapaxes(0, 1)
        else:
            cached[:, self._row, self.positions] = tokens.swapaxes(0, 1)

    def padded(self, tokens: Tensor) -> Tensor:
        """Rearrange [tokens, …] to [rows, tokens of the longest row, …], padded with zeros."""
        shape = (*self._shape, *tokens.shape[1:])
        if self._is_even:
            return tokens.reshape(shape)
        rows = np.zeros(shape, np.float32)
        rows[self._row, self._within] = tokens
        return rows

    def joined(self, rows: Tensor) -> Tensor:
        """The inverse of `padded`."""
        return rows.reshape(-1, rows.shape[2]) if self._is_even else rows[self._row, self._within]


def _product(rows: Tensor, weight: Tensor) -> Tensor:
    """`rows @ weight`. Two or three rows, as with forced tokens, are multiplied separately, which halves the time."""
    few = 1 < len(rows) <= _FEW
    return np.asarray((rows[:, None] @ weight)[:, 0] if few else rows @ weight, np.float32)


def _normalised(rows: Tensor, weight: Tensor, epsilon: float) -> Tensor:
    mean = np.einsum("ij,ij->i", rows, rows)[:, None] / np.float32(rows.shape[1])
    return np.asarray(rows * (weight / np.sqrt(mean + np.float32(epsilon))), np.float32)
