"""What constrains a model under SGLang's names: tags, schemas of calls, grammars that wait for the end of reasoning."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import syntagma as sg
import syntagma.compat.xgrammar as xgr
from syntagma.compat.sglang import (
    FunctionCallParser,
    GrammarBackend,
    JsonArrayParser,
    LegacyStructuralTagResponseFormat,
    ReasonerGrammarBackend,
    ReasonerGrammarObject,
    ToolChoice,
    ToolChoiceFuncName,
    ToolStrictLevel,
    get_json_schema_constraint,
    think_end_ids,
)
from syntagma.compat.sglang.reasoner_grammar_backend import BaseGrammarObject, MatcherGrammarObject
from syntagma.format_schema import used_markers

TREE = {
    "type": "object",
    "properties": {"root": {"$ref": "#/$defs/node"}, "$ref": {"type": "string"}, "same": {"const": {"$ref": "#/x"}}},
    "required": ["root"],
    "additionalProperties": False,
    "$defs": {
        "node": {
            "type": "object",
            "properties": {"next": {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]}},
            "required": ["next"],
            "additionalProperties": False,
        }
    },
}
CITY = {
    "type": "object",
    "properties": {"city": {"$ref": "#/$defs/node"}},
    "required": ["city"],
    "additionalProperties": False,
    "$defs": {"node": {"type": "string"}},
}
TOOLS: list[dict[str, Any]] = [
    {"type": "function", "function": {"name": "tree", "parameters": TREE}},
    {"type": "function", "function": {"name": "weather", "parameters": CITY}},
    {"type": "function", "function": {"name": "now"}},
]
FIXED = [
    name
    for name in sg.formats.names()
    if name in FunctionCallParser.ToolCallParserEnum
    and FunctionCallParser.ToolCallParserEnum[name]().supports_structural_tag()
]


# -- structural tags


@pytest.mark.parametrize("name", FIXED)
def test_what_a_tag_allows_is_read_as_the_call_that_it_is(name: str) -> None:
    parser = FunctionCallParser(TOOLS, name, tool_strict_level=ToolStrictLevel.FUNCTION)
    kind, tag = parser.get_structure_constraint("auto") or (None, None)
    assert kind == "structural_tag"
    assert isinstance(tag, LegacyStructuralTagResponseFormat)
    assert [structure.schema for structure in tag.structures] == [TREE, CITY, {"type": "object"}]
    assert [structure.schema_ for structure in tag.structures] == [structure.schema for structure in tag.structures]
    grammar = sg.Grammar.from_structural_tag(tag.model_dump())
    arguments = ('{"root": {"next": {"next": null}}}', '{"city": "Oslo"}', "{}")
    for tool, structure, written in zip(TOOLS, tag.structures, arguments, strict=True):
        assert any(structure.begin.startswith(trigger) for trigger in tag.triggers)
        text = structure.begin + written + structure.end
        assert grammar.accepts(text)
        assert not grammar.accepts(structure.begin + "[]" + structure.end)
        found = parser.parse_non_stream(text)
        assert [(call.name, json.loads(call.parameters)) for call in found[1]] == [
            (tool["function"]["name"], json.loads(written))
        ]
    assert grammar.accepts("No call at all")


@pytest.mark.parametrize("name", FIXED)
@settings(max_examples=10, deadline=None)
@given(st.text(st.sampled_from("abcZ09_-"), min_size=1, max_size=8), st.sampled_from(["", "é", "b c", '"']))
def test_what_stands_around_a_call_is_what_is_written(name: str, tool: str, odd: str) -> None:
    fmt = sg.formats.get(name)
    message = sg.Message(tool_calls=(sg.ToolCall(id="", name=tool + odd, arguments='{"a": 1}'),))
    try:
        fmt.write(message)
    except sg.FormatError:
        return  # no call of such a name can be written
    info = FunctionCallParser.ToolCallParserEnum[name]().structure_info()(tool + odd)
    start = "closed" if fmt.spec.reasoning is not None else "auto"
    (call,) = fmt.parse(f'{info.begin}{{"a": 1}}{info.end}', reasoning=start).tool_calls
    assert (call.name, call.arguments, call.complete) == (tool + odd, '{"a": 1}', True)


def test_several_calls_may_stand_in_one_section() -> None:
    fmt = sg.ChatFormat.from_toml('[tools]\nsection = "<s>{calls}</s>"\ncall = "<c>{name}:{arguments}</c>"\n')
    tag = FunctionCallParser(TOOLS, fmt).get_structure_tag()
    grammar = sg.Grammar.from_structural_tag(tag.model_dump())
    assert grammar.accepts("<s><c>now:{}</c><c>now:{}</c></s>")
    assert not grammar.accepts("<s><c>now:{}</c><c>now:3</c></s>")


WITH_CALLS = [name for name in sg.formats.names() if name in FunctionCallParser.ToolCallParserEnum]


@pytest.mark.parametrize("name", WITH_CALLS)
def test_every_format_has_a_tag_of_the_whole_answer(name: str) -> None:
    parser = FunctionCallParser(TOOLS[1:], name)
    tag = parser.detector.get_structural_tag(parser.tools, tool_choice="required")
    grammar = sg.Grammar.from_structural_tag(json.dumps(tag))
    fmt = sg.formats.get(name)
    calls = tuple(sg.ToolCall(id="", name="weather", arguments=json.dumps({"city": city})) for city in ("Oslo", "Rome"))
    spec = msgspec.structs.replace(fmt.spec, reasoning=None) if fmt.spec.messages is None else fmt.spec
    plain = sg.ChatFormat(msgspec.structs.replace(spec, markers=used_markers(spec, spec.markers)))
    one, two = (plain.write(sg.Message(tool_calls=calls[:count]), TOOLS[1:]) for count in (1, 2))
    assert grammar.accepts(one)
    assert grammar.accepts(two)
    assert not grammar.accepts(one.replace("weather", "whether"))
    assert not grammar.accepts("No call at all")
    single = parser.detector.get_structural_tag(
        parser.tools, tool_choice=ToolChoice(function=ToolChoiceFuncName(name="weather")), parallel_tool_calls=False
    )
    one_only = parser.detector.get_structural_tag(parser.tools, tool_choice="required", parallel_tool_calls=False)
    for tag in (single, one_only):
        assert sg.Grammar.from_structural_tag(dict(tag)).accepts(one)
        assert not sg.Grammar.from_structural_tag(dict(tag)).accepts(two)


def test_a_tag_of_an_answer_that_begins_with_reasoning() -> None:
    detector = FunctionCallParser(TOOLS, sg.formats.get("qwen25", reasoning="qwen3")).detector
    for thinks in (True, False):
        grammar = sg.Grammar.from_structural_tag(dict(detector.get_structural_tag(TOOLS, thinking_mode=thinks)))
        assert grammar.accepts("<think>\nHm.\n</think>\n\nYes.") is thinks
        assert grammar.accepts("Yes.")


def test_there_are_formats_with_and_without_a_tag() -> None:
    assert 10 < len(FIXED) < len(sg.formats.names())


@pytest.mark.parametrize("name", ["kimi_k2", "cohere_command4", "openchatml"])
def test_ids_and_numbers_are_no_fixed_text(name: str) -> None:
    assert name not in FIXED


def test_an_opener_that_answers_share_is_no_trigger() -> None:
    fmt = sg.ChatFormat.from_toml(
        '[content]\nblock = "<say>{content}</say>"\n[tools]\ncall = "<say>{name}<args>{arguments}</say>"\n'
    )
    assert not FunctionCallParser(TOOLS, fmt).detector.supports_structural_tag()


def test_allowed_tools_alone_are_in_the_tag() -> None:
    allowed = {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "now"}]}
    parser = FunctionCallParser(TOOLS, "qwen25", tool_strict_level=2)
    kind, tag = parser.get_structure_constraint(allowed) or (None, None)
    assert kind == "structural_tag"
    assert isinstance(tag, LegacyStructuralTagResponseFormat)
    assert ['"now"' in structure.begin for structure in tag.structures] == [True]


@pytest.mark.parametrize("tools", [None, []])
def test_without_tools_nothing_is_held(tools: Any) -> None:
    assert FunctionCallParser(tools, "qwen25", tool_strict_level=2).get_structure_constraint("auto") is None


@pytest.mark.parametrize(("setting", "level"), [(None, 0), ("0", 0), ("1", 1), ("2", 2)])
def test_the_level_of_the_environment(monkeypatch: pytest.MonkeyPatch, setting: str | None, level: int) -> None:
    monkeypatch.delenv("SGLANG_TOOL_STRICT_LEVEL", raising=False)
    if setting is not None:
        monkeypatch.setenv("SGLANG_TOOL_STRICT_LEVEL", setting)
    parser = FunctionCallParser(TOOLS, "qwen25")
    assert parser.tool_strict_level is ToolStrictLevel(level)
    assert (parser.get_structure_constraint("auto") is not None) is (level > 0)
    assert FunctionCallParser(TOOLS, "qwen25", tool_strict_level=0).get_structure_constraint("auto") is None


# -- an array of calls


def _calls(*calls: tuple[str, Any]) -> str:
    return json.dumps([{"name": name, "parameters": parameters} for name, parameters in calls])


GOOD = [
    ("tree", {"root": {"next": {"next": None}}, "$ref": "a"}),
    ("tree", {"root": {"next": None}, "same": {"$ref": "#/x"}}),
    ("weather", {"city": "Oslo"}),
    ("now", {}),
]
BAD = [("tree", {"root": "Oslo"}), ("weather", {"city": {"next": None}}), ("now", 3), ("nobody", {})]


@pytest.mark.parametrize("choice", ["required", "weather", ToolChoice(function=ToolChoiceFuncName(name="weather"))])
@pytest.mark.parametrize("parallel", [True, False])
def test_the_schema_of_required_calls(choice: Any, parallel: bool) -> None:
    parser = FunctionCallParser(TOOLS, "qwen25")
    kind, schema = parser.get_structure_constraint(choice, parallel_tool_calls=parallel) or (None, None)
    assert kind == "json_schema"
    assert isinstance(schema, dict)
    json.dumps(schema)
    grammar = sg.Grammar.from_json_schema(schema)
    allowed = [call for call in GOOD if choice == "required" or call[0] == "weather"]
    for call in allowed:
        text = _calls(call)
        assert grammar.accepts(text), text
        found = JsonArrayParser(TOOLS).parse_non_stream(text)
        assert found[0] == ""
        assert [(one.name, json.loads(one.parameters)) for one in found[1]] == [call]
    several = parallel and choice == "required"
    assert grammar.accepts(_calls(*itertools.islice(itertools.cycle(allowed), 3))) is several
    for text in ("[]", "{}", *map(_calls, BAD)):
        assert not grammar.accepts(text), text
    if choice != "required":
        assert not grammar.accepts(_calls(("now", {})))
    assert TOOLS[0]["function"]["parameters"]["properties"]["root"] == {"$ref": "#/$defs/node"}, "nothing is changed"


def test_a_schema_that_names_itself_keeps_its_references() -> None:
    parameters = {**CITY, "$id": "https://example.org/city"}
    tools = [{"name": "weather", "parameters": parameters}]
    _, schema = FunctionCallParser(tools, "qwen25").get_structure_constraint("required") or (None, None)
    assert isinstance(schema, dict)
    assert schema["items"]["anyOf"][0]["properties"]["parameters"] == parameters


def test_a_deep_schema_is_no_recursion() -> None:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(5000):
        schema = {"items": schema}
    found = FunctionCallParser([{"name": "deep", "parameters": schema}], "qwen25").get_structure_constraint("required")
    assert found is not None


@pytest.mark.parametrize("choice", ["nobody", {"type": "function", "function": {"name": "nobody"}}, 3, {"type": "x"}])
def test_a_choice_that_cannot_be_made(choice: Any) -> None:
    with pytest.raises(sg.RequestError) as raised:
        FunctionCallParser(TOOLS, "qwen25").get_structure_constraint(choice)
    assert raised.value.code == "E-REQUEST-TOOL-CHOICE"


# -- a grammar after reasoning

VOCABULARY = [bytes([byte]) for byte in range(256)] + [b"</s>"]
ENDS = {"one token": (200,), "several tokens": (200, 200, 201)}


def _plain() -> Any:
    info = sg.TokenizerInfo.from_tokens(VOCABULARY, eos_token_ids=[256])
    return sg.GrammarMatcher(sg.GrammarCompiler(info).compile(sg.Grammar.from_regex("(ab)*c")))


def _xgrammar() -> Any:
    info = xgr.TokenizerInfo(VOCABULARY, stop_token_ids=[256])
    return xgr.GrammarMatcher(xgr.GrammarCompiler(info).compile_regex("(ab)*c"))


def _object() -> BaseGrammarObject:
    return MatcherGrammarObject(_plain())


MATCHERS = {"sg": _plain, "xgrammar": _xgrammar, "an object": _object}


def _mask(grammar: ReasonerGrammarObject) -> list[int]:
    """The tokens that may come next; None of the buffer's old bits may stay."""
    mask = np.full((2, 9), 0x0F0F0F0F, np.int32)
    grammar.fill_vocab_mask(mask, 1)
    assert (mask[0] == 0x0F0F0F0F).all(), "only the row is written"
    bits = np.unpackbits(mask[1].view(np.uint8), bitorder="little")[:257]
    return [int(token) for token in np.flatnonzero(bits)]


