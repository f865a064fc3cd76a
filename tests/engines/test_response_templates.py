"""transformers, vLLM and SGLang load the response template of every format, and read with it what the format writes."""

from __future__ import annotations

import pytest

from syntagma import formats
from syntagma.messages import Message
from tests.engines.response_templates import ENGINES, PAGE, Read, canonical, cases, engine, other, template_of
from tests.formats.written import meaning, messages

NAMES = formats.names()


@pytest.fixture(params=ENGINES, scope="module")
def column(request: pytest.FixtureRequest) -> str:
    pytest.importorskip(ENGINES[request.param][0])
    return str(request.param)


@pytest.mark.parametrize("name", NAMES)
def test_an_engine_reads_what_a_format_writes(column: str, name: str) -> None:
    fmt, read = formats.get(name), engine(column)
    template, anchor = template_of(fmt)
    reasoning = fmt.spec.reasoning
    if reasoning is not None and reasoning.to == "content":
        return  # a template has no such thing, which is listed
    opened = reasoning is not None and reasoning.start == "open"
    prompt = anchor + (reasoning.block[0].opener if reasoning is not None and opened else "")
    for message, text in messages(fmt):
        if not message.tool_calls or "tool_calls" in template["fields"]:
            assert stripped(read(template, prompt, text)) == stripped_meaning(message), text


def stripped(read: Read) -> Read:
    return Read(read.reasoning.strip(), read.content.strip(), read.calls)


def stripped_meaning(message: Message) -> Read:
    reasoning, content, calls = meaning(message)
    return Read(reasoning, content, tuple((name, canonical(arguments)) for name, arguments in calls))


def test_the_page_says_how_many_cases_an_engine_reads(column: str) -> None:
    """`make response-templates` writes it anew."""
    lines = PAGE.read_text().splitlines()
    head = next(line for line in lines if line.startswith("| format |"))
    index = [cell.strip() for cell in head.split("|")].index(column)
    rows = {row[1]: row for line in lines if (row := [cell.strip() for cell in line.split("|")])[1:2]}
    read, found = engine(column), dict.fromkeys(NAMES, 0)
    for one in cases():
        found[one.fmt.name or ""] += other(read, one.fmt, one.case) is None
    assert found == {name: int(rows[name][index]) for name in NAMES}
