"""Writes a checkpoint as a model folder, and as GGUF.

    python export.py RUN                       into the package's data folder
    python export.py RUN --to FOLDER           somewhere else
    python export.py RUN --gguf FILE.gguf      a GGUF file beside it

The weights are the averaged ones, as float16. The folder has the layout of a Hugging Face Llama folder and loads there.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save
from tokenizers import Tokenizer

import gguf
import torch
from rendering import TEMPLATE
from tokenizer import SPECIAL

END_OF_TEXT, _, END_OF_TURN = SPECIAL
SUMS = "SHA256SUMS"

Arrays = dict[str, NDArray[np.float16]]


def read_checkpoint(run: Path) -> tuple[Arrays, dict[str, Any]]:
    """The averaged weights under their Hugging Face names, float16, and the content of `config.json`."""
    state = torch.load(run / "checkpoint.pt", weights_only=False, map_location="cpu")
    arrays = {f"model.{name}": weight.to(torch.float16).numpy() for name, weight in state["average"].items()}
    return arrays, state["shape"].config()


def write_folder(run: Path, folder: Path) -> None:
    """Write weights, configuration and tokenizer; the chat template is copied where the folder is not its home."""
    arrays, config = read_checkpoint(run)
    tokenizer = Tokenizer.from_file(str(run / "tokenizer.json"))
    ends = [tokenizer.token_to_id(END_OF_TURN), tokenizer.token_to_id(END_OF_TEXT)]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.safetensors").write_bytes(save(arrays, metadata={"format": "pt"}))
    tokenizer.save(str(folder / "tokenizer.json"))
    _write(folder / "config.json", config | {"torch_dtype": "float16", "eos_token_id": ends})
    _write(folder / "generation_config.json", {"eos_token_id": ends, "pad_token_id": ends[1]})
    settings = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "eos_token": END_OF_TURN,
        "pad_token": END_OF_TEXT,
        "additional_special_tokens": [token for token in SPECIAL if token not in (END_OF_TURN, END_OF_TEXT)],
        "model_max_length": config["max_position_embeddings"],
        "clean_up_tokenization_spaces": False,
    }
    _write(folder / "tokenizer_config.json", settings)
    template = folder / TEMPLATE.name
    if template.resolve() != TEMPLATE:
        template.write_bytes(TEMPLATE.read_bytes())
    names = sorted(path.name for path in folder.iterdir() if path.suffix in {".json", ".safetensors", ".jinja"})
    sums = [f"{hashlib.sha256((folder / name).read_bytes()).hexdigest()}  {name}\n" for name in names]
    (folder / SUMS).write_text("".join(sums))


def write_gguf(run: Path, path: Path) -> None:
    """Write one GGUF file that holds weights, tokenizer and chat template."""
    arrays, config = read_checkpoint(run)
    tokenizer = json.loads(Tokenizer.from_file(str(run / "tokenizer.json")).to_str())
    added = {token["id"]: token for token in tokenizer["added_tokens"]}
    vocabulary = sorted(tokenizer["model"]["vocab"].items(), key=lambda item: item[1])
    merges = [pair if isinstance(pair, str) else " ".join(pair) for pair in tokenizer["model"]["merges"]]
    types = gguf.TokenType
    kinds = [
        (types.CONTROL if added[token]["special"] else types.USER_DEFINED) if token in added else types.NORMAL
        for _, token in vocabulary
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_name(path.stem)
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
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list([text for text, _ in vocabulary])
    writer.add_token_types(kinds)
    writer.add_token_merges(merges)
    ids = {token["content"]: token["id"] for token in added.values()}
    writer.add_eos_token_id(ids[END_OF_TURN])
    writer.add_eot_token_id(ids[END_OF_TURN])
    writer.add_pad_token_id(ids[END_OF_TEXT])
    writer.add_add_bos_token(False)
    writer.add_chat_template(TEMPLATE.read_text(encoding="utf-8"))
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.LLAMA, config["num_hidden_layers"])
    for name, array in arrays.items():
        target = names.get_name(name, try_suffixes=(".weight",))
        if target is None:
            raise ValueError(f"GGUF knows no tensor {name}")
        turned = name.endswith(("q_proj.weight", "k_proj.weight"))
        rows = _interleaved(array, config["num_attention_heads"]) if turned else array
        # Vectors stay float32: the readers of GGUF expect that of normalisation weights.
        writer.add_tensor(target, rows if rows.ndim == 2 else rows.astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _interleaved(weight: NDArray[np.float16], heads: int) -> NDArray[np.float16]:
    """Rows of each head from halves (first, second) to pairs, the order in which GGUF's Llama turns positions."""
    rows, width = weight.shape
    halves = weight.reshape(heads, 2, rows // heads // 2, width)
    return np.ascontiguousarray(halves.swapaxes(1, 2).reshape(rows, width))


def _write(path: Path, value: dict[str, Any]) -> None:
    path.write_text(json.dumps(value, indent=2) + "\n")


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path, help="the folder that train.py wrote")
    parser.add_argument("--to", type=Path, default=TEMPLATE.parent)
    parser.add_argument("--gguf", type=Path)
    arguments = parser.parse_args()
    write_folder(arguments.run, arguments.to)
    if arguments.gguf:
        write_gguf(arguments.run, arguments.gguf)


if __name__ == "__main__":
    main()
