"""What stands between the calls of a section, or after the last, is never lost or read without a diagnostic."""

from __future__ import annotations

from typing import Any

import pytest

from syntagma import Policies
from syntagma.errors import ParseError
from syntagma.formats import ChatFormat
from syntagma.messages import Message, ToolCall
from tests.formats.cases import TOOLS
from tests.formats.every import CALLING, FORMATS
from tests.parsing.test_disorder import codes, read

CALLS = tuple(
    ToolCall(id=f"call_{n}", name="weather", arguments=f'{{"place": "{place}", "days": 3}}')
    for n, place in enumerate(("Oslo", "Rome"))
)
SEPARATORS = (",", ";", ", ", "; ", " ;\n", "\n", "\n\n", " ", "")
WORDS = (" and ", ", note: ", "; then ", ". ", " 7 ", " é ")


def parts(fmt: ChatFormat) -> tuple[str, str, str, str]:
    """The text up to the first of two calls, their separator, the second call, and the closer of their section."""
    tools = fmt.spec.tools
    assert tools is not None
    closer = tools.section[0].text.partition("{calls}")[2] if tools.section else ""
    one, two = (fmt.write(Message(tool_calls=CALLS[:n]), TOOLS) for n in (1, 2))
    head = one.removesuffix(closer)
    assert two.startswith(head + tools.separator)
    assert two.endswith(closer)
    return head, tools.separator, two.removeprefix(head + tools.separator).removesuffix(closer), closer


def has_list(name: str) -> bool:
    tools = FORMATS[name].spec.tools
    section = tools.section[0].text.partition("{calls}") if tools is not None and tools.section else ("", "", "")
    return FORMATS[name].spec.messages is None and bool(section[0].strip() and section[2].strip())


LISTS = [name for name in CALLING if has_list(name)]


def told(fmt: ChatFormat, text: str, **options: Any) -> Message:
    """The message of a text that has a diagnostic, for which a strict parser raises."""
    found = read(fmt, text, **options)
    assert [code for code in codes(found) if code != "E-PARSE-MARKER"], text
    with pytest.raises(ParseError):
        read(fmt, text, strict=True, **options)
    return found


@pytest.mark.every_format
@pytest.mark.parametrize("name", LISTS)
def test_a_call_after_another_separator_is_read_and_told(name: str) -> None:
    fmt = FORMATS[name]
    head, own, second, closer = parts(fmt)
    wanted = [call.arguments for call in read(fmt, head + own + second + closer).tool_calls]
    assert len(wanted) == 2
    for other in SEPARATORS:
        text = head + other + second + closer
        if other.strip() == own.strip():
            assert codes(read(fmt, text)) == [], text
            continue
        found = told(fmt, text)
        assert codes(found) == ["E-PARSE-REPAIRED"], text
        assert [call.arguments for call in found.tool_calls] == wanted, text
        assert not found.content, text
        plain = told(fmt, text, policies=Policies(repair=False))
        assert "E-PARSE-REPAIRED" not in codes(plain), text
        assert plain.tool_calls[0].arguments == wanted[0], text
        assert other.strip() in (plain.content or ""), text


@pytest.mark.every_format
@pytest.mark.parametrize("name", LISTS)
def test_other_text_between_calls_stays_and_is_told(name: str) -> None:
    fmt = FORMATS[name]
    head, own, second, closer = parts(fmt)
    first = read(fmt, head + closer).tool_calls[0].arguments
    for words in WORDS:
        for text in (head + words + second + closer, head + words + closer, head + own + words + second + closer):
            found = told(fmt, text)
            assert found.tool_calls[0].arguments == first, text
            assert words.strip() in (found.content or ""), text


@pytest.mark.every_format
@pytest.mark.parametrize("name", LISTS)
def test_a_separator_after_the_last_call_is_left_out_and_told(name: str) -> None:
    fmt = FORMATS[name]
    head, own, _, closer = parts(fmt)
    for sign in {own.strip() or ",", ",", ";"}:
        found = told(fmt, head + sign + closer)
        assert codes(found) == ["E-PARSE-REPAIRED"], sign
        assert (len(found.tool_calls), found.content) == (1, None), sign
        plain = told(fmt, head + sign + closer, policies=Policies(repair=False))
        assert "E-PARSE-REPAIRED" not in codes(plain), sign
        assert (len(plain.tool_calls), sign in (plain.content or "")) == (1, True), sign
