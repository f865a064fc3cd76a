"""The grammar is as wide as the reader: what is read whole and without a diagnostic may be written.

Calls are written in every way that a format shows and with whitespace changed at random. What the reader makes the same
calls of, complete and without a diagnostic, the grammar must accept, or it stands in `NARROWER` with the reason.
"""

from __future__ import annotations

import itertools
import json
import random
import re
from collections.abc import Iterator
from contextlib import suppress

import msgspec
import pytest

from syntagma.errors import FormatError
from syntagma.format_schema import Constant, Envelope, EnvelopeNode, EnvelopePlaceholder, FormatSpec, Members, Notation
from syntagma.formats import ChatFormat
from syntagma.messages import Message, ToolCall
from tests.constraints.test_agreement import CALLING, FORMATS
from tests.constraints.walks import matcher
from tests.formats.cases import TOOLS

NARROWER = {
    "the name after the arguments": (
        "the arguments of all tools would have to be followed at once",
        r'"(?:arguments|parameters|args|with|a)"\s*:.*"(?:name|tool|tool_name|tool_call_id|n|id|number)"\s*:',
    ),
    "other bodies of calls that are messages": (
        "only headers before a body like the first one's are written",
        r" to=(\w+)\.\1",
    ),
    "JSON where the notation has other quotes": (
        "a closer in such a string would end the value",
        r'<v>\[\s*"',
    ),
    "an id without the tool's name": (
        "which tool is meant would follow from its arguments",
        r"<\|tool_call_begin\|>\d",
    ),
}
"""what the reader takes and no grammar allows: why, and a pattern that finds it in a text"""
UNSPACED = {
    "elements": "elements stand beside each other as they are shown",
    "elements on lines": "the same",
    "minimax-m3": "the same",
    "gpt-oss": "whitespace in headers is as shown",
    "beam": "the same",
    "muse": "the same",
    "messages that the next one ends": "the same",
    "messages and thoughts that the next one ends": "the same",
    "shape message_ids": "the same",
    "deepseekv41": "whitespace inside of a marker is as shown",
    "spelled as a string": "line breaks in a JSON string are repaired by the reader",
    "types on the wire": "whitespace inside of a marker is as shown",
    "shape lines": "line breaks end values",
    "shape message_lines": "the same",
    "shape literal_lines": "the same",
    "shape separated_lines": "the same",
    "shape next_key": "whitespace belongs to values",
    "shape separated": "the same",
    "shape numbers": "whitespace inside of a marker is as shown",
}
"""formats that are written with the whitespace that they show, and why"""
UNORDERED = ("cohere_command4", "delimited", "shape numbers")
"""formats with running numbers in an envelope: what stands around a number is written once for each of 16 calls"""

WORDS = '{"text": "a b", "tags": ["x", ""], "meta": {"pinned": true}}'
CALLS = [
    ToolCall(id="", name="weather", arguments='{"place": "Rome", "days": 2}'),
    ToolCall(id="", name="save_note", arguments=WORDS),
    ToolCall(id="", name="clock", arguments="{}"),
]
SPACES = ("", " ", "\n", "  ")
_PLACES = re.compile(r"\s+(?=\S)|(?<=>)(?=<)|(?<=\S)(?=})")


def _messages(fmt: ChatFormat) -> Iterator[Message]:
    reasoning = fmt.spec.reasoning
    reasoned = "So." if reasoning is not None and reasoning.to == "reasoning" else None
    for calls in ([CALLS[0]], [CALLS[1]], [CALLS[2], CALLS[0]]):
        yield Message(tool_calls=tuple(calls))
        yield Message(tool_calls=tuple(calls), reasoning_content=reasoned)
    yield Message(content="Look: ", tool_calls=(CALLS[1],), reasoning_content=reasoned)


def _ways(spec: FormatSpec, *, ordered: bool) -> Iterator[FormatSpec]:
    """The format with another of its ways in the place of the first, which is what the writer writes."""
    yield spec
    assert spec.tools is not None
    for form in spec.tools.forms:
        for name in ("section", "call", "envelope", "id"):
            shown = getattr(form, name)
            for at in range(len(shown)):
                first = (shown[at], *shown[:at], *shown[at + 1 :])
                tools = msgspec.structs.replace(form, **{name: first}, also=())
                yield msgspec.structs.replace(spec, tools=tools)
        if form.envelope and ordered:
            for envelope in _orders(form.envelope[0]):
                yield msgspec.structs.replace(spec, tools=msgspec.structs.replace(form, envelope=(envelope,), also=()))
        json_words = Notation(quotes=('"',))
        others = [] if form.literals.writes_json else [json_words, _rotated(form.literals)]
        for notation in others:
            yield msgspec.structs.replace(spec, tools=msgspec.structs.replace(form, literals=notation, also=()))
    if spec.reasoning is not None and len(spec.reasoning.block) > 1:
        for block in spec.reasoning.block[1:]:
            yield msgspec.structs.replace(spec, reasoning=msgspec.structs.replace(spec.reasoning, block=(block,)))


def _rotated(notation: Notation) -> Notation:
    return msgspec.structs.replace(notation, quotes=(*notation.quotes[1:], notation.quotes[0]))


def _orders(envelope: Envelope) -> Iterator[Envelope]:
    for members in itertools.permutations(envelope.root.items):
        yield Envelope(_text(Members(members)))


def _text(node: EnvelopeNode) -> str:
    match node:
        case Constant(text):
            return text
        case EnvelopePlaceholder(name, quoted):
            return f'"{{{name}}}"' if quoted else f"{{{name}}}"
        case Members(items):
            keys = (json.dumps(key) if isinstance(key, str) else _text(key) for key, _ in items)
            return "{" + ", ".join(f"{key}: {_text(value)}" for key, (_, value) in zip(keys, items, strict=True)) + "}"


def _texts(fmt: ChatFormat, rng: random.Random, *, spaced: bool, ordered: bool) -> Iterator[str]:
    for way in _ways(fmt.spec, ordered=ordered):
        for message in _messages(fmt):
            with suppress(FormatError):
                text = ChatFormat(way).write(message, TOOLS)
                yield text
                for _ in range(3 if spaced else 0):
                    yield _PLACES.sub(lambda run: rng.choice((*SPACES, run[0], run[0], run[0])), text)


def _is_listed(text: str) -> bool:
    """Whether a text is one of those in `NARROWER`."""
    return any(re.search(pattern, text, re.DOTALL) for _, pattern in NARROWER.values())


def _said(message: Message) -> str:
    calls = [[call.name, json.loads(call.arguments)] for call in message.tool_calls]
    return json.dumps([(message.reasoning_content or "").strip(), str(message.content or "").strip(), calls])


@pytest.mark.parametrize("name", CALLING)
def test_what_is_read_may_be_written(name: str) -> None:
    fmt = FORMATS[name]
    grammar = matcher(fmt.grammar(TOOLS))
    wanted = {_said(message) for message in _messages(fmt)}
    checked = 0
    for text in _texts(fmt, random.Random(name), spaced=name not in UNSPACED, ordered=name not in UNORDERED):
        message = fmt.parse(text, TOOLS, id_seed="width")
        if message.incomplete or message.diagnostics or _said(message) not in wanted or _is_listed(text):
            continue
        checked += 1
        grammar.reset()
        assert grammar.accept_bytes(text.encode()), text
        assert grammar.is_accepting(), text
    assert checked > 1
