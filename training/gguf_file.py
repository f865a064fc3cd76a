"""Writes a model folder as one GGUF file.

    python gguf_file.py FOLDER FILE.gguf

The folder has the layout of Hugging Face: a Llama network and a byte-level BPE vocabulary. Matrices become float16.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file

import gguf


def write_gguf(folder: Path, path: Path) -> None:
    """Write one GGUF file that holds a folder's weights, tokenizer and chat template."""
    config = _read(folder / "config.json")
    path.parent.mkdir(parents=True, exist_ok=True)
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_name(path.stem)
    _add_sizes(writer, config)
    _add_vocabulary(writer, _read(folder / "tokenizer.json"), _read(folder / "tokenizer_config.json"))
    writer.add_chat_template((folder / "chat_template.jinja").read_text(encoding="utf-8"))
    _add_weights(writer, load_file(folder / "model.safetensors"), config)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _add_sizes(writer: gguf.GGUFWriter, config: dict[str, Any]) -> None:
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(config["num_attention_heads"])
    writer.add_head_count_kv(config["num_key_value_heads"])
    writer.add_rope_dimension_count(config["head_dim"])
    writer.add_rope_freq_base(config["rope_theta"])
    writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
    writer.add_vocab_size(config["vocab_size"])
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_F16)


def _add_vocabulary(writer: gguf.GGUFWriter, tokenizer: dict[str, Any], settings: dict[str, Any]) -> None:
    added = {token["id"]: token for token in tokenizer["added_tokens"]}
    vocabulary = sorted(tokenizer["model"]["vocab"].items(), key=lambda item: item[1])
    types = gguf.TokenType
    kinds = [
        (types.CONTROL if added[token]["special"] else types.USER_DEFINED) if token in added else types.NORMAL
        for _, token in vocabulary
    ]
    ids = {token["content"]: token["id"] for token in added.values()}
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list([text for text, _ in vocabulary])
    writer.add_token_types(kinds)
    writer.add_token_merges(
        [pair if isinstance(pair, str) else " ".join(pair) for pair in tokenizer["model"]["merges"]]
    )
    writer.add_eos_token_id(ids[settings["eos_token"]])
    writer.add_eot_token_id(ids[settings["eos_token"]])
    writer.add_pad_token_id(ids[settings["pad_token"]])
    writer.add_add_bos_token(False)


def _add_weights(writer: gguf.GGUFWriter, arrays: dict[str, NDArray[Any]], config: dict[str, Any]) -> None:
    heads = {"q_proj": config["num_attention_heads"], "k_proj": config["num_key_value_heads"]}
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.LLAMA, config["num_hidden_layers"])
    for name, array in arrays.items():
        target = names.get_name(name, try_suffixes=(".weight",))
        if target is None:
            raise ValueError(f"GGUF knows no tensor {name}")
        turned = heads.get(name.removesuffix(".weight").rpartition(".")[2])
        rows = _interleaved(array, turned) if turned else array
        # Vectors stay float32: the readers of GGUF expect that of normalisation weights.
        writer.add_tensor(target, rows.astype(np.float16 if rows.ndim == 2 else np.float32))


def _interleaved(weight: NDArray[Any], heads: int) -> NDArray[Any]:
    """Rows of each head from halves (first, second) to pairs, the order in which GGUF's Llama turns positions."""
    rows, width = weight.shape
    halves = weight.reshape(heads, 2, rows // heads // 2, width)
    return np.ascontiguousarray(halves.swapaxes(1, 2).reshape(rows, width))


def _read(path: Path) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return value


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="config.json, model.safetensors, tokenizer.json and so on")
    parser.add_argument("file", type=Path)
    arguments = parser.parse_args()
    write_gguf(arguments.folder, arguments.file)


if __name__ == "__main__":
    main()
