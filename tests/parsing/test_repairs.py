"""Slips in a call are repaired in every notation to which they apply, each with one diagnostic, however it is cut."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import syntagma as sg
from syntagma.errors import FormatError
from syntagma.format_schema.spec import ToolsSpec
from syntagma.formats import ChatFormat
from syntagma.messages import ToolCall
from syntagma.parsing.compiled_format import compiled_format
from tests.formats.every import CALLING, FORMATS
from tests.formats.format_draws import Draw
from tests.formats.format_laws import loaded

STRING, NUMBER = {"type": "string"}, {"type": "integer"}
PROPERTIES = {
    "word": STRING,
    "n": NUMBER,
    "list": {"type": "array", "items": STRING},
    "deep": {"type": "object"},
    "last": STRING,
}
PARAMETERS = {"type": "object", "properties": PROPERTIES, "required": ["word"]}
TOOLS = [{"type": "function", "function": {"name": "look_up", "parameters": PARAMETERS}}]
MARK = "Qq"
"""a word that stands for the value to damage"""
WRAPPERS = ("arguments", "input")
_BATCHES = 6
_DRAWN = 60
"""formats of a batch"""
_CUTS = 40
"""the most places at which the text of a drawn format is cut"""

Damage = tuple[str, dict[str, Any]]
"""a damaged call, and the arguments that were meant"""


def read(fmt: ChatFormat, chunks: list[str], **options: Any) -> sg.Message:
    parser = fmt.parser(TOOLS, id_seed="s", **options)
    for chunk in chunks:
        parser.feed(chunk)
    parser.finish()
    return parser.message


def codes(message: sg.Message) -> list[str]:
    return [found.code for found in message.diagnostics if found.code != "E-PARSE-STRAY"]


def repaired(fmt: ChatFormat, text: str, arguments: dict[str, Any]) -> None:
    """The text is a damaged call with these arguments: the same in every cut, and told; without repairs, it is told."""
    whole = read(fmt, [text])
    [call] = whole.tool_calls
    assert call.complete, text
    assert json.loads(call.arguments) == arguments, text
    # What a closer that is no marker leaves in the answer, if the list that it closes was not opened, is told too.
    left = ["E-PARSE-CALL"] if whole.content and "E-PARSE-CALL" in codes(whole) else []
    assert codes(whole) == ["E-PARSE-REPAIRED", *left], text
    assert read(fmt, list(text)) == whole, text
    places = range(1, len(text))
    for at in places if fmt.name else random.Random(len(text)).sample(places, min(_CUTS, len(places))):
        assert read(fmt, [text[:at], text[at:]]) == whole, (text, at)
    plain = read(fmt, [text], policies=sg.Policies(repair=False))
    assert "E-PARSE-REPAIRED" not in codes(plain), text
    # Without the repair it is told, or read as something else: as an argument that is not declared, or as text.
    found = [json.loads(one.arguments) for one in plain.tool_calls if one.complete]
    assert codes(plain) or plain.content or arguments not in found, text


def written(fmt: ChatFormat, arguments: dict[str, Any]) -> str:
    """A call as the format writes it; it is read without a diagnostic."""
    call = ToolCall(id="call_0", name="look_up", arguments=json.dumps(arguments))
    text = fmt.write(sg.Message(tool_calls=(call,)), TOOLS)
    good = read(fmt, [text])
    assert [json.loads(one.arguments) for one in good.tool_calls] == [arguments], text
    assert codes(good) == [], text
    return text


def tools_of(fmt: ChatFormat) -> ToolsSpec:
    assert fmt.spec.tools is not None
    return fmt.spec.tools


# ---- where a repair applies


def writes_literals(fmt: ChatFormat) -> bool:
    """Whether it has a notation of its own, for an object or for single arguments."""
    tools = fmt.spec.tools
    if tools is None or tools.literals.is_json or (tools.argument and tools.values != "literal"):
        return False
    return fmt.spec.messages is None


def has_other_quotes(fmt: ChatFormat) -> bool:
    return writes_literals(fmt) and '"' not in tools_of(fmt).literals.quotes


def is_like_python(fmt: ChatFormat) -> bool:
    return (
        writes_literals(fmt)
        and len(tools_of(fmt).literals.quotes[0]) == 1
        and not (tools_of(fmt).literals.bare_keys or tools_of(fmt).envelope)
    )


def writes_json(fmt: ChatFormat) -> bool:
    """Whether its calls have an object of JSON, which is not encoded as a string."""
    tools = fmt.spec.tools
    if tools is None or tools.argument or not tools.literals.is_json or (fmt.spec.messages and not fmt.name):
        return False
    # Where the arguments come first, their schema is not known yet.
    shown = [one.pattern.text for one in tools.envelope[:1]]
    return all('"{arguments}"' not in one and one.index("{name}") < one.index("{arguments}") for one in shown)


def is_written_one_by_one(fmt: ChatFormat) -> bool:
    """Whether single arguments are literals, and no other form of its calls has an object in their place."""
    forms = tools_of(fmt).forms if fmt.spec.tools is not None else ()
    return writes_literals(fmt) and bool(tools_of(fmt).argument) and all(one.argument or one.envelope for one in forms)


def closer_of_values(fmt: ChatFormat) -> str:
    """The text after a raw value; empty: there is none, or it names the argument."""
    tools = fmt.spec.tools
    if tools is None or not tools.argument or tools.values == "literal" or fmt.spec.messages is not None:
        return ""
    closer = tools.argument[0].around("value")[1]
    return "" if "{" in closer or not any(map(str.isalnum, closer)) else closer


def has_closers(fmt: ChatFormat) -> bool:
    """Whether raw values have a closer that nothing else of a call begins or ends with."""
    closer = closer_of_values(fmt).strip()
    if not closer or is_element(fmt):
        return False
    starts = compiled_format(fmt.spec).starts
    ends = [op.text for one in starts for op in (*one.closer, *(one.section.closer if one.section else ()))]
    return not any(closer in end for end in ends)


def ends_at_lines(fmt: ChatFormat) -> bool:
    return (
        has_closers(fmt)
        and not tools_of(fmt).argument_separator.strip()
        and any(one.unclosed is not None for one in compiled_format(fmt.spec).starts)
    )


def is_element(fmt: ChatFormat) -> bool:
    return tools_of(fmt).argument[0].text.count("{key}") > 1


def has_attribute_of_type(fmt: ChatFormat) -> bool:
    tools = fmt.spec.tools
    return tools is not None and bool(tools.argument) and '"{type}"' in tools.argument[0].text


def has_list(fmt: ChatFormat) -> bool:
    """Whether a section of calls is a list after a marker."""
    sections = [one.section for one in compiled_format(fmt.spec).starts if one.section is not None]
    is_list = bool(sections) and any(op.text == "[" for op in sections[0].opener[1:])
    return is_list and not tools_of(fmt).call[0].text.strip().startswith("[")


# ---- the slips


def in_quotes_of_json(fmt: ChatFormat) -> Iterator[Damage]:
    """Strings are spelled as in JSON."""
    quote = tools_of(fmt).literals.quotes[0]
    for arguments in ({"word": MARK, "n": 5}, {"n": 5, "list": [MARK]}, {"deep": {"a": MARK}}):
        yield written(fmt, arguments).replace(quote + MARK + quote, f'"{MARK}"'), arguments


def _without_quotes(fmt: ChatFormat, quote: str, rest: str) -> Iterator[Damage]:
    """A string has no quotes, or no opening one; `rest`: what it has beside one word."""
    for arguments in ({"word": MARK + rest, "n": 5}, {"n": 5, "word": f"{MARK}-2"}):
        text = written(fmt, arguments)
        for spelled in (str(arguments["word"]), f"{arguments['word']}{quote}"):
            yield text.replace(f"{quote}{arguments['word']}{quote}", spelled), arguments


def _with_quotes_inside(fmt: ChatFormat, quote: str, *between: str) -> Iterator[Damage]:
    """A string has quotes inside; `between`: what may stand between them."""
    for words in between:
        inner = f"a{quote}b{words}{quote}c"
        for arguments in ({"word": inner, "n": 5}, {"n": 5, "word": inner}):
            yield written(fmt, {**arguments, "word": MARK}).replace(MARK, inner), arguments


def without_quotes(fmt: ChatFormat) -> Iterator[Damage]:
    """A string has no quotes, or no opening one."""
    return _without_quotes(fmt, tools_of(fmt).literals.quotes[0], " in Oslo")


def without_quotes_in_json(fmt: ChatFormat) -> Iterator[Damage]:
    """The same in JSON."""
    return _without_quotes(fmt, '"', " in Oslo, so")


def with_quotes_inside(fmt: ChatFormat) -> Iterator[Damage]:
    """A string has quotes inside."""
    quote = tools_of(fmt).literals.quotes[0]
    between = ("", " it, so, ", "(x) ", ", y", f"{quote} and {quote}", f"(it {quote}")
    return _with_quotes_inside(fmt, quote, *between)


def with_quotes_inside_json(fmt: ChatFormat) -> Iterator[Damage]:
    """The same in JSON."""
    return _with_quotes_inside(fmt, '"', "", " it, so, ", "(x) ", ", y", '" and "', '{it "', "; }")


def with_zeros(fmt: ChatFormat) -> Iterator[Damage]:
    """A number begins with zeros; the same digits are a string where that is due."""
    quote = tools_of(fmt).literals.quotes[0]
    yield written(fmt, {"n": 775577}).replace("775577", "00775577"), {"n": 775577}
    yield written(fmt, {"word": MARK}).replace(quote + MARK + quote, "007"), {"word": "007"}


def with_zeros_in_json(fmt: ChatFormat) -> Iterator[Damage]:
    """A number of JSON begins with zeros."""
    for arguments in ({"n": 775577}, {"n": -775577, "word": "007"}):
        yield written(fmt, arguments).replace("775577", "00775577"), arguments


def with_zeros_between_tags(fmt: ChatFormat) -> Iterator[Damage]:
    """A number between tags begins with zeros."""
    for arguments in ({"n": 775577}, {"n": 775577, "word": "007"}):
        yield written(fmt, arguments).replace("775577", "00775577"), arguments


def types_by_schema(fmt: ChatFormat) -> bool:
    return has_closers(fmt) and not tools_of(fmt).types


def in_sets(fmt: ChatFormat) -> Iterator[Damage]:
    """An array is a set; or a string is two."""
    quote = tools_of(fmt).literals.quotes[0]
    arguments: dict[str, Any] = {"list": [MARK, "b"], "n": 5}
    text = written(fmt, arguments)
    start, end = text.index("[" + quote + MARK), text.index("]", text.index(MARK))
    yield text[:start] + "{" + text[start + 1 : end] + "}" + text[end + 1 :], arguments
    arguments = {"word": "a" + MARK, "n": 5}
    yield written(fmt, arguments).replace("a" + MARK, f"a{quote} {quote}{MARK}"), arguments


def as_an_object(fmt: ChatFormat) -> Iterator[Damage]:
    """An object of JSON stands in place of the arguments."""
    arguments = {"word": "it", "n": 5, "deep": {"a": True}}
    text, empty = written(fmt, {"word": MARK}), written(fmt, {})
    shared = next(n for n in range(len(text)) if text[n] != empty[n])
    yield text[:shared] + json.dumps(arguments) + text[len(text) - (len(empty) - shared) :], arguments


def with_a_closer_twice(fmt: ChatFormat) -> Iterator[Damage]:
    """The closer of a value is written twice."""
    closer = closer_of_values(fmt)
    arguments = {"word": "it", "n": 5}
    text = written(fmt, arguments)
    at = text.index(closer, text.index("it")) + len(closer)
    yield text[:at] + closer + text[at:], arguments
    yield text[:at] + closer.strip() + text[at:], arguments
    at = text.rindex(closer) + len(closer)
    yield text[:at] + closer + text[at:], arguments


def without_closers(fmt: ChatFormat) -> Iterator[Damage]:
    """A value has no closer where the next argument begins on a line of its own, or where the call ends."""
    closer = closer_of_values(fmt)
    arguments = {"word": "it", "n": 5}
    text = written(fmt, arguments)
    first, last = text.index(closer, text.index("it")), text.rindex(closer)
    yield text[:first] + "\n" + text[first + len(closer) :].lstrip(), arguments
    call = [one for one in compiled_format(fmt.spec).starts if one.unclosed is not None and one.unclosed.ends]
    if call:
        yield text[:last] + text[last + len(closer) :], arguments


def without_types(fmt: ChatFormat) -> Iterator[Damage]:
    """The attribute of the type is missing."""
    attribute = re.compile(r"""\s+\w+="(?:""" + "|".join(map(re.escape, tools_of(fmt).types)) + r""")\"""")
    for arguments in ({"word": "it"}, {"word": "12", "n": 5, "list": ["a"]}):
        text = attribute.sub("", written(fmt, arguments))
        yield text, arguments


