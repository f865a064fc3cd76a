"""What is wrong with a file is said where the file is loaded, with its name, the line and a hint."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

import syntagma as sg
from syntagma.cli.app import app
from syntagma.errors import FormatError
from syntagma.format_schema import read_toml

CALL = '[tools]\ncall = "<call>{name}{arguments}</call>"\n'
PAIRS = '[tools]\ncall = "(call {name} {arguments})"\n'
LATE_ID = '[tools]\ncall = "<call>{name}{arguments}<id>{id}</id></call>"\nid = "c-{index}"\n'
ELEMENT = CALL + 'argument = "<{key}>{value}</{key}>"\n'


@pytest.mark.parametrize(
    ("toml", "line"),
    [
        (CALL + 'argument = "<k>{key}</k><v>{value}</v>"\nitem = "x"\n', 4),
        (CALL + 'item = "x"\n', 3),
        (CALL + '[[tools.also]]\ncall = "<other>{name}{arguments}</other>"\nitem = "x"\n', 5),
        (ELEMENT + 'item = "x"\nescape = ["values"]\n', 4),
        (ELEMENT + 'argument_separator = ", "\n', 4),
        (
            '[tools]\ncall = "<call>{envelope}</call>"\nliterals = "python"\n'
            'envelope = \'{"n": "{name}", "a": "{arguments}"}\'\n',
            3,
        ),
        (PAIRS + 'argument = "{key}={value}"\nargument_separator = " "\nvalues = "json"\n', 5),
        (PAIRS + 'argument = ":{key} {value} "\nvalues = "json"\n', 4),
        (CALL + 'id = "{name}:{index}"\n', 3),
        ('[tools]\ncall = "<call>{arguments}</call>"\nid = "{name}:{index}"\n', 3),
        (LATE_ID + '[[tools.also]]\ncall = "<old>{name}{arguments}</old>"\nid = "o-{index}"\n', 6),
    ],
)
def test_keys_that_contradict_each_other(toml: str, line: int) -> None:
    with pytest.raises(FormatError) as raised:
        read_toml(toml)
    assert (raised.value.code, raised.value.line) == ("E-FORMAT-CONFLICT", line)


@pytest.mark.parametrize(
    ("keys", "line"),
    [
        ('argument = ":{key} {value}"\nvalues = "json"\n', 3),
        ('argument = ":{key} {value}"\n', 3),
        ('argument = "{key} = {value}"\nvalues = "json"\n', 3),
        ('argument = ":{key} {value}"\nargument_separator = " "\nvalues = "json"\n', 5),
        ('argument = "{key} = {value}"\nargument_separator = " "\nvalues = "json"\n', 5),
    ],
)
def test_the_hint_names_literal_values(keys: str, line: int) -> None:
    with pytest.raises(FormatError) as raised:
        sg.ChatFormat.from_toml(PAIRS + keys)
    assert raised.value.line == line
    assert 'values = "literal"' in (raised.value.hint or "")
    pattern = keys.splitlines()[0]
    fmt = sg.ChatFormat.from_toml(f'{PAIRS}{pattern}\nargument_separator = " "\nvalues = "literal"\n')
    given = " ".join(
        pattern.split('"')[1].format(key=key, value=value) for key, value in (("place", '"Rome is"'), ("days", "2"))
    )
    (call,) = fmt.parse(f"(call weather {given})").tool_calls
    assert call.arguments == '{"place": "Rome is", "days": 2}'


def test_an_id_that_some_form_shows() -> None:
    further = '[[tools.also]]\ncall = "<old>{name}{arguments}</old>"\n'
    fmt = sg.ChatFormat.from_toml(LATE_ID + further)
    assert fmt.parse("<call>clock{}<id>c-0</id></call>").tool_calls[0].id == "c-0"
    sg.ChatFormat.from_toml(CALL + 'id = "{name}:{index}"\n' + further.replace("<old>", "<old><id>{id}</id>"))


@pytest.mark.parametrize(
    ("written", "missing"), [("</call>", "id"), ("<id></id></call>", "id"), ("<id>c-0", "closing")]
)
def test_a_call_without_its_id_is_told_from_one_without_its_closer(written: str, missing: str) -> None:
    found, *others = sg.ChatFormat.from_toml(LATE_ID).parse("<call>clock{}" + written).diagnostics
    assert found.code == "E-PARSE-CLOSER"
    assert [one.code for one in others] == ["E-PARSE-STRAY"] * written.startswith("<id></id>")
    assert found.message.startswith(f"the {missing}")
    assert found.span[0] >= len("<call>clock{}")


ENVELOPE = '[tools]\ncall = "<call>{envelope}</call>"\nenvelope = '
MISSPELT = [
    ('[tools]\ncall = "<call>{name}{args}</call>"\n', 2, "{arguments}"),
    ('[tools]\ncall = "<call>{name}{Arguments}</call>"\n', 2, "{arguments}"),
    ('[tools]\ncall = "<call>{name}{ arguments }</call>"\n', 2, "{arguments}"),
    ('[tools]\ncall = "<call>{tool_name}{arguments}</call>"\n', 2, "{name}"),
    ('[tools]\ncall = "<call>{name}{params}</call>"\n', 2, ""),
    ('[tools]\ncall = "<call>{tool}{arguments}</call>"\n', 2, ""),
    ('[tools]\ncall = "<call>{name}{arguments}<id>{call_id}</id></call>"\n', 2, "{id}"),
    (ENVELOPE + '\'{"n": "{name}", "a": {args}}\'\n', 3, "{arguments}"),
    (ENVELOPE + '\'{"n": "{tool}", "a": {arguments}}\'\n', 3, ""),
    (CALL + 'argument = "<k>{key}</k><v>{val}</v>"\n', 3, "{value}"),
    (CALL + '[[tools.also]]\ncall = "<other>{name}{argument}</other>"\n', 4, "{arguments}"),
    ('[tools]\ncall = "<call>{name}{arguments}</call>"\nsection = "<calls>{call}</calls>"\n', 3, "{calls}"),
    ('# reasoning\n\n[reasoning]\nblock = "<think>{thinking}</think>"\n', 4, ""),
    ('[content]\nblock = "<say>{contents}</say>"\n', 2, "{content}"),
]


@pytest.mark.parametrize(("toml", "line", "near"), MISSPELT)
def test_a_misspelt_placeholder(toml: str, line: int, near: str) -> None:
    with pytest.raises(FormatError) as raised:
        sg.ChatFormat.from_toml(toml, source="mine.toml")
    error = raised.value
    assert (error.code, error.source, error.line) == ("E-FORMAT-PATTERN", "mine.toml", line)
    assert error.hint is not None
    assert error.hint.startswith(f"did you mean {near}?" if near else "known here: {")


@pytest.mark.parametrize(
    "toml",
    [
        '[tools]\ncall = \'{"{name}": {arguments}}\'\nsection = "<s>{calls}</s>"\n',
        ENVELOPE + '\'{"n": "{name}", "kind": {"a": [{}]}, "a": {arguments}}\'\n',
        '[tools]\ncall = "{call}{name} {arguments}{/call}"\n',
        '[reasoning]\nblock = "{{note}}{reasoning}{{/note}}"\n',
    ],
)
def test_braces_that_are_text(toml: str) -> None:
    sg.ChatFormat.from_toml(toml)


UNUSABLE = [
    ('[tools]\ncall = "<call>{arguments}</call>"\n', 2),
    (CALL + 'argument = ["<k>{key}<v>{value}</v>", "<k={key}>{value}</k>"]\n', 3),
    (CALL + '[[tools.also]]\ncall = "<other>{name}{arguments}"\nargument = "<k>{key}<v>{value}</v>"\n', 4),
    (CALL + 'argument = "<k {type}>{key}<v>{value}</v>"\ntypes = { s = "string" }\n', 4),
    (
        '[tools]\ncall = "<c>{name}({arguments})"\nargument = "{key}={value}"\n'
        'argument_separator = "e"\nvalues = "literal"\n',
        4,
    ),
    ('[messages]\nfields = ["<to>"]\nbody = "<m>"\nend = ["<e>"]\n[tools]\ncall = "<to>{name}<m>{arguments}<e>"\n', 2),
    (
        '[content]\nblock = "<to>you<m><q>{content}</q><e>"\n'
        '[messages]\nfields = ["<to>"]\nbody = "<m>"\nend = ["<e>"]\n',
        2,
    ),
]


@pytest.mark.parametrize(("toml", "line"), UNUSABLE)
def test_what_reader_or_grammar_cannot_hold(toml: str, line: int, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(toml)
    found = []
    with pytest.raises(FormatError) as raised:
        sg.ChatFormat.from_toml(toml, source=str(path))
    found.append(raised.value)
    with pytest.raises(FormatError) as raised:
        sg.formats.register(path)
    found.append(raised.value)
    for error in found:
        assert (error.code, error.source, error.line) == ("E-FORMAT-UNSUPPORTED", str(path), line)
        assert error.hint
    assert "mine" not in sg.formats.names()
    answered = CliRunner().invoke(app, ["parse", "--format", str(path), "--json"], input="text")
    assert answered.exit_code != 0
    assert "E-FORMAT-UNSUPPORTED" in answered.output + answered.stderr
