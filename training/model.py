"""The network in PyTorch: a small Llama. Parameter names are those of a Hugging Face Llama folder."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from torch.nn import functional

import torch
from torch import Tensor, nn


@dataclass(frozen=True)
class Shape:
    """The sizes of the network, named as in a Hugging Face `config.json`."""

    vocab_size: int = 1024
    hidden_size: int = 192
    intermediate_size: int = 384
    num_hidden_layers: int = 5
    num_attention_heads: int = 3
    max_position_embeddings: int = 1024
    rope_theta: float = 10_000.0
    rms_norm_eps: float = 1e-5

    @property
    def head_dim(self) -> int:
        """Width of one attention head."""
        return self.hidden_size // self.num_attention_heads

    def config(self) -> dict[str, Any]:
        """The content of `config.json`."""
        return {
            "architectures": ["LlamaForCausalLM"],
            "model_type": "llama",
            **asdict(self),
            "num_key_value_heads": self.num_attention_heads,
            "head_dim": self.head_dim,
            "hidden_act": "silu",
            "attention_bias": False,
            "mlp_bias": False,
            "tie_word_embeddings": True,
        }


class RMSNorm(nn.Module):
    """Root mean square normalisation with a learned scale."""

    def __init__(self, width: int, eps: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.eps = eps

    def forward(self, x: Tensor) -> Tensor:
        """Normalise the last axis."""
        return functional.rms_norm(x, (x.shape[-1],), self.weight.to(x.dtype), self.eps)


def _rotate(x: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:
    first, second = x.chunk(2, dim=-1)
    return torch.cat((first * cosine - second * sine, second * cosine + first * sine), dim=-1)


class Attention(nn.Module):
    """Causal self-attention with rotary positions."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        width = shape.hidden_size
        self.heads = shape.num_attention_heads
        self.scale = shape.head_dim**-0.5
        self.q_proj = nn.Linear(width, width, bias=False)
        self.k_proj = nn.Linear(width, width, bias=False)
        self.v_proj = nn.Linear(width, width, bias=False)
        self.o_proj = nn.Linear(width, width, bias=False)

    def forward(self, x: Tensor, cosine: Tensor, sine: Tensor, mask: Tensor) -> Tensor:
        """x: (batch, time, width); mask: (time, time), added to the scores."""
        batch, time, width = x.shape
        weight = torch.cat((self.q_proj.weight, self.k_proj.weight, self.v_proj.weight))
        q, k, v = functional.linear(x, weight).view(batch, time, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        q, k = _rotate(q, cosine, sine), _rotate(k, cosine, sine)
        # Written out: on a CPU, in bfloat16, that is three times as fast as the fused kernel and its backward pass.
        score = q * self.scale @ k.transpose(-1, -2) + mask
        mixed = score.softmax(-1) @ v
        return self.o_proj(mixed.transpose(1, 2).reshape(batch, time, width))


class FeedForward(nn.Module):
    """SwiGLU."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.gate_proj = nn.Linear(shape.hidden_size, shape.intermediate_size, bias=False)
        self.up_proj = nn.Linear(shape.hidden_size, shape.intermediate_size, bias=False)
        self.down_proj = nn.Linear(shape.intermediate_size, shape.hidden_size, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """x: (batch, time, width)."""
        weight = torch.cat((self.gate_proj.weight, self.up_proj.weight))
        gate, up = functional.linear(x, weight).chunk(2, dim=-1)
        return self.down_proj(functional.silu(gate) * up)


class Layer(nn.Module):
    """One transformer layer, normalised before attention and before the feed-forward part."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.input_layernorm = RMSNorm(shape.hidden_size, shape.rms_norm_eps)
        self.self_attn = Attention(shape)
        self.post_attention_layernorm = RMSNorm(shape.hidden_size, shape.rms_norm_eps)
        self.mlp = FeedForward(shape)

    def forward(self, x: Tensor, cosine: Tensor, sine: Tensor, mask: Tensor) -> Tensor:
        """x: (batch, time, width); mask: (time, time), added to the scores."""
        x = x + self.self_attn(self.input_layernorm(x), cosine, sine, mask)
        return x + self.mlp(self.post_attention_layernorm(x))


class Llama(nn.Module):
    """Token ids to logits; the embedding is the output layer too."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        self.embed_tokens = nn.Embedding(shape.vocab_size, shape.hidden_size)
        self.layers = nn.ModuleList(Layer(shape) for _ in range(shape.num_hidden_layers))
        self.norm = RMSNorm(shape.hidden_size, shape.rms_norm_eps)
        frequency = shape.rope_theta ** (-torch.arange(0, shape.head_dim, 2, dtype=torch.float32) / shape.head_dim)
        angle = torch.arange(shape.max_position_embeddings, dtype=torch.float32)[:, None] * frequency
        self.register_buffer("cosine", angle.cos(), persistent=False)
        self.register_buffer("sine", angle.sin(), persistent=False)
        for name, weight in self.named_parameters():
            if weight.ndim == 2:
                scale = (
                    0.02 / (2 * shape.num_hidden_layers) ** 0.5
                    if name.endswith(("o_proj.weight", "down_proj.weight"))
                    else 0.02
                )
                nn.init.normal_(weight, std=scale)

    def hidden(self, ids: Tensor) -> Tensor:
        """The normalised last hidden states, (batch, time, width), of ids (batch, time)."""
        x = self.embed_tokens(ids)
        if torch.is_autocast_enabled("cpu"):
            x = x.to(torch.get_autocast_dtype("cpu"))
        cosine, sine = self.cosine[: ids.shape[1]].to(x.dtype), self.sine[: ids.shape[1]].to(x.dtype)
        mask = torch.full((ids.shape[1], ids.shape[1]), float("-inf"), dtype=x.dtype).triu(1)
        for layer in self.layers:
            x = layer(x, cosine, sine, mask)
        return self.norm(x)

    def forward(self, ids: Tensor) -> Tensor:
        """Logits (batch, time, vocabulary)."""
        return functional.linear(self.hidden(ids), self.embed_tokens.weight)


class Muon(torch.optim.Optimizer):
    """Momentum whose matrix is made orthogonal by a Newton-Schulz iteration before it is applied.

    Source of the method: Keller Jordan, "Muon: an optimizer for hidden layers in neural networks" (2024).
    """

    def __init__(self, weights: list[nn.Parameter], lr: float, momentum: float = 0.95, decay: float = 0.01) -> None:
        super().__init__(weights, {"lr": lr, "momentum": momentum, "decay": decay})

    @torch.no_grad()
    def step(self, closure: Any = None) -> None:  # noqa: ARG002 - part of the interface
        """Apply one step."""
        for group in self.param_groups:
            for weight in group["params"]:
                if weight.grad is None:
                    continue
                held = self.state[weight].setdefault("momentum", torch.zeros_like(weight))
                held.lerp_(weight.grad, 1 - group["momentum"])
                direction = orthogonal(weight.grad.lerp(held, group["momentum"]))
                weight.mul_(1 - group["lr"] * group["decay"])
                weight.add_(direction, alpha=-group["lr"] * max(1.0, weight.shape[0] / weight.shape[1]) ** 0.5)


def orthogonal(matrix: Tensor, steps: int = 5) -> Tensor:
    """About the nearest matrix with orthonormal rows or columns; the iteration is tuned for speed, not accuracy."""
    x = (matrix / (matrix.norm() + 1e-7)).bfloat16()
    tall = x.shape[0] > x.shape[1]
    x = x.T if tall else x
    for _ in range(steps):
        square = x @ x.T
        x = 3.4445 * x + (-4.7750 * square + 2.0315 * square @ square) @ x
    return (x.T if tall else x).to(matrix.dtype)