def in_a_wrapper(fmt: ChatFormat) -> Iterator[Damage]:
    """The arguments are members of one that is not declared."""
    arguments = {"word": "it", "n": 5}
    text = written(fmt, {"word": MARK})
    start = text.index("word", text.index("look_up"))
    for key in WRAPPERS:
        wrapped = (text[:start] + key + text[start + len("word") :]).replace(MARK, json.dumps(arguments))
        # Where nothing separates the name from the arguments, it may be another form of its calls.
        if "E-PARSE-TOOL" not in codes(read(fmt, [wrapped], policies=sg.Policies(repair=False))):
            yield wrapped, arguments


def in_a_wrapper_as_an_object(fmt: ChatFormat) -> Iterator[Damage]:
    """The same where the arguments are an object, or literals with their keys."""
    arguments = {"word": "it", "n": 5}
    text = written(fmt, {"deep": arguments})
    start = text.index("deep", text.index("look_up"))
    for key in WRAPPERS:
        yield text[:start] + text[start:].replace("deep", key), arguments


def without_a_list(fmt: ChatFormat) -> Iterator[Damage]:
    """The brackets around the only call are missing."""
    arguments = {"word": "it", "n": 5}
    text = written(fmt, arguments)
    section = tools_of(fmt).section[0].text
    before, _, after = section.partition("{calls}")
    start, end = text.index(before) + len(before), text.rindex(after)
    opened, closed = (
        text[:start].rstrip().removesuffix("["),
        after.lstrip().removeprefix("]") + text[end + len(after) :],
    )
    damaged = opened + text[start:end] + closed
    if codes(read(fmt, [damaged], policies=sg.Policies(repair=False))):  # if not, this is another form of its calls
        yield damaged, arguments


