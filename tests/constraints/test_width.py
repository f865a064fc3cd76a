"""The grammar is as wide as the reader: what is read whole and without a diagnostic may be written.

Calls are written in every way that a format shows and with whitespace changed at random: of all formats that there are,
and of formats drawn at random. What the reader reads complete, without a diagnostic and as the schemas say, the grammar
must accept, or it stands in `NARROWER` with the reason.
"""

from __future__ import annotations

import functools
import itertools
import json
import random
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import jsonschema
import msgspec
import pytest

from syntagma.decoding import GrammarMatcher
from syntagma.errors import FormatError
from syntagma.format_schema import (
    Constant,
    Envelope,
    EnvelopeNode,
    EnvelopePlaceholder,
    FormatSpec,
    Literal,
    Members,
    Notation,
    ToolsSpec,
    is_open,
)
from syntagma.format_schema.facts import forbidden_in_content, forbidden_in_reasoning, has_bare_calls, triggers
from syntagma.formats import ChatFormat
from syntagma.messages import Message, ToolCall
from tests.constraints.walks import asked, matcher
from tests.formats import format_draws
from tests.formats.cases import TOOLS
from tests.formats.every import CALLING, FORMATS


class Read(NamedTuple):
    """A text that the reader takes, and what it makes of it."""

    spec: FormatSpec
    tools: dict[str, Any]
    text: str
    message: Message

    @property
    def forms(self) -> tuple[ToolsSpec, ...]:
        return self.spec.tools.forms if self.spec.tools is not None else ()


def _matches(pattern: str) -> Callable[[Read], bool]:
    return lambda read: re.search(pattern, read.text, re.DOTALL) is not None


def _holds_signs(read: Read) -> bool:
    content, reasoning = str(read.message.content or ""), read.message.reasoning_content or ""
    bare = has_bare_calls(read.spec) and "{" in content
    # A marker with other whitespace inside of it is none.
    squeezed = "".join(content.split())
    in_content = any("".join(sign.split()) in squeezed for sign in forbidden_in_content(read.spec))
    return bare or in_content or any(sign in reasoning for sign in forbidden_in_reasoning(read.spec))


def _is_out_of_order(read: Read) -> bool:
    """Some key stands twice, or in another place than its schema has it."""
    for call in read.message.tool_calls:
        keys = [key for key, _ in json.loads(call.arguments, object_pairs_hook=list)]
        declared = list(read.tools[call.name].get("properties", {}))
        ordered = sorted(keys, key=lambda key: declared.index(key) if key in declared else len(declared))
        if keys != ordered or len(set(keys)) < len(keys):
            return True
    return False


def _nests_undeclared(read: Read) -> bool:
    """An element may be one that no schema declares."""
    if not any(form.element for form in read.forms):
        return False
    return any(
        schema == {"type": ["string", "null"]} or not schema
        for call in read.message.tool_calls
        for key in json.loads(call.arguments)
        for schema in [read.tools[call.name].get("properties", {}).get(key)]
    )


def _has_json_in_text(read: Read) -> bool:
    foreign = any('"' not in form.literals.quotes and not form.envelope for form in read.forms)
    return foreign and re.search(r'[\[{,]\s*"', read.text) is not None


def _respells_trigger(read: Read) -> bool:
    """The header of a call has other whitespace before the name than it shows."""
    shown = [trigger for trigger in triggers(read.spec) if len(trigger.split()) > 1 or trigger[:1].isspace()]
    return read.spec.messages is not None and any(
        found[0] not in (trigger, trigger.lstrip() if found.start() and len(trigger.split()) > 1 else trigger)
        for trigger in shown
        for found in re.finditer(r"\s*" + r"\s*".join(map(re.escape, trigger.split())), read.text)
    )


def _respells_opener(read: Read) -> bool:
    """What opens reasoning or the answer has other whitespace before it than it shows, or than none."""
    blocks = (*read.spec.reasoning_blocks, *read.spec.wrappers)
    openers = [block.opener.rstrip() for block in blocks if block.opener[:1].isspace()]
    return any(
        found[0] not in (opener, opener.lstrip())
        for opener in openers
        for found in re.finditer(r"\s*" + re.escape(opener.lstrip()), read.text)
    )


