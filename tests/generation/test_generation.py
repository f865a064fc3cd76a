from __future__ import annotations

import gc
import json
import threading

import pytest

from syntagma.decoding import CompiledGrammar, GrammarCompiler, TokenizerInfo
from syntagma.decoding.sampling import Sampling
from syntagma.errors import ArgumentError, GrammarError, MatcherError, ModelError
from syntagma.events import MessageEnd
from syntagma.formats import ChatFormat
from syntagma.generation import Generation, GenerationOptions, Generator, Metrics
from syntagma.grammars import Grammar
from syntagma.messages import Message
from syntagma.request import Budgets
from syntagma.testing import ScriptedBackend

GREEDY = Sampling(temperature=0)


def text_of(generation: Generation) -> str:
    return b"".join(step.data for step in generation if not step.end).decode()


def options(**given: object) -> GenerationOptions:
    return GenerationOptions(sampling=GREEDY, **given)  # type: ignore[arg-type]


def test_a_script_is_written_and_ended_by_the_model() -> None:
    generation = Generator(ScriptedBackend("hello — ok")).start("ask", options=options())
    steps = list(generation)
    assert b"".join(step.data for step in steps[:-1]).decode() == "hello — ok"
    assert steps[-1].end
    assert not any(step.end for step in steps[:-1])
    assert generation.finish_reason == "stop"
    assert generation.stopped_by is None
    assert generation.metrics.prompt_tokens == 3
    assert generation.metrics.completion_tokens == len(steps)


@pytest.mark.parametrize("script", ["", "nonsense", '{"a": 1} and more', '{"a": "x"}', '{"a": 12345'])
def test_a_grammar_is_kept_whatever_the_model_wants(script: str) -> None:
    grammar = Grammar.from_json_schema(
        {"type": "object", "properties": {"a": {"enum": [1, 2, 30]}}, "required": ["a"], "additionalProperties": False},
        whitespace="compact",
    )
    generator = Generator(ScriptedBackend(script))
    for seed in range(5):
        asked = GenerationOptions(sampling=Sampling(temperature=1.0, seed=seed))
        generation = generator.start("ask", grammar=grammar, options=asked)
        assert json.loads(text_of(generation))["a"] in (1, 2, 30)
        assert generation.finish_reason == "stop"


def test_the_script_is_followed_where_the_grammar_allows_it() -> None:
    grammar = Grammar.from_ebnf('start ::= "yes" | "no" | "maybe"')
    generator = Generator(ScriptedBackend("maybe"))
    assert text_of(generator.start("ask", grammar=grammar, options=options())) == "maybe"


def test_max_tokens_cuts_and_says_so() -> None:
    generation = Generator(ScriptedBackend("abcdef")).start("ask", options=options(max_tokens=3))
    assert text_of(generation) == "abc"
    assert generation.finish_reason == "length"
    assert generation.metrics.completion_tokens == 3


def test_a_complete_text_at_the_limit_was_not_cut() -> None:
    grammar = Grammar.from_ebnf('start ::= "abc" "d"?')
    generator = Generator(ScriptedBackend("abcd"))
    whole = generator.start("ask", grammar=grammar, options=options(max_tokens=4))
    assert (text_of(whole), whole.finish_reason) == ("abcd", "stop")
    # Here the text could have gone on: that it may end there does not mean that the model wanted to end.
    open_end = generator.start("ask", grammar=grammar, options=options(max_tokens=3))
    assert (text_of(open_end), open_end.finish_reason) == ("abc", "length")


OBJECT = Grammar.from_json_schema(
    {
        "type": "object",
        "properties": {"names": {"type": "array", "items": {"type": "string"}}, "done": {"type": "boolean"}},
        "required": ["names", "done"],
        "additionalProperties": False,
    },
    whitespace="compact",
)


