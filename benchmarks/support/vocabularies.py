"""Vocabularies: those of the data folder beside the repository, or else the shipped model's."""

from __future__ import annotations

import json
import os
import struct
import sys
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

import numpy as np

import syntagma as sg

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("SYNTAGMA_BENCH_DATA", ROOT.parent / "shared" / "data"))
ENGINE_DATA = DATA / "engine"
SHIPPED = "shipped"
SHIPPED_TOKENIZER = ROOT / "python" / "syntagma" / "embedded" / "data" / "tokenizer.json"
_NORMAL, _SPECIAL, _UNUSED, _BYTE = 0, 1, 2, 4


def has_data() -> bool:
    """Whether the data folder is there; if not, says so on the error stream and into the results."""
    if (ENGINE_DATA / "schemas.jsonl").is_file():
        return True
    note = f"The data folder is not there ({ENGINE_DATA.name}): measured on what the package ships."
    print(f"{note}\n")
    print(note, file=sys.stderr)
    return False


class Vocabulary:
    """Tokens as every engine gets them.

    Attributes:
        name: as in the data folder, or `shipped`.
        tokens: bytes by id; empty where an id stands for nothing.
        eos: ids that end a text.
        special: ids that text never matches, `eos` among them.
        tokenizer: the `tokenizer.json` of the same vocabulary, or None.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        if name == SHIPPED:
            info = sg.TokenizerInfo.from_tokenizer_json(SHIPPED_TOKENIZER)
            self.tokens = [info.token_bytes(token) for token in range(info.vocab_size)]
            self.eos = list(info.eos_token_ids)
            self.special = sorted(info.special_token_ids)
            self.tokenizer: Path | None = SHIPPED_TOKENIZER
            return
        folder = ENGINE_DATA / "vocabs"
        self.tokens, flags, self.eos = _read(folder / f"{name}.tkv")
        self.special = sorted({*self.eos, *np.flatnonzero(flags == _SPECIAL).tolist()})
        for token in np.flatnonzero(flags == _UNUSED).tolist():
            self.tokens[token] = b""
        path = folder / f"{name}.tokenizer.json"
        self.tokenizer = path if path.is_file() else None

    @property
    def words(self) -> int:
        """32-bit words of a mask."""
        return (len(self.tokens) + 31) // 32

    @cached_property
    def _by_bytes(self) -> dict[bytes, int]:
        special = set(self.special)
        found: dict[bytes, int] = {}
        for token, data in enumerate(self.tokens):
            if data and token not in special:
                found.setdefault(data, token)
        return found

    @cached_property
    def longest(self) -> int:
        return max(map(len, self._by_bytes))

    def greedy(self, data: bytes) -> list[int]:
        """The longest token first: the same tokens for every engine, without anybody's tokenizer."""
        tokens, at = [], 0
        while at < len(data):
            ends = range(min(len(data), at + self.longest), at, -1)
            end = next(end for end in ends if data[at:end] in self._by_bytes)
            tokens.append(self._by_bytes[data[at:end]])
            at = end
        return tokens


def _read(path: Path) -> tuple[list[bytes], np.ndarray, list[int]]:
    """Tokens, flags and end-of-text ids of a `.tkv` file."""
    raw = path.read_bytes()
    (size,) = struct.unpack_from("<I", raw, 8)
    head = json.loads(raw[12 : 12 + size])
    count, at = head["n"], 12 + size
    lengths = np.frombuffer(raw, "<u2", count, at).astype(np.int64)
    flags = np.frombuffer(raw, "u1", count, at + 2 * count)
    starts = at + 3 * count + np.concatenate([[0], np.cumsum(lengths)])
    return [raw[starts[i] : starts[i + 1]] for i in range(count)], flags, head["eos"]


def present(names: Sequence[str]) -> list[str]:
    """Those of these vocabularies that the data folder has."""
    return [name for name in names if (ENGINE_DATA / "vocabs" / f"{name}.tkv").is_file()]
