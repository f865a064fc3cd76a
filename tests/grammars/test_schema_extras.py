"""What surrounds a schema: vendors' words in it, schemas that it refers to, choices of very many values."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import syntagma as sg
from syntagma.cli.app import app

NUMBER = {"type": "object", "properties": {"t": {"type": "number"}}, "required": ["t"], "additionalProperties": False}


@pytest.mark.parametrize(
    ("guidance", "accepted", "refused"),
    [
        ({}, '{ "t" : 1 }', ""),
        ({"whitespace_flexible": False}, '{"t":1}', '{"t": 1}'),
        ({"whitespace_flexible": False, "key_separator": ": "}, '{"t": 1}', '{"t":1}'),
        ({"item_separator": ", ", "key_separator": ": "}, '{"t": 1}', '{ "t":  1}'),
        ({"whitespace_pattern": " ?", "whitespace_flexible": False}, '{"t": 1}', '{"t":  1}'),
        ({"coerce_one_of": True, "lenient": True, "whitespace_pattern": None}, '{"t": 1}', ""),
    ],
)
def test_llguidances_options_are_held(guidance: dict[str, Any], accepted: str, refused: str) -> None:
    grammar = sg.Grammar.from_json_schema({**NUMBER, "x-guidance": guidance})
    assert grammar.accepts(accepted)
    assert not grammar.accepts(refused)


def test_options_of_the_call_win() -> None:
    schema = {**NUMBER, "x-guidance": {"whitespace_flexible": False}}
    assert not sg.Grammar.from_json_schema(schema).accepts('{"t": 1}')
    assert sg.Grammar.from_json_schema(schema, whitespace="flexible").accepts('{"t": 1}')
    assert sg.Grammar.from_json_schema(schema, separators=(", ", ": ")).accepts('{"t": 1}')
    # Only at the root, as there.
    assert sg.Grammar.from_json_schema({"items": schema, "type": "array"}).accepts('[{"t": 1}]')


@pytest.mark.parametrize(
    ("guidance", "place"),
    [
        (5, "/x-guidance"),
        ({"whitespace": 1}, "/x-guidance/whitespace"),
        ({"whitespace_flexible": "no"}, "/x-guidance/whitespace_flexible"),
        ({"item_separator": ";"}, "/x-guidance/item_separator"),
        ({"key_separator": r"\s*:\s*"}, "/x-guidance/key_separator"),
    ],
)
def test_wrong_options_are_refused_by_name(guidance: Any, place: str) -> None:
    with pytest.raises(sg.GrammarError) as caught:
        sg.Grammar.from_json_schema({**NUMBER, "x-guidance": guidance})
    assert (caught.value.code, caught.value.pointer) == ("E-SCHEMA-OPTION", place)


def test_words_that_json_schema_does_not_have_are_named() -> None:
    schema = {
        "type": "object",
        "properties": {
            "a": {"type": "string", "nullable": True},
            "b": {"type": "string", "nullable": True},
            "c": {"type": "string", "nullable": False},
            "nullable": {"type": "string"},
            "d": {"bsonType": "int"},
        },
    }
    grammar = sg.Grammar.from_json_schema(schema)
    warnings = {warning.pointer: warning for warning in grammar.warnings}
    assert set(warnings) == {"/properties/a/nullable", "/properties/d/bsonType"}
    assert all(warning.code == "W-SCHEMA-FOREIGN" for warning in warnings.values())
    assert '["string", "null"]' in (warnings["/properties/a/nullable"].hint or "")
    assert not grammar.accepts('{"a": null}')


@pytest.mark.parametrize("count", [201, 1000, 5000])
def test_one_of_any_number_of_values_is_exact(count: int) -> None:
    values: list[Any] = [f"v{at}" if at % 2 else at for at in range(count)]
    grammar = sg.Grammar.from_json_schema({"oneOf": [{"const": value, "title": "T"} for value in values]})
    assert grammar.report.status == "exact"
    assert all(grammar.accepts(json.dumps(value)) for value in values[:: count // 20])
    assert not grammar.accepts(json.dumps(f"v{count + 1}"))


def test_one_of_many_objects_that_a_property_tells_apart_is_exact() -> None:
    def variant(at: int) -> dict[str, Any]:
        properties = {"kind": {"const": f"k{at}"}, "size": {"type": "integer"}}
        return {"type": "object", "properties": properties, "required": ["size", "kind"]}

    grammar = sg.Grammar.from_json_schema({"oneOf": [variant(at) for at in range(400)]})
    assert grammar.report.status == "exact"
    assert grammar.accepts('{"kind": "k399", "size": 1}')
    assert not grammar.accepts('{"kind": "k400", "size": 1}')


def test_a_value_that_two_of_many_branches_list_is_none() -> None:
    branches: list[dict[str, Any]] = [{"enum": [at, at + 1]} for at in range(0, 600, 2)]
    grammar = sg.Grammar.from_json_schema({"oneOf": [*branches, {"const": 4.0}, {"type": "integer", "minimum": 590}]})
    assert grammar.report.status == "exact"
    for value, allowed in ((3, True), (4, False), (5, True), (589, True), (590, False), (599, False), (600, True)):
        assert grammar.accepts(str(value)) is allowed, value


PLACE = {"type": "object", "properties": {"town": {"$ref": "#/$defs/name"}}, "$defs": {"name": {"type": "string"}}}


def test_references_lead_to_schemas_that_are_given() -> None:
    schema = {"type": "array", "items": {"$ref": "place.json"}, "maxItems": 2}
    grammar = sg.Grammar.from_json_schema(schema, resources={"place.json": PLACE})
    assert grammar.report.status == "exact"
    assert grammar.accepts('[{"town": "Oslo"}]')
    assert not grammar.accepts('[{"town": 1}]')
    part = sg.Grammar.from_json_schema({"$ref": "place.json#/$defs/name"}, resources={"place.json": json.dumps(PLACE)})
    assert part.accepts('"Oslo"')
    assert not part.accepts("1")
    with pytest.raises(sg.UnsupportedSchema) as caught:
        sg.Grammar.from_json_schema(schema)
    assert caught.value.code == "E-SCHEMA-REF"


def test_a_schema_is_found_by_its_own_name_and_by_the_given_one() -> None:
    named = {**PLACE, "$id": "https://example.org/place", "properties": {"town": {"$ref": "town"}}}
    town = {"$id": "https://example.org/town", "type": "string"}
    for reference in ("https://example.org/place", "a/place.json"):
        grammar = sg.Grammar.from_json_schema({"$ref": reference}, resources={"a/place.json": named, "b.json": town})
        assert grammar.accepts('{"town": "Oslo"}'), reference
        assert not grammar.accepts('{"town": 1}'), reference
    assert not sg.Grammar.from_json_schema({"$ref": "never"}, resources={"never": True, "x": False}).accepts("")


def test_places_in_given_schemas_are_told_by_their_uri() -> None:
    schema = {"properties": {"a": {"$ref": "x.json#/$defs/a"}}}
    given: dict[str, Any] = {"$defs": {"a": {"type": "string", "format": "regex", "nullable": True}}}
    grammar = sg.Grammar.from_json_schema(schema, resources={"x.json": given})
    assert list(grammar.report.pointers) == ["x.json#/$defs/a/format"]
    assert [warning.pointer for warning in grammar.warnings] == ["x.json#/$defs/a/nullable"]
    given["$defs"]["a"] = {"type": "strin"}
    with pytest.raises(sg.UnsupportedSchema) as caught:
        sg.Grammar.from_json_schema(schema, resources={"x.json": given})
    assert list(caught.value.pointers) == ["x.json#/$defs/a/type"]
    given["$defs"]["a"] = {"minLength": 1, "description": "x" * 400}
    sg.Grammar.from_json_schema(schema, resources={"x.json": given}, limits=sg.Limits(schema_bytes=300))
    given["$defs"]["a"] = {"const": "x" * 400}
    with pytest.raises(sg.LimitError):
        sg.Grammar.from_json_schema(schema, resources={"x.json": given}, limits=sg.Limits(schema_bytes=300))


def test_the_command_reads_a_folder_of_schemas(tmp_path: Path) -> None:
    (tmp_path / "given" / "sub").mkdir(parents=True)
    (tmp_path / "given" / "sub" / "place.json").write_text(json.dumps(PLACE))
    (tmp_path / "schema.json").write_text(json.dumps({"$ref": "sub/place.json"}))
    (tmp_path / "answer.json").write_text('{"town": "Oslo"}')
    command = ["grammar", str(tmp_path / "schema.json"), "--check", str(tmp_path / "answer.json")]
    done = CliRunner().invoke(app, [*command, "--resources", str(tmp_path / "given")])
    assert (done.exit_code, done.stdout) == (0, "accepted\n")
    assert "E-SCHEMA-REF" in CliRunner().invoke(app, command).output
    assert "E-REQUEST-FILE" in CliRunner().invoke(app, [*command, "--resources", str(tmp_path / "none")]).output


ORDERED = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "string"}}}


@pytest.mark.parametrize(
    ("text", "is_told"),
    [
        ('{"b": "x", "a": 1}', True),
        ('{"b": "x", "a": "1"}', False),
        ('{"b": "x", "a": 1', False),
        ('{"a": "x"}', False),
    ],
)
def test_an_answer_in_another_order_is_told(text: str, is_told: bool, tmp_path: Path) -> None:
    check = sg.Grammar.from_json_schema(ORDERED).check(text)
    assert not check.accepted
    assert check.out_of_order is is_told
    assert ('order="any"' in (check.message or "")) is is_told
    (tmp_path / "schema.json").write_text(json.dumps(ORDERED))
    (tmp_path / "answer.json").write_text(text)
    done = CliRunner().invoke(app, ["grammar", str(tmp_path / "schema.json"), "--check", str(tmp_path / "answer.json")])
    assert done.exit_code == 1
    assert ("--order any" in done.output) is is_told


def test_where_all_is_too_much_work_less_is_held_and_reported() -> None:
    def rule(at: int) -> dict[str, Any]:
        inner = {"type": "object", "properties": {f"p{at}": {"type": "string"}, "q": {"enum": [at, at + 1]}}}
        then = {"properties": {"config": {"oneOf": [inner, {"type": "null"}]}}}
        return {"if": {"properties": {"kind": {"const": f"k{at}"}}}, "then": then}

    schema = {
        "type": "object",
        "properties": {"kind": {"type": "string"}, "config": {}},
        "required": ["kind"],
        "allOf": [rule(at) for at in range(150)],
    }
    with pytest.raises(sg.LimitError) as caught:
        sg.Grammar.from_json_schema(schema, allow_widened=False)
    assert caught.value.code == "E-LIMIT-FUEL"
    grammar = sg.Grammar.from_json_schema(schema)
    assert grammar.report.status == "widened"
    assert grammar.accepts('{"kind": "k3", "config": {"p3": "x", "q": 3}}')
    assert not grammar.accepts('{"kind": 3}')
