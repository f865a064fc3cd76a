"""What a parser costs before its first character, and what a short answer costs in one piece.

For every shipped format with calls, without tools and with ten: microseconds of CPU time to make a parser, and to read
one call of about 100 characters with it, given at once (`feed`, `finish` and `message`, without making the parser).
Medians, once the format was used before: what is compiled of a format is kept with it.

Run: `python benchmarks/parser_setup.py [--quick]`.
"""

from __future__ import annotations

import gc
import json
import statistics
import time
from typing import Any

from support.arguments import arguments
from support.tables import Table, number

import syntagma as sg

ROUNDS = 400
ARGUMENTS = {"text": "Lorem ipsum dolor sit amet.", "pinned": True}
MESSAGE = sg.Message(tool_calls=(sg.ToolCall(id="call_0", name="write_note", arguments=json.dumps(ARGUMENTS)),))


def declared(count: int) -> list[dict[str, Any]] | None:
    """This many tools, the one that is called among them; None instead of none."""
    names = ["write_note", *(f"tool_{n}" for n in range(1, count))]
    properties = {"text": {"type": "string"}, "pinned": {"type": "boolean"}}
    parameters = {"type": "object", "properties": properties, "required": ["text"]}
    tools = [{"type": "function", "function": {"name": name, "parameters": parameters}} for name in names]
    return tools if count else None


def written(fmt: sg.ChatFormat) -> str | None:
    """The call as the format writes it; None: it has no calls, or cannot write this one."""
    try:
        return fmt.write(MESSAGE, declared(10))
    except sg.FormatError:
        return None


def costs(fmt: sg.ChatFormat, text: str, tools: list[dict[str, Any]] | None, rounds: int) -> tuple[float, float]:
    """Microseconds to make a parser, and to read the text with it."""
    setups, reads = [], []
    for number_of_round in range(rounds + 20):
        begun = time.thread_time_ns()
        parser = fmt.parser(tools, id_seed="")
        ready = time.thread_time_ns()
        parser.feed(text)
        parser.finish()
        message = parser.message
        done = time.thread_time_ns()
        assert message.tool_calls
        if number_of_round >= 20:
            setups.append((ready - begun) / 1e3)
            reads.append((done - ready) / 1e3)
    return statistics.median(setups), statistics.median(reads)


def main() -> None:
    rounds = ROUNDS // 4 if arguments(__doc__).quick else ROUNDS
    counts = (0, 10)
    heads = (f"{what}, {count} tools" for count in counts for what in ("set-up", "read"))
    table = Table(["format", "characters", *heads], title="microseconds")
    worst = [0.0] * 2 * len(counts)
    for name in sg.formats.names():
        fmt = sg.formats.get(name)
        text = written(fmt)
        if text is None:
            continue
        gc.collect()
        cells = [cost for count in counts for cost in costs(fmt, text, declared(count), rounds)]
        worst = [max(pair) for pair in zip(worst, cells, strict=True)]
        table.row(name, len(text), *map(number, cells))
    table.row("the worst", "", *map(number, worst))


if __name__ == "__main__":
    main()
