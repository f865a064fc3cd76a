"""Slips in a call are repaired in every notation to which they apply, each with one diagnostic, however it is cut."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import syntagma as sg
from syntagma.format_schema.spec import ToolsSpec
from syntagma.formats import ChatFormat
from syntagma.messages import ToolCall
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
    assert codes(whole) == ["E-PARSE-REPAIRED"], text
    assert read(fmt, list(text)) == whole, text
    places = range(1, len(text))
    for at in places if fmt.name else random.Random(len(text)).sample(places, min(_CUTS, len(places))):
        assert read(fmt, [text[:at], text[at:]]) == whole, (text, at)
    plain = read(fmt, [text], policies=sg.Policies(repair=False))
    assert "E-PARSE-REPAIRED" not in codes(plain), text
    assert codes(plain), text


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


def is_written_one_by_one(fmt: ChatFormat) -> bool:
    """Whether single arguments are literals, and no other form of its calls has an object in their place."""
    forms = tools_of(fmt).forms if fmt.spec.tools is not None else ()
    return writes_literals(fmt) and bool(tools_of(fmt).argument) and all(one.argument or one.envelope for one in forms)


# ---- the slips


def in_quotes_of_json(fmt: ChatFormat) -> Iterator[Damage]:
    """Strings are spelled as in JSON."""
    quote = tools_of(fmt).literals.quotes[0]
    for arguments in ({"word": MARK, "n": 5}, {"n": 5, "list": [MARK]}, {"deep": {"a": MARK}}):
        yield written(fmt, arguments).replace(quote + MARK + quote, f'"{MARK}"'), arguments


def without_quotes(fmt: ChatFormat) -> Iterator[Damage]:
    """A string has no quotes, or no opening one."""
    quote = tools_of(fmt).literals.quotes[0]
    for arguments in ({"word": f"{MARK} in Oslo", "n": 5}, {"n": 5, "word": f"{MARK}-2"}):
        text = written(fmt, arguments)
        for spelled in (str(arguments["word"]), f"{arguments['word']}{quote}"):
            yield text.replace(f"{quote}{arguments['word']}{quote}", spelled), arguments


def with_quotes_inside(fmt: ChatFormat) -> Iterator[Damage]:
    """A string has quotes inside."""
    quote = tools_of(fmt).literals.quotes[0]
    for words in ("", " it, so, ", "(x) ", ", y", f"{quote} and {quote}", "(it " + quote):
        inner = f"a{quote}b{words}{quote}c"
        for arguments in ({"word": inner, "n": 5}, {"n": 5, "word": inner}):
            yield written(fmt, {**arguments, "word": MARK}).replace(MARK, inner), arguments


def with_zeros(fmt: ChatFormat) -> Iterator[Damage]:
    """A number begins with zeros; the same digits are a string where that is due."""
    quote = tools_of(fmt).literals.quotes[0]
    yield written(fmt, {"n": 775577}).replace("775577", "00775577"), {"n": 775577}
    yield written(fmt, {"word": MARK}).replace(quote + MARK + quote, "007"), {"word": "007"}


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


LAWS: dict[str, tuple[Callable[[ChatFormat], bool], Callable[[ChatFormat], Iterator[Damage]]]] = {
    "strings in quotes of JSON": (has_other_quotes, in_quotes_of_json),
    "strings without quotes": (writes_literals, without_quotes),
    "quotes inside strings": (writes_literals, with_quotes_inside),
    "zeros before numbers": (writes_literals, with_zeros),
    "sets, and strings beside each other": (is_like_python, in_sets),
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
            if applies(fmt):
                seen.add(law)
                for text, arguments in damages(fmt):
                    repaired(fmt, text, arguments)
    assert len(seen) > len(LAWS) // 2
