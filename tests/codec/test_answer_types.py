"""Types of Python as response formats, and the answer as a value of the type."""

from __future__ import annotations

import copy
import dataclasses
import enum
import json
import pickle
from typing import Any, Literal, NotRequired, TypedDict

import msgspec
import pydantic
import pytest

import syntagma as sg
from syntagma.errors import ArgumentTypeError, RequestError
from syntagma.recording import Bundle, record


class Model(pydantic.BaseModel):
    place: str
    days: int = pydantic.Field(ge=1, le=9)
    stops: list[Model] = []


@pydantic.dataclasses.dataclass
class Checked:
    place: str
    days: int = pydantic.Field(ge=1, le=9)


@dataclasses.dataclass
class Plain:
    place: str
    days: int
    stops: list[Plain] = dataclasses.field(default_factory=list)


class Dict(TypedDict):
    place: str
    days: int
    stops: NotRequired[list[Dict]]


class Struct(msgspec.Struct):
    place: str
    days: int
    stops: list[Struct] = []


class Place(enum.Enum):
    ROME = "Rome"
    OSLO = "Oslo"


SCHEMA = {
    "type": "object",
    "properties": {"place": {"type": "string"}, "days": {"type": "integer", "maximum": 9}},
    "required": ["place", "days"],
    "additionalProperties": False,
}
TRIPS: dict[str, Any] = {
    "pydantic": Model,
    "pydantic's adapter": pydantic.TypeAdapter(Model),
    "pydantic's dataclass": Checked,
    "dataclass": Plain,
    "TypedDict": Dict,
    "msgspec": Struct,
    "schema": SCHEMA,
    "schema without a type": {"allOf": [SCHEMA]},
    "response format": {"type": "json_schema", "json_schema": {"name": "trip", "schema": SCHEMA}},
    "schema as text": {"type": "json_schema", "schema": json.dumps(SCHEMA)},
}
FORMAT = sg.formats.get("hermes")
TEXT = '{"place": "Rome", "days": 3}'


def read(text: str, kind: Any, reason: str | None = None) -> sg.Message:
    parser = FORMAT.parser(response_format=kind)
    parser.feed(text)
    parser.finish(reason)
    return parser.message


def test_an_answer_is_a_value_of_its_type(subtests: Any) -> None:
    for name, kind in TRIPS.items():
        with subtests.test(name):
            message = read(TEXT, kind)
            assert message.unparsed is None
            value = message.parsed
            fields = value if isinstance(value, dict) else {"place": value.place, "days": value.days}
            assert fields == {"place": "Rome", "days": 3}
            if isinstance(kind, type) and kind is not Dict:
                assert isinstance(value, kind)


@pytest.mark.parametrize("kind", TRIPS.values(), ids=TRIPS)
def test_an_answer_that_is_cut_or_does_not_fit_has_a_reason(kind: Any) -> None:
    for end in range(len(TEXT)):
        message = read(TEXT[:end], kind)
        assert message.parsed is None
        assert message.unparsed
    assert read(TEXT, kind, "length").unparsed == "the answer was cut off"
    assert read(TEXT.replace("3", '"three"'), kind).parsed is None
    assert read(TEXT.replace('"days": 3', '"day": 3'), kind).unparsed
    parser = FORMAT.parser(response_format=kind)
    parser.feed(TEXT)
    assert parser.message.unparsed == "the answer is not over"


def test_what_the_schema_says_of_values_is_checked() -> None:
    for name in ("pydantic", "pydantic's adapter", "pydantic's dataclass", "schema", "schema without a type"):
        message = read(TEXT.replace("3", "30"), TRIPS[name])
        assert message.parsed is None, name
        assert message.unparsed
        assert ("at character 27" if "schema" in name else "equal to 9") in message.unparsed


def test_the_order_of_properties_and_whitespace_do_not_count() -> None:
    message = read(
        '{\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n "days" : 3 , "place":"Rome"}',
        SCHEMA,
    )
    assert message.parsed == {"days": 3, "place": "Rome"}


def test_other_types(subtests: Any) -> None:
    for kind, text, value in (
        (list[Plain], f"[{TEXT}]", [Plain("Rome", 3)]),
        (Literal["a", "b"], '"b"', "b"),
        (Place, '"Oslo"', Place.OSLO),
        (int | None, "null", None),
        (dict[str, int], '{"a": 1}', {"a": 1}),
        (pydantic.TypeAdapter(list[Model]), f"[{TEXT}]", [Model(place="Rome", days=3)]),
    ):
        with subtests.test(str(kind)):
            message = read(text, kind)
            assert (message.parsed, message.unparsed) == (value, None)


