"""The rules of a format hold for files and for specs built in Python, and every spec prints and reads back equal."""

from __future__ import annotations

import pickle
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syntagma.errors import FormatError
from syntagma.format_schema import (
    ContentSpec,
    Envelope,
    FormatSpec,
    MessagesSpec,
    Notation,
    Pattern,
    ReasoningSpec,
    ToolsSpec,
    read_tables,
    read_toml,
    write_toml,
)
from syntagma.formats import ChatFormat

BLOCK = (Pattern("<t>{reasoning}</t>"),)
CALL = (Pattern("<c>{name}{arguments}</c>"),)
ELEMENTS: Any = {"call": CALL, "argument": (Pattern("<{key}>{value}</{key}>"),)}
HEADERS = MessagesSpec(fields=("<to>",), body="<b>", end=("<e>",))
ENVELOPE: Any = {"call": (Pattern("<c>{envelope}</c>"),), "envelope": (Envelope('{"n": "{name}", "a": {arguments}}'),)}


@pytest.mark.parametrize(
    ("parts", "code", "pointer"),
    [
        ({"reasoning": ReasoningSpec(block=())}, "KEY", "/reasoning/block"),
        ({"reasoning": ReasoningSpec(block=BLOCK, start="ajar")}, "VALUE", "/reasoning/start"),  # type: ignore[arg-type]
        ({"reasoning": ReasoningSpec(block=(Pattern("<t>{content}</t>"),))}, "PATTERN", "/reasoning/block"),
        ({"reasoning": ReasoningSpec(block=(Pattern("<t>"),))}, "PATTERN", "/reasoning/block"),
        ({"reasoning": ReasoningSpec(block=BLOCK, interrupt=("",))}, "TYPE", "/reasoning/interrupt"),
        ({"reasoning": ReasoningSpec(block="<t>{reasoning}</t>")}, "TYPE", "/reasoning/block"),  # type: ignore[arg-type]
        ({"content": ContentSpec(block=(Pattern("a\\n{content}"),))}, "PATTERN", "/content/block"),
        ({"content": {"drop": ()}}, "TYPE", "/content"),
        ({"anchor": 5}, "TYPE", "/anchor"),
        ({"aliases": ["one"]}, "TYPE", "/aliases"),
        ({"tools": ToolsSpec(call=())}, "KEY", "/tools/call"),
        ({"tools": ToolsSpec(call=CALL, section=())}, "KEY", "/tools/section"),
        ({"tools": ToolsSpec(call=CALL, item="x")}, "CONFLICT", "/tools/item"),
        ({"tools": ToolsSpec(call=CALL, id=(Pattern("{index}"),))}, "CONFLICT", "/tools/id"),
        ({"tools": ToolsSpec(**ELEMENTS, argument_separator=",")}, "CONFLICT", "/tools/argument_separator"),
        ({"tools": ToolsSpec(call=CALL, also=(ToolsSpec(call=CALL, item="x"),))}, "CONFLICT", "/tools/also/0/item"),
        ({"tools": ToolsSpec(call=CALL, also=(ToolsSpec(call=CALL, also=(ToolsSpec(call=CALL),)),))}, "CONFLICT", None),
        ({"tools": ToolsSpec(call=CALL, literals=Notation(quotes=()))}, "KEY", "/tools/literals/quotes"),
        ({"tools": ToolsSpec(call=CALL, types={"s": "text"})}, "VALUE", "/tools/types"),  # type: ignore[dict-item]
        ({"messages": MessagesSpec(fields=(), body="<b>")}, "KEY", "/messages/fields"),
        ({"messages": HEADERS, "reasoning": ReasoningSpec(block=BLOCK)}, "PATTERN", "/reasoning/block"),
        (
            {"messages": HEADERS, "tools": ToolsSpec(call=CALL, section=(Pattern("<s>{calls}"),))},
            "CONFLICT",
            "/tools/section",
        ),
    ],
)
def test_specs_built_in_python_follow_the_rules_of_files(parts: dict[str, Any], code: str, pointer: str | None) -> None:
    with pytest.raises(FormatError) as raised:
        FormatSpec(**parts)
    assert raised.value.code == f"E-FORMAT-{code}"
    assert pointer in (None, raised.value.pointer)


