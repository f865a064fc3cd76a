"""Objects of `compat.xgrammar` and of the library in each other's place, their texts, and tokens named by text."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import syntagma as sg
import syntagma.compat.xgrammar as xgr
from tests.compat.xgrammar_shim import XGRAMMAR

TOKENS = [bytes([byte]) for byte in range(256)] + [b"<|call|>", b"</s>"]
OWN_INFO = sg.TokenizerInfo.from_tokens(TOKENS, eos_token_ids=[257])
INFO = xgr.TokenizerInfo(TOKENS, stop_token_ids=[257])
OWN = sg.Grammar.from_regex("[0-9]{2}")


def allowed(matcher: xgr.GrammarMatcher, size: int = 258) -> list[int]:
    bitmask = xgr.allocate_token_bitmask(1, size)
    matcher.fill_next_token_bitmask(bitmask)
    return sorted(set(range(size)) - set(XGRAMMAR.testing._get_masked_tokens_from_bitmask(bitmask, size)))


def test_objects_of_the_library_are_taken() -> None:
    compiler = xgr.GrammarCompiler(OWN_INFO)
    compiled = compiler.compile_grammar(OWN)
    assert compiled.tokenizer_info.syntagma is OWN_INFO
    assert compiled.grammar.syntagma is OWN
    assert compiled.tokenizer_info.stop_token_ids == [257]
    matcher = xgr.GrammarMatcher(compiled)
    assert allowed(matcher) == list(b"0123456789")
    assert matcher.accept_string("12")
    assert matcher.accept_token(257)
    assert matcher.is_terminated()
    both = xgr.Grammar.union(OWN, xgr.Grammar.concat(OWN, xgr.Grammar.from_regex("x")))
    for text, fits in (("12", True), ("12x", True), ("1", False)):
        assert XGRAMMAR.testing._is_grammar_accept_string(both, text) is fits
        assert XGRAMMAR.testing._is_grammar_accept_string(OWN, text) is (text == "12")
    again = xgr.CompiledGrammar.deserialize_json(compiled.serialize_json(), OWN_INFO)
    assert allowed(xgr.GrammarMatcher(again)) == list(b"0123456789")


@pytest.mark.parametrize("without", [False, True])
def test_a_compiled_grammar_of_the_library_is_matched(without: bool) -> None:
    compiled = sg.GrammarCompiler(OWN_INFO).compile(OWN)
    matcher = xgr.GrammarMatcher(compiled, terminate_without_stop_token=without)
    assert allowed(matcher) == list(b"0123456789")
    assert matcher.accept_string("12")
    assert matcher.accept_token(257) is not without
    assert matcher.is_terminated()
    for call in (lambda: matcher.stop_token_ids, lambda: xgr.GrammarMatcher(compiled, override_stop_tokens=[0])):
        with pytest.raises(xgr.exception.WrongValueError, match="GrammarCompiler"):
            call()


def test_the_library_takes_objects_of_this_package() -> None:
    grammar = xgr.Grammar.from_regex("[0-9]{2}")
    compiled = sg.GrammarCompiler(INFO).compile(grammar)  # type: ignore[arg-type]
    matcher = sg.GrammarMatcher(compiled)
    assert matcher.accept_bytes(b"12")
    assert matcher.is_accepting()
    joined = sg.Grammar.concat(grammar, sg.Grammar.repeat(grammar, 1, 2, separator=grammar), OWN)  # type: ignore[arg-type]
    assert joined == sg.Grammar.concat(
        grammar.syntagma, sg.Grammar.repeat(grammar.syntagma, 1, 2, separator=grammar.syntagma), OWN
    )
    assert sg.Grammar.union(grammar) is grammar.syntagma  # type: ignore[arg-type]
    assert sg.Grammar.labelled("x", grammar) == sg.Grammar.labelled("x", grammar.syntagma)  # type: ignore[arg-type]
    for odd in (3, None, COMPILED):
        with pytest.raises(sg.ArgumentTypeError, match="grammars/0 must be Grammar, not a"):
            sg.Grammar.union(odd)
    # A class of the same name is told apart.
    with pytest.raises(sg.ArgumentTypeError, match=r"grammar must be Grammar, not a elsewhere\.Grammar"):
        sg.GrammarCompiler(OWN_INFO).compile(type("Grammar", (), {"__module__": "elsewhere"})())
    # Where the extension takes the object itself, it is asked for by name.
    ours = xgr.GrammarCompiler(INFO).compile_grammar(grammar)
    with pytest.raises(sg.ArgumentTypeError):
        sg.GrammarMatcher(ours)  # type: ignore[arg-type]
    assert sg.GrammarMatcher(ours.syntagma).accept_bytes(b"12")


GRAMMARS: dict[str, Any] = {
    "gbnf": lambda: xgr.Grammar.from_ebnf('root ::= "a" x\nx ::= [a-z]{2,5} | "é" root'),
    "regex": lambda: xgr.Grammar.from_regex("a.*b{3}"),
    "schema": lambda: xgr.Grammar.from_json_schema({"type": "object", "properties": {"a": {"pattern": "^[a-c]+$"}}}),
    "lark": lambda: xgr.Grammar.from_lark('start: "a" /[b-d]+/ start?'),
    "tokens": lambda: xgr.Grammar.from_structural_tag({"format": {"type": "any_tokens", "exclude_tokens": ["</s>"]}}),
    "nothing": xgr.Grammar.union,
    "empty": xgr.Grammar.concat,
    "json": xgr.Grammar.builtin_json_grammar,
}
SMALL = st.sampled_from(sorted(GRAMMARS)).map(lambda name: GRAMMARS[name]())
ANY = st.recursive(
    SMALL,
    lambda inner: st.lists(inner, min_size=1, max_size=3).flatmap(
        lambda parts: st.sampled_from([xgr.Grammar.union(*parts), xgr.Grammar.concat(*parts)])
    ),
    max_leaves=4,
)


@given(ANY)
def test_the_text_of_a_grammar_is_a_fixed_point(grammar: xgr.Grammar) -> None:
    text = grammar.serialize_json()
    again = xgr.Grammar.deserialize_json(text)
    assert again.serialize_json() == text
    assert again == grammar


@given(
    st.lists(st.binary(max_size=5), min_size=2, max_size=9),
    st.sampled_from(list(xgr.VocabType)),
    st.integers(0, 40),
    st.booleans(),
)
def test_the_text_of_a_vocabulary_is_a_fixed_point(
    tokens: list[bytes], kind: xgr.VocabType, padding: int, prefix: bool
) -> None:
    info = xgr.TokenizerInfo(
        tokens, kind, vocab_size=len(tokens) + padding, stop_token_ids=[1], add_prefix_space=prefix
    )
    text = info.serialize_json()
    again = xgr.TokenizerInfo.deserialize_json(text)
    assert again.serialize_json() == text
    assert (again.decoded_vocab, again.special_token_ids) == (info.decoded_vocab, info.special_token_ids)


@pytest.mark.parametrize("name", sorted(set(GRAMMARS) - {"nothing"}))
def test_the_text_of_a_compiled_grammar_is_a_fixed_point(name: str) -> None:
    compiled = xgr.GrammarCompiler(INFO).compile_grammar(GRAMMARS[name]())
    text = compiled.serialize_json()
    again = xgr.CompiledGrammar.deserialize_json(text, INFO)
    assert again.serialize_json() == text
    assert allowed(xgr.GrammarMatcher(again)) == allowed(xgr.GrammarMatcher(compiled))


COMPILED = xgr.GrammarCompiler(INFO).compile_grammar(OWN)
TEXTS = {
    "Grammar": (COMPILED.grammar.serialize_json(), xgr.Grammar.deserialize_json),
    "TokenizerInfo": (xgr.TokenizerInfo(["a", "</s>"]).serialize_json(), xgr.TokenizerInfo.deserialize_json),
    "CompiledGrammar": (COMPILED.serialize_json(), lambda text: xgr.CompiledGrammar.deserialize_json(text, INFO)),
}
REFUSED = (xgr.InvalidJSONError, xgr.DeserializeFormatError, xgr.DeserializeVersionError)


@pytest.mark.parametrize("kind", TEXTS)
@given(st.data())
def test_damaged_text_is_refused_or_read(kind: str, data: st.DataObject) -> None:
    text, read = TEXTS[kind]
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(text)))
        cut = data.draw(st.integers(0, 4))
        text = text[:start] + data.draw(st.text(max_size=3)) + text[start + cut :]
    try:
        read(text)
    except REFUSED:
        return


@pytest.mark.parametrize("kind", TEXTS)
def test_a_field_of_another_type_is_refused(kind: str) -> None:
    text, read = TEXTS[kind]
    for field in json.loads(text):
        for value in (3, 1.5, True, {"a": 1}, [None], [[[]]], 10**30, [-1], "?", ["\x00"]):
            with pytest.raises(REFUSED):
                read(json.dumps(json.loads(text) | {field: value}))
    for odd in ("", "{", "[]", "null", '"a"', "[" * 100_000, "{}", "\ud800", "1e999"):
        with pytest.raises(REFUSED):
            read(odd)


@pytest.mark.parametrize("kind", list(xgr.VocabType))
def test_tokens_are_named_by_text_in_any_vocabulary(kind: xgr.VocabType) -> None:
    """A token need not be special, nor end a turn, to be named."""
    info = xgr.TokenizerInfo(["a", "<|call|>", "b", "<", "</s>", "<|call|>"], kind, stop_token_ids=[4])
    compiler = xgr.GrammarCompiler(info)

    def first(form: dict[str, Any], **options: Any) -> list[int]:
        compiled = compiler.compile_structural_tag({"type": "structural_tag", "format": form})
        assert compiled.tokenizer_info is info
        return allowed(xgr.GrammarMatcher(compiled, **options), 6)

    call = {"type": "token", "token": "<|call|>"}
    assert 1 in first(call)
    assert first({"type": "token", "token": "a"}) == [0]
    assert first(
        {"type": "tag", "begin": call, "content": {"type": "const_string", "value": "a"}, "end": "b"}
    ) == first(call)
    assert 1 not in first({"type": "any_tokens", "exclude_tokens": ["<|call|>"]})
    # Other stop tokens change nothing about names.
    assert first(call, override_stop_tokens=[2]) == first(call)
    with pytest.raises(RuntimeError, match="E-VOCAB-TOKEN"):
        first({"type": "token", "token": "<|other|>"})
