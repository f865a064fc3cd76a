"""Whatever a model writes: no format raises, no chunking matters, and arguments of a closed call are JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syntagma import formats
from syntagma.formats import ChatFormat
from tests.formats.cases import TOOLS, load

NAMES = formats.names()
RAW: dict[str, list[str]] = {}
for _, _fmt, _case, _ in load():
    RAW.setdefault(_fmt.name or "", []).append(_case.raw)
BITS = [
    "weather",
    "clock",
    "place",
    "{",
    "}",
    '"',
    "'",
    "[",
    "]",
    "(",
    ")",
    "=",
    ",",
    ": ",
    "\n",
    " ",
    "<",
    ">",
    "/",
    "é",
]
BITS += ["a", "1", "-", "null", "\\", "&", "&lt;", "<![CDATA[", "]]>"]


@st.composite
def junk(draw: st.DrawFn, fmt: ChatFormat) -> str:
    """Pieces of the format's cases and its markers, spliced."""
    source = RAW.get(fmt.name or "", [""])
    parts = []
    for _ in range(draw(st.integers(1, 5))):
        text = draw(st.sampled_from(source))
        a, b = sorted((draw(st.integers(0, len(text))), draw(st.integers(0, len(text)))))
        parts.append(text[a:b])
        parts += draw(st.lists(st.sampled_from([*BITS, *fmt.preserved_tokens, *fmt.triggers]), max_size=3))
    return "".join(parts)


def _read(fmt: ChatFormat, chunks: list[str]) -> Any:
    parser = fmt.parser(TOOLS, id_seed="junk")
    for chunk in chunks:
        parser.feed(chunk)
    parser.finish()
    return parser.message


@pytest.mark.every_format
@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_junk_reads_the_same_in_every_chunking(name: str, data: st.DataObject) -> None:
    fmt = formats.get(name)
    text = data.draw(junk(fmt))
    whole = _read(fmt, [text])
    assert _read(fmt, list(text)) == whole
    cut = data.draw(st.integers(0, len(text)))
    assert _read(fmt, [text[:cut], text[cut:]]) == whole
    for call in whole.tool_calls:
        if call.complete:
            assert isinstance(json.loads(call.arguments), dict)
