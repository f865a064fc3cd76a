"""A small Llama in NumPy: token ids in, logits out, with a cache of what was read.

Everything is float32. Positions are rotary, feed-forward layers are gated, normalisation is by root mean square;
heads of keys and values may be shared by several heads of queries.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from syntagma.embedded.files import read_file
from syntagma.embedded.weights import Tensor, TensorFile
from syntagma.errors import ModelError

__all__ = ["Cache", "ModelConfig", "Network"]

_ARCHITECTURE = "llama"
_FEW = 3
"""rows below the number that libraries of linear algebra multiply together with profit"""


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
            ModelError: `E-MODEL-FILE` (not readable), `E-MODEL-CONFIG` (a value is missing or cannot be right) or
                `E-MODEL-ARCHITECTURE` (another network than this one).
        """
        raw = read_file(path)
        try:
            named = msgspec.json.decode(raw)
            kind = named.get("model_type") if isinstance(named, dict) else None
            if isinstance(kind, str) and kind != _ARCHITECTURE:
                raise _unknown(path, f"the architecture {kind!r} is not known")
            config = msgspec.convert(named, cls)
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
        # The width of a head divides by their number, so the numbers are looked at first.
        if min(*sizes, self.max_position_embeddings) < 1 or self.width < 1:
            raise ModelError("E-MODEL-CONFIG", "every size must be at least 1", source=str(path))
        if self.heads % self.kv_heads or self.width % 2:
            raise ModelError("E-MODEL-CONFIG", "the heads do not divide evenly", source=str(path))
        if self.rope_scaling or self.hidden_act != "silu" or self.attention_bias or self.mlp_bias:
            raise _unknown(path, "rope_scaling, biases and other activations than silu are not known")

    @property
    def heads(self) -> int:
        """Heads of queries in a layer."""
        return self.num_attention_heads

    @property
    def kv_heads(self) -> int:
        """Heads of keys and values in a layer."""
        return self.num_key_value_heads or self.num_attention_heads

    @property
    def width(self) -> int:
        """Width of one head."""
        return self.head_dim or self.hidden_size // self.num_attention_heads


def _unknown(path: Path, reason: str) -> ModelError:
    return ModelError("E-MODEL-ARCHITECTURE", reason, source=str(path), hint="a plain Llama architecture can be loaded")


class _Layer:
    """The weights of one layer, transposed for `rows @ weight`; what is read from the same input is one matrix."""

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


class Cache:
    """Keys and values of one sequence, float32 [layers, 2, kv_heads, capacity, head width]; it grows as it fills."""

    def __init__(self, config: ModelConfig) -> None:
        self._shape = (config.num_hidden_layers, 2, config.kv_heads)
        self._width = config.width
        self._limit = config.max_position_embeddings
        self.length = 0
        self.data = np.empty((*self._shape, 0, self._width), np.float32)

    def reserve(self, length: int) -> None:
        """Make room for `length` positions in all."""
        room = self.data.shape[3]
        if length > room:
            grown = np.empty((*self._shape, min(max(length, 2 * room, 64), self._limit), self._width), np.float32)
            grown[:, :, :, : self.length] = self.data[:, :, :, : self.length]
            self.data = grown