@pytest.mark.parametrize("limit", range(24, 44))
def test_a_text_by_a_grammar_is_complete_at_any_limit(limit: int) -> None:
    script = '{"names":["Ida","Ole and many more"],"done":false}'
    generation = Generator(ScriptedBackend(script)).start("ask", grammar=OBJECT, options=options(max_tokens=limit))
    text = text_of(generation)
    assert set(json.loads(text)) == {"names", "done"}
    assert len(text) <= limit
    assert generation.finish_reason == "length"
    # The model's own words stand as long as there is room for the rest.
    assert text.startswith(script[: limit - len(',""],"done":true}')])


def test_random_texts_are_complete_at_any_limit() -> None:
    generator = Generator(ScriptedBackend(""))
    for seed in range(40):
        asked = GenerationOptions(sampling=Sampling(temperature=1.0, seed=seed), max_tokens=24 + seed)
        generation = generator.start("ask", grammar=OBJECT, options=asked)
        assert set(json.loads(text_of(generation))) == {"names", "done"}
        assert generation.metrics.completion_tokens <= 24 + seed


def test_a_text_is_cut_where_that_was_asked_or_cannot_be_helped() -> None:
    generator = Generator(ScriptedBackend('{"names":["Ida"],"done":false}'))
    cut = generator.start("ask", grammar=OBJECT, options=options(max_tokens=25, complete=False))
    assert (text_of(cut), cut.finish_reason) == ('{"names":["Ida"],"done":f', "length")
    # The shortest text has 24 bytes.
    short = generator.start("ask", grammar=OBJECT, options=options(max_tokens=23))
    assert (text_of(short), short.finish_reason) == ('{"names":["Ida"],"done":'[:23], "length")


def test_what_fits_is_the_models_own() -> None:
    script = '{"names":["Ida"],"done":false}'
    generation = Generator(ScriptedBackend(script)).start("ask", grammar=OBJECT, options=options(max_tokens=31))
    assert (text_of(generation), generation.finish_reason) == (script, "stop")


def test_reasoning_stops_at_its_budget() -> None:
    fmt = ChatFormat.from_toml('[reasoning]\nblock = "<note>{reasoning}</note>"\n')
    backend = ScriptedBackend("<note>thinking on and on</note>fine", special=("<end>", "<note>", "</note>"))
    grammar = fmt.grammar(budgets=Budgets(reasoning_tokens=8))
    generation = Generator(backend).start("ask", grammar=grammar, options=options(max_tokens=30))
    assert text_of(generation).startswith("<note>thinking</note>")


def test_the_context_is_a_limit_too() -> None:
    generator = Generator(ScriptedBackend("abcdef", context_length=7))
    generation = generator.start("ask", options=options())
    assert (text_of(generation), generation.finish_reason) == ("abcd", "length")
    for prompt in ("a" * 7, "a" * 50):
        with pytest.raises(ModelError) as caught:
            generator.start(prompt)
        assert caught.value.code == "E-MODEL-CONTEXT"
    with pytest.raises(ModelError) as caught:
        generator.start("")
    assert caught.value.code == "E-MODEL-PROMPT"


def test_stop_strings_end_the_text_and_are_not_part_of_it() -> None:
    generation = Generator(ScriptedBackend("one, two, three")).start("ask", options=options(stop=("two", "zzz")))
    assert text_of(generation) == "one, "
    assert (generation.finish_reason, generation.stopped_by) == ("stop", "two")


def test_text_that_only_began_a_stop_string_comes_out_at_the_end() -> None:
    for limit, ending in ((None, "stop"), (5, "length")):
        generation = Generator(ScriptedBackend("onetw")).start("a", options=options(stop=("two",), max_tokens=limit))
        assert (text_of(generation), generation.finish_reason) == ("onetw", ending)
        assert generation.stopped_by is None


def test_log_probabilities_are_the_models_own() -> None:
    grammar = Grammar.from_ebnf('start ::= "xy"')
    generation = Generator(ScriptedBackend("ab")).start("q", grammar=grammar, options=options(logprobs=2))
    first = next(iter(generation))
    # The mask leaves only "x"; the model itself hardly believes in it.
    assert first.data == b"x"
    assert first.logprob is not None
    assert first.logprob < -5
    assert [top.token_id for top in first.top_logprobs] == [ord("a"), 256]
    plain = Generator(ScriptedBackend("ab")).start("q", options=options())
    assert all(step.logprob is None and step.top_logprobs == () for step in plain)


