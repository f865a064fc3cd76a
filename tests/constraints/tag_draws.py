"""Texts on which the grammar of a format and its structural tag are compared: drawn, written, and damaged."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, NamedTuple

from syntagma import formats
from syntagma.errors import FormatError, GrammarError, LimitError
from syntagma.formats import ChatFormat
from syntagma.grammars import Grammar, StructuralTag
from syntagma.messages import Message, ToolCall
from tests.constraints.walks import hints, matcher, walk
from tests.formats.cases import SHAPES, TOOLS, shape_of
from tests.formats.written import sayable

__all__ = [
    "CALLING",
    "FORMATS",
    "REQUESTS",
    "Drawn",
    "accepted",
    "drawn",
    "random_call",
    "shortened",
    "tag_of",
    "texts",
]

FORMATS: dict[str, ChatFormat] = {name: formats.get(name) for name in formats.names()}
FORMATS |= {f"shape {path.stem}": shape_of(path) for path in sorted(SHAPES.glob("*.toml"))}
CALLING = [name for name, fmt in FORMATS.items() if fmt.spec.tools is not None]
REQUESTS: dict[str, dict[str, Any]] = {
    "auto": {},
    "one call": {"parallel_tool_calls": False},
    "required": {"tool_choice": "required"},
    "named": {"tool_choice": "weather"},
    "no call": {"tool_choice": "none"},
    "names only": {"enforce": "name"},
    "open reasoning": {"reasoning": "open"},
    "answer by schema": {
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "a", "schema": {"type": "object", "properties": {"n": {"type": "integer"}}}},
        }
    },
}
"""requests, by what they ask"""
_WORDS = (
    "a",
    "Bern",
    "two words",
    "it's",
    'say "no"',
    "<b>",
    "line\nbreak",
    "é ツ",
    "",
    "{}",
    "12",
    "true",
    "</",
    "\\",
)
_DRAWS = 20
"""messages that are drawn at most, for each that is written"""
_LONG_SPACES = re.compile(r"[ \t\n\r]{9,}")


class Drawn(NamedTuple):
    """A request of a format, what was made of it, and the texts to compare."""

    grammar: Grammar
    tag: StructuralTag
    texts: list[str]


def tag_of(fmt: ChatFormat, request: str) -> tuple[Grammar, StructuralTag] | GrammarError | LimitError | None:
    """The grammar and the tag of a request; the error of what no tag can say; None: the format cannot do it at all."""
    try:
        grammar = fmt.grammar(TOOLS, **REQUESTS[request])
    except FormatError:
        return None
    try:
        return grammar, grammar.to_structural_tag()
    except (GrammarError, LimitError) as error:
        return error


def drawn(fmt: ChatFormat, request: str, count: int, *, seed: str) -> Drawn | GrammarError | LimitError | None:
    """See `tag_of`; `count` texts of each kind."""
    made = tag_of(fmt, request)
    if not isinstance(made, tuple):
        return made
    grammar, tag = made
    rng = random.Random(f"{seed} {request}")
    return Drawn(grammar, tag, list(dict.fromkeys(texts(fmt, grammar, rng, count))))


def texts(fmt: ChatFormat, grammar: Grammar, rng: random.Random, count: int) -> Iterator[str]:
    """Texts that the grammar writes, messages with drawn calls as the format writes them, and both damaged."""
    found = [walk(grammar, rng, hints(fmt)) for _ in range(count)]
    whole = [text for text in found if text is not None]
    whole += _written(fmt, rng, count)
    yield from whole
    for text in whole:
        yield damaged(text, rng, hints(fmt))


def accepted(grammar: Grammar, given: list[str]) -> list[bool]:
    """For each text whether a grammar accepts it."""
    m = matcher(grammar)
    found = []
    for text in given:
        m.reset()
        found.append(m.accept_bytes(text.encode()) and m.is_accepting())
    return found


def shortened(text: str) -> str:
    """A text without the long whitespace that a tag lets stand in JSON, and a grammar does not."""
    return _LONG_SPACES.sub(lambda run: "\n" if "\n" in run[0] else " ", text)


def _written(fmt: ChatFormat, rng: random.Random, count: int) -> list[str]:
    """Drawn messages as the format writes them; one that would not be read back is drawn again."""
    written: list[str] = []
    for _ in range(_DRAWS * count):
        if len(written) == count:
            break
        with suppress(FormatError):
            written.append(fmt.write(_message(fmt, rng), TOOLS))
    assert len(written) == count, f"{len(written)} of {_DRAWS * count} messages are written"
    return written


def _message(fmt: ChatFormat, rng: random.Random) -> Message:
    calls = [random_call(rng) for _ in range(rng.choice((0, 1, 1, 1, 2)))]
    said = [rng.choice((None, *_WORDS)) for _ in range(2)]
    return sayable(fmt, Message(content=said[0], reasoning_content=said[1], tool_calls=tuple(calls)))


def random_call(rng: random.Random) -> ToolCall:
    """A call of one of the tools, as its schema wants it."""
    function = rng.choice(TOOLS)["function"]
    schema = function["parameters"]
    arguments = {
        key: _value(inner, rng)
        for key, inner in schema["properties"].items()
        if key in schema.get("required", ()) or rng.random() < 0.6
    }
    return ToolCall(id="", name=function["name"], arguments=json.dumps(arguments, ensure_ascii=rng.random() < 0.5))


def _value(schema: dict[str, Any], rng: random.Random) -> Any:
    match schema["type"]:
        case "string":
            return rng.choice(_WORDS)
        case "integer":
            return rng.choice((0, -7, 10**12))
        case "boolean":
            return rng.random() < 0.5
        case "array":
            return [_value(schema["items"], rng) for _ in range(rng.randrange(3))]
        case _:
            return {key: _value(inner, rng) for key, inner in schema["properties"].items()}


def damaged(text: str, rng: random.Random, pieces: list[str]) -> str:
    """A text with a part taken out, said twice, replaced or cut off."""
    start = rng.randrange(len(text) + 1)
    end = min(len(text), start + rng.choice((0, 1, 1, 2, 9)))
    middle = rng.choice(("", "", text[start:end] * 2, rng.choice(pieces), rng.choice(' \n"}{]<>,:a0')))
    after = "" if rng.random() < 0.1 else text[end:]
    return text[:start] + middle + after