class Network:
    """The weights of a model folder. Immutable; may be shared between threads.

    Raises:
        ModelError: a code of `ModelConfig.read` or of `TensorFile`.
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

    def read(self, token_ids: Sequence[int], cache: Cache) -> Tensor:
        """Append tokens to the sequence in `cache`; the logits after each of them, float32 [tokens, vocab_size].

        Raises:
            ModelError: `E-MODEL-CONTEXT` (the sequence becomes longer than the context) or `E-MODEL-TOKEN` (an id
                outside of the vocabulary).
        """
        return np.asarray(self._hidden(token_ids, cache) @ self._head, np.float32)

    def read_last(self, token_ids: Sequence[int], cache: Cache) -> Tensor:
        """As `read`, but only the logits after the last token, float32 [vocab_size]."""
        return np.asarray(self._hidden(token_ids, cache)[-1] @ self._head, np.float32)

    def _hidden(self, token_ids: Sequence[int], cache: Cache) -> Tensor:
        config = self.config
        ids = np.asarray(token_ids, np.int64)
        start, end = cache.length, cache.length + len(ids)
        if len(ids) == 0 or ids.min() < 0 or ids.max() >= config.vocab_size:
            raise ModelError("E-MODEL-TOKEN", f"token ids must be one or more of 0…{config.vocab_size - 1}")
        if end > config.max_position_embeddings:
            raise ModelError(
                "E-MODEL-CONTEXT",
                f"{end} tokens do not fit into a context of {config.max_position_embeddings}",
                hint="shorten the messages or the list of tools",
            )
        cache.reserve(end)
        rotation = self._cosine[start:end], self._sine[start:end]
        hidden = self._embedding[ids]
        # Row i stands at position start + i and sees what is at most there.
        mask = np.triu(np.full((len(ids), end), -np.inf, np.float32), k=start + 1) if len(ids) > 1 else None
        for index, layer in enumerate(self._layers):
            normed = _normalised(hidden, layer.attention_norm, config.rms_norm_eps)
            mixed = self._attend(_product(normed, layer.qkv), cache.data[index], start, rotation, mask)
            hidden = hidden + _product(mixed, layer.out)
            gate_up = _product(_normalised(hidden, layer.feed_norm, config.rms_norm_eps), layer.gate_up)
            gate, up = gate_up[:, : config.intermediate_size], gate_up[:, config.intermediate_size :]
            hidden = hidden + _product(gate / (1 + np.exp(-np.maximum(gate, -80))) * up, layer.down)
        cache.length = end
        return _normalised(hidden, self._norm, config.rms_norm_eps)

    def _attend(
        self, qkv: Tensor, cached: Tensor, start: int, rotation: tuple[Tensor, Tensor], mask: Tensor | None
    ) -> Tensor:
        heads, kv_heads, width = self.config.heads, self.config.kv_heads, self.config.width
        count = len(qkv)
        end = start + count
        split = qkv.reshape(count, heads + 2 * kv_heads, width).transpose(1, 0, 2)
        rotated = split[: heads + kv_heads]
        half = width // 2
        swapped = np.concatenate((rotated[..., half:], rotated[..., :half]), axis=-1)
        rotated = rotated * rotation[0] + swapped * rotation[1]
        cached[0, :, start:end] = rotated[heads:]
        cached[1, :, start:end] = split[heads + kv_heads :]
        keys, values = cached[0, :, :end], cached[1, :, :end]
        queries = rotated[:heads] * np.float32(width**-0.5)
        # [kv_heads, sharing heads x tokens, width]: heads that share keys are rows of one product.
        grouped = queries.reshape(kv_heads, -1, width)
        scores = (grouped @ keys.transpose(0, 2, 1)).reshape(heads, count, end)
        if mask is not None:
            scores += mask
        scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
        scores /= scores.sum(axis=-1, keepdims=True)
        mixed: Tensor = scores.reshape(kv_heads, -1, end) @ values
        return mixed.reshape(heads, count, width).transpose(1, 0, 2).reshape(count, heads * width)


def _product(rows: Tensor, weight: Tensor) -> Tensor:
    """`rows @ weight`; two or three rows, as forced tokens make them, are multiplied one by one, in half the time."""
    few = 1 < len(rows) <= _FEW
    return np.asarray((rows[:, None] @ weight)[:, 0] if few else rows @ weight, np.float32)


def _normalised(rows: Tensor, weight: Tensor, epsilon: float) -> Tensor:
    mean = np.einsum("ij,ij->i", rows, rows)[:, None] / np.float32(rows.shape[1])
    return np.asarray(rows * (weight / np.sqrt(mean + np.float32(epsilon))), np.float32)
