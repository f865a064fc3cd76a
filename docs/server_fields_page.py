"""The page of the server's fields: which endpoint takes which, from the wire types; what becomes of them, from data."""

from __future__ import annotations

import inspect
import tomllib
from pathlib import Path
from typing import Any

import msgspec

from syntagma.serving.chat.wire import ChatRequest
from syntagma.serving.completions.wire import CompletionRequest
from syntagma.serving.messages.wire import MessagesRequest
from syntagma.serving.openapi import ENDPOINTS
from syntagma.serving.responses.wire import ResponsesRequest

HERE = Path(__file__).parent
WRITES = {
    "chat": ChatRequest,
    "completions": CompletionRequest,
    "responses": ResponsesRequest,
    "messages": MessagesRequest,
}
PEERS = {"vllm": "vLLM", "sglang": "SGLang", "llamacpp": "llama.cpp"}
INTRODUCTION = """# Fields of the server

Every field that an endpoint reads, and what becomes of it. ● the endpoint takes it; an empty cell: it does not, and
names the field in `x-syntagma-ignored`. What is *held* is held while the model writes, or refused with 400.
[The page of the server](server.md) says more.

The last columns say whether other servers have the field, at whichever endpoint: ● under this name, else the name or
place that it has there, ? not known here. They were gathered from what these servers document and from what this
library asks of them, not by trying each.

"""
OTHERS = """
## Other bodies

| endpoint | fields |
|:--|:--|
"""


def server_fields_page() -> str:
    """The page.

    Raises:
        SystemExit: a field that nothing is said about, or a word about a field that there is none of.
    """
    said = tomllib.loads((HERE / "server_fields.toml").read_text(encoding="utf-8"))
    fields = {name: _types(kind) for name, kind in WRITES.items()}
    known = {field for one in fields.values() for field in one}
    if known != set(said):
        raise SystemExit(
            f"server_fields.toml: {', '.join(sorted(known ^ set(said)))}: in one place and not in the other"
        )
    head = ["field", "type", *WRITES, "what becomes of it", *PEERS.values()]
    lines = [f"| {' | '.join(head)} |", f"|:--|:--|{':-:|' * len(WRITES)}:--|{':-:|' * len(PEERS)}"]
    for name, told in said.items():
        kind = next(one[name] for one in fields.values() if name in one)
        taken = ["●" if name in one else "" for one in fields.values()]
        peers = [_peer(told.get(peer)) for peer in PEERS]
        lines.append(f"| {' | '.join([f'`{name}`', kind, *taken, told['does'], *peers])} |")
    return INTRODUCTION + "\n".join(lines) + "\n" + OTHERS + "".join(_others())


def _types(kind: type[msgspec.Struct]) -> dict[str, str]:
    """The fields of a struct, each with its type as a reader wants it."""
    annotations: dict[str, Any] = {}
    for base in reversed(kind.__mro__):
        annotations |= inspect.get_annotations(base)
    return {
        field.encode_name: str(annotations[field.name]).removesuffix(" | None").replace("|", "or")
        for field in msgspec.structs.fields(kind)
    }


def _peer(told: str | None) -> str:
    return "?" if told is None else "●" if told == "yes" else told


def _others() -> list[str]:
    """A row for each further endpoint that reads a body; those of chat requests are in the table above."""
    rows = []
    for endpoint, one in ENDPOINTS.items():
        for kind in one.body:
            if kind not in WRITES.values():
                fields = ", ".join(f"`{name}`" for name in _types(kind))
                rows.append(f"| `{endpoint}` | {fields} |\n")
            elif len(one.body) > 1 or not one.streams:
                rows.append(f"| `{endpoint}` | those of a chat request |\n")
    return rows