@pytest.mark.parametrize(
    ("toml", "code", "line"),
    [
        ("bogus = 1\n", "KEY", 1),
        ('[reasoning]\nstart = "open"\n', "KEY", 1),
        ('[reasoning]\nblock = "<t>{reasoning}</t>"\nbogus = []\n', "KEY", 3),
        ('[reasoning]\nblock = "<t>{reasoning}</t>"\nstart = "ajar"\n', "VALUE", 3),
        ('[reasoning]\nblock = "<t>{reasoning}</t>"\nrepeat = "yes"\n', "TYPE", 3),
        ('[reasoning]\nblock = ["<t>{reasoning}</t>", ""]\n', "TYPE", 2),
        ('[tools]\ncall = "<c>{envelope}</c>"\nenvelope = "[{arguments}]"\n', "PATTERN", 3),
        ('[tools]\ncall = "<c>{name}{arguments}</c>"\nliterals = "perl"\n', "VALUE", 3),
        ('[tools]\ncall = "<c>{name}{arguments}</c>"\nliterals = { quotes = 1 }\n', "TYPE", 3),
        ('[tools]\ncall = "<c>{name}{arguments}</c>"\n[tools.literals]\nbogus = 1\n', "KEY", 4),
        ('[tools]\ncall = "<c>{name}{arguments}</c>"\nescape = ["keys"]\n', "VALUE", 3),
        (
            '[tools]\ncall = "<c>{name}{arguments}</c>"\n[[tools.also]]\ncall = "<d>{name}{arguments}</d>"\n'
            '[[tools.also]]\ncall = "<e>{name}{arguments}</e>"\nvalues = "any"\n',
            "VALUE",
            7,
        ),
        ('[messages]\nbody = "<b>"\n', "KEY", 1),
        ("tools = 5\n", "TYPE", 1),
        ('[tools]\ncall = "<c>{name}{arguments}</c>"\nalso = 1\n', "TYPE", 3),
        ('[tools]\ncall = "<c>{name}{arguments}</c>"\n"a/b" = 1\n', "KEY", 1),
    ],
)
def test_what_a_file_has_wrong_is_named_with_its_line(toml: str, code: str, line: int) -> None:
    with pytest.raises(FormatError) as raised:
        read_toml(toml, source="own.toml")
    error = raised.value
    assert (error.code, error.line, error.source, error.pointer) == (f"E-FORMAT-{code}", line, "own.toml", None)


def test_tables_have_pointers_instead_of_lines() -> None:
    with pytest.raises(FormatError) as raised:
        read_tables({"tools": {"call": "<c>{name}{arguments}</c>", "bogus": 1}})
    assert (raised.value.code, raised.value.pointer) == ("E-FORMAT-KEY", "/tools/bogus")
    assert "argument_separator" in (raised.value.hint or "")
    with pytest.raises(FormatError) as raised:
        read_tables({"end_of_turn": ["a", ["b", 3]]})
    assert (raised.value.code, raised.value.pointer) == ("E-FORMAT-TYPE", "/end_of_turn")


def test_an_empty_list_unsets_what_a_further_form_would_inherit() -> None:
    spec = read_toml(
        '[tools]\ncall = "<c>{name}{arguments}</c>"\nargument = "<{key}>{value}</{key}>"\nitem = "i"\n'
        '[[tools.also]]\ncall = "<d>{name}{arguments}</d>"\nitem = []\n'
        '[[tools.also]]\ncall = "<e>{name}{arguments}</e>"\nitem = []\nargument = []\n'
    )
    assert spec.tools is not None
    first, second = spec.tools.also
    assert (first.item, first.argument) == (None, spec.tools.argument)
    assert (second.item, second.argument) == (None, ())


# -- random specs

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\\{}"), max_size=4)
SOME = TEXT.filter(bool)


def _list(texts: st.SearchStrategy[Any], least: int = 0) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(texts, min_size=least, max_size=2).map(tuple)


