from __future__ import annotations

import random
import tomllib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from syntagma.events import ContentDelta, Event, ReasoningDelta, ToolCallDelta
from syntagma.format_schema import FormatSpec, read_toml
from syntagma.parsing import Policies, StreamParser

CASES = Path(__file__).parents[2] / "conformance" / "parsing"
Chunk = str | bytes


class Prompt(str):
    """A prompt that knows where the assistant's turn begins, as the renderer's does."""

    start: int


def load_cases() -> list[Any]:
    found = []
    for path in sorted(CASES.glob("*.toml")):
        data = tomllib.loads(path.read_text("utf-8"))
        specs = {name: read_toml(text, source=f"{path.name}:{name}") for name, text in data["formats"].items()}
        found += [pytest.param(specs[case["format"]], case, id=f"{path.stem}: {case['name']}") for case in data["case"]]
    return found


def make_parser(spec: FormatSpec, case: dict[str, Any]) -> StreamParser:
    options = dict(case.get("options", {}))
    options["policies"] = Policies(**options.pop("policies", {}))
    prompt = case.get("prompt")
    if "prompt_start" in case:
        prompt = Prompt(prompt)
        prompt.start = case["prompt_start"]
    tools = [{"name": name} for name in case["tools"]] if "tools" in case else None
    return StreamParser(spec, tools, prompt=prompt, id_seed="seed", **options)


def joined(events: Iterable[Event]) -> list[Any]:
    """The events as plain data, adjacent deltas of the same kind in one."""
    out: list[Any] = []
    for event in events:
        if isinstance(event, ContentDelta | ReasoningDelta):
            piece = [type(event).__name__, "", event.text, *event.span]
        elif isinstance(event, ToolCallDelta):
            piece = [type(event).__name__, event.index, event.arguments, *event.span]
        else:
            out.append(repr(event))
            continue
        if out and isinstance(out[-1], list) and out[-1][:2] == piece[:2]:
            out[-1][2] += piece[2]
            out[-1][4] = piece[4]
        else:
            out.append(piece)
    return out


def chunkings(text: str, *, two_way: bool = True) -> Iterator[list[Chunk]]:
    """Ways to cut a text."""
    yield list(text)
    raw = text.encode()
    yield [raw[i : i + 1] for i in range(len(raw))]
    if two_way:
        for i in range(1, len(raw)):
            yield [raw[:i], raw[i:]]
    for seed in range(6):
        rng = random.Random(seed)
        cuts = sorted(rng.sample(range(len(text) + 1), min(len(text), rng.randint(1, 12))))
        yield [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]


def read(make: Callable[[], StreamParser], chunks: Iterable[Chunk], finish: str | None = None) -> Any:
    """All events, and the parser."""
    parser = make()
    events: list[Event] = []
    for chunk in chunks:
        events += parser.feed(chunk)
    return [*events, *parser.finish(finish)], parser
