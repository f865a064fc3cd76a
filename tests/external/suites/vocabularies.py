"""Real vocabularies: the bytes of every token by each reader, sampled mask bits against acceptance, and refusals of
tokenizers that were tampered with."""

from __future__ import annotations

import importlib
import json
import random
import struct
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import syntagma as sg

_FLAG_SPECIAL, _FLAG_UNUSED, _FLAG_USER_DEFINED = 1, 2, 3
_SAMPLE = 2_000
_SMALL = 2 << 20
"""bytes of a tokenizer.json that is read more than once"""
_SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 20},
        "tags": {"type": "array", "items": {"enum": ["red", "green", "ünïcödé"]}},
        "size": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
    },
    "required": ["name", "tags"],
    "additionalProperties": False,
}
_DOCUMENT = '{"name": "Łódź \\"x\\" 🙂", "tags": ["red", "ünïcödé"], "size": null}'.encode()

# What may have been lost or replaced on a tokenizer's way here.
_CHANGES: dict[str, dict[str, Any]] = {
    "untouched": {},
    "no decoder": {"decoder": None},
    "no pre-tokenizer": {"pre_tokenizer": None},
    "metaspace": {"decoder": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "never", "split": False}},
    "byte-level": {
        "decoder": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False, "use_regex": False}
    },
    "byte-fallback": {"decoder": {"type": "ByteFallback"}},
    "wordpiece": {"decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True}},
    "lower case": {"normalizer": {"type": "Lowercase"}},
}


def run(data: Path) -> Iterator[tuple[str, str | None]]:
    """One case a file: its tokens; one a vocabulary: its masks; one for each way to tamper with a tokenizer."""
    folder = data / "engine" / "vocabs"
    for table in sorted(folder.glob("*.tkv")):
        header, tokens, flags = _read_table(table)
        for path in (folder / f"{table.stem}.tokenizer.json", folder / f"ggml-vocab-{table.stem}.gguf"):
            if path.exists():
                yield f"tokens/{path.name}", _compare(path, header, tokens, flags)
        yield f"masks/{table.stem}", _masks(header, tokens, flags)
    for path in sorted(folder.glob("*.tokenizer.json")):
        info = sg.TokenizerInfo.from_tokenizer_json(path, eos_token_ids=[0])
        settings = json.loads(path.read_text(encoding="utf-8"))
        # The small ones in every way: one byte-level, one with byte fallback.
        ways = _CHANGES if path.stat().st_size < _SMALL else {"untouched": {}}
        for what, change in ways.items():
            yield f"tampered/{path.stem}/{what}", _tampered(settings | change, info)


def _read_table(path: Path) -> tuple[dict[str, Any], list[bytes], np.ndarray]:
    raw = path.read_bytes()
    magic = len(b"TKVOCAB1")
    (size,) = struct.unpack_from("<I", raw, magic)
    at = magic + 4 + size
    header = json.loads(raw[magic + 4 : at])
    count = header["n"]
    lengths = np.frombuffer(raw, "<u2", count, at)
    flags = np.frombuffer(raw, "u1", count, at + 2 * count)
    ends = at + 3 * count + np.cumsum(lengths, dtype=np.int64)
    return header, [raw[end - length : end] for end, length in zip(ends, lengths, strict=True)], flags


def _eos(header: dict[str, Any]) -> list[int]:
    eos = header["eos"]
    return list(eos) if isinstance(eos, list) else [eos]


def _compare(path: Path, header: dict[str, Any], tokens: list[bytes], flags: np.ndarray) -> str | None:
    read = sg.TokenizerInfo.from_gguf if path.suffix == ".gguf" else sg.TokenizerInfo.from_tokenizer_json
    info = read(path, eos_token_ids=_eos(header))
    for token, (data, flag) in enumerate(zip(tokens, flags, strict=True)):
        if flag == _FLAG_UNUSED or token >= info.vocab_size:
            continue
        if info.token_bytes(token) != data:
            return f"token {token} is {info.token_bytes(token)!r} instead of {data!r}"
    return None


def _masks(header: dict[str, Any], tokens: list[bytes], flags: np.ndarray) -> str | None:
    table = [b"" if flag == _FLAG_UNUSED else data for data, flag in zip(tokens, flags, strict=True)]
    special = [int(i) for i in np.flatnonzero(flags == _FLAG_SPECIAL)]
    info = sg.TokenizerInfo.from_tokens(table, eos_token_ids=_eos(header), special_token_ids=special)
    matcher = sg.GrammarMatcher(sg.GrammarCompiler(info).compile(sg.Grammar.from_json_schema(_SCHEMA)))
    bitmask = sg.allocate_token_bitmask(1, info.vocab_size)
    rng = random.Random(header["n"])
    for at in range(len(_DOCUMENT) + 1):
        matcher.fill_next_token_bitmask(bitmask)
        allowed = np.unpackbits(bitmask[0].view(np.uint8), bitorder="little")[: info.vocab_size]
        open_ids = np.flatnonzero(allowed)
        sample = (
            rng.sample(range(info.vocab_size), _SAMPLE // 10) + [int(i) for i in open_ids[:50]] + [*info.eos_token_ids]
        )
        for token in sample:
            if matcher.accepts(token) != bool(allowed[token]):
                return f"behind {at} bytes, token {token} ({info.token_bytes(token)!r}): mask and acceptance differ"
        if at < len(_DOCUMENT) and not matcher.accept_bytes(_DOCUMENT[at : at + 1]):
            return f"byte {at} of a valid document is refused"
    return None if matcher.is_accepting() else "a valid document does not end"


def _tampered(settings: dict[str, Any], info: sg.TokenizerInfo) -> str | None:
    """The readers give the same tokens as before, or refuse; other tokens would be a guess."""
    text = json.dumps(settings)
    tokenizer = importlib.import_module("tokenizers").Tokenizer.from_str(text)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tokenizer.json"
        path.write_text(text, encoding="utf-8")
        readers = {
            "the file": lambda: sg.TokenizerInfo.from_tokenizer_json(path, eos_token_ids=[0]),
            "the object": lambda: sg.TokenizerInfo.from_huggingface(tokenizer, eos_token_ids=[0]),
        }
        for what, read in readers.items():
            try:
                got = read()
            except sg.VocabularyError:
                continue
            if any(got.token_bytes(token) != info.token_bytes(token) for token in range(info.vocab_size)):
                return f"from {what} other tokens are read"
    return None