def _interrupts(read: Read) -> bool:
    """A call ends the reasoning, whose closer stands nowhere."""
    closers = [block.closer.strip() or block.closer for block in read.spec.reasoning_blocks]
    closed = any(closer in read.text for closer in closers)
    return bool(read.message.tool_calls and read.message.reasoning_content) and not closed


def _respells_element(read: Read) -> bool:
    """The opener of an element has other whitespace inside of it than it shows."""
    openers = [form.element[0].lstrip() for form in read.forms if form.element is not None]
    return any(
        found[0] != opener
        for opener in openers
        if len(opener.split()) > 1 or opener != opener.rstrip()
        for found in re.finditer(r"\s*".join(map(re.escape, opener.split())) + r"\s*", read.text)
    )


NARROWER: dict[str, tuple[str, Callable[[Read], bool]]] = {
    "the name after the arguments, in envelopes of many orders": (
        "the arguments of all tools are followed at once, in each order",
        _matches(
            r'"(?:arguments|parameters|args|with|a)"\s*:.*"(?:name|tool|tool_name|tool_call_id|n|id|index|number)"\s*:'
        ),
    ),
    "keys in another order than the schema declares": ("the orders of n keys are n! grammars", _is_out_of_order),
    "other bodies of calls that are messages": (
        "only headers before a body like the first one's are written",
        _matches(r"\bto=(\w+)\.\1"),
    ),
    "JSON where the notation has other quotes": (
        "what ends the value or the call is text only in strings that the notation knows",
        _has_json_in_text,
    ),
    "an id without the tool's name": (
        "which tool is meant would follow from its arguments",
        _matches(r"<\|tool_call_begin\|>\d"),
    ),
    "elements that no schema declares": (
        "an element closes with its own key, and any key at all would be no context-free language",
        _nests_undeclared,
    ),
    "signs of the format in text": (
        "what begins as something else must become it, or a call could be taken for text",
        _holds_signs,
    ),
    "other whitespace in the header of a call, up to the name": (
        "engines that constrain lazily wait for exactly this text; without the first space it would join the role",
        _respells_trigger,
    ),
    "other whitespace before the openers of reasoning and of the answer": (
        "what a model may begin with stays as small as what it was shown",
        _respells_opener,
    ),
    "line breaks in a string of JSON": (
        "it would be no JSON; the reader repairs them",
        _matches(r'(?:\\"|"\{)[^"]*\n'),
    ),
    "a call inside reasoning that nothing closes": (
        "a model that is held to a grammar closes its reasoning",
        _interrupts,
    ),
    "whitespace inside the opener of the first element": (
        "the other elements take only what is shown",
        _respells_element,
    ),
}
"""what the reader takes and no grammar allows: why, and whether a text is such"""


def _is_spaced(spec: FormatSpec) -> bool:
    """Whether whitespace is varied; where nothing but whitespace ends a value, it ends values or belongs to them."""
    assert spec.tools is not None
    return not any(form.argument and is_open(form) for form in spec.tools.forms)


def _is_ordered(spec: FormatSpec) -> bool:
    """Whether the keys of envelopes are varied; a running number is held, each order of them costs a grammar."""
    assert spec.tools is not None
    numbered = {"index", "ordinal"}
    patterns = (
        pattern
        for form in spec.tools.forms
        for pattern in (*form.call, *form.id, *(envelope.pattern for envelope in form.envelope))
    )
    return all(numbered.isdisjoint(pattern.placeholders) for pattern in patterns)