def has_known_openers(fmt: ChatFormat) -> bool:
    return bool(compiled_format(fmt.spec).misspellings.openers)


def spelled_otherwise(opener: str) -> list[str]:
    """The opener of a section in other signs and cases."""
    inner = re.sub(r"(?<=.)[^\w\s](?=.)", "", opener)
    return [
        one
        for one in (opener.swapcase(), opener.title(), inner, opener.replace("_", "-"), opener.replace("_", " "))
        if one != opener
    ]


def opener_in(fmt: ChatFormat, text: str) -> str:
    """What opens the section in a text, up to its last letter; empty: no section is open there."""
    compiled, plain = compiled_format(fmt.spec), "".join(text.split())
    for opener in compiled.misspellings.openers:
        sections = [call.section for call in compiled.section_calls[opener] if call.section is not None]
        if any("".join(op.text for op in one.opener) in plain for one in sections):
            return opener if opener in text else opener.replace(" ", "")
    return ""


def with_an_opener_spelled_otherwise(fmt: ChatFormat) -> Iterator[Damage]:
    """What opens the calls has other signs or another case."""
    arguments = {"word": "it", "n": 5}
    text, compiled = written(fmt, arguments), compiled_format(fmt.spec)
    opener, good, openers = opener_in(fmt, text), read(fmt, [text]), compiled.misspellings.openers
    is_open = fmt.parser(TOOLS).state == "reasoning" and opener not in compiled.interrupting_openers
    if not opener or good.content or good.reasoning_content or (is_open and text.startswith(opener)):
        return
    # What begins with another text of the format is that.
    exits = (text for one in compiled.answer_exits.values() for text in one.by_text)
    blocks = (text for one in compiled.blocks for text in (one.opener, one.closer))
    texts = tuple(filter(None, map(str.strip, {*compiled.texts, *blocks, *exits} - {opener})))
    for spelled in spelled_otherwise(opener):
        if spelled not in openers and not spelled.startswith(texts):
            yield text.replace(opener, spelled, 1), arguments


