"""GGUF metadata: what is there comes out, and a damaged file is only ever the typed error."""

from __future__ import annotations

import contextlib
import os
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gguf_writer import ARRAY, BOOL, STRING, gguf, text

from syntagma.errors import ModelError
from syntagma.gguf import read_metadata

PAIRS: list[tuple[str, int, Any]] = [
    ("u8", 0, 200),
    ("i8", 1, -3),
    ("u16", 2, 60_000),
    ("i16", 3, -30_000),
    ("u32", 4, 4_000_000_000),
    ("i32", 5, -5),
    ("f32", 6, 0.5),
    ("yes", BOOL, 1),
    ("no", BOOL, 0),
    ("name", STRING, "Übung 😀"),
    ("numbers", ARRAY, (5, [1, -2, 3])),
    ("floats", ARRAY, (6, [0.25, -1.5])),
    ("flags", ARRAY, (BOOL, [1, 0, 1])),
    ("words", ARRAY, (STRING, ["", "a", "ß", "日本"])),
    ("nested", ARRAY, (ARRAY, [(STRING, ["x"]), (4, [7, 8])])),
    ("empty", ARRAY, (STRING, [])),
    ("u64", 10, 2**63 + 1),
    ("i64", 11, -(2**62)),
    ("f64", 12, 1e300),
]


def _write(folder: Path, data: bytes) -> Path:
    path = folder / "model.gguf"
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("version", [2, 3])
def test_every_type_of_value(tmp_path: Path, version: int) -> None:
    found = read_metadata(_write(tmp_path, gguf(PAIRS, version=version) + b"tensors follow"))
    assert list(found) == [key for key, _, _ in PAIRS]
    assert isinstance(found["numbers"], np.ndarray)
    assert found["numbers"].dtype == np.int32
    assert found["numbers"].tolist() == [1, -2, 3]
    assert found["floats"].tolist() == [0.25, -1.5]
    assert [part if isinstance(part, list) else part.tolist() for part in found["nested"]] == [["x"], [7, 8]]
    assert (found["yes"], found["no"], found["flags"]) == (True, False, [True, False, True])
    assert found["words"] == ["", "a", "ß", "日本"]
    assert found["empty"] == []
    for key in ("u8", "i8", "u16", "i16", "u32", "i32", "f32", "name", "u64", "i64", "f64"):
        assert found[key] == next(value for name, _, value in PAIRS if name == key)


def test_only_what_is_asked_for_is_read(tmp_path: Path) -> None:
    path = _write(tmp_path, gguf(PAIRS))
    assert read_metadata(path, ["name", "f64", "missing"]) == {"name": "Übung 😀", "f64": 1e300}
    assert list(read_metadata(path, lambda key: key.startswith("i"))) == ["i8", "i16", "i32", "i64"]
    assert read_metadata(path, []) == {}


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    found = read_metadata(_write(tmp_path, gguf([("a", STRING, b"x\xffy"), ("b", ARRAY, (STRING, [b"\xc3"]))])))
    assert found == {"a": "x\ufffdy", "b": ["\ufffd"]}


def test_a_file_that_ends_early_at_any_byte(tmp_path: Path) -> None:
    data = gguf(PAIRS)
    path = _write(tmp_path, data)
    for length in reversed(range(len(data))):
        os.truncate(path, length)
        for wanted in (None, []):
            with pytest.raises(ModelError) as raised:
                read_metadata(path, wanted)
            assert raised.value.code == "E-MODEL-GGUF"
            assert raised.value.source == str(path)


def test_a_file_with_any_byte_changed(tmp_path: Path) -> None:
    data = gguf(PAIRS)
    readable = 0
    with _write(tmp_path, data).open("r+b", buffering=0) as file:
        for place in range(len(data)):
            for byte in (0x00, 0x09, 0xFF):
                file.seek(place)
                file.write(bytes([byte]))
                # Anything but the typed error fails the test here.
                with contextlib.suppress(ModelError):
                    readable += isinstance(read_metadata(file.name), dict)
            file.seek(place)
            file.write(data[place : place + 1])
    assert readable > 0


@pytest.mark.parametrize(
    ("data", "offset"),
    [
        (b"GGML" + bytes(40), 0),
        (gguf([], version=1), 4),
        (gguf([], version=4), 4),
        (b"GGUF" + struct.pack(">IQQ", 3, 0, 0), 4),
        (b"GGUF" + struct.pack("<IQQ", 3, 0, 2**62), 24),
        (b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + struct.pack("<Q", 2**40) + bytes(20), 24),
        (b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + text("k") + b"\x0d" + bytes(20), 33),
    ],
)
def test_damage_is_said_with_its_place(tmp_path: Path, data: bytes, offset: int) -> None:
    with pytest.raises(ModelError) as raised:
        read_metadata(_write(tmp_path, data))
    assert raised.value.offset == offset


def test_lengths_are_not_believed(tmp_path: Path) -> None:
    head = b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + text("k") + struct.pack("<I", ARRAY)
    for kind in (*range(14), 2**31):
        for count in (2**31, 2**60, 2**64 - 1):
            with pytest.raises(ModelError):
                read_metadata(_write(tmp_path, head + struct.pack("<IQ", kind, count) + bytes(64)))


def test_arrays_do_not_nest_without_end(tmp_path: Path) -> None:
    value: Any = (4, [1])
    for _ in range(40):
        value = (ARRAY, [value])
    with pytest.raises(ModelError, match="nested"):
        read_metadata(_write(tmp_path, gguf([("k", ARRAY, value)])))


def test_what_is_no_file(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "missing.gguf"):
        with pytest.raises(ModelError) as raised:
            read_metadata(path)
        assert raised.value.source == str(path)
