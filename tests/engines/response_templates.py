"""The response templates of all shipped formats, read by the engines' own parsers: what they make of the cases.

    python -m tests.engines.response_templates                writes the page of docs/
    python -m tests.engines.response_templates --show hermes  prints the cases that an engine reads otherwise

What an engine reads is counted where it is installed; other columns of the page stay as they are.
`make response-templates` runs it in the environment of each engine.
"""

from __future__ import annotations

import argparse
import importlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from syntagma import formats
from syntagma.formats import ChatFormat
from syntagma.messages import Message
from tests.formats.cases import TOOLS, Case, Loaded, load

__all__ = ["ENGINES", "PAGE", "Read", "canonical", "cases", "engine", "other", "page", "template_of"]

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "response-template-formats.md"
ANCHOR = "(the assistant:)"
"""where the assistant's turn begins, for formats that do not say it"""


class Read(NamedTuple):
    """A message as a parser read it: text that is None is empty, arguments are JSON values."""

    reasoning: str
    content: str
    calls: tuple[tuple[str, str], ...]


Engine = Callable[[dict[str, Any], str, str], Read]
"""template, prompt and output to the message that an engine reads"""


def template_of(fmt: ChatFormat) -> tuple[dict[str, Any], str]:
    """The template of a format, and the anchor that it begins with."""
    template, _ = fmt.to_response_template(start_anchor=None if _has_anchor(fmt) else ANCHOR)
    return template, template["start_anchor"]


def _has_anchor(fmt: ChatFormat) -> bool:
    return bool(fmt.spec.anchor or (fmt.spec.messages and fmt.spec.messages.start))


def prompt_of(fmt: ChatFormat, case: Case, anchor: str) -> str:
    """The prompt of a case as an engine renders it: up to what is open where the output begins."""
    if case.prompt is not None:
        return case.prompt if anchor in case.prompt else anchor + case.prompt
    reasoning = fmt.spec.reasoning
    opened = reasoning is not None and fmt.start_state(template_kwargs=case.template_kwargs).reasoning == "open"
    return anchor + (reasoning.block[0].opener if reasoning is not None and opened else "")


def ours(fmt: ChatFormat, case: Case) -> Read:
    """What our parser reads in a case."""
    return _read(fmt.parse(case.raw, TOOLS, prompt=case.prompt, template_kwargs=case.template_kwargs))


def _read(message: Message) -> Read:
    calls = tuple((call.name, canonical(call.arguments)) for call in message.tool_calls)
    return Read(message.reasoning_content or "", message.content or "", calls)


def canonical(arguments: Any) -> str:
    """Arguments as JSON with sorted keys; text that is none stays."""
    try:
        value = json.loads(arguments) if isinstance(arguments, str) else arguments
    except ValueError:
        return str(arguments)
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


class CodePoints:
    """A tokenizer whose tokens are code points, for parsers that decode the prompt."""

    def __init__(self, template: dict[str, Any]) -> None:
        self.response_template = template
        self.init_kwargs = {"response_template": template}

    def get_vocab(self) -> dict[str, int]:
        return {}

    def encode(self, text: str, **_: Any) -> list[int]:
        return [ord(character) for character in text]

    def decode(self, token_ids: Sequence[int], **_: Any) -> str:
        return "".join(map(chr, token_ids))


def transformers() -> Engine:
    """`parse_response`, what tokenizers call."""
    parsing = importlib.import_module("transformers.utils.chat_parsing")

    def read(template: dict[str, Any], prompt: str, text: str) -> Read:
        found = parsing.parse_response(text, template, prefix=prompt, tools=TOOLS)
        calls = [call["function"] for call in found.get("tool_calls", [])]
        return Read(
            found.get("thinking", ""),
            found.get("content", ""),
            tuple((call["name"], canonical(call["arguments"])) for call in calls),
        )

    return read