def may_stand_alone(fmt: ChatFormat) -> bool:
    return bool(compiled_format(fmt.spec).unlisted) and tools_of(fmt).call[0].text.startswith("{name}")


def all_of_an_answer(fmt: ChatFormat) -> Iterator[Damage]:
    """The only call has no list of signs around it, and is all of the answer."""
    for arguments in ({"word": "it", "n": 5}, {"word": "it's \n)]", "list": ["a"], "last": "ü"}):
        text = written(fmt, arguments)
        before, _, after = tools_of(fmt).section[0].text.partition("{calls}")
        if before.strip() and text.startswith(before) and text.endswith(after):
            yield text.removeprefix(before).removesuffix(after), arguments


LAWS: dict[str, tuple[Callable[[ChatFormat], bool], Callable[[ChatFormat], Iterator[Damage]]]] = {
    "strings in quotes of JSON": (has_other_quotes, in_quotes_of_json),
    "strings without quotes": (writes_literals, without_quotes),
    "quotes inside strings": (writes_literals, with_quotes_inside),
    "quotes inside strings of JSON": (writes_json, with_quotes_inside_json),
    "strings of JSON without quotes": (writes_json, without_quotes_in_json),
    "zeros before numbers": (writes_literals, with_zeros),
    "zeros before numbers of JSON": (writes_json, with_zeros_in_json),
    "zeros before numbers between tags": (types_by_schema, with_zeros_between_tags),
    "sets, and strings beside each other": (is_like_python, in_sets),
    "closers of arguments written twice": (has_closers, with_a_closer_twice),
    "closers of arguments that are missing": (ends_at_lines, without_closers),
    "types that are missing": (has_attribute_of_type, without_types),
    "wrappers around arguments": (has_closers, in_a_wrapper),
    "wrappers around objects": (lambda fmt: writes_json(fmt) or writes_literals(fmt), in_a_wrapper_as_an_object),
    "calls without their list": (has_list, without_a_list),
    "openers of calls spelled otherwise": (has_known_openers, with_an_opener_spelled_otherwise),
    "calls that are all of an answer": (may_stand_alone, all_of_an_answer),
    "an object in place of arguments": (is_written_one_by_one, as_an_object),
}
SHIPPED = [(law, name) for law, (applies, _) in LAWS.items() for name in CALLING if applies(FORMATS[name])]