WORDS = '{"text": "a b", "tags": ["x", ""], "meta": {"pinned": true}}'
CALLS = [
    ToolCall(id="", name="weather", arguments='{"place": "Rome", "days": 2}'),
    ToolCall(id="", name="save_note", arguments=WORDS),
    ToolCall(id="", name="clock", arguments="{}"),
]
SPACES = ("", " ", "\n", "  ")
_PLACES = re.compile(r"\s+(?=\S)|(?<=>)(?=<)|(?<=\S)(?=})", re.ASCII)
_SHOWN = re.compile(r"\s+(?=\S)", re.ASCII)
"""whitespace in headers: between markers that show none, none may be written, so that what follows is certain"""
_SIGNS = ["a", "b", "é", "1", "思", "[", "null", "so", ":", ","]
_WILD = [*_SIGNS, " ", "\n", "<", "'", '"', "\\", "{", "}", "]", "true", "/", "|", "\u2003", "😀"]
_DRAWN = 20
"""messages that are drawn for a format that there is"""


def _messages(fmt: ChatFormat) -> Iterator[Message]:
    reasoning = fmt.spec.reasoning
    reasoned = "So." if reasoning is not None and reasoning.to == "reasoning" else None
    for calls in ([CALLS[0]], [CALLS[1]], [CALLS[2], CALLS[0]]):
        yield Message(tool_calls=tuple(calls))
        yield Message(tool_calls=tuple(calls), reasoning_content=reasoned)
    yield Message(content="Look: ", tool_calls=(CALLS[1],), reasoning_content=reasoned)


def _schemas(tools: Sequence[dict[str, Any]]) -> dict[str, Any]:
    return {tool["function"]["name"]: tool["function"]["parameters"] for tool in tools}


def _drawn(spec: FormatSpec, schemas: dict[str, Any], rng: random.Random, signs: Sequence[str]) -> Message:
    """Calls of some tools with any arguments that keep to their schemas; reasoning and an answer of any signs."""
    reasoning = spec.reasoning is not None and spec.reasoning.to == "reasoning" and rng.random() < 0.5
    calls = []
    for _ in range(rng.choice((1, 1, 2, 3))):
        name = rng.choice(list(schemas))
        arguments = json.dumps(_value(schemas[name], rng, signs), ensure_ascii=rng.random() < 0.3)
        calls.append(ToolCall(id="", name=name, arguments=arguments))
    return Message(
        content=_word(rng, signs) if rng.random() < 0.3 else None,
        reasoning_content=(_word(rng, signs) or None) if reasoning else None,
        tool_calls=tuple(calls),
    )


def _word(rng: random.Random, signs: Sequence[str]) -> str:
    return "".join(rng.choice(signs) for _ in range(rng.choice((0, 1, 2, 4, 7))))


def _value(schema: dict[str, Any], rng: random.Random, signs: Sequence[str]) -> Any:
    kinds = schema.get("type", ["string", "integer", "boolean", "null", "object", "array", "number"])
    kind = rng.choice(kinds) if isinstance(kinds, list) else kinds
    if kind == "object":
        properties, required = schema.get("properties", {}), schema.get("required", ())
        found = {
            key: _value(inner, rng, signs) for key, inner in properties.items() if key in required or rng.random() < 0.6
        }
        if not properties and rng.random() < 0.3:
            found[_word(rng, signs)] = _value({}, rng, signs)
        return found
    if kind == "array":
        return [_value(schema.get("items", {}), rng, signs) for _ in range(rng.randint(0, 2))]
    scalars = {"integer": (0, -7, 12345678901234567890), "number": (1.5, -2e30, 3), "boolean": (True, False)}
    return rng.choice(scalars[kind]) if kind in scalars else None if kind == "null" else _word(rng, signs)


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


@functools.cache
def _written_ways(fmt: ChatFormat) -> list[ChatFormat]:
    return [ChatFormat(way) for way in _ways(fmt.spec, ordered=_is_ordered(fmt.spec))]


def _texts(fmt: ChatFormat, rng: random.Random) -> Iterator[str]:
    """Fixed messages in every way to write them, with whitespace as shown and changed."""
    for way in _written_ways(fmt):
        for message in _messages(fmt):
            with suppress(FormatError):
                text = way.write(message, TOOLS)
                yield text
                for _ in range(3 if _is_spaced(fmt.spec) else 0):
                    yield _spaced(fmt, text, rng)


