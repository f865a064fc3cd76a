"""Peers that read model output, fed like our parser."""

from __future__ import annotations

import os
import struct
import tempfile
from base64 import b64encode
from collections.abc import Callable, Iterator
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

Reader = tuple[str, Callable[[], Callable[[str], object]], list[list[str]]]
"""Name of a peer, what makes a reader of one text, and the texts in chunks."""

RANKS = "o200k_base.tiktoken"

# What transformers needs to know of three of the formats.
_TEMPLATES: dict[str, dict[str, Any]] = {
    "qwen25": {
        "open": "<tool_call>",
        "close": "</tool_call>",
        "content": "json",
    },
    "kimi_k2": {
        "open_pattern": r"<\|tool_call_begin\|>functions\.(?P<name>\w+):\d+<\|tool_call_argument_begin\|>",
        "close": "<|tool_call_end|>",
        "content": "json",
        "transform": {"name": "{name}", "arguments": "{content}"},
    },
    "qwen3_coder": {
        "open_pattern": r"<tool_call>\s*<function=(?P<name>\w+)>",
        "close": "</tool_call>",
        "content": "text",
        "transform": {"name": "{name}", "arguments": "{content}"},
    },
}


def readers(name: str, wire: Any, texts: list[str], pieces: Callable[[str], list[str]]) -> Iterator[Reader]:
    """The peers that can read calls of this format."""
    try:
        from transformers.utils.chat_parsing.response_parser import ResponseParser
    except ImportError as error:
        print(f"transformers was not measured: {error}")
    else:
        if name in _TEMPLATES:
            field = {"repeats": True, "optional": True, **_TEMPLATES[name]}
            template = {
                "start_anchor": "<start>",
                "fields": {"content": {"content": "text"}, "tool_calls": field},
            }
            yield "transformers", lambda: ResponseParser(template, prefix="").feed, [pieces(text) for text in texts]
    try:
        from partial_json_parser import loads
    except ImportError as error:
        print(f"partial-json-parser was not measured: {error}")
        return
    if wire.json:
        start = wire.before.index("{")
        bodies = [
            text[start : len(text) - len(wire.after)] + wire.after[: wire.after.rindex("}") + 1] for text in texts
        ]

        def make() -> Callable[[str], object]:
            held = ""

            def feed(chunk: str) -> object:
                nonlocal held
                held += chunk
                return loads(held)

            return feed

        yield "partial JSON, again and again", make, [pieces(body) for body in bodies]


def harmony_encoding() -> Any:
    """openai-harmony's encoding; it asks for its vocabulary online unless a folder is named that holds it.

    The vocabulary is taken from another package and written as the file that it would download; the peer checks the
    file's hash itself.
    """
    import openai_harmony

    if "TIKTOKEN_ENCODINGS_BASE" not in os.environ:
        folder = Path(tempfile.gettempdir()) / "syntagma-bench"
        folder.mkdir(exist_ok=True)
        (folder / RANKS).write_bytes(harmony_ranks())
        os.environ["TIKTOKEN_ENCODINGS_BASE"] = str(folder)
    return openai_harmony.load_harmony_encoding(openai_harmony.HarmonyEncodingName.HARMONY_GPT_OSS)


@cache
def harmony_ranks() -> bytes:
    """The file of that vocabulary: lines of a token in base64, and its rank."""
    return _tiktoken(files("quicktok").joinpath("data/o200k.vocab").read_bytes())


def _tiktoken(packed: bytes) -> bytes:
    """Lines of base64 and rank, from a count and entries of length (2 bytes), token and rank (4 bytes)."""
    (count,) = struct.unpack_from("<I", packed)
    lines: dict[int, bytes] = {}
    at = 4
    for _ in range(count):
        (length,) = struct.unpack_from("<H", packed, at)
        token = packed[at + 2 : at + 2 + length]
        (rank,) = struct.unpack_from("<I", packed, at + 2 + length)
        lines[rank] = b64encode(token)
        at += 6 + length
    return b"\n".join(b"%s %d" % (lines[rank], rank) for rank in sorted(lines)) + b"\n"


def harmony(texts: list[str]) -> tuple[Any, list[list[int]]]:
    """What makes a token reader of openai-harmony, and the texts as its tokens; or why not."""
    try:
        import openai_harmony

        encoding = harmony_encoding()
    except Exception as error:  # it raises types of its own where its vocabulary is missing
        return f"{type(error).__name__}: {error}"[:80], []
    role = openai_harmony.Role.ASSISTANT

    def make() -> Callable[[int], object]:
        return openai_harmony.StreamableParser(encoding, role).process

    return make, [encoding.encode(text, allowed_special="all") for text in texts]