def _expected(tokens: list[int], ends: tuple[int, ...]) -> tuple[int, str | None]:
    """Where reasoning ends (the number of tokens, or -1), and what the grammar was shown after it."""
    for at in range(len(tokens) - len(ends) + 1):
        if tuple(tokens[at : at + len(ends)]) == ends:
            rest = tokens[at + len(ends) :]
            return at + len(ends), "".join("$" if token == 256 else chr(token) for token in rest)
    return -1, None


def _next(shown: str) -> list[int]:
    if shown.endswith("$"):
        return list(range(257))
    if shown.endswith("c"):
        return [256]
    return [ord("b")] if shown.endswith("a") else [ord("a"), ord("c")]


@pytest.mark.parametrize("matcher", MATCHERS)
@pytest.mark.parametrize("ends", ENDS.values(), ids=ENDS)
@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.sampled_from([97, 98, 99, 200, 200, 201, 256, "back", "back", "copy"]), max_size=30), st.integers(1, 5)
)
def test_every_path_through_reasoning_and_back(
    matcher: str, ends: tuple[int, ...], steps: list[Any], back: int
) -> None:
    grammar = ReasonerGrammarObject(MATCHERS[matcher](), ends)
    tokens: list[int] = []
    for step in steps:
        over, shown = _expected(tokens, ends)
        assert grammar.tokens_after_think_end == (-1 if shown is None else len(tokens) - over)
        assert grammar.is_terminated() is bool(shown and shown.endswith("$"))
        allowed = list(range(257)) if shown is None else _next(shown)
        assert _mask(grammar) == allowed
        if step == "copy":
            grammar, old = grammar.copy(), grammar
            old.rollback(len(tokens))
        elif step == "back":
            count = min(back, len(tokens))
            grammar.rollback(count)
            tokens = tokens[: len(tokens) - count]
        elif step in allowed and not (shown and shown.endswith("$")):
            grammar.accept_token(step)
            tokens.append(step)
            assert grammar.current_token == step
        elif shown is not None and not shown.endswith("$"):
            with pytest.raises(sg.ArgumentError) as raised:
                grammar.accept_token(step)
            assert raised.value.code == "E-ARGUMENT-TOKEN"


