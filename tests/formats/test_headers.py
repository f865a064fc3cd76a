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
        ('[messages]\nfields = [" to "]\nbody = "<b>"\nend = "<e>"\n', "E-FORMAT-VALUE", 2),
        ('[messages]\nfields = [" to="]\nbody = "<b>"\nend = ["<e>\\n"]\n', "E-FORMAT-VALUE", 4),
        ('[messages]\nfields = ["<k>"]\nbody = "<|b|>"\nend = "|"\n', "E-FORMAT-CONFLICT", 4),
        ('[messages]\nfields = ["<k>"]\nbody = "<b>"\nend = ["<e>", "<k"]\n', "E-FORMAT-CONFLICT", 4),
        (HEADERS + 'otherwise = "nowhere"\n', "E-FORMAT-VALUE", 6),
        (HEADERS + 'default = "<moon>full"\n', "E-FORMAT-VALUE", 6),
        (HEADERS + 'recover = "yes"\n', "E-FORMAT-TYPE", 6),
        (HEADERS + "recover = true\n", "E-FORMAT-CONFLICT", 6),
        (HEADERS + 'default = ["<kind>"]\n', "E-FORMAT-VALUE", 6),
        (HEADERS + 'default = "<kind>an answer"\n', "E-FORMAT-VALUE", 6),
        (HEADERS + '[tools]\ncall = " to={name}.{id}<body>{arguments}<end>"\n', "E-FORMAT-PATTERN", 7),
        (HEADERS + '[content]\nblock = "{content}<end>"\n', "E-FORMAT-PATTERN", 7),
        (HEADERS + '[content]\nblock = "<body>{content}<end>"\n', "E-FORMAT-PATTERN", 7),
        (HEADERS + '[content]\nblock = "<kind><body>{content}<end>"\n', "E-FORMAT-PATTERN", 7),
        (HEADERS + '[content]\nblock = "<kind>a<kind>b<body>{content}<end>"\n', "E-FORMAT-PATTERN", 7),
        (HEADERS + '[content]\nblock = "oh <kind>a<body>{content}<end>"\n', "E-FORMAT-PATTERN", 7),
        (HEADERS + '[tools]\ncall = "<kind>{key} to={name}<body>{arguments}<end>"\n', "E-FORMAT-PATTERN", 7),
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
    assert fmt.triggers == ("<kind>remark to=", " to=")  # only with this kind a call is read


def with_ids(example: str) -> ChatFormat:
    """The format with ids in the headers of calls, as in this example."""
    whole = WHOLE.replace(
        'fields = [" to=", "<kind>"]', 'fields = [" to=", "<kind>", " id="]\ndefault = "<kind>answer"'
    )
    return ChatFormat.from_toml(whole[: whole.index("[tools]")] + f"[tools]\ncall = {example}\n")


def test_ids_in_headers() -> None:
    fmt = with_ids('" to={name} id=c-{id}<kind>remark<body>{arguments}<stop>"')
    call = ToolCall(id="1", name="tide", arguments="{}")
    assert fmt.write(Message(tool_calls=(call,))) == " to=tide id=c-1<kind>remark<body>{}<stop>"
    for text, found in {
        " to=tide id=c-1<kind>remark<body>{}<stop>": "1",
        " id=c-1 to=tide<kind>remark<body>{}": "1",
        "<kind>remark id=c-1 to=tide<body>": "1",
        "<kind>remark id=c-1 to=tide<body>oh<stop>": "1",
        " to=tide id=1<kind>remark<body>{}<stop>": None,
        " to=tide<kind>remark<body>{}<stop>": None,
    }.items():
        for chunks in ([text], list(text)):
            parser = fmt.parser(id_seed="")
            for chunk in chunks:
                parser.feed(chunk)
            parser.finish()
            (read,) = parser.message.tool_calls
            assert (read.name, read.id == "1") == ("tide", found is not None), text
    grammar = fmt.grammar(TOOLS)
    assert accepts(grammar, " to=tide id=c-x_1<kind>remark<body>{}<stop>")
    assert accepts(grammar, "<kind>remark to=tide id=c-2<body>{}<stop>")
    for text in (" to=tide<kind>remark<body>{}<stop>", " to=tide id=c-<kind>remark<body>{}<stop>"):
        assert not accepts(grammar, text)
    with pytest.raises(FormatError, match="E-FORMAT-UNWRITABLE"):
        fmt.write(Message(tool_calls=(ToolCall(id="a b", name="tide", arguments="{}"),)))