def test_the_same_seed_gives_the_same_tokens() -> None:
    grammar = Grammar.from_regex("[a-z]{12}")
    generator = Generator(ScriptedBackend(""))

    def write(seed: int) -> str:
        asked = GenerationOptions(sampling=Sampling(seed=seed))
        return text_of(generator.start("q", grammar=grammar, options=asked))

    assert write(1) == write(1)
    assert write(1) != write(2)


def test_a_grammar_that_comes_back_is_not_compiled_again() -> None:
    backend = ScriptedBackend("yes")
    compiled: list[Grammar] = []

    class Counting(GrammarCompiler):
        def compile(self, grammar: Grammar) -> CompiledGrammar:
            compiled.append(grammar)
            return super().compile(grammar)

    compiler = Counting(backend.tokenizer_info)
    generator = Generator(backend, compiler=compiler)
    for _ in range(3):
        # Equal, not identical: what counts is what the grammar says.
        grammar = Grammar.from_ebnf('start ::= "yes" | "no"')
        generation = generator.start("q", grammar=grammar, options=options())
        assert text_of(generation) == "yes"
        assert generation.metrics.grammar_init_s > 0
        assert generation.metrics.grammar_per_token_s > 0
    assert len(compiled) == 1


def test_a_grammar_may_be_made_while_the_prompt_is_read(caplog: pytest.LogCaptureFixture) -> None:
    threads: list[int] = []

    def made() -> Grammar:
        threads.append(threading.get_ident())
        return Grammar.from_json_schema({"enum": ["yes"]})

    generator = Generator(ScriptedBackend('"yes"'))
    with caplog.at_level("INFO", logger="syntagma.generation"):
        for _ in range(2):
            generation = generator.start("q", grammar=made, options=options())
            assert text_of(generation) == '"yes"'
            assert generation.metrics.grammar_init_s > 0
    assert threading.get_ident() not in threads
    told = [record.getMessage() for record in caplog.records]
    assert [" in " in line for line in told] == [True, True]
    assert told[0].startswith("grammar matcher made")
    assert told[1].startswith("grammar matcher reused and reset")
    assert text_of(generator.start("q", grammar=lambda: None, options=options())) == '"yes"'


def test_a_grammar_that_cannot_be_made_is_told_before_the_first_token() -> None:
    with pytest.raises(GrammarError):
        Generator(ScriptedBackend("a")).start("q", grammar=lambda: Grammar.from_ebnf("start ::= "), options=options())


def test_generations_of_one_grammar_do_not_disturb_each_other() -> None:
    grammar = Grammar.from_ebnf('start ::= "ab" | "cd"')
    generator = Generator(ScriptedBackend(lambda prompt: "ab" if prompt == "1" else "cd"))
    first = generator.start("1", grammar=grammar, options=options())
    second = generator.start("2", grammar=grammar, options=options())
    mixed = [b"", b""]
    for one, two in zip(first, second, strict=True):
        mixed[0] += b"" if one.end else one.data
        mixed[1] += b"" if two.end else two.data
    assert mixed == [b"ab", b"cd"]


def test_an_abandoned_generation_gives_its_matcher_back_clean() -> None:
    grammar = Grammar.from_ebnf('start ::= "abc"')
    generator = Generator(ScriptedBackend("abc"))
    abandoned = generator.start("q", grammar=grammar, options=options())
    next(iter(abandoned))
    abandoned.close()
    never_begun = generator.start("q", grammar=grammar, options=options())
    never_begun.close()
    del abandoned, never_begun
    gc.collect()
    assert text_of(generator.start("q", grammar=grammar, options=options())) == "abc"


def test_cancel_stops_before_the_next_token() -> None:
    seen: list[int] = []
    backend = ScriptedBackend("x" * 1000, on_step=seen.append)
    generation = Generator(backend).start("q", options=options())
    taken = 0
    for _ in generation:
        taken += 1
        if taken == 3:
            canceller = threading.Thread(target=generation.cancel)
            canceller.start()
            canceller.join()
    assert taken == 3
    assert seen[-1] <= 3
    assert generation.finish_reason is None