@pytest.mark.parametrize("make", MATCHERS.values(), ids=MATCHERS)
def test_a_text_without_reasoning(make: Any) -> None:
    grammar = ReasonerGrammarObject(make(), 200)
    grammar.maybe_init_reasoning(False)
    assert _mask(grammar) == [97, 99]
    grammar.accept_token(97)
    grammar.rollback(1)
    assert _mask(grammar) == [97, 99]
    with pytest.raises(sg.ArgumentError, match="only 0 were accepted"):
        grammar.rollback(1)


def test_without_a_grammar_everything_is_allowed() -> None:
    grammar = ReasonerGrammarObject(None, [200])
    for token in (1, 200, 2, 256):
        assert len(_mask(grammar)) == 257
        grammar.accept_token(token)
    assert (grammar.tokens_after_think_end, grammar.is_terminated()) == (2, False)
    assert grammar.copy().tokens_after_think_end == 2
    assert grammar.try_jump_forward(None) is None


def test_masks_by_the_names_of_a_scheduler() -> None:
    grammar = ReasonerGrammarObject(_plain(), 200)
    grammar.maybe_init_reasoning(False)
    mask = grammar.allocate_vocab_mask(257, 1, "cpu")
    grammar.fill_vocab_mask(mask, 0)
    logits = np.zeros((1, 257), np.float32)
    array = mask if isinstance(mask, np.ndarray) else mask.numpy()
    grammar.apply_vocab_mask(logits, grammar.move_vocab_mask(array, "cpu"))
    assert np.flatnonzero(np.isfinite(logits[0])).tolist() == [97, 99]


