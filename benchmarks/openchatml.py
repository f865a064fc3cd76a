"""Transcripts: milliseconds to read a whole one, microseconds for a piece of a stream, and how both grow.

The text is a completion with reasoning, a call and an answer, of the size at the head of the column. This library reads
text in chunks of four characters; `compat.harmony` and openai-harmony read tokens, of about as many characters, and
hand out what each added to the message. Parsing from tokens leaves out the time to encode them, which has a row of its
own. Everything is CPU time of the thread, the median of several runs; `÷ ours` compares with the row above that does
the same thing.

The last rows render a conversation of 50 messages of 318 characters each.

Run: `python benchmarks/openchatml.py [--quick]`.
"""

from __future__ import annotations

import gc
import statistics
import time
from base64 import b64decode
from collections.abc import Callable
from typing import Any

from support import parser_peers
from support.arguments import arguments
from support.tables import Table, number

from syntagma import openchatml
from syntagma.compat import harmony as names
from syntagma.openchatml import harmony

KIB = 1024
SIZES = (5 * KIB, 20 * KIB, 80 * KIB, 320 * KIB)
CHUNK = 4
RUNS = 9
PROSE = 'Lorem ipsum < dolor <b> sit | amet {"k": 1} consectetur, adipiscing elit.\n'
CONTROL = ("return", "constrain", "channel", "start", "end", "message", "call")


def prose(size: int) -> str:
    return (PROSE * (size // len(PROSE) + 1))[:size]


def completion(size: int) -> str:
    half = prose(size // 2)
    return (
        f"<|channel|>analysis<|message|>{half}<|end|>"
        '<|start|>assistant<|channel|>commentary to=functions.f<|constrain|>json<|message|>{"a":1}<|call|>'
        f"<|start|>assistant<|channel|>final<|message|>{half}<|return|>"
    )


def seconds(work: Callable[[], object]) -> float:
    times = []
    for _ in range(RUNS):
        gc.collect()
        begun = time.thread_time_ns()
        work()
        times.append((time.thread_time_ns() - begun) / 1e9)
    return statistics.median(times)


def stream(reader: openchatml.StreamReader | harmony.HarmonyReader, chunks: list[str]) -> None:
    for chunk in chunks:
        reader.feed(chunk)
    reader.finish()


def tokenwise(parser: Any, tokens: list[int]) -> None:
    """What a server does: each token in, what it added out."""
    for token in tokens:
        parser.process(token)
        _ = parser.last_content_delta
    parser.process_eos()


class Rows:
    """The table; remembers our values, so that a peer's row can be compared."""

    def __init__(self, sizes: tuple[int, ...]) -> None:
        self._table = Table(["what", *(f"{size // KIB} KiB" for size in sizes), "÷ ours"])
        self._ours: list[float] = []

    def add(self, name: str, values: list[float], *, peer: bool = False) -> None:
        ratio = (
            number(statistics.median(value / our for value, our in zip(values, self._ours, strict=True)))
            if peer
            else ""
        )
        if not peer:
            self._ours = values
        self._table.row(name, *map(number, values), ratio)

    def note(self, name: str, why: str) -> None:
        self._table.row(name, why)


def borrowed(encoding: Any) -> names.HarmonyEncoding:
    """`compat.harmony` over the peer's own tokens."""
    pieces = {}
    for line in parser_peers.harmony_ranks().splitlines():
        token, rank = line.split()
        pieces[int(rank)] = b64decode(token)
    special = {f"<|{name}|>": encoding.encode(f"<|{name}|>", allowed_special="all")[0] for name in CONTROL}
    return names.load_harmony_encoding(
        encode_text=lambda text: list(encoding.encode(text, disallowed_special=())),
        decode_bytes=pieces.__getitem__,
        special=special,
    )


def main() -> None:
    options = arguments(__doc__)
    sizes = SIZES[:2] if options.quick else SIZES
    texts = [completion(size) for size in sizes]
    cut = [[text[at : at + CHUNK] for at in range(0, len(text), CHUNK)] for text in texts]
    try:
        import openai_harmony

        encoding = parser_peers.harmony_encoding()
        why = ""
    except Exception as error:  # it raises types of its own where its vocabulary is missing
        encoding, why = None, f"{type(error).__name__}: {error}"[:80]
    tokens = [encoding.encode(text, allowed_special="all") for text in texts] if encoding else []
    role = openai_harmony.Role.ASSISTANT if encoding else None
    ours = borrowed(encoding) if encoding else None

    rows = Rows(sizes)
    rows.add(
        "parse OpenChatML, strict, ms",
        [1e3 * seconds(lambda t=t: openchatml.parse(t, role="assistant")) for t in texts],
    )
    rows.add("parse Harmony, text, ms", [1e3 * seconds(lambda t=t: harmony.parse_completion(t)) for t in texts])
    if encoding:
        read = encoding.parse_messages_from_completion_tokens
        rows.add("— openai-harmony, tokens, ms", [1e3 * seconds(lambda t=t: read(t, role)) for t in tokens], peer=True)
        encode = [1e3 * seconds(lambda t=t: encoding.encode(t, allowed_special="all")) for t in texts]
        rows.add("— openai-harmony, encoding alone, ms", encode, peer=True)
        compat = ours.parse_messages_from_completion_tokens
        rows.add(
            "parse Harmony, compat.harmony, tokens, ms",
            [1e3 * seconds(lambda t=t: compat(t, "assistant")) for t in tokens],
        )
        rows.add("— openai-harmony, tokens, ms", [1e3 * seconds(lambda t=t: read(t, role)) for t in tokens], peer=True)

    def each(make: Callable[[], Any], run: Callable[[Any, Any], None], pieces: list[Any]) -> list[float]:
        return [1e6 * seconds(lambda p=p: run(make(), p)) / len(p) for p in pieces]

    rows.add("stream OpenChatML, µs a chunk", each(lambda: openchatml.StreamReader(role="assistant"), stream, cut))
    rows.add("stream Harmony, µs a chunk", each(harmony.HarmonyReader, stream, cut))
    if encoding:
        theirs = each(lambda: openai_harmony.StreamableParser(encoding, role), tokenwise, tokens)
        rows.add("— openai-harmony, µs a token", theirs, peer=True)
        rows.add(
            "compat.harmony, µs a token", each(lambda: names.StreamableParser(ours, "assistant"), tokenwise, tokens)
        )
        rows.add("— openai-harmony, µs a token", theirs, peer=True)
    else:
        rows.note("openai-harmony was not measured", why)
    render(encoding)


def render(encoding: Any) -> None:
    print()
    table = Table(["render 50 messages", "ms", "÷ ours"])
    spoken = [openchatml.Message(role="user" if at % 2 else "assistant", body=prose(318)) for at in range(50)]
    ours = 1e3 * seconds(lambda: openchatml.render(spoken))
    table.row("OpenChatML, text", number(ours))
    ours = 1e3 * seconds(lambda: harmony.to_harmony(spoken))
    table.row("Harmony, text", number(ours))
    if encoding:
        import openai_harmony as other

        conversation = other.Conversation.from_messages(
            [other.Message.from_role_and_content(other.Role(message.role), message.body) for message in spoken]
        )
        theirs = 1e3 * seconds(lambda: encoding.render_conversation(conversation))
        table.row("— openai-harmony, tokens", number(theirs), number(theirs / ours))


if __name__ == "__main__":
    main()
