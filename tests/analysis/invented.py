"""Templates of invented families, and whether what analysis derives from one reads the cases that were written for it.

`python -m tests.analysis.invented [BATCH]` prints what is wrong with each, and the share that is right.
"""

from __future__ import annotations

import functools
import json
import random
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from syntagma.analysis import Analysis, analyze
from syntagma.decoding import GrammarCompiler, GrammarMatcher
from syntagma.errors import SyntagmaError
from syntagma.messages import Message
from syntagma.templates import ChatTemplate
from syntagma.testing import byte_vocabulary

FOLDER = Path(__file__).parents[2] / "conformance" / "templates" / "invented"
NAMES = sorted(path.stem for path in FOLDER.glob("*.toml"))
TOOLS = json.loads((FOLDER / "tools.json").read_text(encoding="utf-8"))
USER = [{"role": "user", "content": "Hello."}]


@functools.cache
def record(name: str) -> dict[str, Any]:
    return tomllib.loads((FOLDER / f"{name}.toml").read_text(encoding="utf-8"))


@functools.cache
def template(name: str) -> ChatTemplate:
    return ChatTemplate((FOLDER / f"{name}.jinja").read_text(encoding="utf-8"), eos_token="</s>")


@functools.cache
def derived(name: str) -> Analysis:
    return analyze(template(name), candidates="derived")


def problems(name: str) -> Iterator[str]:
    """Everything that is wrong: cases that do not come back, that the grammar refuses, and the certificate."""
    analysis = derived(name)
    certificate = analysis.certificate
    assert certificate is not None
    reasons = set(record(name).get("reasons", ()))
    if reasons != {finding.code for finding in certificate.findings} or certificate.failing:
        yield certificate.summary
    for case in record(name)["case"]:
        try:
            yield from (f"{case['name']}: {why}" for why in _case_problems(analysis, template(name), case))
        except SyntagmaError as error:
            yield f"{case['name']}: {error}"


def _case_problems(analysis: Analysis, source: ChatTemplate, case: dict[str, Any]) -> Iterator[str]:
    fmt, raw = analysis.format, case["raw"]
    settings = case.get("settings", {})
    prompt = source.render(
        USER,
        tools=TOOLS,
        add_generation_prompt=True,
        template_kwargs={**analysis.capabilities.variables, **settings},
    )
    expected = {
        "reasoning": case.get("reasoning", ""),
        "content": case.get("content", ""),
        "calls": [[call["name"], json.loads(call["arguments"]), call.get("id")] for call in case.get("calls", [])],
    }
    for chunks in _chunkings(raw):
        parser = fmt.parser(TOOLS, prompt=prompt, id_seed="1", template_kwargs=settings)
        for chunk in chunks:
            parser.feed(chunk)
        parser.finish()
        found = _plain(parser.message, with_ids=[call[2] is not None for call in expected["calls"]])
        if found != expected:
            yield f"{len(chunks)} pieces: {found} instead of {expected}"
            return
    compiled = GrammarCompiler(byte_vocabulary()).compile(fmt.grammar(TOOLS, prompt=prompt, template_kwargs=settings))
    # The end of the turn is not part of the grammar, and any leading part of it may stand after the output.
    end = "".join(texts[0] for texts in fmt.spec.turn_ends)
    without_end = (raw.removesuffix(end[:size]) for size in range(len(end) + 1))
    matchers = {text: GrammarMatcher(compiled) for text in without_end}
    accepted = any(one.accept_bytes(text.encode()) and one.is_accepting() for text, one in matchers.items())
    if case.get("grammar", True) and not accepted:
        yield "the grammar refuses it"


def _plain(message: Message, with_ids: list[bool]) -> dict[str, Any]:
    shown = [*with_ids, *[False] * len(message.tool_calls)]
    return {
        "reasoning": (message.reasoning_content or "").strip(),
        "content": message.content.strip() if isinstance(message.content, str) else "",
        "calls": [
            [call.name, _decoded(call.arguments), call.id if shows else None]
            for call, shows in zip(message.tool_calls, shown, strict=False)
        ],
    }


def _decoded(arguments: str) -> Any:
    try:
        return json.loads(arguments)
    except ValueError:
        return arguments


def _chunkings(text: str) -> Iterator[list[str]]:
    yield [text]
    yield list(text)
    for place in range(1, len(text)):
        yield [text[:place], text[place:]]
    source = random.Random(3)
    for _ in range(3):
        cuts = sorted(source.sample(range(1, len(text)), min(len(text) - 1, 9)))
        yield [text[one:other] for one, other in zip([0, *cuts], [*cuts, len(text)], strict=True)]


def _main(batches: set[int]) -> None:
    chosen = [name for name in NAMES if not batches or record(name)["batch"] in batches]
    wrong = 0
    for name in chosen:
        try:
            found = list(problems(name))
        except SyntagmaError as error:
            found = [str(error)]
        wrong += bool(found)
        print(f"{name}: {'wrong' if found else 'right'}")
        for problem in found:
            print("   ", problem[:500])
    print(f"{len(chosen) - wrong} of {len(chosen)} right")


if __name__ == "__main__":
    _main({int(batch) for batch in sys.argv[1:]})
