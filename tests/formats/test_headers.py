"""Formats whose turns are messages with headers: what a file may not say, and what is written."""

from __future__ import annotations

import pytest

from syntagma.errors import FormatError
from syntagma.formats import ChatFormat
from syntagma.messages import Message, ToolCall
from tests.constraints.walks import accepts

HEADERS = '[messages]\nstart = "<begin>me"\nfields = [" to=", "<kind>"]\nbody = "<body>"\nend = ["<end>", "<stop>"]\n'
REASONING = '[reasoning]\nblock = "<kind>draft<body>{reasoning}<end>"\n'
WHOLE = (
    HEADERS
    + REASONING
    + '[content]\nblock = ["<kind>answer<body>{content}<stop>", "<kind>remark<body>{content}<end>"]\n'
    + '[tools]\ncall = ["<kind>remark to={name}<body>{arguments}<stop>",'
    + '" to={name}<kind>remark<body>{arguments}<stop>"]\n'
)
TOOLS = [{"type": "function", "function": {"name": "tide", "parameters": {"type": "object", "properties": {}}}}]


@pytest.mark.parametrize(
    ("toml", "code", "line"),
    [
        ('[messages]\nbody = "<b>"\n', "E-FORMAT-KEY", None),
        ('[messages]\nfields = ["<k>"]\n', "E-FORMAT-KEY", None),
        ('[messages]\nfields = ["<k>"]\nbody = "<b>"\ncolour = "red"\n', "E-FORMAT-KEY", 4),
        ('[messages]\nfields = "<k>"\nbody = "<b>"\n', "E-FORMAT-TYPE", 2),
        ('[messages]\nfields = [" to="]\nbody = "<b>"\n', "E-FORMAT-CONFLICT", None),
        (HEADERS + 'otherwise = "nowhere"\n', "E-FORMAT-VALUE", 6),
        (HEADERS + '[content]\nblock = "{content}<end>"\n', "E-FORMAT-PATTERN", 7),
        (HEADERS + '[content]\nblock = "<body>{content}<end>"\n', "E-FORMAT-PATTERN", 7),
        (HEADERS + '[content]\nblock = "<kind><body>{content}<end>"\n', "E-FORMAT-PATTERN", 7),
        (HEADERS + '[content]\nblock = "<kind>a<kind>b<body>{content}<end>"\n', "E-FORMAT-PATTERN", 7),
        (HEADERS + '[content]\nblock = "oh <kind>a<body>{content}<end>"\n', "E-FORMAT-PATTERN", 7),
        (HEADERS + '[tools]\ncall = "<kind>{id} to={name}<body>{arguments}<end>"\n', "E-FORMAT-PATTERN", 7),
        (HEADERS + '[tools]\nsection = "<s>{calls}"\ncall = " to={name}<body>{arguments}"\n', "E-FORMAT-CONFLICT", 7),
        (HEADERS + REASONING + 'start = "open"\n', "E-FORMAT-CONFLICT", 8),
        (HEADERS + REASONING + 'interrupt = ["<x>"]\n', "E-FORMAT-CONFLICT", 8),
    ],
)  # fmt: skip
def test_what_a_file_may_not_say(toml: str, code: str, line: int | None) -> None:
    with pytest.raises(FormatError) as raised:
        ChatFormat.from_toml(toml)
    assert raised.value.code == code
    assert line is None or raised.value.line == line


def test_what_is_written() -> None:
    fmt = ChatFormat.from_toml(WHOLE)
    assert ChatFormat.from_toml(fmt.to_toml()) == fmt
    call = ToolCall(id="", name="tide", arguments="{}")
    message = Message(content="So.", reasoning_content="Hm.", tool_calls=(call, call))
    written = "<begin>me<kind>remark to=tide<body>{}<stop>"
    assert fmt.write(message) == f"<kind>draft<body>Hm.<end><begin>me<kind>remark<body>So.<end>{written}{written}"
    assert fmt.write(Message(content="So.")) == "<kind>answer<body>So.<stop>"
    for unwritable in (Message(content="a<end>b"), Message(reasoning_content="<stop>")):
        with pytest.raises(FormatError, match="E-FORMAT-UNWRITABLE"):
            fmt.write(unwritable)


@pytest.mark.parametrize(
    ("text", "accepted"),
    [
        ("<kind>answer<body>So.<stop>", True),
        ("<kind>draft<body>Hm.<end><begin>me<kind>answer<body>So.<stop>", True),
        ("<kind>remark<body>So.<end><begin>me<kind>remark to=tide<body>{}<stop>", True),
        (" to=tide<kind>remark<body>{}<stop><begin>me<kind>remark to=tide<body>{}<stop>", True),
        ("<begin>me<kind>answer<body>So.<stop>", False),
        ("<kind>answer<body>So.<end>", False),
        ("<kind>song<body>So.<stop>", False),
        ("<kind>answer<body>a <kind> b<stop>", False),
        ("<kind>remark to=moon<body>{}<stop>", False),
    ],
)
def test_what_a_model_may_write(text: str, accepted: bool) -> None:
    grammar = ChatFormat.from_toml(WHOLE).grammar(TOOLS)
    assert accepts(grammar, text) is accepted


def test_what_a_model_may_write_after_a_prompt() -> None:
    fmt = ChatFormat.from_toml(WHOLE)
    inside = fmt.grammar(TOOLS, prompt="<begin>me<kind>draft<body>")
    assert accepts(inside, "Hm.<end><begin>me<kind>answer<body>So.<stop>")
    answer = fmt.grammar(TOOLS, prompt="<begin>me<kind>answer<body>", tool_choice="required")
    assert accepts(answer, "<stop><begin>me<kind>remark to=tide<body>{}<stop>")
    shaped = fmt.grammar(TOOLS, response_format={"type": "json_object"}, tool_choice="none")
    assert accepts(shaped, "<kind>answer<body>{}<stop>")
    assert not accepts(shaped, "<kind>answer<body>So.<stop>")


def test_formats_with_headers_are_whole() -> None:
    fmt = ChatFormat.from_toml(WHOLE)
    with pytest.raises(FormatError, match="E-FORMAT-COMBINE"):
        fmt.combine(reasoning=ChatFormat.from_toml('[reasoning]\nblock = "<t>{reasoning}</t>"\n'))
    assert set(fmt.preserved_tokens) == {"<begin>", "<kind>", "<body>", "<end>", "<stop>"}
    assert fmt.triggers == ("<kind>remark to=", " to=", "<kind>draft to=", "<kind>answer to=")
