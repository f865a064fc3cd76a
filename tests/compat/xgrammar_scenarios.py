"""What users of xgrammar do, written once: run against its names here, and against xgrammar itself where it is."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

VOCAB = [bytes([byte]) for byte in range(256)] + [b"</s>", b"ab", b"", b"<turn>"]
STOP, AB, EMPTY, TURN = 256, 257, 258, 259
SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string", "maxLength": 3}, "size": {"type": "integer"}},
    "required": ["name"],
}
TAG = {
    "type": "structural_tag",
    "format": {
        "type": "triggered_tags",
        "triggers": ["<f="],
        "tags": [
            {"type": "tag", "begin": "<f=a>", "content": {"type": "json_schema", "json_schema": SCHEMA}, "end": "</f>"}
        ],
    },
}


def tried(call: Callable[[], Any]) -> Any:
    """What a call returns, or which of these exceptions it raises, with `|` between if it is caught as several."""
    try:
        return call()
    except NotImplementedError:
        return "NotImplementedError"
    except (RuntimeError, ValueError, TypeError) as error:
        kinds = ("InvalidJSONError", "InvalidStructuralTagError", "DeserializeFormatError", "DeserializeVersionError")
        if type(error).__name__ in kinds:
            return type(error).__name__
        return "|".join(kind.__name__ for kind in (RuntimeError, TypeError, ValueError) if isinstance(error, kind))


class Scenarios:
    """One method each; the value is compared."""

    def __init__(self, xgr: Any) -> None:
        self.xgr = xgr
        self.info = xgr.TokenizerInfo(VOCAB, stop_token_ids=[STOP], vocab_size=270)
        self.compiler = xgr.GrammarCompiler(self.info)

    def matcher(self, grammar: str, **options: Any) -> Any:
        return self.xgr.GrammarMatcher(self.compiler.compile_grammar(grammar), **options)

    def mask(self, matcher: Any) -> tuple[bool, list[int]]:
        bitmask = self.xgr.allocate_token_bitmask(1, self.info.vocab_size)
        needed = matcher.fill_next_token_bitmask(bitmask)
        denied = set(self.xgr.testing._get_masked_tokens_from_bitmask(bitmask, self.info.vocab_size))
        return needed, [token for token in range(self.info.vocab_size) if token not in denied]

    def accepts(self, grammar: Any, *texts: str) -> list[bool]:
        return [self.xgr.testing._is_grammar_accept_string(grammar, text) for text in texts]

    def vocabulary(self) -> Any:
        info = self.info
        return info.vocab_size, info.stop_token_ids, info.special_token_ids, info.vocab_type.name, info.add_prefix_space

    def metadata(self) -> Any:
        again = self.xgr.TokenizerInfo.from_vocab_and_metadata(VOCAB, self.info.dump_metadata())
        return json.loads(self.info.dump_metadata()), again.stop_token_ids, again.vocab_size

    def spellings(self) -> Any:
        make, kinds = self.xgr.TokenizerInfo, self.xgr.VocabType
        return (
            make(["a", "Ġb", "Ċ"], kinds.BYTE_LEVEL, stop_token_ids=0).decoded_vocab,
            make(["a", "▁b", "<0x0A>"], kinds.BYTE_FALLBACK, stop_token_ids=[0]).decoded_vocab,
            make(["a", "</s>"], kinds.RAW).stop_token_ids,
            tried(lambda: make(["a", "b"], vocab_size=1)),
        )

    def accepting(self) -> Any:
        m = self.matcher("root ::= [a-z]+")
        steps = [m.accept_token(token) for token in (97, AB, 65, 9_999, -1, EMPTY)]
        ends = [m.is_completed(), m.is_terminated(), m.accept_token(STOP), m.is_terminated(), m.is_completed()]
        after = [
            m.accept_token(97),
            m.accept_string("a"),
            tried(m.find_jump_forward_string),
            tried(lambda: self.mask(m)),
        ]
        back = [
            tried(m.rollback),
            m.is_terminated(),
            tried(lambda: m.rollback(2)),
            tried(lambda: m.rollback(1)),
        ]
        return steps, ends, after, back, self.mask(m)

    def strings(self) -> Any:
        m = self.matcher('root ::= "é" [x]*')
        taken = [m.accept_string(text) for text in ("é", b"x", "", "y", b"xxx")]
        m.rollback(1)
        m.reset()
        return taken, m.is_completed(), m.find_jump_forward_string()

    def jumps(self) -> Any:
        texts = ('root ::= "abc" [x]*', 'root ::= "é中" [xy]', 'root ::= "a" | "b"', 'root ::= ("ab" | "ac") "d"')
        return [self.matcher(text).find_jump_forward_string() for text in texts]

    def masks(self) -> Any:
        whole = self.mask(self.matcher("root ::= [a-c]+"))
        m = self.matcher("root ::= [a-c]+")
        m.accept_string("a")
        return whole, self.mask(m), m.stop_token_ids, m.max_rollback_tokens

    def other_stops(self) -> Any:
        m = self.matcher('root ::= "abc"', override_stop_tokens=[TURN])
        taken = m.accept_string("abc")
        return m.stop_token_ids, taken, self.mask(m), m.accept_token(STOP), m.accept_token(TURN), m.is_terminated()

    def no_stops(self) -> Any:
        m = self.matcher('root ::= "a" "b"?', terminate_without_stop_token=True)
        seen = [m.is_terminated(), m.accept_string("a"), m.is_terminated(), self.mask(m), m.accept_token(STOP)]
        return [*seen, m.accept_string("b"), m.is_terminated(), m.is_completed()]

    def forks(self) -> Any:
        m = self.matcher('root ::= "a" [bc] [de]')
        m.accept_string("a")
        other = m.fork()
        return m.accept_string("b"), other.accept_string("c"), self.mask(m), self.mask(other), type(other) is type(m)

    def batches(self) -> Any:
        batch = self.xgr.BatchGrammarMatcher(2)
        matchers = [self.matcher('root ::= "a"'), self.matcher('root ::= "b"')]
        taken = self.xgr.BatchGrammarMatcher.batch_accept_token(matchers, [97, 97])
        bitmask = self.xgr.allocate_token_bitmask(3, 270)
        batch.batch_fill_next_token_bitmask(matchers, bitmask, [2, 0])
        rows = [self.xgr.testing._is_single_token_bitmask(bitmask, 270, row) for row in range(3)]
        wrong = [
            tried(lambda: batch.batch_accept_token(matchers, [1])),
            tried(lambda: batch.batch_fill_next_token_bitmask(matchers, bitmask, [0])),
            tried(lambda: batch.batch_fill_next_token_bitmask(matchers, bitmask, [0, 9])),
            tried(lambda: self.xgr.BatchGrammarMatcher.batch_rollback(matchers, [1])),
            tried(lambda: self.xgr.BatchGrammarMatcher(0)),
        ]
        strings = self.xgr.BatchGrammarMatcher.batch_accept_string([matchers[1]], [b"b"])
        return taken, rows, wrong, strings, self.xgr.BatchGrammarMatcher.batch_rollback(matchers, [1, 1])

    def temperatures(self) -> Any:
        matchers = [self.matcher('root ::= "a"'), self.matcher('root ::= "a"', default_temperature=0.5)]
        values = np.zeros(2, np.float32)
        if type(self.xgr.allocate_token_bitmask(1, 1)) is not np.ndarray:
            import torch

            self.xgr.BatchGrammarMatcher.batch_fill_temperature(matchers, torch.from_numpy(values))
        else:
            self.xgr.BatchGrammarMatcher.batch_fill_temperature(matchers, values)
        return [m.temperature for m in matchers], values.tolist()

    def draft_trees(self) -> Any:
        m = self.matcher('root ::= "a" ("b" | "c") "d"')
        tree = [np.array(row) for row in ([1, 3, -1, -1], [-1, 2, -1, -1], [0, 97, 98, 98])]
        bitmask = self.xgr.allocate_token_bitmask(4, 270)
        if type(bitmask) is not np.ndarray:
            import torch

            tree = [torch.from_numpy(row) for row in tree]
        done = m.traverse_draft_tree(*tree, bitmask)
        denied = [set(self.xgr.testing._get_masked_tokens_from_bitmask(bitmask, 270, row)) for row in range(4)]
        return done, [sorted(set(range(270)) - row) for row in denied], m.accept_string("abd")

    def schemas(self) -> Any:
        from_schema = self.xgr.Grammar.from_json_schema
        documents = (
            '{"name": "ab"}',
            '{"name": "ab", "size": 1}',
            '{"name": "abcd"}',
            '{"size": 1}',
            '{"name": "a", "x": 1}',
        )
        open_list = {"type": "array", "prefixItems": [{"type": "integer"}]}
        return (
            self.accepts(from_schema(SCHEMA), *documents),
            self.accepts(from_schema(json.dumps(SCHEMA), strict_mode=False), *documents),
            self.accepts(
                from_schema(SCHEMA, any_whitespace=False, separators=(",", ":")), '{"name":"a"}', documents[0]
            ),
            self.accepts(from_schema(SCHEMA, max_whitespace_cnt=2), '{  "name":"a"}', '{   "name":"a"}'),
            self.accepts(from_schema(open_list), "[1]", "[1, 2]"),
            self.accepts(from_schema(open_list, strict_mode=False), "[1]", "[1, 2]"),
            [tried(lambda bad=bad: from_schema(bad)) for bad in ("{", '{"type": 5}', "false", 3)],
        )

    def layouts(self) -> Any:
        from_schema = self.xgr.Grammar.from_json_schema
        value = {"name": "a", "size": 1}
        layouts = [json.dumps(value), json.dumps(value, separators=(",", ":")), json.dumps(value, indent=2)]
        return (
            self.accepts(from_schema(SCHEMA, any_whitespace=False), *layouts),
            self.accepts(from_schema(SCHEMA, any_whitespace=False, separators=(",", ":")), *layouts),
            self.accepts(from_schema(SCHEMA, any_whitespace=False, indent=2), *layouts),
            self.accepts(from_schema(SCHEMA, any_order=True), '{"size": 1, "name": "a"}', layouts[0]),
            self.accepts(from_schema(SCHEMA), '{"size": 1, "name": "a"}'),
        )

    def sources(self) -> Any:
        make = self.xgr.Grammar
        first, second = make.from_ebnf('root ::= "a"'), make.from_regex("[0-9]{2}")
        return (
            self.accepts(make.concat(first, second), "a12", "a1", "12"),
            self.accepts(make.union(first, second), "a", "12", "a12"),
            self.accepts(make.builtin_json_grammar(), '{"a": [1, "x", null]}', "[]", "1", '{"a"}'),
            self.accepts(make.from_lark('start: "a" /[0-9]+/'), "a1", "a"),
            self.accepts(make.from_ebnf('top ::= "x"', root_rule_name="top"), "x", "y"),
            self.accepts(make.from_regex("^a|bc$"), "a", "bc", "ac"),
            [tried(lambda bad=bad: make.from_ebnf(bad)) for bad in ('x ::= "a"', 'root ::= "a', "root ::= b")],
            [tried(lambda bad=bad: make.from_regex(bad)) for bad in ("(", "[z-a]", r"(a)\1")],
        )

    def tags(self) -> Any:
        make, item = self.xgr.Grammar.from_structural_tag, self.xgr.StructuralTagItem
        texts = ('so <f=a>{"name": "x"}</f> it is', "no call", '<f=a>{"size": 1}</f>', "<f=b>")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            older = make([item(begin="<f=a>", schema=SCHEMA, end="</f>")], ["<f="])
        model = self.xgr.StructuralTag.from_json(TAG)
        return (
            *[self.accepts(make(tag), *texts) for tag in (TAG, json.dumps(TAG), model)],
            self.accepts(older, *texts),
            json.loads(model.model_dump_json())["format"]["tags"][0]["begin"],
            [
                tried(lambda bad=bad: make(bad))
                for bad in ("{", {"type": "structural_tag", "format": {"type": "nope"}}, 3)
            ],
            tried(lambda: make(1, 2, 3)),
        )

    def compiling(self) -> Any:
        compiler = self.xgr.GrammarCompiler(self.info, max_threads=1, cache_limit_bytes=1 << 20)
        compiled = [
            compiler.compile_json_schema(SCHEMA),
            compiler.compile_builtin_json_grammar(),
            compiler.compile_regex("a+"),
            compiler.compile_grammar('root ::= "a"'),
            compiler.compile_grammar(self.xgr.Grammar.from_ebnf('root ::= "a"')),
            compiler.compile_structural_tag(TAG),
            compiler.compile_lark('start: "a"'),
        ]
        sizes = [compiler.get_cache_size_bytes() > 0, compiler.cache_limit_bytes, compiler.clear_cache()]
        starts = [self.mask(self.xgr.GrammarMatcher(one))[1][:3] for one in compiled if one is not compiled[-2]]
        return (
            sizes,
            compiler.get_cache_size_bytes(),
            starts,
            [one.memory_size_bytes > 0 and one.tokenizer_info.vocab_size for one in compiled],
            [tried(lambda: compiler.compile_grammar(3)), tried(lambda: self.xgr.GrammarCompiler("x"))],
            tried(lambda: self.xgr.GrammarMatcher("x")),
        )

    def texts(self) -> Any:
        make = self.xgr
        grammar = make.Grammar.from_ebnf('root ::= "a" [0-9]')
        compiled = self.compiler.compile_grammar(grammar)
        again = make.Grammar.deserialize_json(grammar.serialize_json())
        back = make.CompiledGrammar.deserialize_json(compiled.serialize_json(), self.info)
        info = make.TokenizerInfo.deserialize_json(self.info.serialize_json())
        return (
            self.accepts(again, "a1", "a"),
            self.mask(make.GrammarMatcher(back)),
            (info.vocab_size, info.stop_token_ids, info.decoded_vocab == self.info.decoded_vocab),
            [
                tried(lambda kind=kind: kind("{"))
                for kind in (make.Grammar.deserialize_json, make.TokenizerInfo.deserialize_json)
            ],
            self.accepts(make.Grammar.from_ebnf(str(grammar)), "a1", "a"),
        )

    def bitmasks(self) -> Any:
        rows = self.xgr.allocate_token_bitmask(2, 70)
        shape = (tuple(rows.shape), self.xgr.get_bitmask_shape(2, 70), str(rows.dtype) == str(self.xgr.bitmask_dtype))
        rows[1] = 5
        allowed = self.xgr.testing.bitmask_to_bool_mask(rows, 70)
        again = self.xgr.testing.bool_mask_to_bitmask(allowed)
        self.xgr.reset_token_bitmask(rows)
        return shape, allowed.tolist(), again.tolist(), rows.tolist()

    def refused_buffers(self) -> Any:
        m, make = self.matcher('root ::= "a"'), self.xgr.allocate_token_bitmask
        return [
            tried(lambda: m.fill_next_token_bitmask(make(1, 270), 3)),
            tried(lambda: m.fill_next_token_bitmask(make(1, 64))),
        ]

    def settings(self) -> Any:
        depth = self.xgr.get_max_recursion_depth()
        with self.xgr.max_recursion_depth(500):
            inside = self.xgr.get_max_recursion_depth()
        self.xgr.set_max_recursion_depth(depth)
        return (
            inside,
            self.xgr.get_max_recursion_depth() == depth,
            tried(lambda: self.xgr.set_max_recursion_depth(-1)),
        )