@pytest.mark.parametrize(
    ("grammar", "ends", "code"),
    [
        (object(), 1, "E-ARGUMENT-TYPE"),
        (None, [], "E-ARGUMENT-VALUE"),
        (None, -1, "E-ARGUMENT-VALUE"),
        (None, ["a"], "E-ARGUMENT-TYPE"),
        (None, None, "E-ARGUMENT-TYPE"),
        (None, 1.5, "E-ARGUMENT-TYPE"),
    ],
)
def test_bad_arguments(grammar: Any, ends: Any, code: str) -> None:
    with pytest.raises(sg.ArgumentError) as raised:
        ReasonerGrammarObject(grammar, ends)
    assert raised.value.code == code


def test_tokens_are_whole_numbers() -> None:
    grammar = ReasonerGrammarObject(None, np.array([7, 8]))  # type: ignore[arg-type]
    grammar.accept_token(np.int64(7))  # type: ignore[arg-type]
    for call in (grammar.accept_token, grammar.rollback):
        with pytest.raises(sg.ArgumentTypeError):
            call("8")  # type: ignore[operator]
    grammar.accept_token(8)
    assert (grammar.think_end_ids, grammar.tokens_after_think_end) == ((7, 8), 0)


def test_the_ends_of_reasoning_by_a_real_tokenizer() -> None:
    tokenizers = pytest.importorskip("tokenizers")
    model = tokenizers.models.WordLevel({"<think>": 0, "</think>": 1, "a": 2, "<unk>": 3}, unk_token="<unk>")
    tokenizer = tokenizers.Tokenizer(model)
    tokenizer.add_special_tokens(["<think>", "</think>"])
    assert think_end_ids("</think>", tokenizer) == (1,)


