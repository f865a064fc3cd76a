from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from syntagma.embedded import load
from syntagma.embedded.model import Network
from syntagma.errors import ModelError

from .model_folders import CONFIG, random_weights, safetensors, write_folder

NORM = "model.norm.weight"


def _rewrite(name: str, change: Callable[[bytes], bytes]) -> Callable[[Path], None]:
    def apply(folder: Path) -> None:
        (folder / name).write_bytes(change((folder / name).read_bytes()))

    return apply


def _config(**change: Any) -> Callable[[Path], None]:
    return _rewrite("config.json", lambda _: json.dumps(CONFIG | change).encode())


def _entry(**change: Any) -> Callable[[Path], None]:
    def apply(raw: bytes) -> bytes:
        size = int.from_bytes(raw[:8], "little")
        header = json.loads(raw[8 : 8 + size])
        header[NORM] |= change
        head = json.dumps(header).encode()
        return len(head).to_bytes(8, "little") + head + raw[8 + size :]

    return _rewrite("model.safetensors", apply)


def _without(name: str) -> Callable[[Path], None]:
    weights = {key: array for key, array in random_weights(CONFIG).items() if key != name}
    return _rewrite("model.safetensors", lambda _: safetensors(weights))


def _remove(name: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).unlink()


@pytest.mark.parametrize(
    ("damage", "code", "file"),
    [
        (_remove("config.json"), "E-MODEL-FILE", "config.json"),
        (_remove("model.safetensors"), "E-MODEL-FILE", "model.safetensors"),
        (_rewrite("config.json", lambda _: b"{"), "E-MODEL-CONFIG", "config.json"),
        (_rewrite("config.json", lambda _: b"[]"), "E-MODEL-CONFIG", "config.json"),
        (_rewrite("config.json", lambda _: b'{"model_type": "llama"}'), "E-MODEL-CONFIG", "config.json"),
        (_config(hidden_size="wide"), "E-MODEL-CONFIG", "config.json"),
        (_config(num_hidden_layers=0), "E-MODEL-CONFIG", "config.json"),
        (_config(num_attention_heads=0), "E-MODEL-CONFIG", "config.json"),
        (_config(num_attention_heads=0, head_dim=None), "E-MODEL-CONFIG", "config.json"),
        (_config(num_key_value_heads=3), "E-MODEL-CONFIG", "config.json"),
        (_config(head_dim=7), "E-MODEL-CONFIG", "config.json"),
        (_config(model_type="somethingelse"), "E-MODEL-ARCHITECTURE", "config.json"),
        (_config(rope_scaling={"type": "linear"}), "E-MODEL-ARCHITECTURE", "config.json"),
        (_config(hidden_act="gelu"), "E-MODEL-ARCHITECTURE", "config.json"),
        (_config(attention_bias=True), "E-MODEL-ARCHITECTURE", "config.json"),
        (_rewrite("model.safetensors", lambda _: b""), "E-MODEL-FILE", "model.safetensors"),
        (_rewrite("model.safetensors", lambda raw: raw[:5]), "E-MODEL-WEIGHTS", "model.safetensors"),
        (_rewrite("model.safetensors", lambda raw: b"\xff" * 8 + raw), "E-MODEL-WEIGHTS", "model.safetensors"),
        (
            _rewrite("model.safetensors", lambda raw: raw[:9] + b"\x00" + raw[10:]),
            "E-MODEL-WEIGHTS",
            "model.safetensors",
        ),
        (
            _rewrite("model.safetensors", lambda _: (2).to_bytes(8, "little") + b"[]"),
            "E-MODEL-WEIGHTS",
            "model.safetensors",
        ),
        (_rewrite("model.safetensors", lambda raw: raw[:-4]), "E-MODEL-WEIGHTS", "model.safetensors"),
        (_without(NORM), "E-MODEL-WEIGHTS", "model.safetensors"),
        (_entry(data_offsets=[0, 4]), "E-MODEL-WEIGHTS", "model.safetensors"),
        (_entry(data_offsets=[-96, 0]), "E-MODEL-WEIGHTS", "model.safetensors"),
        (_entry(data_offsets="here"), "E-MODEL-WEIGHTS", "model.safetensors"),
        (_entry(shape=[12, 2]), "E-MODEL-SHAPE", "model.safetensors"),
        (_config(intermediate_size=41), "E-MODEL-SHAPE", "model.safetensors"),
        (_entry(dtype="I64"), "E-MODEL-DTYPE", "model.safetensors"),
    ],
)
def test_a_broken_folder_says_what_is_wrong_and_where(
    tmp_path: Path, damage: Callable[[Path], None], code: str, file: str
) -> None:
    write_folder(tmp_path, CONFIG, random_weights(CONFIG))
    damage(tmp_path)
    with pytest.raises(ModelError) as caught:
        Network(tmp_path)
    assert caught.value.code == code
    assert caught.value.source == str(tmp_path / file)


def test_missing_folder(tmp_path: Path) -> None:
    with pytest.raises(ModelError) as caught:
        load(tmp_path / "nowhere")
    assert caught.value.code == "E-MODEL-FILE"
    assert caught.value.hint is not None


def test_folder_without_a_tokenizer(tmp_path: Path) -> None:
    write_folder(tmp_path, CONFIG, random_weights(CONFIG))
    with pytest.raises(ModelError) as caught:
        load(tmp_path)
    assert (caught.value.code, caught.value.source) == ("E-MODEL-FILE", str(tmp_path / "tokenizer.json"))


def test_tokenizer_that_is_none(tmp_path: Path) -> None:
    write_folder(tmp_path, CONFIG, random_weights(CONFIG))
    (tmp_path / "tokenizer.json").write_text('{"model": 1}')
    with pytest.raises(ModelError) as caught:
        load(tmp_path)
    assert caught.value.code == "E-MODEL-TOKENIZER"
