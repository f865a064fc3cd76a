"""The figures by which two builds are compared: small samples of what the scripts measure, each in one process.

Run by `compare.py`: `python -m support.figures GROUP` prints the group's figures as JSON.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import sys
from collections.abc import Callable

import numpy as np

import syntagma as sg

EVERY = 4
"""every n-th schema of the data folder"""
RUNS = 5

Figures = dict[str, float]


def engine() -> Figures:
    """Masks, compiling and accepting, over schemas with documents on a large vocabulary."""
    from support.arguments import there
    from support.cases import cases
    from support.engines import Syntagma
    from support.replay import replay
    from support.vocabularies import Vocabulary

    vocabulary = Vocabulary(there()[0])
    ours = Syntagma(vocabulary)
    done = [
        replay(ours, vocabulary, "json_schema", case.schema, case.documents, passes=3)
        for case in cases(vocabulary, EVERY)
        if case.documents
    ]
    passes = [[read for one in done for read in one.passes[turn]] for turn in range(3)]
    first, again = (np.concatenate([read.fills for read in passes[turn]]) for turn in (0, 2))
    takes = np.concatenate([read.takes for read in passes[2]])
    return {
        "first masks, mean µs": float(first.mean()),
        "known masks, median µs": float(np.median(again)),
        "accepting a token, mean µs": float(takes.mean()),
        "compiling a schema, median µs": statistics.median(one.compile for one in done),
        "compiling all schemas, ms": sum(one.compile for one in done) / 1e3,
    }


def parse() -> Figures:
    """A streamed chunk and a million characters at once, in each format of `parse.py`."""
    import parse as script

    chunks = {
        name: script.streamed(script.ours(name), script.pieces(script.call(wire, 16 * script.KIB)))[1]
        for name, wire in script.FORMATS.items()
    }
    chunks["gpt-oss"] = script.streamed(script.ours("gpt-oss"), script.pieces(script.harmony_call(16 * script.KIB)))[1]
    rates = {
        kind: statistics.fmean(1e3 / script.rate(name, make(wire)) for name, wire in script.FORMATS.items())
        for kind, make in (
            ("a string argument", lambda wire: script.call(wire, script.MILLION)),
            ("half markers", lambda wire: script.look_alikes(wire.marker[: len(wire.marker) // 2])),
            ("whole markers", lambda wire: script.look_alikes(wire.marker)),
        )
    }
    return {
        "a streamed chunk, mean of formats, µs": statistics.fmean(chunks.values()),
        "a streamed chunk, slowest format, µs": max(chunks.values()),
        **{f"{kind} at once, ns a byte": value for kind, value in rates.items()},
    }


def setup() -> Figures:
    """A new parser, and a short call in one piece, with ten tools."""
    import parser_setup as script

    tools = script.declared(10)
    formats = [sg.formats.get(name) for name in sg.formats.names()]
    costs = [script.costs(fmt, text, tools, 100) for fmt in formats if (text := script.written(fmt)) is not None]
    setups, reads = zip(*costs, strict=True)
    return {
        "set-up of a parser, mean of formats, µs": statistics.fmean(setups),
        "set-up of a parser, slowest format, µs": max(setups),
        "a short call, mean of formats, µs": statistics.fmean(reads),
        "a short call, slowest format, µs": max(reads),
    }


def analysis() -> Figures:
    """Analysing chat templates: every fifth of those at hand."""
    import analysis as script

    paths = [path for folder in script.FOLDERS for path in sorted(folder.glob("*.jinja"))][::5]
    templates = [sg.ChatTemplate(path.read_text(encoding="utf-8"), eos_token="</s>") for path in paths]
    times = [script.measured(template, 1)[1] for template in templates]
    return {f"analysis of {len(times)} templates, ms": sum(times), "analysis, median ms": statistics.median(times)}


def server() -> Figures:
    """The server's own cost, without a model."""
    import server_events as script

    figures = {}
    for name, answer in script.ANSWERS.items():
        request, event, _ = asyncio.run(script.measure(answer, RUNS))
        figures |= {f"a request for {name}, µs": request, f"a streamed event of {name}, µs": event}
    return figures


FIGURES: dict[str, Callable[[], Figures]] = {
    "engine": engine,
    "parse": parse,
    "setup": setup,
    "analysis": analysis,
    "server": server,
}

if __name__ == "__main__":
    print(json.dumps(FIGURES[sys.argv[1]]()))
