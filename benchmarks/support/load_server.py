"""The server of `server_load.py`: a process that serves an engine which writes by the clock, and the shipped model.

The engine reads its orders from the prompt: `{"pieces": 300, "pause": 0.2, "size": 32}`. Each piece begins with the
time at which it is due, on the clock that all processes of a machine share, so that a reader knows how late it is,
whoever was to blame. `/bare` answers in the same way, without the library: pieces as they come, each a chunk by
msgspec. `/cpu` tells the seconds of CPU time that the process has had.
"""

from __future__ import annotations

import asyncio
import json
import re
import socket
import sys
import time
from collections.abc import AsyncGenerator
from typing import Any

import msgspec

from syntagma.codec import ChatCodec
from syntagma.decoding import TokenizerInfo
from syntagma.decoding.upstream import Completion, Constraint, EngineFacts, Piece
from syntagma.formats import ChatFormat
from syntagma.generation import load
from syntagma.limits import Limits
from syntagma.serving import ServedModel, Settings, create_app
from syntagma.serving.chat.wire import ChatChunk, ChunkChoice, Delta
from syntagma.serving.listening import serve
from syntagma.templates import ChatTemplate

SECONDS = 5.0
"""what clients have to go on"""
LIMITS = msgspec.structs.replace(
    Limits(), server_write_seconds=SECONDS, server_body_seconds=SECONDS, server_header_seconds=SECONDS
)
TEMPLATE = (
    "{%- for message in messages -%}<{{ message.role }}>{{ message.content }}<end>{%- endfor -%}"
    "{%- if add_generation_prompt -%}<assistant>{%- endif -%}"
)
ORDER = re.compile(r'\{"pieces".*?\}')


class Clockwork:
    """An engine that writes what it is told to, when it is told to."""

    address = "clockwork"
    model_name = "clockwork"
    languages: tuple[str, ...] = ()
    tokenizer_info: TokenizerInfo | None = None

    def holds(self, constraint: Constraint) -> bool:  # noqa: ARG002
        """It holds nothing."""
        return False

    async def describe(self) -> EngineFacts:
        """Its name."""
        return EngineFacts(model_name=self.model_name)

    async def check(self) -> None:
        """It always answers."""

    async def close(self) -> None:
        """It holds no connection."""

    async def stream(self, asked: Completion) -> AsyncGenerator[Piece, None]:
        """Pieces, each when it is due."""
        found = ORDER.search(str(asked.prompt))
        async for text in pieces(json.loads(found[0]) if found else {"pieces": 1}):
            yield Piece(text=text, tokens=1)
        yield Piece(finish_reason="stop")


async def pieces(order: dict[str, Any]) -> AsyncGenerator[str, None]:
    """The pieces of an order."""
    pause, size = order.get("pause", 0.0), order.get("size", 24)
    began = time.monotonic()
    for number in range(order["pieces"]):
        due = began + number * pause if pause else time.monotonic()
        await asyncio.sleep(max(due - time.monotonic(), 0))
        yield f"{number} {due:.6f} ".ljust(size, "x")


def with_bare(app: Any) -> Any:
    """The application, and `/bare` beside it."""
    encoder = msgspec.json.Encoder()

    async def answer(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http" or scope["path"] not in ("/bare", "/cpu"):
            await app(scope, receive, send)
            return
        if scope["path"] == "/cpu":
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": str(time.process_time()).encode()})
            return
        body = (await receive())["body"]
        headers = [(b"content-type", b"text/event-stream")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        async for text in pieces(json.loads(ORDER.search(json.loads(body)["messages"][0]["content"])[0])):  # type: ignore[index]
            chunk = ChatChunk(
                id="chatcmpl-0", created=0, model="bare", choices=[ChunkChoice(index=0, delta=Delta(content=text))]
            )
            data = b"data: " + encoder.encode(chunk) + b"\n\n"
            await send({"type": "http.response.body", "body": data, "more_body": True})
        await send({"type": "http.response.body", "body": b"data: [DONE]\n\n", "more_body": False})

    return answer


def main() -> None:
    codec = ChatCodec.from_format(ChatFormat.from_toml(""), ChatTemplate(TEMPLATE))
    here = load("embedded")
    models = [ServedModel(Clockwork(), codec), ServedModel(here.engine, here.codec, name="here")]
    with socket.create_server(("127.0.0.1", 0), backlog=1024) as listener:
        sys.stdout.write(f"{listener.getsockname()[1]}\n")
        sys.stdout.flush()
        serve(with_bare(create_app(models, Settings(limits=LIMITS))), listener, limits=LIMITS, shutdown_s=30)


if __name__ == "__main__":
    main()
