"""The named formats against cases that were written by hand, in both directions."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from syntagma import formats
from syntagma.formats import ChatFormat
from syntagma.messages import Message, ToolCall
from tests.formats.cases import DIAGNOSTICS, FOLDER, TOOLS, Case, Loaded, chunkings, load

CASES = list(load())
READ = pytest.mark.parametrize("one", CASES, ids=[one.id for one in CASES])
WRITTEN = [one for one in CASES if one.case.write]
WRITE = pytest.mark.parametrize("one", WRITTEN, ids=[one.id for one in WRITTEN])


@pytest.mark.parametrize("name", formats.names())
def test_every_format_has_cases(name: str) -> None:
    file = FOLDER / f"{name}.toml"
    assert file.is_file(), f"conformance/formats/{file.name} is missing: the cases of {name}, raw text and message"


def _read(fmt: ChatFormat, case: Case, chunks: list[str]) -> Message:
    parser = fmt.parser(TOOLS, prompt=case.prompt, template_kwargs=case.template_kwargs, id_seed="cases")
    for chunk in chunks:
        parser.feed(chunk)
    parser.finish()
    return parser.message


def _calls(message: Message) -> list[tuple[str, Any, bool]]:
    return [
        (call.name, json.loads(call.arguments) if call.complete else call.arguments, call.complete)
        for call in message.tool_calls
    ]


def _codes(message: Message) -> Iterator[str]:
    """What the parser reports; several markers in a row as one."""
    before = ""
    for one in message.diagnostics:
        if not one.code == before == "E-PARSE-MARKER":
            yield one.code
        before = one.code


@READ
def test_reading(one: Loaded) -> None:
    _, fmt, case, place = one
    wanted = [
        (call.name, json.loads(call.arguments) if call.complete else call.arguments, call.complete)
        for call in case.calls
    ]
    for chunks in chunkings(case.raw):
        message = _read(fmt, case, chunks)
        assert (message.content or "", message.reasoning_content or "") == (case.content, case.reasoning), (
            f"{place}, fed {chunks}"
        )
        assert _calls(message) == wanted, f"{place}, fed {chunks}"
        for call, expected in zip(message.tool_calls, case.calls, strict=True):
            assert expected.id is None or call.id == expected.id, place
        codes = list(_codes(message))
        assert codes == DIAGNOSTICS.get(one.id, case.diagnostics), f"{place}, fed {chunks}"


def test_the_pinned_diagnostics_agree_with_the_cases() -> None:
    """Every pinned case exists, and a case that says whether it is odd is pinned accordingly."""
    assert set(DIAGNOSTICS) <= {one.id for one in CASES}
    for one in CASES:
        odd = False if one.case.write and one.case.odd is None else one.case.odd
        assert odd is None or (one.id in DIAGNOSTICS or bool(one.case.diagnostics)) == odd, one.place


@WRITE
def test_writing(one: Loaded) -> None:
    _, fmt, case, place = one
    message = Message(
        content=case.content or None,
        reasoning_content=case.reasoning or None,
        tool_calls=tuple(ToolCall(id=c.id or "", name=c.name, arguments=c.arguments) for c in case.calls),
    )
    assert fmt.write(message, TOOLS) == case.raw, place
