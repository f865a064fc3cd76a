"""Tags of models, captures and named grammars under xgrammar's names."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

import syntagma.compat.xgrammar as xgr
from syntagma import formats
from tests.compat.xgrammar_shim import XGRAMMAR

TOOL = {
    "type": "function",
    "function": {
        "name": "look",
        "parameters": {"type": "object", "properties": {"place": {"type": "string"}}, "required": ["place"]},
    },
}
OTHER = {"type": "web", "name": "web.find", "parameters": {"type": "object", "properties": {}}}
MODELS = tomllib.loads((Path(xgr.__file__).parent / "xgrammar.toml").read_text(encoding="utf-8"))["models"]
accepts = XGRAMMAR.testing._is_grammar_accept_string


def matcher_of(source: str) -> xgr.GrammarMatcher:
    info = xgr.TokenizerInfo([*(bytes([value]) for value in range(256)), b"12,", b"</s>"], stop_token_ids=[257])
    return xgr.GrammarMatcher(xgr.GrammarCompiler(info).compile_grammar(source))


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("reasoning", ["enabled", "disabled", "auto"])
def test_every_model_has_a_tag_that_is_read(model: str, reasoning: Any) -> None:
    tag = xgr.get_model_structural_tag(model, [TOOL], "required", reasoning)
    assert isinstance(tag, xgr.StructuralTag)
    assert not accepts(xgr.Grammar.from_structural_tag(tag), "an answer")
    assert "look" in tag.model_dump_json()


def test_a_tag_takes_calls_of_the_chosen_tools() -> None:
    call = '<tool_call>\n{"name": "look", "arguments": {"place": "Rome"}}\n</tool_call>'
    other = call.replace("look", "web.find").replace('"place": "Rome"', "")
    for choice, texts in (
        ("auto", (True, True, True)),
        ("none", (True, False, False)),
        ("required", (False, True, True)),
        ({"type": "function", "function": {"name": "look"}}, (False, True, False)),
        ({"type": "web"}, (False, False, True)),
        (
            {"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [{"type": "web"}]}},
            (False, False, True),
        ),
    ):
        tag = xgr.get_model_structural_tag("hermes", [TOOL, OTHER], choice, "disabled")
        grammar = xgr.Grammar.from_structural_tag(tag)
        assert tuple(accepts(grammar, text) for text in ("answer", call, other)) == texts, choice
    once = xgr.get_model_structural_tag("hermes", [TOOL], "required", False, parallel_tool_calls=False)
    assert not accepts(xgr.Grammar.from_structural_tag(once), f"{call}\n{call}")
    spaced = xgr.get_model_structural_tag("hermes", [TOOL], any_order=True, max_whitespace_cnt=1)
    schemas = json.dumps(spaced.model_dump())
    assert '"any_order": true' in schemas
    assert '"max_whitespace_cnt": 1' in schemas


def test_exaone_writes_calls_without_line_breaks() -> None:
    """As xgrammar's own tag of it has them."""
    tag = xgr.get_model_structural_tag("exaone", [TOOL], "auto", "disabled")
    grammar = xgr.Grammar.from_structural_tag(tag)
    call = '<tool_call>{"name": "look", "arguments": {"place": "Rome"}}</tool_call>'
    assert accepts(grammar, f"text{call}{call}")
    assert not accepts(grammar, call.replace("look", "other"))


def test_reasoning_is_opened_by_the_prompt_or_left_out() -> None:
    texts = ("so</think>ok", "<think>so</think>ok", "ok")
    for reasoning, wanted in (("enabled", (True, True, False)), ("disabled", (False, False, True))):
        tag = xgr.get_builtin_structural_tag("qwen_3", [], "none", reasoning)
        grammar = xgr.Grammar.from_structural_tag(tag)
        assert tuple(accepts(grammar, text) for text in texts) == wanted, reasoning


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nobody",), "no model"),
        (("hermes", "look"), "a list"),
        (("hermes", [{"type": "function"}]), "missing required field `function`"),
        (("hermes", [], "required"), "no tools"),
        (("hermes", [], "perhaps"), "no tool choice"),
        (("hermes", [TOOL], {"type": "function", "function": {"name": "other"}}), "no tool 'other'"),
        (("hermes", [TOOL], {"type": "web"}), "leaves 0"),
        (
            ("hermes", [TOOL], {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [OTHER]}}),
            "web",
        ),
        (("hermes", [], "auto", "loud"), "reasoning"),
    ],
)
def test_what_is_wrong_is_named(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        xgr.get_model_structural_tag(*arguments)


def test_models_are_registered() -> None:
    @xgr.register_model_structural_tag("own")
    def own(functions: list[Any], others: list[Any], choice: str, reasoning: str, **options: Any) -> xgr.StructuralTag:
        assert (len(functions), len(others), choice, reasoning) == (1, 1, "auto", "auto")
        assert options["max_whitespace_cnt"] == 2
        return xgr.StructuralTag(format=xgr.structural_tag.ConstStringFormat(value=functions[0].function.name))

    tag = xgr.get_model_structural_tag("own", [TOOL, OTHER], reasoning="auto", max_whitespace_cnt=2)
    assert tag.format.model_dump() == {"type": "const_string", "value": "look"}
    assert own is not None


def test_every_model_of_the_table_is_a_format() -> None:
    for names in MODELS.values():
        for name in [names] if isinstance(names, str) else names:
            assert name in formats.names() or formats.get(name)


def test_captures_come_in_the_order_in_which_they_end() -> None:
    matcher = matcher_of('root ::= list\nlist[capture] ::= n | n "," list\nn[capture="number"] ::= [0-9]+')
    assert matcher.accept_string("1,")
    assert matcher.accept_token(256)
    assert matcher.accept_string("3")
    both = [
        ("number", b"1"),
        ("number", b"12"),
        ("number", b"3"),
        ("list", b"3"),
        ("list", b"12,3"),
        ("list", b"1,12,3"),
    ]
    assert matcher.get_captures() == both
    fork = matcher.fork()
    matcher.rollback(1)
    assert matcher.get_captures(deduplicate=False)[:2] == [("number", b"1"), ("number", b"12")]
    assert fork.get_captures() == both
    matcher.reset()
    assert matcher.get_captures() == []
    assert matcher_of('root ::= "a"').get_captures() == []


def test_lark_names_other_grammars() -> None:
    named: dict[str, Any] = {"a": xgr.Grammar.from_regex("[0-9]+"), "b": 'start: "x"'}
    grammar = xgr.Grammar.from_lark('start: "(" @a ")" @b', named_grammars=named)
    assert accepts(grammar, "(12)x")
    assert not accepts(grammar, "(12)y")
    with pytest.raises(TypeError):
        xgr.Grammar.from_lark("start: @a", named_grammars={"a": 1})  # type: ignore[dict-item]
