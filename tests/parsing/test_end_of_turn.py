"""The end of a turn is never content: what ends it in a format, and the end tokens of a vocabulary."""

from __future__ import annotations

import random

import pytest

from syntagma import formats
from syntagma.decoding import TokenizerInfo
from syntagma.errors import FormatError
from syntagma.format_schema import FormatSpec, read_toml, write_toml
from syntagma.formats import ChatFormat
from syntagma.parsing import StreamParser
from tests.parsing.test_stream_parser import Vocabulary

FORMAT = ChatFormat.from_toml(
    'end_of_turn = [["<over>", "<out>", "[~["], "\\n", ["<bye>"]]\n'
    '[reasoning]\nblock = "<t>{reasoning}</t>"\n[tools]\ncall = "<c>{name}{arguments}</c>"\n'
)
CALL = '<c>f{"a": 1}</c>'


def content(text: str, fmt: ChatFormat = FORMAT) -> str:
    return str(fmt.parse(text).content or "")


@pytest.mark.parametrize(
    ("end", "left"),
    [
        ("<over>", ""),
        ("<out>", ""),
        ("[~[", ""),
        ("<over>\n", ""),
        ("[~[\n<bye>", ""),
        ("<over><bye>", "<over><bye>"),
        ("<bye>", "<bye>"),
        ("\n", "\n"),
        ("<ove", "<ove"),
        ("<over>\n<by", "<over>\n<by"),
        ("<over><over>", "<over>"),
        ("<over> ", "<over> "),
        ("<over>\n\n", "<over>\n\n"),
        ("<<out>", "<"),
        ("[~[~[", "[~"),
    ],
)
def test_leading_texts_of_the_end_are_taken_off(end: str, left: str) -> None:
    assert content("So." + end) == "So." + left
    after_call = FORMAT.parse(CALL + end)
    assert [call.arguments for call in after_call.tool_calls] == ['{"a": 1}']
    assert (after_call.content or "").strip() == left.strip()


def test_the_end_of_the_turn_does_not_depend_on_cuts() -> None:
    rng = random.Random("ends")
    parts = ["So", "<", "<o", "<over>", "<out>", "[~[", "\n", "<bye>", "~[", CALL, "<t>", "</t>", " "]
    for _ in range(400):
        text = "".join(rng.choices(parts, k=rng.randint(1, 8)))
        whole = FORMAT.parse(text, id_seed="")
        parser = FORMAT.parser(id_seed="")
        at = 0
        while at < len(text):
            size = rng.randint(1, 4)
            parser.feed(text[at : at + size])
            at += size
        parser.finish()
        assert parser.raw == text
        assert parser.message == whole, text


def test_a_text_that_begins_as_another_ends() -> None:
    fmt = ChatFormat.from_toml('end_of_turn = [["xyz", "y"]]\n[reasoning]\nblock = "<t>{reasoning}</t>"\n')
    assert content("a xy", fmt) == "a x"
    assert content("a xyz", fmt) == "a "
    assert content("a xyzz", fmt) == "a xyzz"


def test_what_follows_from_the_ends() -> None:
    assert FORMAT.stop_strings == ("<over>", "<out>", "[~[")
    assert {"<over>", "<out>", "<bye>"} <= set(FORMAT.preserved_tokens)
    assert FORMAT.spec.turn_ends == (("<over>", "<out>", "[~["), ("\n",), ("<bye>",))
    assert FORMAT.spec.written_end == "<over>\n<bye>"
    assert read_toml(write_toml(FORMAT.spec)) == FORMAT.spec


@pytest.mark.parametrize("wrong", ['""', '["a", ""]', '["a", []]', '[["a", ""]]', "3", '["a", 3]', '[[["a"]]]'])
def test_an_end_that_says_nothing_is_refused(wrong: str) -> None:
    with pytest.raises(FormatError) as caught:
        read_toml(f"end_of_turn = {wrong}\n")
    assert caught.value.line == 1


def test_an_empty_end_is_refused_in_python_too() -> None:
    with pytest.raises(FormatError) as caught:
        FormatSpec(end_of_turn=("<a>", ("<b>", "")))
    assert caught.value.pointer == "/end_of_turn"


@pytest.mark.parametrize("name", formats.names())
def test_every_format_names_the_end_tokens_of_its_model(name: str) -> None:
    fmt = formats.get(name)
    assert fmt.stop_strings
    for ends in fmt.spec.turn_ends:
        for end in ends:
            assert not content("So." + end, fmt).endswith(end)


def test_the_end_tokens_of_a_vocabulary_are_no_content() -> None:
    special = ("<stop>", "<halt>", "<mark>")
    ids = {text: 256 + number for number, text in enumerate(special)}
    info = TokenizerInfo.from_tokens(
        [*(bytes([value]) for value in range(256)), *(text.encode() for text in special)],
        eos_token_ids=[256, 257],
        special_token_ids=[256, 257, 258],
    )
    plain = ChatFormat.from_toml('[reasoning]\nblock = "<t>{reasoning}</t>"\n')

    def read(*tokens: str, fmt: ChatFormat = plain) -> StreamParser:
        parser = fmt.parser()
        for token in tokens:
            parser.feed_tokens([ids[token]] if token in ids else list(token.encode()), info)
        parser.finish()
        return parser

    for ends in (["<stop>"], ["<halt>"], ["<stop>", "<halt>"]):
        parser = read("So.", *ends)
        assert parser.message.content == "So."
        assert parser.raw == "So." + "".join(ends)
        assert not parser.message.diagnostics
    assert read("So.<sto", "p>").message.content == "So.<stop>"  # text that looks like the token
    assert read("So.", "<mark>").message.content == "So.<mark>"
    assert read("So.", "<stop>", "So?").message.content == "So.<stop>So?"
    assert read("So.", "\n", "<halt>", fmt=FORMAT).message.content == "So.\n"
    closed = ChatFormat.from_toml('[content]\nblock = "<a>{content}<stop>"\n')
    assert read("<a>So.", "<stop>", fmt=closed).message.content == "So."
    spoken = ChatFormat.from_toml('[tools]\ncall = "<c>{name}{arguments}<stop>"\n')
    assert read('<c>f{"a": 1}', "<stop>", fmt=spoken).message.tool_calls[0].complete


def test_a_vocabulary_need_not_know_end_tokens() -> None:
    info = Vocabulary("<stop>")
    parser = FORMAT.parser()
    parser.feed_tokens(info.encode("So.", "<stop>"), info)
    parser.finish()
    assert parser.message.content == "So.<stop>"