def vllm(*, streamed: bool) -> Engine:
    """The parser that `--tool-call-parser hf --reasoning-parser hf` selects."""
    parsing = importlib.import_module("vllm.parser.response_template")
    protocol = importlib.import_module("vllm.entrypoints.openai.chat_completion.protocol")
    request = protocol.ChatCompletionRequest(messages=[{"role": "user", "content": "."}], tools=TOOLS)

    def read(template: dict[str, Any], prompt: str, text: str) -> Read:
        tokenizer = CodePoints(template)
        parser = parsing.ResponseTemplateParser(tokenizer, request.tools, enable_auto_tools=True)
        parser.set_prompt_token_ids(tokenizer.encode(prompt))
        if not streamed:
            reasoning, content, calls = parser.parse(text, request, enable_auto_tools=True)
            return _joined([reasoning], [content], [(call.name, call.arguments) for call in calls or []])
        given = [
            parser.parse_delta(piece, tokenizer.encode(piece), request, finished=number == len(text))
            for number, piece in enumerate(text, 1)
        ]
        deltas = [delta for delta in given if delta is not None]
        parts = [call.function for delta in deltas for call in delta.tool_calls]
        return _joined(
            [delta.reasoning for delta in deltas],
            [delta.content for delta in deltas],
            [(part.name, part.arguments) for part in parts],
        )

    return read


def sglang(*, streamed: bool) -> Engine:
    """The parsers that `--reasoning-parser response_template --tool-call-parser response_template` selects."""
    reasoning_parser = importlib.import_module("sglang.srt.parser.reasoning_parser")
    call_parser = importlib.import_module("sglang.srt.function_call.function_call_parser")
    protocol = importlib.import_module("sglang.srt.entrypoints.openai.protocol")
    tools = [protocol.Tool(**tool) for tool in TOOLS]

    def read(template: dict[str, Any], prompt: str, text: str) -> Read:
        tokenizer = CodePoints(template)
        first = reasoning_parser.ReasoningParser("response_template", tokenizer=tokenizer, prefix=prompt)
        has_calls = "tool_calls" in template["fields"]
        second = call_parser.FunctionCallParser(tools, "response_template", tokenizer=tokenizer) if has_calls else None
        if not streamed:
            reasoning, text = first.parse_non_stream(text)
            calls: list[Any] = []
            if second is not None and second.has_tool_call(text or ""):
                text, calls = second.parse_non_stream(text)
            return _joined([reasoning], [text], [(call.name, call.parameters) for call in calls])
        pieces = [*map(first.parse_stream_chunk, text), first.parse_stream_end()]
        texts = [normal for _, normal in pieces if normal]
        found = [*map(second.parse_stream_chunk, texts), second.parse_stream_end()] if second is not None else []
        return _joined(
            [piece for piece, _ in pieces],
            [piece for piece, _ in found] if second is not None else texts,
            [(call.name, call.parameters) for _, calls in found for call in calls],
        )

    return read


def _joined(reasoning: Sequence[str | None], content: Sequence[str | None], parts: Sequence[tuple[Any, str]]) -> Read:
    """The message of what came in pieces; a part of a call without a name belongs to the call before it."""
    calls: list[list[str]] = []
    for name, arguments in parts:
        if name:
            calls.append([name, ""])
        calls[-1][1] += arguments or ""
    named = tuple((name, canonical(arguments)) for name, arguments in calls)
    return Read("".join(filter(None, reasoning)), "".join(filter(None, content)), named)


ENGINES: dict[str, tuple[str, Callable[[], Engine]]] = {
    "transformers": ("transformers", transformers),
    "vLLM": ("vllm", partial(vllm, streamed=False)),
    "vLLM, streamed": ("vllm", partial(vllm, streamed=True)),
    "SGLang": ("sglang", partial(sglang, streamed=False)),
    "SGLang, streamed": ("sglang", partial(sglang, streamed=True)),
}
"""reader → its module and how it is made"""


def engine(name: str) -> Engine:
    """One of `ENGINES`.

    Raises:
        ImportError: it is not installed.
    """
    return ENGINES[name][1]()


def cases() -> Iterator[Loaded]:
    """The cases of the shipped formats without a slip of the model's."""
    return (one for one in load() if one.fmt.name is not None and one.place.count("formats/") and not one.case.odd)


def other(read: Engine, fmt: ChatFormat, case: Case) -> Read | str | None:
    """What an engine reads where it is not what we read, or its error."""
    template, anchor = template_of(fmt)
    try:
        found = read(template, prompt_of(fmt, case, anchor), case.raw)
    except Exception as error:  # the parser of an engine may raise anything
        return f"{type(error).__name__}: {error}"
    return None if found == ours(fmt, case) else found


