"""What reading a model's output costs as it streams in, and in one piece.

The first table streams one call whose only argument is a string of the given size, in chunks of four characters:
microseconds of CPU time a chunk, in the median of the chunks of the median run, for each size; the growth is the whole
run at 64 KiB over the whole run at 1 KiB, a chunk. The parser builds the message and returns the events of each chunk.
Peers read the same text where they know such a format: transformers' ResponseParser by a response template, and the
way of accumulating the text and parsing it again as partial JSON in every chunk, as several servers do; openai-harmony
takes a token at a time (of about four characters). A peer stops at the size at which it would take too long.

The second reads a million characters at once, in MB/s: one string argument, prose with half a marker every 200
characters, and prose with a whole marker that begins no call every 200 characters.

The third is memory: what the parser holds after a million characters of an argument in chunks of four, without the
raw text, in times the message; and at its peak while reading.

The fourth reads the same text as tokens of four characters, one at a time, beside the same pieces as text.

The last has texts that begin many calls which come to nothing, in chunks of four and at once, and their growth.

Run: `python benchmarks/parse.py [--quick]`.
"""

from __future__ import annotations

import gc
import json
import statistics
import time
import tracemalloc
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from support import parser_peers
from support.arguments import arguments
from support.tables import Table, number

import syntagma as sg

KIB = 1024
MILLION = 1_000_000
SIZES = (1 * KIB, 4 * KIB, 16 * KIB, 64 * KIB, 256 * KIB)
CHUNK = 4
RUNS = 5
EVERY = 200
TOOLS = [
    {
        "type": "function",
        "function": {"name": "write", "parameters": {"type": "object", "properties": {"text": {"type": "string"}}}},
    }
]
BUDGET = 2.0
"""CPU seconds after which a peer is not asked for the next size"""


class Wire(NamedTuple):
    """How a format writes one call with one argument: what stands before the text and behind it; its call marker."""

    before: str
    after: str
    marker: str
    json: bool = True


FORMATS: dict[str, Wire] = {
    "qwen25": Wire('<tool_call>\n{"name": "write", "arguments": {"text": "', '"}}\n</tool_call>', "<tool_call>"),
    "llama3": Wire('{"name": "write", "parameters": {"text": "', '"}}', "<|python_tag|>"),
    "deepseekv3": Wire(
        '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>write\n```json\n{"text": "',
        '"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
        "<｜tool▁calls▁begin｜>",
    ),
    "kimi_k2": Wire(
        '<|tool_calls_section_begin|><|tool_call_begin|>functions.write:0<|tool_call_argument_begin|>{"text": "',
        '"}<|tool_call_end|><|tool_calls_section_end|>',
        "<|tool_calls_section_begin|>",
    ),
    "qwen3_coder": Wire(
        "<tool_call>\n<function=write>\n<parameter=text>\n",
        "\n</parameter>\n</function>\n</tool_call>",
        "<tool_call>",
        json=False,
    ),
    "glm45": Wire(
        "<tool_call>write\n<arg_key>text</arg_key>\n<arg_value>",
        "</arg_value>\n</tool_call>",
        "<tool_call>",
        json=False,
    ),
}