def _drawn_texts(fmt: ChatFormat, schemas: dict[str, Any], rng: random.Random, count: int) -> Iterator[str]:
    """Drawn messages, each in some way to write it; where whitespace is changed, none is part of a string."""
    for _ in range(count):
        spaced = _is_spaced(fmt.spec) and rng.random() < 0.5
        message = _drawn(fmt.spec, schemas, rng, _SIGNS if spaced else _WILD)
        with suppress(FormatError):
            text = rng.choice(_written_ways(fmt)).write(message, _tools_of(schemas))
            yield _spaced(fmt, text, rng) if spaced else text


def _tools_of(schemas: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"type": "function", "function": {"name": name, "parameters": one}} for name, one in schemas.items()]


def _has_braces(spec: FormatSpec) -> bool:
    """Whether a brace may belong to a marker."""
    assert spec.tools is not None
    patterns = (one for form in spec.tools.forms for one in (*form.section, *form.call, *form.argument))
    return any(isinstance(item, Literal) and "}" in item.text for one in patterns for item in one.items)


def _spaced(fmt: ChatFormat, text: str, rng: random.Random) -> str:
    places = _SHOWN if fmt.spec.messages is not None or _has_braces(fmt.spec) else _PLACES
    return places.sub(lambda run: rng.choice((*SPACES, run[0], run[0], run[0])), text)


def _is_valid(read: Read) -> bool:
    """Whether the calls are of declared tools, with arguments that keep to their schemas."""
    with suppress(jsonschema.ValidationError, KeyError):
        for call in read.message.tool_calls:
            jsonschema.validate(json.loads(call.arguments), read.tools[call.name])
        return bool(read.message.tool_calls)
    return False


def _check(fmt: ChatFormat, grammar: GrammarMatcher, schemas: dict[str, Any], text: str) -> bool:
    """Hold one text to the law; whether it says anything about the text."""
    message = fmt.parse(text, _tools_of(schemas), id_seed="width", **asked(fmt))
    if message.incomplete or message.diagnostics:
        return False
    read = Read(fmt.spec, schemas, text, message)
    if not _is_valid(read) or any(is_such(read) for _, is_such in NARROWER.values()):
        return False
    grammar.reset()
    assert grammar.accept_bytes(text.encode()), text
    assert grammar.is_accepting(), text
    return True


@pytest.mark.every_format
@pytest.mark.parametrize("name", CALLING)
def test_what_is_read_may_be_written(name: str) -> None:
    fmt, schemas, rng = FORMATS[name], _schemas(TOOLS), random.Random(name)
    grammar = matcher(fmt.grammar(TOOLS, **asked(fmt)))
    texts = itertools.chain(_texts(fmt, rng), _drawn_texts(fmt, schemas, rng, _DRAWN))
    assert sum(_check(fmt, grammar, schemas, text) for text in texts) > 1


def _without(texts: Iterable[str], text: str) -> Iterator[str]:
    for one in texts:
        for place in re.finditer(re.escape(one), text) if len(one) > 1 else ():
            yield text[: place.start()] + text[place.end() :]


def _first_form(fmt: ChatFormat) -> ToolsSpec:
    assert fmt.spec.tools is not None
    return fmt.spec.tools


def _without_markers(fmt: ChatFormat, message: Message) -> Iterator[str]:
    sections = _first_form(fmt).section[0]
    yield from _without({sections.opener.strip(), sections.closer.strip()}, fmt.write(message, TOOLS))


def _with_further_keys(fmt: ChatFormat, message: Message) -> Iterator[str]:
    text = fmt.write(message, TOOLS)
    for place in re.finditer(r"{(?=\s*\")", text) if _first_form(fmt).envelope else ():
        yield text[: place.end()] + '"further": [1], ' + text[place.end() :]


