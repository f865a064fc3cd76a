"""Markers of any punctuation: where a vocabulary has a token of a marker's text, the token is written and read."""

from __future__ import annotations

import json
import random

import pytest

from syntagma.decoding import GrammarCompiler, GrammarMatcher, TokenizerInfo
from syntagma.errors import FormatError
from syntagma.formats import ChatFormat
from syntagma.messages import Message, ToolCall
from syntagma.testing import byte_vocabulary

MARKS = ("⟪note⟫", "%%.%%", "<<call>>", "[[x]]", "@@", "<call>", "«a»", "--8<--", "§1§", "⟪two words⟫", "no_signs")
TOOL = {
    "type": "function",
    "function": {"name": "look", "parameters": {"type": "object", "properties": {"q": {"type": "string"}}}},
}
MESSAGE = Message(content="well", tool_calls=(ToolCall(id="0", name="look", arguments='{"q": "a"}'),))


def _as_tokens(text: str, special: tuple[str, ...], info: TokenizerInfo) -> list[int]:
    """The tokens of a text as a tokenizer makes them: special tokens first, the longest at each place."""
    ids: list[int] = []
    at = 0
    while at < len(text):
        token = next((one for one in sorted(special, key=len, reverse=True) if text.startswith(one, at)), None)
        if token is None:
            ids += text[at].encode()
            at += 1
        else:
            ids.append(256 + special.index(token))
            at += len(token)
    assert b"".join(map(info.token_bytes, ids)).decode() == text
    return ids


def _accepts(fmt: ChatFormat, info: TokenizerInfo, ids: list[int]) -> bool:
    matcher = GrammarMatcher(GrammarCompiler(info).compile(fmt.grammar([TOOL], enforce="parameters")))
    return all(matcher.accept_token(token) for token in ids) and matcher.is_accepting()


def _read(fmt: ChatFormat, info: TokenizerInfo, ids: list[int]) -> Message:
    parser = fmt.parser([TOOL])
    for token in ids:
        parser.feed_tokens([token], info)
    parser.finish()
    return parser.message


def _calls(message: Message) -> list[tuple[str, str]]:
    return [(call.name, json.loads(call.arguments)["q"]) for call in message.tool_calls if call.complete]


def _formats(seed: int) -> tuple[ChatFormat, tuple[str, ...]]:
    """A format whose calls are written with three markers, and these markers."""
    rng = random.Random(seed)
    first, second, third = rng.sample(MARKS, 3)
    space = rng.choice(["", "\n", " "])
    middle = f"{{name}}{space}{second}{{arguments}}"
    text = f"{first}{space}{middle}{space}{third}" if rng.random() < 0.5 else f"{first}{middle}{third}"
    # Whitespace inside of a literal may vary, so that only a marker that is named can hold some.
    named = [marker for marker in (first, second, third) if " " in marker or rng.random() < 0.2]
    lines = [f"markers = {json.dumps(named, ensure_ascii=False)}", "[tools]"]
    lines.append(f"call = {json.dumps(text, ensure_ascii=False)}")
    return ChatFormat.from_toml("\n".join(lines)), (first, second, third)


@pytest.mark.parametrize("seed", range(40))
def test_the_token_is_written_and_its_look_alike_is_text(seed: int) -> None:
    fmt, markers = _formats(seed)
    text = fmt.write(MESSAGE, [TOOL])
    plain = byte_vocabulary()
    assert _accepts(fmt, plain, list(text.encode()))
    assert _calls(_read(fmt, plain, list(text.encode()))) == [("look", "a")]

    special = ("<end>", *markers)
    info = byte_vocabulary(special)
    ids = _as_tokens(text, special, info)
    assert _accepts(fmt, info, ids)
    assert _calls(_read(fmt, info, ids)) == [("look", "a")]
    for marker in markers:
        letters = _as_tokens(text, tuple(one if one != marker else "<none>" for one in special), info)
        assert not _accepts(fmt, info, letters)
        message = _read(fmt, info, letters)
        # A closer that is not there is a fault of a call that is whole.
        assert message.diagnostics if marker == markers[2] else not message.tool_calls


def test_tokens_inside_of_one_literal() -> None:
    fmt = ChatFormat.from_toml('[tools]\ncall = "%a%%b%{name}@@x{arguments}%c%%%d%"\n')
    text = fmt.write(MESSAGE, [TOOL])
    special = ("<end>", "%a%", "%b%", "@@", "%c%", "%d%")
    info = byte_vocabulary(special)
    ids = _as_tokens(text, special, info)
    assert _accepts(fmt, info, ids)
    assert _calls(_read(fmt, info, ids)) == [("look", "a")]
    assert not _accepts(fmt, info, list(text.encode()))
    assert _calls(_read(fmt, info, list(text.encode()))) == []


NAMED = """
markers = ["⟪a⟫", "⟪b⟫", "⟪/b⟫"]
[tools]
section = "⟪a⟫⟪b⟫{calls}⟪/b⟫"
call = "{name}:{arguments};"
"""


def test_a_named_marker_is_known_without_a_vocabulary() -> None:
    fmt = ChatFormat.from_toml(NAMED)
    assert fmt.preserved_tokens == ("⟪a⟫", "⟪b⟫", "⟪/b⟫")
    assert fmt.to_toml().startswith('markers = ["⟪a⟫", "⟪b⟫", "⟪/b⟫"]')
    assert ChatFormat.from_toml(fmt.to_toml()) == fmt
    text = '⟪a⟫⟪b⟫look:{"q": "a"};⟪/b⟫'
    assert _calls(fmt.parse(text, [TOOL])) == [("look", "a")]
    parser = fmt.parser([TOOL])
    parser.feed(text, special=False)
    parser.finish()
    assert parser.message.content == text


def test_named_markers_go_where_their_text_goes() -> None:
    fmt = ChatFormat.from_toml(NAMED)
    other = ChatFormat.from_toml('markers = ["⟪r⟫"]\n[reasoning]\nblock = "⟪r⟫{reasoning}</r>"\n')
    assert fmt.combine(reasoning=other).spec.markers == ("⟪a⟫", "⟪b⟫", "⟪/b⟫", "⟪r⟫")
    assert other.combine(tools=ChatFormat.from_toml('[tools]\ncall = "<c>{name}{arguments}"\n')).spec.markers == (
        "⟪r⟫",
    )


@pytest.mark.parametrize(
    ("named", "says"),
    [
        ('["!"]', "'!' cannot be told from text"),
        ('[" ab"]', "' ab' cannot be told from text"),
        ('["⟪c⟫"]', "'⟪c⟫' stands nowhere in the format"),
    ],
)
def test_what_cannot_be_a_marker_is_refused(named: str, says: str) -> None:
    with pytest.raises(FormatError) as refusal:
        ChatFormat.from_toml(f'markers = {named}\n[tools]\ncall = " ab{{name}}!{{arguments}}"\n')
    assert (refusal.value.code, refusal.value.line) == ("E-FORMAT-VALUE", 1)
    assert says in refusal.value.message
