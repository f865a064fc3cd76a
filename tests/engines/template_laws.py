"""What holds of an engine that reads response templates; the tests of each engine ask it."""

from __future__ import annotations

from syntagma import formats
from syntagma.messages import Message
from tests.engines.response_templates import PAGE, Read, canonical, cases, engine, other, template_of
from tests.formats.written import meaning, messages

__all__ = ["NAMES", "check_page", "check_written"]

NAMES = formats.names()


def check_written(column: str, name: str) -> None:
    """The engine loads the template of a format, and reads with it what the format writes."""
    fmt, read = formats.get(name), engine(column)
    template, anchor = template_of(fmt)
    reasoning = fmt.spec.reasoning
    if reasoning is not None and reasoning.to == "content":
        return  # a template has no such thing, which is listed
    opened = reasoning is not None and reasoning.start == "open"
    prompt = anchor + (reasoning.block[0].opener if reasoning is not None and opened else "")
    content = fmt.spec.content
    for message, text in messages(fmt):
        wrapped = any(one.opener.strip() in text for one in fmt.spec.wrappers)
        if content is not None and content.when == "reasoning" and message.content and not wrapped:
            losses = fmt.to_response_template(start_anchor=anchor)[1]
            assert any(one.pointer == "/content/block" for one in losses)
            continue  # a template reads no text outside the wrapper as content, which is listed
        if not message.tool_calls or "tool_calls" in template["fields"]:
            assert _stripped(read(template, prompt, text)) == _meaning(message), text


def _stripped(read: Read) -> Read:
    return Read(read.reasoning.strip(), read.content.strip(), read.calls)


def _meaning(message: Message) -> Read:
    reasoning, content, calls = meaning(message)
    return Read(reasoning, content, tuple((name, canonical(arguments)) for name, arguments in calls))


def check_page(column: str) -> None:
    """The engine reads as many cases of each format as the page says, which `make response-templates` writes."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    head = next(line for line in lines if line.startswith("| format |"))
    index = [cell.strip() for cell in head.split("|")].index(column)
    rows = {row[1]: row for line in lines if (row := [cell.strip() for cell in line.split("|")])[1:2]}
    read, found = engine(column), dict.fromkeys(NAMES, 0)
    for one in cases():
        found[one.fmt.name or ""] += other(read, one.fmt, one.case) is None
    assert found == {name: int(rows[name][index]) for name in NAMES}