def _with_objects(fmt: ChatFormat, message: Message) -> Iterator[str]:
    form = _first_form(fmt)
    if form.argument:
        plain = msgspec.structs.replace(
            form, argument=(), argument_separator="", types={}, values="text", item=None, escape=frozenset(), also=()
        )
        yield ChatFormat(msgspec.structs.replace(fmt.spec, tools=plain)).write(message, TOOLS)


def _with_space_before(fmt: ChatFormat, message: Message) -> Iterator[str]:
    yield "\n" + fmt.write(message, TOOLS)


SLIPS: dict[str, tuple[str, Callable[[ChatFormat, Message], Iterator[str]]]] = {
    "a marker of the section left out": (
        "the reader does without, but later turns of the template would not show what the model wrote",
        _without_markers,
    ),
    "keys of an envelope that the file does not show": (
        "any key with any value is room for a model to go on in without end",
        _with_further_keys,
    ),
    "an object in place of separate arguments": (
        "a second notation of all arguments of all tools; the template shows the first one only",
        _with_objects,
    ),
    "whitespace before a call that must come": (
        "at its beginning a turn that is forced into a call would be invited to something else",
        _with_space_before,
    ),
}
"""what models do and the reader takes, while the grammar is there to prevent it: why, and how it looks"""


@pytest.mark.parametrize("slip", SLIPS)
def test_slips_that_are_read_are_not_written(slip: str) -> None:
    _, changed = SLIPS[slip]
    found = 0
    for name in CALLING:
        fmt, schemas = FORMATS[name], _schemas(TOOLS)
        grammar = matcher(fmt.grammar(TOOLS, tool_choice="required"))
        for call in CALLS:
            with suppress(FormatError):
                for text in changed(fmt, Message(tool_calls=(call, call))):
                    message = fmt.parse(text, TOOLS, id_seed="width")
                    read = Read(fmt.spec, schemas, text, message)
                    if message.incomplete or message.diagnostics or not _is_valid(read):
                        continue
                    grammar.reset()
                    found += not (grammar.accept_bytes(text.encode()) and grammar.is_accepting())
    assert found, "the grammar allows it: it needs no place in the list"


@pytest.mark.some(30)
@pytest.mark.parametrize("seed", range(60))
def test_what_a_drawn_format_reads_may_be_written(seed: int) -> None:
    rng = random.Random(f"width {seed}")
    tools, schemas = format_draws.TOOLS, _schemas(format_draws.TOOLS)
    with suppress(FormatError):
        fmt = ChatFormat.from_toml(format_draws.Draw(rng).toml())
        if fmt.spec.tools is None:
            return
        grammar = matcher(fmt.grammar(tools))
        for text in _drawn_texts(fmt, schemas, rng, 12):
            _check(fmt, grammar, schemas, text)


@pytest.mark.every_format
@pytest.mark.parametrize("name", [name for name in CALLING if FORMATS[name].spec.forms[0].envelope])
def test_the_arguments_may_come_before_the_name_where_there_are_few_tools(name: str) -> None:
    fmt = FORMATS[name]
    many = [{"type": "function", "function": {"name": f"tool_{number}"}} for number in range(33)]
    text = fmt.write(Message(tool_calls=(ToolCall(id="a", name="tool_0", arguments="{}"),)), many)
    start = text.index("{")
    shown, end = json.JSONDecoder().raw_decode(text, start)
    turned = text[:start] + json.dumps(dict(reversed(shown.items()))) + text[end:]
    if (
        "tool_0" not in shown.values()
        or len(shown) != 2
        or fmt.triggers == ("{",)
        or [one.name for one in fmt.parse(turned, many).tool_calls] != ["tool_0"]
    ):
        return  # the name stands elsewhere, there are more members, or such a call is known by how it begins
    grammars = {count: matcher(fmt.grammar(many[:count])) for count in (8, 33)}
    accepted = {count: one.accept_bytes(turned.encode()) and one.is_accepting() for count, one in grammars.items()}
    assert accepted == {8: True, 33: False}
