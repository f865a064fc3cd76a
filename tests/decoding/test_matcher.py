"""What a matcher promises beyond accepting the right text."""

from __future__ import annotations

import random
import threading

import numpy as np
import pytest

import syntagma as sg
from syntagma.decoding import explain_matcher

BYTES = [bytes([byte]) for byte in range(256)]
END, TURN, CALL, LOOKALIKE = 256, 257, 258, 259
INFO = sg.TokenizerInfo.from_tokens(
    [*BYTES, b"<end>", b"<turn>", b"<call>", b"<cal", b"true", b"tr"],
    eos_token_ids=[END, TURN],
    special_token_ids=[END, TURN, CALL],
)


def matcher(grammar: sg.Grammar, **options: object) -> sg.GrammarMatcher:
    return sg.GrammarMatcher(sg.GrammarCompiler(INFO, **options).compile(grammar))  # type: ignore[arg-type]


def allowed(m: sg.GrammarMatcher) -> set[int]:
    bitmask = sg.allocate_token_bitmask(1, INFO.vocab_size)
    m.fill_next_token_bitmask(bitmask)
    return set(np.flatnonzero(np.unpackbits(bitmask[0].view(np.uint8), bitorder="little")[: INFO.vocab_size]))


def test_every_end_of_turn_is_open_where_the_text_may_end() -> None:
    m = matcher(sg.Grammar.literal("a"))
    assert allowed(m) == {ord("a")}
    assert m.accept_token(ord("a"))
    assert allowed(m) == {END, TURN}
    assert m.accept_token(TURN)
    assert m.is_terminated()
    assert not m.accept_token(END)
    bitmask = np.zeros((1, -(-INFO.vocab_size // 32)), np.int32)
    m.fill_next_token_bitmask(bitmask)
    assert (bitmask == -1).all()


def test_a_grammar_that_ends_in_an_end_of_turn_leaves_only_that() -> None:
    m = matcher(sg.Grammar.concat(sg.Grammar.literal("a"), sg.Grammar.marker("<turn>")))
    m.accept_token(ord("a"))
    assert allowed(m) == {TURN}
    assert m.accept_token(TURN)
    assert m.is_terminated()


def test_a_marker_is_the_token_alone() -> None:
    m = matcher(sg.Grammar.concat(sg.Grammar.marker("<call>"), sg.Grammar.literal("x")))
    assert allowed(m) == {CALL}
    assert not m.fork().accept_bytes(b"<call>")
    assert m.accept_token(CALL)
    assert allowed(m) == {ord("x")}


def test_a_marker_without_token_is_its_bytes() -> None:
    m = matcher(sg.Grammar.marker("<none>"))
    assert allowed(m) == {ord("<")}
    assert m.accept_bytes(b"<none>")
    assert m.is_accepting()


def test_text_never_matches_special_tokens() -> None:
    m = matcher(sg.Grammar.text())
    assert CALL not in allowed(m)
    assert LOOKALIKE in allowed(m)
    assert m.accept_bytes(b"<call>")


def test_text_before_a_closer_stops_in_time() -> None:
    m = matcher(sg.Grammar.concat(sg.Grammar.text(closer="aa"), sg.Grammar.literal("aa"), sg.Grammar.literal("!")))
    assert m.fork().accept_bytes(b"xaa!")
    assert m.fork().accept_bytes(b"baa!")
    assert not m.fork().accept_bytes(b"aaa!")


def test_text_without() -> None:
    m = matcher(sg.Grammar.text(without=["<x>", "[y]"]))
    assert m.fork().accept_bytes("naïve <x [y ]> ß".encode())
    assert not m.fork().accept_bytes(b"a <x> b")
    assert not m.fork().accept_bytes(b"[y]")
    assert not m.fork().accept_bytes(b"\xff")


def test_a_token_that_the_vocabulary_lacks() -> None:
    with pytest.raises(sg.SyntagmaError) as caught:
        matcher(sg.Grammar.token("<absent>"))
    assert "<absent>" in caught.value.message


def test_an_empty_language_is_refused() -> None:
    with pytest.raises(sg.GrammarError) as caught:
        matcher(sg.Grammar.from_ebnf("start ::= nothing!;"))
    assert caught.value.code == "E-GRAMMAR-EMPTY"


def test_refused_tokens_change_nothing() -> None:
    m = matcher(sg.Grammar.from_choices(["true", "try"]))
    before = allowed(m)
    assert not m.accept_token(ord("x"))
    assert not m.accept_bytes(b"trx")
    assert allowed(m) == before
    assert m.steps == 0
    with pytest.raises(sg.ArgumentError):
        m.accept_token(100_000)
    with pytest.raises(sg.ArgumentError):
        m.rollback(1)
    assert allowed(m) == before


def test_jump_forward() -> None:
    m = matcher(sg.Grammar.from_choices(["truth", "trust"]))
    assert m.find_jump_forward_bytes() == b"tru"
    # `tr` could be the beginning of `true`, were it not for the grammar; it is left to the model.
    assert m.jump_forward_tokens(lambda text: [ord(c) for c in text]) in (
        [],
        [ord("t")],
        [ord("t"), ord("r"), ord("u")],
    )
    assert matcher(sg.Grammar.literal("née")).find_jump_forward_bytes() == "née".encode()


def test_an_output_is_taken_with_what_stands_behind_its_end() -> None:
    m = matcher(sg.Grammar.literal("ab"))
    assert m.accept_output([]) == 0
    assert m.accept_output([ord("a")]) == 1
    assert m.accept_output([ord("b"), TURN, END, ord("x")]) == 4
    assert m.is_terminated()
    assert m.steps == 3
    m.rollback(2)
    assert allowed(m) == {ord("b")}
    assert m.accept_output([ord("b"), ord("x"), TURN]) == 1
    assert allowed(m) == {END, TURN}
    with pytest.raises(sg.ArgumentError) as raised:
        m.accept_output([INFO.vocab_size])
    assert raised.value.code == "E-TOKEN-ID"


def test_validate_tokens_and_draft() -> None:
    m = matcher(sg.Grammar.literal("abc"))
    assert m.validate_tokens([ord("a"), ord("b"), ord("x"), ord("c")]) == 2
    bitmask = sg.allocate_token_bitmask(4, INFO.vocab_size)
    assert m.fill_draft([ord("a"), ord("x"), ord("b")], bitmask) == [True, False, False]
    assert not bitmask[2].any()
    # As a tree: `a`, then `x` and `b` both after `a`.
    assert m.fill_draft([ord("a"), ord("x"), ord("b")], bitmask, [None, 0, 0]) == [True, False, True]
    follow = np.unpackbits(bitmask[3].view(np.uint8), bitorder="little")
    assert set(np.flatnonzero(follow)) == {ord("c")}
    with pytest.raises(sg.ArgumentError):
        m.fill_draft([1, 2], bitmask, [None, 1])
    with pytest.raises(sg.ArgumentError):
        m.fill_draft([1, 2, 3, 4], bitmask)
    assert m.steps == 0


def test_shortest_close() -> None:
    m = matcher(sg.Grammar.from_json_schema({"type": "array", "items": {"type": "boolean"}}, whitespace="compact"))
    assert m.accept_bytes(b"[true")
    close = m.shortest_close()
    assert close is not None
    for token in close:
        assert m.accept_token(token)
    assert m.is_accepting()
    assert matcher(sg.Grammar.literal("abcd")).shortest_close(2) is None


@pytest.mark.parametrize("seed", range(4))
def test_closes_within_says_what_shortest_close_finds(seed: int) -> None:
    """Along random texts, with one matcher that remembers and a new one that does not."""
    draw = random.Random(seed)
    words = """word ::= "true" | "tr" #"[a-z]{2,9}" | @token("<call>") "<" start ">" "!"{3} ;"""
    source = f'start ::= "(" start* ")" | word ; {words}'
    m = matcher(sg.Grammar.from_ebnf(source))
    text: list[int] = []
    for _ in range(40):
        text.append(draw.choice(sorted(allowed(m))))
        assert m.accept_token(text[-1])
        if m.is_terminated():
            del text[draw.randrange(len(text)) :]
            m.rollback(m.steps - len(text))
        fresh = matcher(sg.Grammar.from_ebnf(source))
        assert all(map(fresh.accept_token, text))
        close, needed = m.shortest_close(), fresh.shortest_close()
        assert close is not None
        assert needed is not None
        assert len(close) == len(needed)
        for budget in range(max(len(close) - 2, 0), len(close) + 3):
            assert m.closes_within(budget) == fresh.closes_within(budget) == (budget >= len(close))


def test_explain() -> None:
    m = matcher(sg.Grammar.from_choices(["true", "try"]))
    told = m.explain(ord("x"))
    assert told.token is not None
    assert (told.token.reason, told.token.at) == ("dies", 0)
    assert told.expected
    for token, reason in ((END, "not expected"), (INFO.vocab_size - 2, "allowed")):
        verdict = m.explain(token).token
        assert verdict is not None
        assert verdict.reason == reason


def test_the_older_ways_to_ask_for_an_explanation_work_with_a_warning() -> None:
    m = matcher(sg.Grammar.from_choices(["true", "try"]))
    with pytest.warns(DeprecationWarning, match=r"matcher\.explain\(token\)") as told:
        assert explain_matcher(m, INFO, ord("x")) == m.explain(ord("x"))
    assert told[0].filename == __file__
    with pytest.warns(DeprecationWarning, match="attributes") as told:
        assert m.explain(ord("x"))["token"] == "dies"
    assert told[0].filename == __file__


def test_batches() -> None:
    compiled = sg.GrammarCompiler(INFO).compile(sg.Grammar.from_choices(["ab", "cd"]))
    matchers = [sg.GrammarMatcher(compiled) for _ in range(4)]
    assert sg.accept_token_batch(matchers, [ord(c) for c in "acxa"]) == [True, True, False, True]
    bitmask = sg.allocate_token_bitmask(6, INFO.vocab_size)
    sg.fill_next_token_bitmask_batch(matchers, bitmask, indices=[5, 4, 1, 0], threads=2)
    for m, row in zip(matchers, [5, 4, 1, 0], strict=True):
        alone = sg.allocate_token_bitmask(1, INFO.vocab_size)
        m.fill_next_token_bitmask(alone)
        assert (bitmask[row] == alone[0]).all()
    assert (bitmask[2] == -1).all()
    with pytest.raises(sg.ArgumentError):
        sg.fill_next_token_bitmask_batch(matchers, bitmask, indices=[0, 1, 2, 9])
    with pytest.raises(sg.ArgumentError):
        sg.accept_token_batch(matchers, [1])


def test_masking_logits() -> None:
    m = matcher(sg.Grammar.from_choices(["a", "b"]))
    logits = np.zeros(INFO.vocab_size, np.float32)
    m.mask_logits_inplace(logits)
    assert set(np.flatnonzero(np.isfinite(logits))) == {ord("a"), ord("b")}
    bitmask = sg.allocate_token_bitmask(2, INFO.vocab_size)
    m.fill_next_token_bitmask(bitmask, 1)
    rows = np.zeros((2, INFO.vocab_size), np.float32)
    sg.apply_token_bitmask_inplace(rows, bitmask, indices=[1])
    assert np.isfinite(rows[0]).all()
    assert (np.isfinite(rows[1]) == np.isfinite(logits)).all()


def test_buffers_that_do_not_fit() -> None:
    m = matcher(sg.Grammar.literal("a"))
    good = sg.allocate_token_bitmask(1, INFO.vocab_size)
    for bad in (good[:, :-1], good.astype(np.int64), np.asfortranarray(np.zeros((3, 20), np.int32)), [0] * 20):
        with pytest.raises(sg.ArgumentError):
            m.fill_next_token_bitmask(bad)
    good.flags.writeable = False
    with pytest.raises(sg.ArgumentError):
        m.fill_next_token_bitmask(good)
    with pytest.raises(sg.ArgumentError):
        m.mask_logits_inplace(np.zeros(5, np.float32))
    with pytest.raises(sg.ArgumentTypeError):
        sg.apply_token_bitmask_inplace([0.0], good)  # type: ignore[arg-type]


def test_spent_fuel_fails_for_good_until_reset() -> None:
    m = matcher(
        sg.Grammar.from_ebnf('start ::= start start | "a" | start start start;'), limits=sg.Limits(step_fuel=2_000)
    )
    with pytest.raises(sg.LimitError) as caught:
        m.accept_bytes(b"a" * 5_000)
    assert caught.value.code == "E-LIMIT-STEP"
    with pytest.raises(sg.LimitError):
        m.is_accepting()
    m.reset()
    assert m.accept_token(ord("a"))


def test_right_recursion_stays_flat() -> None:
    compiled = sg.GrammarCompiler(INFO).compile(sg.Grammar.from_ebnf('start ::= "a" start | "a";'))
    m = sg.GrammarMatcher(compiled)
    for _ in range(3_000):
        assert m.accept_token(ord("a"))
    assert compiled.stats()["states"] < 20


def test_one_compiled_grammar_on_many_threads() -> None:
    grammar = sg.Grammar.from_json_schema({"type": "array", "items": {"enum": ["x", "yy", 1, None]}})
    text = b'["x", "yy",1, null , "x"]'
    compiler = sg.GrammarCompiler(INFO)
    masks: list[list[set[int]]] = []

    def run() -> None:
        m = sg.GrammarMatcher(compiler.compile(grammar))
        seen = []
        for byte in text:
            seen.append(allowed(m))
            assert m.accept_token(byte)
        masks.append(seen)

    threads = [threading.Thread(target=run) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(masks) == 6
    assert all(seen == masks[0] for seen in masks)
    assert compiler.stats.misses == 1


def test_compiler_cache() -> None:
    compiler = sg.GrammarCompiler(INFO)
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
    first = compiler.compile(sg.Grammar.from_json_schema(schema))
    assert compiler.compile_async(sg.Grammar.from_json_schema(schema)).result(10) is not None
    assert compiler.stats.hits == 1
    assert compiler.stats.entries == 1
    compiler.clear()
    assert compiler.stats.entries == 0
    assert sg.GrammarMatcher(first).accept_bytes(b'{"a": 1}')
    bounded = sg.GrammarCompiler(INFO, limits=sg.Limits(compiler_cache_entries=2))
    for i in range(5):
        bounded.compile(sg.Grammar.literal(str(i)))
    assert bounded.stats.entries <= 2
    off = sg.GrammarCompiler(INFO, cache=False)
    off.compile(sg.Grammar.literal("a"))
    off.compile(sg.Grammar.literal("a"))
    assert off.stats.hits == 0
    assert off.stats.entries == 0


def test_deprecated_names_name_their_replacement() -> None:
    matcher = sg.GrammarMatcher(sg.GrammarCompiler(INFO).compile(sg.Grammar.from_regex("ab")))
    with pytest.warns(DeprecationWarning, match="accept_output") as warned:
        assert matcher.take([ord("a")]) == 1
    assert warned[0].filename == __file__
    with pytest.warns(DeprecationWarning, match="with_pointer_prefix") as warned:
        sg.Grammar.from_regex("a").placed("/x")
    assert warned[0].filename == __file__