def test_a_grammar_that_cannot_be_compiled_raises_at_the_start() -> None:
    grammar = Grammar.from_ebnf('start ::= "a" <|unknown|>')
    with pytest.raises(GrammarError):
        Generator(ScriptedBackend("a")).start("q", grammar=grammar)


def test_a_marker_that_ends_the_turn_ends_the_generation() -> None:
    backend = ScriptedBackend("ab<end>", special=("<end>", "<other>"))
    generation = Generator(backend).start("q", grammar=Grammar.from_ebnf('start ::= "ab"'), options=options())
    steps = list(generation)
    assert [step.data for step in steps] == [b"a", b"b", b"<end>"]
    assert steps[-1].end


def parsed(backend: ScriptedBackend, spec: str, **given: object) -> Message:
    fmt = ChatFormat.from_toml(spec)
    parser = fmt.parser()
    generation = Generator(backend).start("q", options=options(**given))
    events = [event for _, events in generation.read(parser, markers=fmt.preserved_tokens) for event in events]
    assert isinstance(events[-1], MessageEnd)
    return parser.message


CALLS = """
[tools]
call = "<call>{envelope}<done>"
envelope = '{"name": "{name}", "arguments": {arguments}}'
"""


def test_reading_knows_which_markers_are_tokens() -> None:
    call = '<call>{"name": "f", "arguments": {}}<done>'
    written = ScriptedBackend(call, special=("<end>", "<call>", "<done>"))
    assert [made.name for made in parsed(written, CALLS).tool_calls] == ["f"]
    # A stop string that begins inside a token leaves its head.
    assert parsed(ScriptedBackend("one<done>", special=("<end>", "<done>")), CALLS, stop=("one>",)).content == "one<d"
    assert (
        parsed(ScriptedBackend("abc<done>", special=("<end>", "<done>")), CALLS, stop=("one>", "done")).content
        == "abc<"
    )


def test_reading_reads_an_ending_token_that_closes_a_call() -> None:
    call = '<call>{"name": "f", "arguments": {}}<done>'
    (made,) = parsed(ScriptedBackend(call, special=("<done>", "<call>")), CALLS).tool_calls
    assert made.complete
    assert parsed(ScriptedBackend("hello<over>", special=("<over>",)), CALLS).content == "hello"


def test_metrics_of_several_choices() -> None:
    together = Metrics.of_choices(
        [
            Metrics(prompt_tokens=5, completion_tokens=2, grammar_init_s=0.25, grammar_per_token_s=0.5, decode_s=1),
            Metrics(prompt_tokens=5, completion_tokens=4, grammar_init_s=0.5, grammar_per_token_s=1.0, decode_s=2),
        ]
    )
    assert together == Metrics(
        prompt_tokens=5, completion_tokens=6, grammar_init_s=0.75, grammar_per_token_s=0.75, decode_s=3
    )
    assert Metrics.of_choices([]) == Metrics()


@pytest.mark.parametrize("wrong", [{"max_tokens": 0}, {"logprobs": -1}])
def test_options_out_of_range_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(ArgumentError):
        GenerationOptions(**wrong)  # type: ignore[arg-type]


def test_a_vocabulary_that_cannot_write_what_the_grammar_wants() -> None:
    class Narrow(ScriptedBackend):
        def __init__(self) -> None:
            super().__init__("")
            info = TokenizerInfo.from_tokens([b"a", b"b", b"<end>"], eos_token_ids=[2])
            self.tokenizer_info = info.with_encoder(lambda text: [0] * len(text))

    generator = Generator(Narrow())
    assert text_of(generator.start("q", grammar=Grammar.from_ebnf('start ::= "ab"'), options=options())) == "ab"
    dead = generator.start("q", grammar=Grammar.from_ebnf('start ::= "ac"'), options=options())
    with pytest.raises(MatcherError) as caught:
        list(dead)
    assert caught.value.code == "E-MATCH-DEAD"