_HEAD = """<!-- Written by `make response-templates`; change what it describes instead. -->

# Response templates of the shipped formats

`fmt.to_response_template()` gives what a tokenizer carries for transformers, vLLM and SGLang
([in both directions](format-file.md#response-templates)). Here these three read, with their own parsers, the cases of
`conformance/formats` that hold no slip of the model's; counted is what they read exactly as we do: reasoning, content,
names and arguments. Versions: {versions}. Streamed means one character at a time.

| format | cases | {names} |
|---|---|{rules}
"""


def page() -> str:
    """The page of docs/, with the columns of the engines that are installed here anew."""
    columns, versions = _columns(PAGE.read_text(encoding="utf-8")) if PAGE.exists() else ({}, {})
    for name, (module, make) in ENGINES.items():
        try:
            read = make()
        except ImportError:
            continue
        found = columns[name] = dict.fromkeys(formats.names(), 0)
        for one in cases():
            found[one.fmt.name or ""] += other(read, one.fmt, one.case) is None
        versions[module] = _version(module)
    counts = Counter(one.fmt.name or "" for one in cases())
    head = _HEAD.format(
        versions=", ".join(f"{name} {number}" for name, number in versions.items()),
        names=" | ".join(ENGINES),
        rules="---|" * len(ENGINES),
    )
    table = {
        name: [counts[name], *(columns[engine].get(name, 0) for engine in ENGINES)]  # 0: not run anew yet
        for name in formats.names()
    }
    table["**all**"] = [sum(column) for column in zip(*table.values(), strict=True)]
    rows = [f"| {name} | {' | '.join(map(str, row))} |" for name, row in table.items()]
    return "\n".join([head + "\n".join(rows), "", *_lost(), ""])


def _columns(text: str) -> tuple[dict[str, dict[str, int]], dict[str, str]]:
    """The columns of a page, and the versions that it names."""
    table = [
        [cell.strip() for cell in line.split("|")[1:-1]]
        for line in text.partition("\n## ")[0].splitlines()
        if "|" in line
    ]
    head, _, *rows = table
    columns = {name: {row[0]: int(row[number]) for row in rows} for number, name in enumerate(head) if name in ENGINES}
    named = re.search(r"Versions: (.+?)\. ", text.replace("\n", " "))
    pairs = [pair.split() for pair in named[1].split(",")] if named else []
    return columns, {pair[0]: pair[1] for pair in pairs}


def _version(name: str) -> str:
    """The version of an installed library, also of one that is only a folder of sources."""
    return str(getattr(importlib.import_module(name), "__version__", None) or version(name))


def _lost() -> Iterator[str]:
    yield "## What is not carried\n\nThe list that comes with a template, and the formats in whose lists it stands.\n"
    reasons: dict[tuple[str, str], list[str]] = {}
    for name in formats.names():
        fmt = formats.get(name)
        for one in fmt.to_response_template(start_anchor=None if _has_anchor(fmt) else ANCHOR)[1]:
            reasons.setdefault((one.pointer, one.reason), []).append(name)
    yield "| of the format | why | formats |\n|---|---|---|"
    for (pointer, reason), names in sorted(reasons.items()):
        yield f"| `{pointer}` | {reason} | {_named(names)} |"


def _named(names: Sequence[str]) -> str:
    others = [name for name in formats.names() if name not in names]
    if not others:
        return "all"
    return f"all but {', '.join(others)}" if len(others) < len(names) / 2 else ", ".join(names)


def main() -> None:
    """Write the page, or show what an engine reads otherwise."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--show", metavar="FORMAT", choices=formats.names())
    shown = parser.parse_args().show
    if not shown:
        PAGE.write_text(page(), encoding="utf-8")
        return
    readers = {name: make() for name, (module, make) in ENGINES.items() if find_spec(module) is not None}
    for one in cases():
        for name, read in readers.items() if one.fmt.name == shown else ():
            if (found := other(read, one.fmt, one.case)) is not None:
                print(
                    one.place,
                    one.case.name,
                    one.case.raw,
                    f"here: {ours(one.fmt, one.case)}",
                    f"{name}: {found}",
                    "",
                    sep="\n",
                )


if __name__ == "__main__":
    main()
