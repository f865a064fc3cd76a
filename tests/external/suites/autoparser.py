"""Round trips and parse cases of collected chat templates, through what `analyze` makes of each template.

A case gives the prompt, the text behind it, and the message that is in it. Contents are compared after stripping, calls
by number, order, name, id (where the case has one) and arguments as JSON. Every case must give the same in every
chunking: whole, character by character, cut in two at every place (a seeded sample of places in long texts), cut inside
of UTF-8 sequences, and at random.
"""

from __future__ import annotations

import functools
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from syntagma.analysis import analyze
from syntagma.errors import SyntagmaError
from syntagma.formats import ChatFormat
from syntagma.messages import Message
from syntagma.templates import ChatTemplate

SHORT = 200
SAMPLE = 20


@functools.cache
def chat_format(path: Path) -> ChatFormat | str:
    """The format of a template, or why there is none."""
    try:
        return analyze(ChatTemplate.from_file(path)).format
    except SyntagmaError as error:
        return str(error)


def run(data: Path) -> Iterator[tuple[str, str | None]]:
    """Every case that counts, with what is wrong or None."""
    for name in ("roundtrip", "vectors"):
        with (data / "autoparser" / f"{name}.jsonl").open(encoding="utf-8") as lines:
            for line in lines:
                case = json.loads(line)
                if not case.get("disputed"):
                    stem = case["template"].removesuffix(".jinja")
                    yield f"{name}/{stem}/{case['id']}", _problem(case, data / "templates" / case["template"])


def _problem(case: dict[str, Any], template: Path) -> str | None:
    fmt = chat_format(template)
    if isinstance(fmt, str):
        return f"no format: {fmt}"
    options: dict[str, Any] = {
        "prompt": case["prompt"],
        "reasoning_format": case["reasoning_format"],
        "template_kwargs": {"enable_thinking": case["enable_thinking"], **case.get("chat_template_kwargs", {})},
        "id_seed": 1,
    }
    tools = case["tools"] or None
    seen: set[str] = set()
    for chunks in chunkings(case["input"], random.Random(case["id"])):
        try:
            message = _read(fmt, tools, chunks, options)
        except SyntagmaError as error:
            return f"{error.code}: {error.message}"
        text = json.dumps(_plain(message), ensure_ascii=False, sort_keys=True)
        if text in seen:
            continue
        seen.add(text)
        problem = _difference(_plain(message), case)
        if problem is not None:
            return f"{problem} (in {len(chunks)} pieces)"
    return None if len(seen) == 1 else "the result depends on the chunking"


def _read(fmt: ChatFormat, tools: Any, chunks: list[str] | list[bytes], options: dict[str, Any]) -> Message:
    parser = fmt.parser(tools, **options)
    for chunk in chunks:
        parser.feed(chunk)
    parser.finish()
    return parser.message


def chunkings(text: str, source: random.Random) -> Iterator[list[str] | list[bytes]]:
    """The text in pieces, in every way that counts."""
    yield [text]
    yield list(text)
    places = range(1, len(text))
    for place in places if len(text) <= SHORT else sorted(source.sample(places, SAMPLE)):
        yield [text[:place], text[place:]]
    raw = text.encode()
    if len(raw) > len(text):
        inside = [place for place in range(1, len(raw)) if raw[place] & 0xC0 == 0x80]
        for place in inside if len(text) <= SHORT else inside[:SAMPLE]:
            yield [raw[:place], raw[place:]]
        yield [bytes([byte]) for byte in raw]
    pieces: list[str] = []
    at = 0
    while at < len(text):
        size = source.randint(1, 12)
        pieces.append(text[at : at + size])
        at += size
    yield pieces


def _plain(message: Message) -> dict[str, Any]:
    return {
        "content": (message.content or "").strip() if isinstance(message.content, str | None) else message.content,
        "reasoning": (message.reasoning_content or "").strip(),
        "calls": [[call.name, call.arguments, call.id] for call in message.tool_calls],
    }


def _difference(found: dict[str, Any], case: dict[str, Any]) -> str | None:
    expected = case["expected"]
    contents = {(expected.get("content") or "").strip()}
    thoughts = {(expected.get("reasoning_content") or "").strip()}
    if case.get("continue_final_message", "none") != "none":
        begun = case["messages"][-1]
        contents |= {(expected.get("content") or "").removeprefix(begun.get("content") or "").strip()}
        told = begun.get("reasoning_content") or ""
        thoughts |= {(expected.get("reasoning_content") or "").removeprefix(told).strip()}
    if found["content"] not in contents:
        return f"content {found['content'][:200]!r} instead of {min(contents, key=len)[:200]!r}"
    if found["reasoning"] not in thoughts:
        return f"reasoning {found['reasoning'][:200]!r} instead of {min(thoughts, key=len)[:200]!r}"
    calls = expected.get("tool_calls") or []
    if len(found["calls"]) != len(calls):
        return f"{len(found['calls'])} calls instead of {len(calls)}"
    for (name, arguments, identity), wanted in zip(found["calls"], calls, strict=True):
        if name != wanted["name"]:
            return f"call of {name!r} instead of {wanted['name']!r}"
        if wanted.get("id") and identity != wanted["id"]:
            return f"id {identity!r} instead of {wanted['id']!r}"
        if not _same_arguments(arguments, wanted["arguments"], cut=bool(case.get("is_partial"))):
            return f"arguments {arguments[:200]} instead of {str(wanted['arguments'])[:200]}"
    return None


def _same_arguments(found: str, wanted: str, *, cut: bool) -> bool:
    try:
        return bool(json.loads(found) == json.loads(wanted))
    except ValueError:
        # What was cut is no JSON yet: what is there must agree.
        return cut and "".join(found.split()) == "".join(wanted.split())
