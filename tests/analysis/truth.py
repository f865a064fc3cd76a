"""Whether a derived format is right about a template, judged without the certificate: by messages of our own.

A template renders each message after its own prompt; what it wrote must come back, whole and by characters, and the
grammar of the turn must let a model write it. What the template does not show of a message is not expected, and another
message that it renders to the same text is as good. None of the words is one of the certificate's.
"""

from __future__ import annotations

import functools
import json
import re
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
TOOLS: list[dict[str, Any]] = [
    {"type": "function", "function": {"name": name, "description": "Gardening.", "parameters": parameters}}
    for name, parameters in (
        ("plant", {"type": "object", "properties": _PROPERTIES}),
        ("rest_now", {"type": "object", "properties": {}}),
        ("gieße_茶", {"type": "object", "properties": {"größe": {"type": "string"}}}),
    )
]
_OAK: tuple[str, dict[str, Any]] = ("plant", {"kind": "oak tree", "rows": 3})
_FIR: tuple[str, dict[str, Any]] = (
    "plant",
    {"kind": "fir", "deep": True, "marks": ["a", "b c"], "soil": {"ph": 6, "from": "hill"}},
)
_ODD: tuple[str, dict[str, Any]] = ("plant", {"kind": 'she said "deep" and: it\'s 5 > 4', "rows": -2})
_REST: tuple[str, dict[str, Any]] = ("rest_now", {})
_POUR: tuple[str, dict[str, Any]] = ("gieße_茶", {"größe": "zwölf 茶"})
MESSAGES: tuple[tuple[str, str, tuple[tuple[str, dict[str, Any]], ...]], ...] = (
    ("", "Plain words, with: commas; and (brackets).", ()),
    ("", "Two\n\nparagraphs\n- and a list", ()),
    ("I wonder.", "Yes.", ()),
    ("One line.\nAnother: this.", "The answer.", ()),
    ("", "", (_OAK,)),
    ("", "", (_FIR,)),
    ("", "", (_REST,)),
    ("", "", (_POUR,)),
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
    codec, found = ChatCodec.from_template(template, analysis), analysis.capabilities
    for reasoning, content, calls in MESSAGES:
        if len(calls) > (found.parallel_tool_calls * 2 + found.tool_calls):
            continue  # not every call is shown
        message = _message(analysis, reasoning, content, calls)
        tools = [tool for tool in TOOLS if tool["function"]["name"] != _POUR[0] or _POUR in calls]
        raw = _written(codec, message, tools, settings)
        if raw is None:
            continue
        turn = codec.prepare(USER, tools=tools, template_kwargs=settings)
        wanted = [_shown(reasoning, raw), _shown(content, raw), list(calls)]
        if turn.start.reasoning == "open" and not wanted[0]:
            continue  # no model writes it so: its prompt has opened reasoning
        problem = _problem(turn, raw, wanted)
        if isinstance(problem, str):
            yield problem
        elif problem is not None:
            again = _written(codec, _message(analysis, *problem), tools, settings)
            if again != raw or not _alike(problem, wanted):
                yield f"{raw!r} is read as {problem}"


def _shown(text: str, raw: str) -> str:
    """A text as the template wrote it, perhaps with other whitespace between words; empty if it did not."""
    if text in raw:
        return text
    found = re.search(r"\s*".join(map(re.escape, text.split())), raw)
    return found[0] if found is not None else ""


def _alike(read: list[Any], wanted: list[Any]) -> bool:
    """Whether two messages have the same calls by name, and the same text."""
    names = [[name for name, _ in calls] for *_, calls in (read, wanted)]
    texts = ["".join((reasoning + content).split()) for reasoning, content, _ in (read, wanted)]
    return names[0] == names[1] and texts[0] == texts[1]


def _message(analysis: Analysis, reasoning: str, content: str, calls: Any) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": content}
    if reasoning:
        field = analysis.capabilities.reasoning
        message[field if field is not None and ":" not in field else "reasoning_content"] = reasoning
    form = analysis.capabilities.call_id_form
    for at, (name, arguments) in enumerate(calls):
        identity = form.replace("{word}", f"Kx{at}Vt7Lm9").replace("{name}", name).replace("{index}", str(at))
        call = {"id": identity, "type": "function", "function": {"name": name, "arguments": arguments}}
        message.setdefault("tool_calls", []).append(call)
    return message


def _written(
    codec: ChatCodec, message: dict[str, Any], tools: list[dict[str, Any]], settings: dict[str, Any] | None
) -> str | None:
    """What the template writes after its prompt, up to where an engine stops; None if it refuses the message."""
    try:
        prompt = codec.render(USER, tools=tools, template_kwargs=settings)
        whole = codec.render([*USER, message], tools=tools, template_kwargs=settings, add_generation_prompt=False)
    except SyntagmaError:
        return None
    if not whole.startswith(str(prompt)):
        return None
    raw = str(whole)[len(prompt) :]
    if codec.format.spec.anchor and codec.format.spec.anchor in raw:
        return None  # a template that loses a part of the message gets it as several
    for stop in codec.format.stop_strings:
        before, found, _ = raw.rpartition(stop) if stop.strip() else ("", "", "")
        raw = before + found or raw
    return raw


def _problem(turn: Turn, raw: str, wanted: list[Any]) -> str | list[Any] | None:
    """What is read in place of what is wanted, or that the grammar refuses it; None if all is well."""
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
            return read
    try:
        grammar = turn.grammar
    except SyntagmaError as error:
        return f"{raw!r} has no grammar: {error.message}"
    if grammar is not None:
        compiled = _compiler().compile(grammar)
        spec = turn.format.spec
        end = "".join(texts[0] for texts in spec.turn_ends)
        ends = [end[:size] for size in range(len(end), 0, -1)]
        # Whitespace before the end may be that of the last part.
        ends += [one.lstrip() for one in ends if one.strip()]
        ends += spec.content.drop if spec.content is not None else ()
        matchers = [(GrammarMatcher(compiled), text) for text in {raw, *map(raw.removesuffix, ends)}]
        if not any(matcher.accept_bytes(text.encode()) and matcher.is_accepting() for matcher, text in matchers):
            return f"{raw!r} is refused by the grammar"
    return None


def _decoded(arguments: str) -> Any:
    try:
        return json.loads(arguments)
    except ValueError:
        return arguments
