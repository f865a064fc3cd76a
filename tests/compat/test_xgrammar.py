"""xgrammar's names over ours: what each is, what it does, and what is not offered.

`xgrammar_names.toml` and `xgrammar_behaviour.json` hold what xgrammar 0.2.8 was seen to have and to do; where it is
installed, that is checked as well.
"""

from __future__ import annotations

import ast
import importlib
import importlib.metadata
import json
import tomllib
import warnings
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from tokenizers import Tokenizer, decoders, pre_tokenizers, trainers
from tokenizers.models import BPE

import syntagma.compat.xgrammar as ours
from tests.compat.xgrammar_scenarios import Scenarios
from tests.compat.xgrammar_shape import names
from tests.compat.xgrammar_shim import XGRAMMAR

HERE = Path(__file__).parent
NAMES: dict[str, str] = tomllib.loads((HERE / "xgrammar_names.toml").read_text(encoding="utf-8"))["names"]
BEHAVIOUR: dict[str, Any] = json.loads((HERE / "xgrammar_behaviour.json").read_text(encoding="utf-8"))
PACKAGE = Path(ours.__file__).parent
UNSUPPORTED: dict[str, str] = tomllib.loads((PACKAGE / "xgrammar.toml").read_text(encoding="utf-8"))["unsupported"]
MOST_UNSUPPORTED = 4
"""lower it when a name is offered; never raise it"""


def peer() -> ModuleType:
    try:
        version = importlib.metadata.version("xgrammar")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("xgrammar is not installed")
    if not version.startswith("0.2."):
        pytest.skip(f"xgrammar {version} is not the one whose names these are")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return importlib.import_module("xgrammar")


def described(module: ModuleType) -> dict[str, str]:
    parts = [
        importlib.import_module(f"{module.__name__}.{part}") for part in ("testing", "structural_tag", "contrib.hf")
    ]
    return names(module, *parts)


def plain(value: Any) -> Any:
    """As JSON would have it."""
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value.decode("latin-1") if isinstance(value, bytes) else value


def agrees(found: Any, recorded: Any) -> bool:
    """Whether it is the same, and an error caught as the recorded one is."""
    if isinstance(found, list) and isinstance(recorded, list):
        return len(found) == len(recorded) and all(map(agrees, found, recorded))
    return found == recorded or (isinstance(found, str) and "|" in found and recorded in found.split("|"))


def test_every_name_with_its_parameters() -> None:
    found = described(ours)
    assert {name: found.get(name) for name in NAMES} == NAMES


def test_names_stand_in_the_modules_where_they_are_looked_for() -> None:
    homes = {
        "matcher": ["GrammarMatcher", "BatchGrammarMatcher", "allocate_token_bitmask", "bitmask_dtype"],
        "grammar": ["Grammar", "StructuralTagItem"],
        "compiler": ["CompiledGrammar", "GrammarCompiler"],
        "tokenizer_info": ["TokenizerInfo", "VocabType"],
        "structural_tag": ["StructuralTag"],
        "exception": ["InvalidJSONError"],
        "config": ["max_recursion_depth"],
    }
    for home, listed in homes.items():
        module = importlib.import_module(f"{ours.__name__}.{home}")
        for name in listed:
            assert getattr(module, name) is getattr(ours, name)
    assert ours.contrib.hf.LogitsProcessor is ours.hf.LogitsProcessor


def test_the_recorded_names_are_those_of_xgrammar() -> None:
    assert described(peer()) == NAMES


@pytest.mark.parametrize("scenario", sorted(BEHAVIOUR))
def test_behaviour(scenario: str) -> None:
    found = plain(getattr(Scenarios(XGRAMMAR), scenario)())
    assert agrees(found, BEHAVIOUR[scenario]), (found, BEHAVIOUR[scenario])


@pytest.mark.parametrize("scenario", sorted(BEHAVIOUR))
@pytest.mark.filterwarnings("ignore")
def test_the_recorded_behaviour_is_that_of_xgrammar(scenario: str) -> None:
    assert plain(getattr(Scenarios(peer()), scenario)()) == BEHAVIOUR[scenario]


def test_every_scenario_is_recorded() -> None:
    helpers = {"matcher", "mask", "accepts"}
    assert {name for name in vars(Scenarios) if not name.startswith("_")} - helpers == set(BEHAVIOUR)


