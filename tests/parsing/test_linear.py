"""Text of many openers that come to nothing is read in linear time: counted are steps and characters, not seconds."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import pytest

import syntagma as sg
from syntagma.parsing.compiled_format import compiled_format
from syntagma.parsing.text.token_kind import UNKNOWN, TokenKind
from syntagma.parsing.text.window import Window
from tests.formats.cases import load

FORMATS = {one.id.partition(":")[0]: one.fmt for one in load()}
LIMITS = sg.Limits(parser_header_chars=1024)
SIZE = 1600
"""characters; the window must be larger than any header, and than what is searched at once"""
SHOWN = {"whitespace": "\n", "name": "f", "envelope": "{", "arguments": "{", "index": "0", "ordinal": "1"}


class Counter:
    """What was read of the text: how often, and how many characters."""

    def __init__(self) -> None:
        self.steps = 0
        self.chars = 0

    def add(self, chars: int) -> None:
        self.steps += 1
        self.chars += chars


class CountedText(str):
    """Text that counts what is looked at in it."""

    __slots__ = ("counter",)
    counter: Counter

    @classmethod
    def of(cls, text: str, counter: Counter) -> CountedText:
        made = cls(text)
        made.counter = counter
        return made

    def __getitem__(self, key: Any) -> str:
        found = super().__getitem__(key)
        self.counter.add(len(found))
        return found

    def find(self, text: str, start: Any = 0, end: Any = None) -> int:
        end = len(self) if end is None else min(end, len(self))
        at = super().find(text, start, end)
        self.counter.add((at if at >= 0 else end) - start)
        return at

    def startswith(self, text: Any, *where: Any) -> bool:
        self.counter.add(1)
        return super().startswith(text, *where)


@pytest.fixture
def counter(monkeypatch: pytest.MonkeyPatch) -> Counter:
    """Counts what readers do with the text of their windows."""
    counted = Counter()
    push, rewind = Window.push, Window.rewind

    def counted_push(self: Window, chunk: str, kind: TokenKind = UNKNOWN) -> None:
        push(self, chunk, kind)
        self.text = CountedText.of(self.text, counted)

    def counted_rewind(self: Window) -> None:
        before = self.text
        rewind(self)
        if self.text is not before:
            counted.add(len(self.text))
            self.text = CountedText.of(self.text, counted)

    monkeypatch.setattr(Window, "push", counted_push)
    monkeypatch.setattr(Window, "rewind", counted_rewind)
    return counted


def openers(fmt: sg.ChatFormat) -> Iterator[str]:
    """Every beginning of a call, up to a literal or a placeholder of it; with another case of its section's opener."""
    compiled = compiled_format(fmt.spec)
    for call in compiled.starts:
        text = ""
        for at, op in enumerate(call.ops, 1):
            text += op.text if op.kind == "literal" else SHOWN.get(op.text or op.kind, "x")
            if text.strip():
                yield text.strip()
            if at == call.section_words[1]:
                yield text.swapcase()
    yield from fmt.triggers


@pytest.mark.parametrize("name", FORMATS)
def test_openers_are_read_in_linear_time(name: str, counter: Counter) -> None:
    fmt = FORMATS[name]

    def cost(text: str) -> tuple[int, int]:
        counter.steps = counter.chars = 0
        fmt.parse(text, limits=LIMITS)
        return counter.steps, counter.chars

    for opener in dict.fromkeys(openers(fmt)):
        few = SIZE // len(opener) + 1
        for once, twice in zip(cost(opener * few), cost(opener * (2 * few)), strict=True):
            assert twice < 2.6 * once + 1000, opener


@pytest.mark.parametrize(
    "name", [name for name, fmt in FORMATS.items() if fmt.spec.messages is None and fmt.spec.tools]
)
def test_what_closes_nothing_is_read_in_linear_time(name: str, counter: Counter) -> None:
    fmt = FORMATS[name]
    compiled = compiled_format(fmt.spec)
    closers = [op.text for op in compiled.strays] + [one.closer for one in compiled.wrappers] + ["</a>", " "]
    begins = ["", *(block.opener + "Hm." for block in fmt.spec.reasoning_blocks)]
    begins.append(fmt.write(sg.Message(tool_calls=(sg.ToolCall(id="", name="f", arguments="{}"),))))

    def cost(text: str) -> tuple[int, int]:
        counter.steps = counter.chars = 0
        parser = fmt.parser(limits=LIMITS)
        for at in range(0, len(text), 64):
            parser.feed(text[at : at + 64])
        parser.finish()
        return counter.steps, counter.chars

    for begin, closer in itertools.product(begins, filter(None, closers)):
        few = SIZE // len(closer) + 1
        for once, twice in zip(cost(begin + closer * few), cost(begin + closer * (2 * few)), strict=True):
            assert twice < 2.6 * once + 1000, (begin, closer)


PIECES = ("'", '"', "'a", '"a', "', ", '", ', "'])", '"}', "]", "}", "x, ", "', word='", '", "word": "', "\n")
"""what a reader of damaged values looks at again"""
VALUES = {
    "pythonic": "[f(word='a'b{})]",
    "gemma4": '<|tool_call>call:f{{word:<|"|>a<|"|>b{}}}<tool_call|>',
    "hermes": '<tool_call>\n{{"name": "f", "arguments": {{"word": "a"b{}}}}}\n</tool_call>',
    "olmo3": "</think><function_calls>\nf(word=a b{})\n</function_calls>",
    "qwen3_coder": "<tool_call>\n<function=f>\n<parameter=word>\na{}\n</function>\n</tool_call>",
}
TAGS = ("</function>", "\n<parameter=n>", "<tool_call>", "</tool_call>\n<tool_call>\n<function=f>\n", "\n<parameter=")
TOOLS = [{"name": "f", "parameters": {"type": "object", "properties": {"word": {"type": "string"}}}}]


@pytest.mark.parametrize("name", VALUES)
def test_damaged_values_are_read_in_linear_time(name: str, counter: Counter) -> None:
    fmt = FORMATS[name]

    def cost(text: str, size: int) -> tuple[int, int]:
        counter.steps = counter.chars = 0
        parser = fmt.parser(TOOLS)
        for at in range(0, len(text), size):
            parser.feed(text[at : at + size])
        parser.finish()
        return counter.steps, counter.chars

    for piece in (*PIECES, *(TAGS if name == "qwen3_coder" else ())):
        few = SIZE // len(piece) + 1
        texts = [VALUES[name].format(piece * few), VALUES[name].format(piece * (2 * few))]
        for once, twice in zip(cost(texts[0], 1 << 20), cost(texts[1], 1 << 20), strict=True):
            assert twice < 2.6 * once + 1000, piece
        # In chunks, text that is held is copied with each of them, but it is not read again.
        assert cost(texts[1], 64)[0] < 2.6 * cost(texts[0], 64)[0] + 1000, piece
