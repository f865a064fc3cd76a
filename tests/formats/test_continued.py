"""A turn may be cut anywhere, and what goes on from there is read as the rest of it.

The law, for a text and every place of it: the prompt holds what is before the place, the model writes what is behind.
Content and reasoning are those after the place. A call comes whole unless the prompt holds all of it, with what closes
it and its section. The grammar of the whole turn takes both parts, however many tokens the first one is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from syntagma import ChatFormat, GrammarCompiler, GrammarMatcher, formats
from syntagma.codec import Turn
from syntagma.events import ContentDelta, Event, ReasoningDelta
from syntagma.messages import Message
from syntagma.parsing import ReadingOptions
from syntagma.request import resolve_request
from syntagma.templates import Prompt
from syntagma.testing import byte_vocabulary
from tests.formats.cases import SHAPES, TOOLS, shape_of
from tests.formats.written import messages

FORMATS = {name: formats.get(name) for name in formats.names()}
FORMATS |= {f"shape {path.stem}": shape_of(path) for path in sorted(SHAPES.glob("*.toml"))}
BEFORE = "<user>hi"
VOCABULARY = byte_vocabulary(["<end of all>"])


def begun(fmt: ChatFormat, text: str, **asked: Any) -> Turn:
    """The turn of a prompt that ends with this text of the assistant's."""
    prompt = Prompt(BEFORE + text, len(BEFORE), begun=len(BEFORE))
    return Turn(prompt, fmt, resolve_request(TOOLS, **asked), ReadingOptions(id_seed=""))


def read(turn: Turn, text: str) -> tuple[list[Event], Message]:
    parser = turn.parser()
    events = [*parser.feed(text), *parser.finish("stop")]
    return events, parser.message


def after(events: Sequence[Event], kind: type[ContentDelta | ReasoningDelta], cut: int) -> str | None:
    """The text of this kind that stands behind a place."""
    found = [event for event in events if isinstance(event, kind) and event.span[1] > cut]
    return "".join(event.text[max(0, cut - event.span[0]) :] for event in found) or None


def cuts(fmt: ChatFormat) -> Iterator[tuple[str, int]]:
    for _, text in messages(fmt):
        yield from ((text, cut) for cut in range(1, len(text)))


@pytest.mark.every_format
@pytest.mark.parametrize("name", FORMATS)
def test_what_follows_a_cut_is_read_as_the_rest(name: str) -> None:
    fmt = FORMATS[name]
    wholes = {text: read(begun(fmt, ""), text) for _, text in messages(fmt)}
    for text, cut in cuts(fmt):
        events, whole = wholes[text]
        _, rest = read(begun(fmt, text[:cut]), text[cut:])
        where = text[:cut], text[cut:]
        assert rest.content == after(events, ContentDelta, cut), where
        assert rest.reasoning_content == after(events, ReasoningDelta, cut), where
        assert [one.code for one in rest.diagnostics] == [one.code for one in whole.diagnostics], where
        # The last ones come, each as it is when nothing was cut.
        calls = [(call.name, call.arguments, call.complete) for call in rest.tool_calls]
        wanted = [(call.name, call.arguments, call.complete) for call in whole.tool_calls]
        assert calls == wanted[len(wanted) - len(calls) :], where
        assert bool(calls) == bool(wanted), where


@pytest.mark.every_format
@pytest.mark.parametrize("name", FORMATS)
def test_the_grammar_takes_what_was_cut(name: str) -> None:
    fmt = FORMATS[name]
    matchers = {}
    for _, text in messages(fmt):
        grammar = begun(fmt, text[:1]).whole_grammar
        assert grammar is not None
        # Some grammars do not hold a text that is written, such as one with an id that the model would not choose.
        if grammar.accepts(text):
            matchers[text] = GrammarMatcher(GrammarCompiler(VOCABULARY).compile(grammar))
    assert matchers or (fmt.spec.reasoning is not None and fmt.spec.reasoning.to == "content")
    for text, matcher in matchers.items():
        # A few places of each text, in and between its markers.
        for cut in range(1, len(text), 7):
            turn = begun(fmt, text[:cut])
            matcher.reset()
            turn.begin(matcher, VOCABULARY)
            assert matcher.accept_bytes(text[cut:].encode()), (text[:cut], text[cut:])
            assert matcher.is_accepting(), (text[:cut], text[cut:])
