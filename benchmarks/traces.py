"""How far one has to look to follow what happens: the files of the package that one action runs through.

For each action: calls of functions of the package, the files that these stand in, and the switches from a file to
another one. What happens once and is kept (compiled formats, grammars, templates) has happened before.

Run: `python benchmarks/traces.py`.
"""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import server_events
from support.tables import Table

import syntagma as sg

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = str(Path(sg.__file__).parent)
TEMPLATE = ROOT / "examples" / "templates" / "bracket_calls.jinja"


class Trace:
    """Counts the calls of the package's functions, in all threads."""

    def __init__(self) -> None:
        self.calls = 0
        self.switches = 0
        self.files: set[str] = set()
        self._last = ""

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(PACKAGE):
            file = frame.f_code.co_filename
            self.calls += 1
            self.switches += file != self._last
            self.files.add(file)
            self._last = file


def traced(action: Callable[[], object]) -> Trace:
    """What an action runs through."""
    trace = Trace()
    threading.setprofile(trace)  # for the threads that the action starts
    sys.setprofile(trace)
    try:
        action()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return trace


def parser_actions() -> dict[str, Callable[[], object]]:
    """The first chunk of an answer, one in the middle of text, and the one that commits a call."""
    fmt = sg.formats.get("qwen25", reasoning="qwen3")
    fmt.parse("once")
    middle, committing = fmt.parser(), fmt.parser()
    middle.feed("It is a long ")
    middle.feed("way")
    committing.feed('Yes.\n<tool_call>\n{"name": "f", "arg')
    return {
        "a parser and its first chunk": lambda: fmt.parser().feed("It is"),
        "a chunk in the middle of text": lambda: middle.feed(" to go "),
        "a chunk that commits a call": lambda: committing.feed('uments": {"a"'),
    }


def main() -> None:
    table = Table(["action", "calls", "files", "switches"])
    actions = parser_actions()
    # A server of its own, since only threads that start while it is traced are seen; its grammar is compiled meanwhile.
    served = server_events.Served(server_events.ANSWERS["a call, by schema"], server_events.SHORT)
    actions["a streamed HTTP request with a call"] = lambda: asyncio.run(served.stream())
    template = sg.ChatTemplate(TEMPLATE.read_text())
    actions["analysis of a template"] = lambda: sg.analyze(template)
    for name, action in actions.items():
        trace = traced(action)
        table.row(name, f"{trace.calls:,}", len(trace.files), f"{trace.switches:,}")


if __name__ == "__main__":
    main()