def prose(size: int) -> str:
    body = "Lorem ipsum dolor <b> sit [1] amet, 2 < 3 and so on. "
    return (body * (size // len(body) + 1))[:size]


def call(wire: Wire, size: int) -> str:
    return wire.before + prose(size) + wire.after


def pieces(text: str, size: int = CHUNK) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def streamed(make: Callable[[], Callable[[Any], object]], chunks: Sequence[Any]) -> tuple[float, float]:
    """Microseconds of the median chunk, and of the mean chunk of whole runs; medians over runs."""
    middles, means = [], []
    for _ in range(RUNS):
        gc.collect()
        feed = make()
        begun = time.thread_time_ns()
        for chunk in chunks:
            feed(chunk)
        means.append((time.thread_time_ns() - begun) / 1e3 / len(chunks))
        feed = make()
        times = []
        for chunk in chunks:
            at = time.perf_counter_ns()
            feed(chunk)
            times.append(time.perf_counter_ns() - at)
        middles.append(statistics.median(times) / 1e3)
        if means[-1] * len(chunks) > BUDGET * 1e6 / RUNS:
            break
    return statistics.median(middles), statistics.median(means)


def ours(name: str) -> Callable[[], Callable[[str], object]]:
    fmt = sg.formats.get(name)
    return lambda: fmt.parser(TOOLS, reasoning="off", id_seed="").feed


def chunk_table(sizes: tuple[int, ...]) -> None:
    columns = ["format", "reader", *(f"{size // KIB} KiB" for size in sizes), "64 KiB : 1 KiB"]
    table = Table(columns, texts=2, title="microseconds a chunk")
    for name, wire in FORMATS.items():
        row(table, name, "syntagma", ours(name), [pieces(call(wire, size)) for size in sizes])
        for peer, make, chunks in parser_peers.readers(name, wire, [call(wire, size) for size in sizes], pieces):
            row(table, name, peer, make, chunks)
    texts = [harmony_call(size) for size in sizes]
    row(table, "gpt-oss", "syntagma", ours("gpt-oss"), [pieces(text) for text in texts])
    peer_make, tokens = parser_peers.harmony(texts)
    if isinstance(peer_make, str):
        table.row("gpt-oss", f"openai-harmony: {peer_make}")
    else:
        row(table, "gpt-oss", "openai-harmony, a token", peer_make, tokens)


def harmony_call(size: int) -> str:
    return (
        "<|channel|>commentary to=functions.write <|constrain|>json<|message|>"
        f"{json.dumps({'text': prose(size)})}<|call|>"
    )


def row(table: Table, name: str, reader: str, make: Any, chunked: list[Any]) -> None:
    cells: list[str] = []
    means: list[float] = []
    for chunks in chunked:
        try:
            middle, mean = streamed(make, chunks)
        except Exception as error:  # what a peer makes of a text is its own business
            cells.append(type(error).__name__)
            break
        cells.append(number(middle))
        means.append(mean)
        if mean * len(chunks) > BUDGET * 1e6 / 4 and chunks is not chunked[-1]:
            cells.append("too long")
            break
    growth = number(means[3] / means[0]) if len(means) > 3 else ""
    table.row(name, reader, *cells, *[""] * (len(chunked) - len(cells)), growth)


def look_alikes(mark: str) -> str:
    one = prose(EVERY - len(mark)) + mark
    return one * (MILLION // len(one))


def whole_table(million: int) -> None:
    columns = ["format", "string argument", "half a marker", "a whole marker"]
    table = Table(columns, title="MB/s, a million characters at once")
    for name, wire in FORMATS.items():
        texts = (call(wire, million), look_alikes(wire.marker[: len(wire.marker) // 2]), look_alikes(wire.marker))
        table.row(name, *(number(rate(name, text[:million] if at else text)) for at, text in enumerate(texts)))


def rate(name: str, text: str) -> float:
    """Megabytes of UTF-8 a second."""
    best = float("inf")
    for _ in range(RUNS):
        gc.collect()
        begun = time.thread_time_ns()
        parser = sg.formats.get(name).parser(TOOLS, reasoning="off", id_seed="")
        parser.feed(text)
        parser.finish()
        best = min(best, (time.thread_time_ns() - begun) / 1e9)
    return len(text.encode()) / best / 1e6


def memory_table(million: int) -> None:
    table = Table(["format", "held, × message", "peak, × message"], title="memory without the raw text")
    for name, wire in FORMATS.items():
        chunks = pieces(call(wire, million))
        parser = sg.formats.get(name).parser(TOOLS, reasoning="off", id_seed="", keep_raw=False)
        gc.collect()
        tracemalloc.start()
        for chunk in chunks:
            parser.feed(chunk)
        held, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        table.row(name, number(held / million), number(peak / million))


def token_table(size: int) -> None:
    table = Table(["format", "feed, µs a piece", "feed_tokens, µs a token", "ratio"], title="tokens one at a time")
    for name, wire in FORMATS.items():
        for what, text in (("", call(wire, size)), (", content", prose(size))):
            chunks = pieces(text)
            ids = {chunk: number for number, chunk in enumerate(dict.fromkeys(chunks))}
            tokens = [*(chunk.encode() for chunk in ids), b"<end>"]
            info = sg.TokenizerInfo.from_tokens(tokens, eos_token_ids=[len(ids)])
            _, fed = streamed(ours(name), chunks)
            _, told = streamed(by_tokens(name, info), [(ids[chunk],) for chunk in chunks])
            table.row(name + what, number(fed), number(told), number(told / fed))


def by_tokens(name: str, info: sg.TokenizerInfo) -> Callable[[], Callable[[tuple[int, ...]], object]]:
    fmt = sg.formats.get(name)

    def make() -> Callable[[tuple[int, ...]], object]:
        parser = fmt.parser(TOOLS, reasoning="off", id_seed="")
        return lambda ids: parser.feed_tokens(ids, info)

    return make


def odd_table(size: int) -> None:
    marked, half = FORMATS["qwen25"].marker, '<tool_call>{"name": "f", '
    one = call(FORMATS["qwen25"], 20)
    late = f'<tool_call>\n{{"arguments": {{"text": "{prose(size)}"}}, "name": "write"}}\n</tool_call>'
    texts: dict[str, Callable[[int], str]] = {
        "content": prose,
        "arguments before the name": lambda size: late[:size],
        "blanks behind a call": lambda size: one + " " * size,
        "markers without a call": lambda size: f"{marked} [ " * (size // (len(marked) + 3)),
        "half calls": lambda size: half * (size // len(half)),
        "many calls": lambda size: (one + "\n") * (size // len(one)),
    }
    columns = ["text", "µs a chunk", f"{size // KIB} KiB : {size // 4 // KIB} KiB", "ns a character at once"]
    table = Table(columns, title="texts that begin many calls")
    for name, make in texts.items():
        _, large = streamed(ours("qwen25"), pieces(make(size)))
        _, small = streamed(ours("qwen25"), pieces(make(size // 4)))
        table.row(name, number(large), number(large / small), number(1e3 / rate("qwen25", make(size))))


def main() -> None:
    options = arguments(__doc__)
    chunk_table(SIZES[:4] if options.quick else SIZES)
    whole_table(MILLION)
    memory_table(MILLION // 4 if options.quick else MILLION)
    token_table(64 * KIB)
    odd_table(64 * KIB)


if __name__ == "__main__":
    main()
