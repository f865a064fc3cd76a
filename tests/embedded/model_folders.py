"""Small model folders with random weights, written byte by byte, for tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Weights = dict[str, NDArray[np.float32]]

CONFIG: dict[str, Any] = {
    "model_type": "llama",
    "vocab_size": 50,
    "hidden_size": 24,
    "intermediate_size": 40,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "max_position_embeddings": 32,
    "rms_norm_eps": 1e-5,
    "rope_theta": 10_000.0,
    "tie_word_embeddings": True,
}


def random_weights(config: dict[str, Any], seed: int = 0) -> Weights:
    rng = np.random.default_rng(seed)
    width, inner, head = config["hidden_size"], config["intermediate_size"], config["head_dim"]
    queries, keys = config["num_attention_heads"] * head, config["num_key_value_heads"] * head

    def matrix(*shape: int) -> NDArray[np.float32]:
        return rng.normal(0, 0.3, shape).astype(np.float32)

    weights: Weights = {"model.embed_tokens.weight": matrix(config["vocab_size"], width)}
    for index in range(config["num_hidden_layers"]):
        prefix = f"model.layers.{index}."
        weights |= {
            prefix + "input_layernorm.weight": 1 + matrix(width),
            prefix + "self_attn.q_proj.weight": matrix(queries, width),
            prefix + "self_attn.k_proj.weight": matrix(keys, width),
            prefix + "self_attn.v_proj.weight": matrix(keys, width),
            prefix + "self_attn.o_proj.weight": matrix(width, queries),
            prefix + "post_attention_layernorm.weight": 1 + matrix(width),
            prefix + "mlp.gate_proj.weight": matrix(inner, width),
            prefix + "mlp.up_proj.weight": matrix(inner, width),
            prefix + "mlp.down_proj.weight": matrix(width, inner),
        }
    weights["model.norm.weight"] = 1 + matrix(width)
    if not config["tie_word_embeddings"]:
        weights["lm_head.weight"] = matrix(config["vocab_size"], width)
    return weights


def stored(array: NDArray[np.float32], dtype: str) -> bytes:
    if dtype == "BF16":
        return (array.view(np.uint32) >> 16).astype("<u2").tobytes()
    return array.astype({"F32": "<f4", "F16": "<f2", "F64": "<f8"}[dtype]).tobytes()


def as_stored(array: NDArray[np.float32], dtype: str) -> NDArray[np.float32]:
    """What is left of the values once they were stored."""
    if dtype == "BF16":
        return (array.view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32)
    return array.astype({"F32": np.float32, "F16": np.float16}[dtype]).astype(np.float32)


def safetensors(weights: Weights, dtype: str = "F32") -> bytes:
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    body = b""
    for name, array in weights.items():
        data = stored(array, dtype)
        header[name] = {"dtype": dtype, "shape": list(array.shape), "data_offsets": [len(body), len(body) + len(data)]}
        body += data
    head = json.dumps(header).encode()
    return len(head).to_bytes(8, "little") + head + body


def write_folder(folder: Path, config: dict[str, Any], weights: Weights, dtype: str = "F32") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "model.safetensors").write_bytes(safetensors(weights, dtype))
    return folder


def plain_logits(config: dict[str, Any], weights: Weights, ids: list[int]) -> NDArray[np.float64]:
    """The logits after the last of `ids`: one position at a time, one head at a time, no cache, in float64."""
    head, heads = config["head_dim"], config["num_attention_heads"]
    sharing = heads // config["num_key_value_heads"]

    def norm(x: NDArray[np.float64], weight: NDArray[np.float32]) -> NDArray[np.float64]:
        return x / np.sqrt((x**2).mean() + config["rms_norm_eps"]) * weight

    def turn(x: NDArray[np.float64], position: int) -> NDArray[np.float64]:
        turned = x.copy()
        for pair in range(head // 2):
            angle = position * config["rope_theta"] ** (-2 * pair / head)
            first, second = x[pair], x[pair + head // 2]
            turned[pair] = first * np.cos(angle) - second * np.sin(angle)
            turned[pair + head // 2] = second * np.cos(angle) + first * np.sin(angle)
        return turned

    rows = [weights["model.embed_tokens.weight"][token].astype(np.float64) for token in ids]
    for index in range(config["num_hidden_layers"]):
        part = {name.removeprefix(f"model.layers.{index}."): array for name, array in weights.items()}
        normed = [norm(row, part["input_layernorm.weight"]) for row in rows]
        after = []
        for position, row in enumerate(rows):
            mixed = []
            for h in range(heads):
                query_rows, key_rows = (
                    slice(h * head, (h + 1) * head),
                    slice(h // sharing * head, (h // sharing + 1) * head),
                )
                query = turn(part["self_attn.q_proj.weight"][query_rows] @ normed[position], position)
                seen = range(position + 1)
                keys = [turn(part["self_attn.k_proj.weight"][key_rows] @ normed[p], p) for p in seen]
                values = [part["self_attn.v_proj.weight"][key_rows] @ normed[p] for p in seen]
                weight = np.exp([query @ key / np.sqrt(head) for key in keys])
                mixed.append(sum(w * v for w, v in zip(weight / weight.sum(), values, strict=True)))
            attended = row + part["self_attn.o_proj.weight"] @ np.concatenate(mixed)
            inner = norm(attended, part["post_attention_layernorm.weight"])
            gate = part["mlp.gate_proj.weight"] @ inner
            after.append(
                attended
                + part["mlp.down_proj.weight"] @ (gate / (1 + np.exp(-gate)) * (part["mlp.up_proj.weight"] @ inner))
            )
        rows = after
    head_weight = weights.get("lm_head.weight", weights["model.embed_tokens.weight"])
    return np.asarray(head_weight @ norm(rows[-1], weights["model.norm.weight"]))