def _take(grammar: Any, tokens: Iterable[int]) -> None:
    for token in tokens:
        grammar.accept_token(token)


@pytest.mark.parametrize(
    ("dispatch", "text", "good", "bad"),
    [
        ("dispatch_json", '{"type": "integer"}', b"12", b"a"),
        ("dispatch_json", "$$ANY$$", b'{"a": [null]}', b"x"),
        ("dispatch_regex", "(ab)*c", b"abc", b"b"),
        ("dispatch_ebnf", 'root ::= "a" | "b" root', b"bba", b"c"),
        (
            "dispatch_structural_tag",
            '{"structures": [{"begin": "<f>", "schema": {"type": "null"}, "end": "</f>"}], "triggers": ["<f>"]}',
            b"text <f>null</f>",
            b"<f>1",
        ),
    ],
)
def test_backends_before_and_after_reasoning(dispatch: str, text: str, good: bytes, bad: bytes) -> None:
    info = sg.TokenizerInfo.from_tokens(VOCABULARY, eos_token_ids=[256])
    backend = GrammarBackend(sg.GrammarCompiler(info))
    plain = getattr(backend, dispatch)(text)
    after = getattr(ReasonerGrammarBackend(backend, [200, 201]), dispatch)(text)
    _take(after, (*bad, 200, 201))
    for grammar in (plain, after):
        _take(grammar, (*good, 256))
        assert grammar.is_terminated()
        grammar.rollback(len(good) + 1)
        with pytest.raises(sg.ArgumentError):
            _take(grammar, bad)


def test_the_schema_alone() -> None:
    assert get_json_schema_constraint(TOOLS, "auto") is None
    schema = get_json_schema_constraint(TOOLS, "required")
    assert ("json_schema", schema) == FunctionCallParser(TOOLS, "qwen25").get_structure_constraint("required")
