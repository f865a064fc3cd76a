"""Writes a checkpoint as a model folder, and the folder as GGUF.

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

import torch
from gguf_file import write_gguf
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
        write_gguf(arguments.to, arguments.gguf)


if __name__ == "__main__":
    main()
