"""Writes the shipped model as other engines read it: a Hugging Face folder, and one GGUF file.

    python -m tests.engines.model_files OUT                      OUT/model and OUT/model.gguf
    python -m tests.engines.model_files OUT --control-markers    OUT/control and OUT/control.gguf

With `--control-markers` the markers of the chat format (`<tool_call>`, `<think>` and so on) are control tokens, as they
are in the vocabularies of many models: engines leave such tokens out of the text unless they are asked to show them.
The weights are the same. GGUF needs two libraries: `pip install gguf safetensors`.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

TRAINING = Path(__file__).resolve().parents[2] / "training"
COPIED = ("config.json", "generation_config.json", "model.safetensors", "chat_template.jinja")


def write_folder(folder: Path, *, control_markers: bool = False) -> Path:
    """Write the Hugging Face folder; returns it."""
    folder.mkdir(parents=True, exist_ok=True)
    with as_file(files("syntagma.embedded") / "data") as data:
        for name in COPIED:
            shutil.copyfile(data / name, folder / name)
        tokenizer, settings = (_read(data / name) for name in ("tokenizer.json", "tokenizer_config.json"))
        # Engines differ in which of the two places they look for the template.
        settings["chat_template"] = (data / "chat_template.jinja").read_text(encoding="utf-8")
    if control_markers:
        markers = [token for token in tokenizer["added_tokens"] if not token["special"]]
        settings["additional_special_tokens"] += [token["content"] for token in markers]
        for token in markers:
            token["special"] = True
    _write(folder / "tokenizer.json", tokenizer)
    _write(folder / "tokenizer_config.json", settings)
    return folder


def write_gguf(folder: Path, path: Path) -> Path:
    """Write a folder of `write_folder` as one GGUF file; returns its path. Needs the `gguf` library."""
    if str(TRAINING) not in sys.path:
        sys.path.append(str(TRAINING))
    import gguf_file

    gguf_file.write_gguf(folder, path)
    return path


def _read(path: Path) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return value


def _write(path: Path, value: dict[str, Any]) -> None:
    path.write_text(json.dumps(value, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--control-markers", action="store_true")
    arguments = parser.parse_args()
    name = "control" if arguments.control_markers else "model"
    folder = write_folder(arguments.out / name, control_markers=arguments.control_markers)
    print(folder, write_gguf(folder, arguments.out / f"{name}.gguf"), sep="\n")


if __name__ == "__main__":
    main()