def _pattern(shape: str) -> st.SearchStrategy[Pattern]:
    """Patterns with these placeholders; each `~` is a text."""
    pieces = shape.split("~")
    return st.tuples(*[SOME] * (len(pieces) - 1)).map(
        lambda texts: Pattern(pieces[0] + "".join(text + piece for text, piece in zip(texts, pieces[1:], strict=True)))
    )


NOTATIONS = st.builds(
    Notation,
    quotes=_list(SOME, 1),
    bare_keys=st.booleans(),
    true=_list(SOME, 1),
    false=_list(SOME, 1),
    null=_list(SOME, 1),
)
REASONING = st.builds(
    ReasoningSpec,
    block=_list(_pattern("~{reasoning}~"), 1),
    start=st.sampled_from(["closed", "open", "off"]),
    switch=st.dictionaries(TEXT, st.dictionaries(TEXT, TEXT, max_size=2), max_size=2),
    interrupt=_list(SOME),
    repeat=st.booleans(),
    to=st.sampled_from(["reasoning", "content"]),
)
CONTENT = st.builds(
    ContentSpec,
    block=_list(_pattern("~{content}~")),
    when=st.sampled_from(["always", "reasoning"]),
    drop=_list(SOME),
)
SHARED: dict[str, st.SearchStrategy[Any]] = {
    "section": _list(_pattern("~{calls}~"), 1) | st.just((Pattern("{calls}"),)),
    "separator": TEXT,
    "id": _list(st.sampled_from([Pattern("{name}:{index}"), Pattern("{ordinal}")])),
    "escape": st.frozensets(st.sampled_from(["attributes", "values"])),
}


def _by_the_rules(form: ToolsSpec) -> ToolsSpec:
    """The form with a call that shows {id}, if ids have a shape, and without JSON that ends at a space."""
    if form.id:
        form = msgspec.structs.replace(form, call=(*form.call, Pattern("<i>{id}</i>{name} {arguments}</i>")))
    end = (form.argument[0].around("value")[1] or form.argument_separator) if form.argument else ""
    return msgspec.structs.replace(form, values="text") if end.isspace() and form.values == "json" else form


FORMS = st.one_of(
    st.builds(ToolsSpec, call=_list(_pattern("~{name}~{arguments}~"), 1), literals=NOTATIONS, **SHARED),
    st.builds(
        ToolsSpec,
        call=_list(_pattern("~{envelope}~"), 1),
        envelope=st.sampled_from(ENVELOPE["envelope"]).map(lambda one: (one,)),
        literals=NOTATIONS,
        values=st.sampled_from(["text", "json"]),
        **SHARED,
    ),
    st.builds(
        ToolsSpec,
        call=_list(_pattern("~{name}~{arguments}~"), 1),
        argument=_list(_pattern("~{key}~{type}~{value}~"), 1),
        argument_separator=TEXT,
        types=st.dictionaries(TEXT, st.sampled_from(["string", "json"]), min_size=1, max_size=2),
        values=st.sampled_from(["text", "json", "literal"]),
        **SHARED,
    ),
    st.builds(
        ToolsSpec,
        call=_list(_pattern("~{name}~{arguments}~"), 1),
        argument=st.just(ELEMENTS["argument"]),
        item=st.none() | TEXT,
        **{**SHARED, "escape": st.just(frozenset())},
    ),
).map(_by_the_rules)
TOOLS = st.builds(lambda first, also: msgspec.structs.replace(first, also=also), FORMS, _list(FORMS))
SPECS = st.builds(
    FormatSpec,
    aliases=_list(SOME),
    families=_list(SOME),
    anchor=st.none() | TEXT,
    end_of_turn=_list(SOME),
    reasoning=st.none() | REASONING,
    content=st.none() | CONTENT,
    tools=st.none() | TOOLS,
)


@settings(max_examples=150, deadline=None)
@given(SPECS)
def test_every_spec_prints_and_reads_back(spec: FormatSpec) -> None:
    assert read_toml(write_toml(spec)) == spec


@settings(max_examples=25, deadline=None)
@given(SPECS)
def test_formats_pickle(spec: FormatSpec) -> None:
    fmt = ChatFormat(spec, name="own")
    back = pickle.loads(pickle.dumps(fmt))
    assert (back, back.name) == (fmt, "own")