GRAMMAR = ours.Grammar.from_ebnf('root ::= "a"')
COMPILED = ours.GrammarCompiler(ours.TokenizerInfo(["a", "</s>"])).compile_grammar(GRAMMAR)
REFUSALS: dict[str, Callable[[], Any]] = {
    "TokenizerInfo.from_huggingface(slow tokenizer)": lambda: ours.TokenizerInfo.from_huggingface(Slow()),
    "from_json_schema(indent, separators)": lambda: ours.Grammar.from_json_schema(
        {}, any_whitespace=False, indent=2, separators=(", ", ": ")
    ),
    "structural_tag(format)": lambda: ours.Grammar.from_structural_tag(
        ours.StructuralTag(format=ours.structural_tag.JSONSchemaFormat(json_schema={}, excludes=["x"]))
    ),
    "testing.GrammarFunctor": lambda: ours.testing.GrammarFunctor.rule_inliner(GRAMMAR),
}


class Slow:
    eos_token_id = 0

    def get_vocab(self) -> dict[str, int]:
        return {"a": 0}


def test_the_list_of_what_is_not_offered_is_what_raises() -> None:
    assert set(REFUSALS) == set(UNSUPPORTED)
    for name, call in REFUSALS.items():
        with pytest.raises(NotImplementedError) as caught:
            call()
        assert str(caught.value).startswith(f"{name}: {UNSUPPORTED[name]}")


def test_the_list_of_what_is_not_offered_only_becomes_shorter() -> None:
    assert len(UNSUPPORTED) <= MOST_UNSUPPORTED
    said = {
        node.args[0].value
        for path in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and getattr(node.func, "id", "") == "refuse"
        and isinstance(node.args[0], ast.Constant)
    }
    assert said == set(UNSUPPORTED)


@pytest.mark.parametrize(
    "tag",
    [
        {"type": "json_schema", "json_schema": {}, "excludes": ["</f>"]},
        {"type": "star", "content": {"type": "any_text", "max_tokens": 3}},
        {"type": "json_schema", "json_schema": {}, "style": "other_xml"},
    ],
)
def test_formats_that_are_not_supported(tag: dict[str, Any]) -> None:
    with pytest.raises(NotImplementedError, match="cannot express"):
        ours.Grammar.from_structural_tag({"type": "structural_tag", "format": tag})


def test_structural_tags_as_classes() -> None:
    of = ours.structural_tag
    model = ours.StructuralTag(
        format=of.SequenceFormat(
            elements=[
                of.ConstStringFormat(value="x"),
                of.OptionalFormat(content=of.RegexFormat(pattern="[0-9]")),
                of.RepeatFormat(min=1, max=-1, content=of.GrammarFormat(grammar='root ::= "q"')),
                of.TagFormat(begin="<", content=of.AnyTextFormat(excludes=["zz"]), end=[">", "|"]),
            ]
        )
    )
    again = ours.StructuralTag.from_json(model.model_dump_json())
    assert again == model
    assert type(again.format) is of.SequenceFormat
    for tag in (model, again, model.model_dump(), model.model_dump_json()):
        grammar = ours.Grammar.from_structural_tag(tag)
        texts = ("x1q<free>", "xqq<|", "x<>", "x1q<zz>")
        assert [XGRAMMAR.testing._is_grammar_accept_string(grammar, text) for text in texts] == [
            True,
            True,
            False,
            False,
        ]
    for wrong in ("{}", '{"format": {"type": "nope"}}', '{"format": {"type": "or"}}', "[]"):
        with pytest.raises(ValueError, match=r"format|object|missing"):
            ours.StructuralTag.from_json(wrong)


class FastTokenizer:
    """What is asked of a fast `transformers` tokenizer."""

    def __init__(self, eos: int | None) -> None:
        self.backend_tokenizer = Tokenizer(BPE())
        self.backend_tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        self.backend_tokenizer.decoder = decoders.ByteLevel()
        trainer = trainers.BpeTrainer(
            vocab_size=300,
            special_tokens=["</s>", "<x>"],
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        )
        self.backend_tokenizer.train_from_iterator(["the lamp and the river"] * 9, trainer)
        self.eos_token_id = eos

    def get_vocab(self) -> dict[str, int]:
        return self.backend_tokenizer.get_vocab()