@pytest.mark.every_format
@pytest.mark.parametrize(("law", "name"), SHIPPED)
def test_a_slip_is_repaired(law: str, name: str) -> None:
    for text, arguments in LAWS[law][1](FORMATS[name]):
        repaired(FORMATS[name], text, arguments)


@pytest.mark.some(2)
@pytest.mark.parametrize("batch", range(_BATCHES))
def test_a_slip_is_repaired_in_formats_drawn_at_random(batch: int) -> None:
    seen = set()
    for seed in range(batch * _DRAWN, (batch + 1) * _DRAWN):
        fmt = loaded(Draw(random.Random(seed)).toml())
        if not isinstance(fmt, ChatFormat):
            continue
        for law, (applies, damages) in LAWS.items():
            if not applies(fmt):
                continue
            seen.add(law)
            try:
                damaged = list(damages(fmt))
            except FormatError:  # it cannot write such a call
                continue
            for text, arguments in damaged:
                repaired(fmt, text, arguments)
    assert len(seen) > len(LAWS) // 2


@pytest.mark.every_format
@pytest.mark.parametrize("name", [name for name in CALLING if has_known_openers(FORMATS[name])])
def test_an_opener_spelled_otherwise_is_text_where_no_call_follows(name: str) -> None:
    fmt = FORMATS[name]
    for opener in compiled_format(fmt.spec).misspellings.openers:
        for spelled in spelled_otherwise(opener):
            text = f"See\n{spelled} x {spelled}{spelled}\nEnd"
            whole = read(fmt, [text], reasoning="closed")
            assert "E-PARSE-REPAIRED" not in codes(whole)
            assert whole.content == text
            for at in range(1, len(text)):
                assert read(fmt, [text[:at], text[at:]], reasoning="closed") == whole, (text, at)


