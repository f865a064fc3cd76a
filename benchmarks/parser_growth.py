"""How the cost of a chunk grows with the length of the stream: one string argument, fed in four-character chunks.

A parser that looks back reads every chunk more slowly than the one before; here the last column must stay flat. Other
rows feed the same amount of text in one chunk: texts that begin many calls which come to nothing.

Run: `python benchmarks/parser_growth.py`.
"""

from __future__ import annotations

import time

from syntagma.format_schema import read_toml
from syntagma.parsing import StreamParser

SPEC = read_toml(
    """
[reasoning]
block = "<thought>{reasoning}</thought>"
interrupt = ["<call>"]
[tools]
call = "<call>\\n{envelope}\\n</call>"
separator = "\\n"
envelope = '{"name": "{name}", "arguments": {arguments}}'
[[tools.also]]
section = "[{calls}]"
call = "{envelope}"
"""
)
KIB = 1024
SIZES = (64 * KIB, 128 * KIB, 256 * KIB)
CHUNK = 4


def argument(size: int) -> str:
    body = ("lorem ipsum \\n dolor <b> sit [1] amet " * (size // 36 + 1))[:size].rstrip("\\")
    return f'<call>\n{{"name": "write", "arguments": {{"text": "{body}"}}}}\n</call>'


def late_name(size: int) -> str:
    return f'<call>\n{{"arguments": {{"text": "{"lorem ipsum " * (size // 12)}"}}, "name": "write"}}\n</call>'


TEXTS = {
    "string argument": argument,
    "arguments before the name": late_name,
    "content": lambda size: "lorem ipsum dolor " * (size // 18),
    "reasoning": lambda size: "<thought>" + "lorem ipsum < dolor " * (size // 20),
    "quoted call in reasoning": lambda size: "<thought><call>" + "lorem ipsum < dolor " * (size // 20),
    "blanks behind a call": lambda size: argument(10) + " " * size,
    "openers without a call": lambda size: "<call> [ " * (size // 9),
    "half calls": lambda size: '<call>{"name": "f", ' * (size // 20),
    "many calls": lambda size: (argument(20) + "\n") * (size // 80),
}


def seconds(text: str, chunk: int) -> float:
    best = float("inf")
    for _ in range(2):
        parser = StreamParser(SPEC, id_seed="")
        start = time.perf_counter()
        for at in range(0, len(text), chunk):
            parser.feed(text[at : at + chunk])
        parser.finish()
        best = min(best, time.perf_counter() - start)
    return best


def main() -> None:
    print(f"{'text':28} {'chunks':>10} " + " ".join(f"{size // KIB:>8} KiB" for size in SIZES) + "   growth 64 → 256")
    for name, make in TEXTS.items():
        for chunk, unit in ((CHUNK, "µs/chunk"), (1 << 30, "ns/char")):
            costs = []
            for size in SIZES:
                text = make(size)
                units = len(text) / CHUNK * 1e-6 if chunk == CHUNK else len(text) * 1e-9
                costs.append(seconds(text, chunk) / units)
            row = " ".join(f"{cost:>12.2f}" for cost in costs)
            label = f"{CHUNK} chars" if chunk == CHUNK else "one"
            print(f"{name:28} {label:>10} {row}   {costs[-1] / costs[0]:.2f} × {unit}")


if __name__ == "__main__":
    main()