def test_a_vocabulary_of_a_tokenizer() -> None:
    tokenizer = FastTokenizer(0)
    count = len(tokenizer.get_vocab())
    info = ours.TokenizerInfo.from_huggingface(tokenizer, vocab_size=count + 20)
    assert (info.vocab_size, info.stop_token_ids, info.vocab_type) == (count + 20, [0], ours.VocabType.BYTE_LEVEL)
    assert info.special_token_ids == [1, *range(count, count + 20)]
    assert not info.add_prefix_space
    assert info.decoded_vocab[tokenizer.get_vocab()["Ġ"]] == b" "
    # A model without the last tokens of the tokenizer.
    fewer = ours.TokenizerInfo.from_huggingface(tokenizer, vocab_size=count - 5)
    assert (fewer.vocab_size, len(fewer.decoded_vocab)) == (count - 5, count - 5)
    assert ours.TokenizerInfo.from_huggingface(tokenizer, stop_token_ids=1).stop_token_ids == [1]
    with pytest.warns(UserWarning, match="stop token"):
        assert ours.TokenizerInfo.from_huggingface(FastTokenizer(None)).stop_token_ids == [0]
    with pytest.raises(ValueError, match="empty"):
        ours.TokenizerInfo.from_huggingface(tokenizer, stop_token_ids=[])
    with pytest.raises(ValueError, match="get_vocab"):
        ours.TokenizerInfo.from_huggingface(object())
    compiled = ours.GrammarCompiler(info).compile_json_schema({"type": "integer"})
    matcher = ours.GrammarMatcher(compiled)
    for token in tokenizer.backend_tokenizer.encode("12").ids:
        assert matcher.accept_token(token)
    assert matcher.accept_token(0)
    assert matcher.is_terminated()


def test_other_kinds_of_text_are_not_deserialised() -> None:
    grammar = GRAMMAR.serialize_json()
    with pytest.raises(ours.DeserializeFormatError):
        ours.TokenizerInfo.deserialize_json(grammar)
    with pytest.raises(ours.DeserializeVersionError):
        ours.Grammar.deserialize_json(grammar.replace(ours.get_serialization_version(), "v0"))
    other = ours.TokenizerInfo(["a", "b", "</s>"])
    with pytest.raises(ours.DeserializeFormatError):
        ours.CompiledGrammar.deserialize_json(COMPILED.serialize_json(), other)
    with pytest.raises(ours.DeserializeFormatError):
        ours.TokenizerInfo.deserialize_json(
            ours.TokenizerInfo(["a"]).serialize_json().replace('"vocab":["YQ=="]', '"vocab":["?"]')
        )


INNER = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
OTHER = {"type": "object", "properties": {"b": {"type": "integer"}}, "required": ["b"]}
TREE = {
    "$ref": "#/$defs/t",
    "$defs": {"t": {"type": "object", "properties": {"kids": {"type": "array", "items": {"$ref": "#/$defs/t"}}}}},
}


@pytest.mark.parametrize(
    ("schema", "accepted", "refused"),
    [
        ({"allOf": [INNER, OTHER]}, ['{"a": 1, "b": 2}'], ['{"a": 1, "b": 2, "c": 3}', '{"a": 1}']),
        ({"anyOf": [INNER, OTHER]}, ['{"a": 1}', '{"b": 2}'], ['{"a": 1, "c": 3}']),
        (INNER | {"anyOf": [OTHER, {"required": ["a"]}]}, ['{"a": 1}', '{"a": 1, "b": 2}'], ['{"a": 1, "c": 3}']),
        ({"allOf": [INNER]}, ['{"a": 1}'], ['{"a": 1, "c": 3}']),
        ({"allOf": [{"$ref": "#/$defs/x"}, OTHER], "$defs": {"x": INNER}}, ['{"a": 1, "b": 2}'], ['{"a": 1}']),
        (
            {"type": "array", "items": {"$ref": "#/$defs/x"}, "$defs": {"x": INNER}},
            ['[{"a": 1}]'],
            ['[{"a": 1, "c": 3}]'],
        ),
        (
            {
                "$schema": "http://json-schema.org/draft-07/schema#",
                "$ref": "#/definitions/x",
                "definitions": {"x": INNER},
            },
            ['{"a": 1}'],
            ['{"a": 1, "c": 3}'],
        ),
        (TREE, ['{"kids": [{"kids": [{}]}]}'], ['{"kids": [{"kids": [{"c": 1}]}]}', '{"c": 1}']),
        (INNER | {"additionalProperties": True}, ['{"a": 1, "c": 3}'], ["{}"]),
        (
            {"type": "array", "items": [{"type": "integer"}], "$schema": "http://json-schema.org/draft-07/schema#"},
            ["[1]"],
            ["[1, 2]"],
        ),
    ],
)
def test_strict_mode_closes_what_is_declared(schema: dict[str, Any], accepted: list[str], refused: list[str]) -> None:
    grammar = ours.Grammar.from_json_schema(schema)
    for text in accepted:
        assert XGRAMMAR.testing._is_grammar_accept_string(grammar, text), text
    for text in refused:
        assert not XGRAMMAR.testing._is_grammar_accept_string(grammar, text), text
