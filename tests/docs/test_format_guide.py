"""The shapes of calls in the guide: each file reads its text, and each slip is refused as the page says."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import syntagma as sg
from syntagma.errors import FormatError

_PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "format-file.md"
_GUIDE = _PAGE.read_text(encoding="utf-8").split("\n## Eight shapes of calls\n")[1].split("\n## ")[0]
_SHAPES = re.findall(
    r"^### ([^\n]+)\n\n```toml\n(.*?)```\n\n```text\n(.*?)\n```\n\n((?:\* [^\n]*\n?)+)",
    _GUIDE,
    re.MULTILINE | re.DOTALL,
)
_SLIP = re.compile(
    r"\* (?:`(?P<old>.+)` → `(?P<new>.+)`|without `(?P<gone>.+)`): `-(?P<code>[A-Z]+)`, \*(?P<said>.+)\*"
)
_SLIPS = [(toml, slip) for _, toml, _, slips in _SHAPES for slip in slips.splitlines()]
_PARAMETERS = {
    "type": "object",
    "properties": {
        "place": {"type": "string"},
        "days": {"type": "integer"},
        "stops": {"type": "array", "items": {"type": "string"}},
    },
}
TOOLS = [{"name": "weather", "parameters": _PARAMETERS}]


def test_there_are_eight_with_two_slips_each() -> None:
    assert len(_SHAPES) == _GUIDE.count("\n### ") == 8
    assert len(_SLIPS) == _GUIDE.count("\n* ") == 16


@pytest.mark.parametrize(("toml", "text"), [shape[1:3] for shape in _SHAPES], ids=[shape[0] for shape in _SHAPES])
def test_a_file_reads_its_text(toml: str, text: str) -> None:
    fmt = sg.ChatFormat.from_toml(toml)
    message = fmt.parse(text, TOOLS)
    assert (message.diagnostics, message.content) == ((), None)
    ((name, arguments),) = [(call.name, json.loads(call.arguments)) for call in message.tool_calls]
    assert (name, arguments["place"], arguments["days"]) == ("weather", "Rome", 2)
    assert fmt.write(message, TOOLS) == text
    check = fmt.grammar(TOOLS, tool_choice="required").check(text)
    assert check.accepted, check.message


@pytest.mark.parametrize(("toml", "slip"), _SLIPS)
def test_a_slip_is_refused_as_the_page_says(toml: str, slip: str) -> None:
    said = _SLIP.fullmatch(slip)
    assert said is not None
    old = said["old"] or said["gone"]
    assert old in toml
    with pytest.raises(FormatError) as raised:
        sg.ChatFormat.from_toml(toml.replace(old, said["new"] or ""))
    assert raised.value.code == f"E-FORMAT-{said['code']}"
    assert said["said"] in str(raised.value)