def test_what_no_json_was_asked_for_is_not_read() -> None:
    for kind in (None, {"type": "text"}, {"type": "regex", "regex": ".*"}, {"type": "choice", "choice": [TEXT]}):
        assert read(TEXT, kind).unparsed == "no JSON was asked for"
    assert read(TEXT, {"type": "json_object"}).parsed == {"place": "Rome", "days": 3}
    assert read("[1]", {"type": "json_object"}).unparsed == "the answer is no JSON object"
    assert read("NaN", {"type": "number"}).unparsed == "the answer is no such value: NaN is not JSON"


@pytest.mark.parametrize("name", ["pydantic", "pydantic's adapter", "pydantic's dataclass", "dataclass", "msgspec"])
def test_the_grammar_holds_the_declared_fields_only(name: str) -> None:
    grammar = sg.Grammar.from_json_schema(TRIPS[name])
    assert grammar.accepts(TEXT)
    assert not grammar.accepts(TEXT.replace("}", ', "more": 1}'))
    assert not grammar.accepts('{"place": "Rome"}')
    if name != "pydantic's dataclass":
        nested = f'{TEXT[:-1]}, "stops": [{TEXT}]}}'
        assert grammar.accepts(nested)
        assert not grammar.accepts(nested.replace("}]}", ', "more": 1}]}'))


def test_a_type_that_says_what_else_there_is_keeps_it() -> None:
    class Open(pydantic.BaseModel, extra="allow"):
        place: str

    assert sg.Grammar.from_json_schema(Open).accepts('{"place": "Rome", "more": 1}')


def test_a_property_may_be_called_like_a_keyword() -> None:
    class Odd(pydantic.BaseModel):
        type: str
        properties: dict[str, int] = {}

    assert sg.Grammar.from_json_schema(Odd).accepts('{"type": "object", "properties": {"a": 1}}')


def test_what_is_no_response_format_is_refused() -> None:
    codec = sg.load("embedded").codec
    asked = [{"role": "user", "content": "Where?"}]
    for wrong in (5, "trip", {}, {"schema": SCHEMA}, {"type": "json_shema"}, {"type": 5}, [SCHEMA]):
        with pytest.raises(RequestError) as refused:
            codec.prepare(asked, response_format=wrong)  # type: ignore[arg-type]
        assert refused.value.code == "E-REQUEST-RESPONSE-FORMAT"
    for kind in (object, list[Model]):
        with pytest.raises(ArgumentTypeError) as unknown:
            codec.prepare(asked, response_format=kind)
        assert unknown.value.code == "E-SCHEMA-TYPE"
        with pytest.raises(ArgumentTypeError):
            sg.Grammar.from_json_schema(kind)


def test_a_model_answers_with_a_value() -> None:
    model = sg.load("embedded")
    asked = [{"role": "user", "content": "A trip to Rome for 3 days."}]
    for kind in (Model, Plain, Struct):
        found = model.chat(asked, response_format=kind, temperature=0, max_tokens=200)
        assert isinstance(found.parsed, kind)
        cut = model.chat(asked, response_format=kind, temperature=0, max_tokens=3)
        assert (cut.parsed, cut.unparsed) == (None, "the answer was cut off")


def test_a_message_stays_a_plain_value() -> None:
    message = read(TEXT, Plain)
    assert message == sg.Message(content=TEXT)
    assert message.parsed == Plain("Rome", 3)
    for again in (pickle.loads(pickle.dumps(message)), copy.copy(message), copy.deepcopy(message)):
        assert again == message
    assert sg.Message(content=TEXT).unparsed == "no JSON was asked for"


def test_a_turn_and_its_recording_are_stored() -> None:
    turn = sg.load("embedded").codec.prepare([{"role": "user", "content": "Where?"}], response_format=Plain)
    parser = pickle.loads(pickle.dumps(turn)).parser()
    parser.feed(TEXT)
    parser.finish()
    assert parser.message.parsed == Plain("Rome", 3)
    recorder = record(FORMAT, response_format=Plain)
    recorder.feed(TEXT)
    recorder.finish()
    assert recorder.message.parsed == Plain("Rome", 3)
    bundle = recorder.bundle()
    assert Bundle.from_json(bundle.to_json()) == bundle