@pytest.mark.every_format
@pytest.mark.parametrize("name", [name for name in CALLING if has_known_openers(FORMATS[name])])
def test_an_opener_spelled_otherwise_ends_reasoning_as_the_opener_does(name: str) -> None:
    fmt = FORMATS[name]
    written_call, compiled = written(fmt, {"word": "it"}), compiled_format(fmt.spec)
    opener = opener_in(fmt, written_call)
    call = written_call[written_call.find(opener) :]
    for spelled in spelled_otherwise(opener) if opener and fmt.spec.reasoning_blocks else ():
        if spelled in compiled.misspellings.openers:
            continue
        begin = fmt.spec.reasoning_blocks[0].opener + "Hm."
        good, text = read(fmt, [begin + call]), begin + call.replace(opener, spelled, 1)
        found = read(fmt, [text])
        assert len(found.tool_calls) == len(good.tool_calls)
        assert [one.arguments for one in found.tool_calls] == [one.arguments for one in good.tool_calls]
        if good.tool_calls:
            assert found.reasoning_content == good.reasoning_content
            assert "E-PARSE-REPAIRED" in codes(found)
        for at in range(1, len(text)):
            assert read(fmt, [text[:at], text[at:]]) == found, (text, at)


def test_zeros_are_left_out_where_the_schema_takes_a_number() -> None:
    number = {"type": ["number", "null"]}
    inner = {"type": "array", "items": {"type": "object", "properties": {"w": number, "s": STRING}}}
    parameters = {
        "type": "object",
        "properties": {"a": inner, "any": {}, "n": {"$ref": "#/$defs/n"}},
        "$defs": {"n": NUMBER},
    }
    fmt = FORMATS["hermes"]

    def call(arguments: str, chunk: int) -> sg.Message:
        text = f'<tool_call>\n{{"name": "f", "arguments": {arguments}}}\n</tool_call>'
        parser = fmt.parser([{"name": "f", "parameters": parameters}], id_seed="s")
        for at in range(0, len(text), chunk):
            parser.feed(text[at : at + chunk])
        parser.finish()
        return parser.message

    good = '{"a": [{"w": -00.50}, {"s": "001", "w": 0001e1}], "n": 00, "any": 0}'
    meant = {"a": [{"w": -0.5}, {"s": "001", "w": 10.0}], "n": 0, "any": 0}
    for arguments in (
        good,
        '{"n": 01x}',
        '{"any": 01}',
        '{"a": [{"s": 01}]}',
        '{"b": 01}',
        '{"a": [01]}',
        '{"n": 0 1}',
    ):
        messages = [call(arguments, chunk) for chunk in (1000, 1, 2, 3, 7)]
        assert all(one == messages[0] for one in messages)
        [found] = messages[0].tool_calls
        assert found.complete is (arguments is good)
        if found.complete:
            assert json.loads(found.arguments) == meant
            assert codes(messages[0]) == ["E-PARSE-REPAIRED"]
        else:
            assert ("E-PARSE-REPAIRED" in codes(messages[0])) is (arguments == '{"n": 01x}')
            assert "E-PARSE-ARGUMENTS" in codes(messages[0])


NO_CALLS = (
    "look_up(word='it') finds it.",
    "look_up(word='it'",
    "look_up(",
    "look_up",
    "look_upx(word='it')",
    "other(word='it')",
    "look_up(word='it's')",
    "look_up(word='it')]",
    "look_up(word='it'), look_up(word='it')",
    "look_up(word='it')\nlook_up(word='it')",
    "So: look_up(word='it')",
    "look_up(word=007)",
)


@pytest.mark.parametrize("text", NO_CALLS)
def test_a_call_without_its_list_is_text_unless_it_is_all_of_the_answer(text: str) -> None:
    fmt = FORMATS["pythonic"]
    for at in range(len(text)):
        message = read(fmt, [text[:at], text[at:]] if at else list(text))
        assert (message.content, message.tool_calls, message.diagnostics) == (text, (), ())
    call = "look_up(word='it')"
    parser = fmt.parser(TOOLS)
    parser.feed(call)
    parser.finish("length")
    assert parser.message.content == call
    assert fmt.parse(call).content == call
    assert [one.name for one in fmt.parse(call + "\n", TOOLS).tool_calls] == ["look_up"]
    # Prose that begins like a tool's name is held no longer than it does.
    parser = fmt.parser(TOOLS)
    assert not parser.feed("look")
    assert parser.feed("ing")
