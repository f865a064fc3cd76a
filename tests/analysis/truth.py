"""Whether a derived format is right about a template, judged without the certificate: by messages of our own.

A template renders each message after its own prompt; what it wrote must come back, whole and by characters, and the
grammar of the turn must let a model write it. None of the words is one of the certificate's.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator
from typing import Any

from syntagma.analysis import Analysis
from syntagma.codec import ChatCodec, Turn
from syntagma.decoding import GrammarCompiler, GrammarMatcher
from syntagma.errors import SyntagmaError
from syntagma.templates import ChatTemplate
from syntagma.testing import byte_vocabulary

USER = [{"role": "user", "content": "What grows here?"}]
_PROPERTIES = {
    "kind": {"type": "string"},
    "rows": {"type": "integer"},
    "deep": {"type": "boolean"},
    "marks": {"type": "array", "items": {"type": "string"}},
    "soil": {"type": "object"},
}
TOOLS = [
    {"type": "function", "function": {"name": name, "description": "Gardening.", "parameters": parameters}}
    for name, parameters in (
        ("plant", {"type": "object", "properties": _PROPERTIES}),
        ("rest_now", {"type": "object", "properties": {}}),
    )
]
_OAK: tuple[str, dict[str, Any]] = ("plant", {"kind": "oak tree", "rows": 3})
_FIR: tuple[str, dict[str, Any]] = (
    "plant",
    {"kind": "fir", "deep": True, "marks": ["a", "b c"], "soil": {"ph": 6, "from": "hill"}},
)
_ODD: tuple[str, dict[str, Any]] = ("plant", {"kind": 'she said "deep"\nand: it\'s 5 > 4', "rows": -2})
_REST: tuple[str, dict[str, Any]] = ("rest_now", {})
MESSAGES: tuple[tuple[str, str, tuple[tuple[str, dict[str, Any]], ...]], ...] = (
    ("", "Plain words, with: commas; and (brackets).", ()),
    ("", "Two\n\nparagraphs\n- and a list", ()),
    ("I wonder.", "Yes.", ()),
    ("One line.\nAnother: this.", "The answer.", ()),
    ("", "", (_OAK,)),
    ("", "", (_FIR,)),
    ("", "", (_REST,)),
    ("", "", (_OAK, _FIR)),
    ("", "", (_ODD, _OAK, _REST)),
    ("", "Let me see.", (_OAK,)),
    ("", "Let me see.", (_OAK, _ODD)),
    ("Hm.", "", (_OAK,)),
    ("Hm.\nSo be it.", "Fine.", (_FIR, _OAK)),
)
"""reasoning, content and calls of each message"""


@functools.cache
def _compiler() -> GrammarCompiler:
    return GrammarCompiler(byte_vocabulary())


def problems(template: ChatTemplate, analysis: Analysis, settings: dict[str, Any] | None = None) -> Iterator[str]:
    """What is wrong with the messages that the template renders after its prompt.

    Args:
        template: the template.
        analysis: what is derived from it.
        settings: template variables.
    """
    codec = ChatCodec.from_template(template, analysis)
    for reasoning, content, calls in MESSAGES:
        message: dict[str, Any] = {"role": "assistant", "content": content}
        if reasoning:
            message[_field(analysis)] = reasoning
        if calls:
            message["tool_calls"] = [
                {"id": f"Kx{at}Vt7Lm9", "type": "function", "function": {"name": name, "arguments": arguments}}
                for at, (name, arguments) in enumerate(calls)
            ]
        try:
            turn = codec.prepare(USER, tools=TOOLS, template_kwargs=settings)
            whole = codec.render([*USER, message], tools=TOOLS, template_kwargs=settings, add_generation_prompt=False)
        except SyntagmaError:
            continue  # it refuses such a message
        raw = str(whole).removeprefix(turn.prompt)
        if raw != whole:
            wanted = [reasoning if reasoning in raw else "", content if content in raw else "", list(calls)]
            yield from _problems(turn, raw, wanted, "".join(ends[0] for ends in analysis.format.spec.turn_ends))


def _field(analysis: Analysis) -> str:
    field = analysis.capabilities.reasoning
    return field if field is not None and ":" not in field else "reasoning_content"


def _problems(turn: Turn, raw: str, wanted: list[Any], end: str) -> Iterator[str]:
    for chunks in ([raw], list(raw)):
        parser = turn.parser()
        for chunk in chunks:
            parser.feed(chunk)
        parser.finish()
        found = parser.message
        calls = [(call.name, _decoded(call.arguments)) for call in found.tool_calls]
        content = found.content if isinstance(found.content, str) else ""
        read = [(found.reasoning_content or "").strip(), content.strip(), calls]
        if read != wanted:
            yield f"{raw!r} is read as {read}"
            return
    grammar = turn.grammar
    if grammar is not None:
        compiled = _compiler().compile(grammar)
        matchers = [(GrammarMatcher(compiled), text) for text in {raw, raw.removesuffix(end)}]
        if not any(matcher.accept_bytes(text.encode()) and matcher.is_accepting() for matcher, text in matchers):
            yield f"{raw!r} is refused by the grammar"


def _decoded(arguments: str) -> Any:
    try:
        return json.loads(arguments)
    except ValueError:
        return arguments