def test_ids_that_a_model_need_not_write() -> None:
    shown = " to={name}<kind>remark<body>{arguments}<stop>"
    fmt = with_ids(f'["{shown}", "{shown.replace("<kind>", " id={id}<kind>")}"]')
    for text in (" to=tide<kind>remark<body>{}<stop>", " to=tide id=7<kind>remark<body>{}<stop>"):
        assert accepts(fmt.grammar(TOOLS), text)
        assert [call.name for call in fmt.parse(text).tool_calls] == ["tide"]
    assert fmt.parse(" to=tide id=7<kind>remark<body>{}<stop>").tool_calls[0].id == "7"
    assert fmt.write(Message(tool_calls=(ToolCall(id="7", name="tide", arguments="{}"),))) == (
        " to=tide<kind>remark<body>{}<stop>"
    )


def test_fields_that_a_header_lacks() -> None:
    fmt = with_ids('" to={name}<kind>remark<body>{arguments}<stop>"')
    assert fmt.parse("<body>So.<end>").content == "So."
    assert not fmt.parse("<body>So.<end>").diagnostics
    # What had to be guessed has no fields but those that stand there, and a call says where it stands.
    for text in ("<begin>me So.<end>", "<kind>song<body>So.<end>", " to=tide<body>{}<stop>"):
        assert fmt.parse(text).diagnostics
    assert not fmt.parse(" to=tide<body>{}<stop>").tool_calls
    assert not accepts(fmt.grammar(TOOLS), "<body>So.<stop>")


def test_a_format_says_whether_headers_are_recovered() -> None:
    text = "<kind>draft<body>Hm.<end>remark to=tide<body>{}<stop>"
    guessing = ChatFormat.from_toml(WHOLE)
    recovering = ChatFormat.from_toml(WHOLE.replace("[reasoning]", "recover = true\n[reasoning]"))
    assert not guessing.parse(text).tool_calls
    (call,) = recovering.parse(text).tool_calls
    assert (call.name, call.complete) == ("tide", True)
    assert recovering.parse(text).diagnostics
    for damaged in ("<kind>song to=tide<body>{}<stop>", "<kind>remark to=tide to=moon<body>{}<stop>"):
        assert not recovering.parse(damaged).tool_calls
    text = "<kind>remark to=tide{}<stop>"
    assert [call.complete for call in recovering.parse(text, TOOLS).tool_calls] == [True]
    assert [call.complete for call in recovering.parse(text).tool_calls] == [False]
    assert not guessing.parse(text, TOOLS).tool_calls


@pytest.mark.parametrize("spaces", ["", " ", "\\n"])
@pytest.mark.parametrize(
    "part", ["before the start", "after the start", "field", "value", "before the body", "body", "end"]
)
def test_what_the_grammar_allows_is_read_whatever_whitespace_stands_at_an_edge(part: str, spaces: str) -> None:
    at = {part: spaces}
    start = f"{at.get('before the start', '')}<begin>me{at.get('after the start', '')}"
    field = f"{at.get('field', '')}<to>{at.get('value', '')}"
    body = f"{at.get('before the body', '')}<body>{at.get('body', '')}"
    end = f"<end>{at.get('end', '')}"
    text = (
        f'[messages]\nstart = "{start}"\nfields = ["{field}"]\nbody = "{body}"\nend = ["{end}"]\n'
        f'[content]\nblock = "{field}user{body}{{content}}{end}"\n'
        f'[tools]\ncall = "{field}{{name}}{body}{{arguments}}{end}"\n'
    )
    if spaces and part in ("value", "end"):
        with pytest.raises(FormatError) as refused:
            ChatFormat.from_toml(text)
        assert refused.value.code == "E-FORMAT-VALUE"
        return
    fmt = ChatFormat.from_toml(text)
    place = {"type": "object", "properties": {"place": {"enum": ["Rome"]}}, "required": ["place"]}
    tools = [{"name": "weather", "parameters": place | {"additionalProperties": False}}]
    for written in fmt.grammar(tools, tool_choice="required").examples(8, seed=1):
        message = fmt.parse(written, tools)
        assert not message.diagnostics, written
        assert [(call.name, call.complete) for call in message.tool_calls][:1] == [("weather", True)], written
