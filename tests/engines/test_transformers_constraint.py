"""`integrations.transformers` in every mode of `generate`, with the shipped model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import syntagma as sg
from syntagma.embedded import EmbeddedModel
from syntagma.integrations.transformers import Constraint, EventStreamer, set_response_template
from tests.engines.cases import MESSAGES, TABLE, TOOLS, Case, Sampling, check_message, options_of, record

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

USERS = ("Set a timer for 7 minutes", "Set a reminder for Ida at 11, please, and be quick about it.", "Hello there")
SCHEMA = {
    "type": "object",
    "properties": {"kind": {"enum": ["a", "b"]}, "word": {"type": "string", "maxLength": 8}, "n": {"type": "integer"}},
    "required": ["kind", "n"],
    "additionalProperties": False,
}
LENGTH = 70
MODES: dict[str, dict[str, Any]] = {
    "greedy": {},
    "sampling": {"do_sample": True, "temperature": 2.0, "top_k": 0},
    "three for each prompt": {"do_sample": True, "temperature": 2.0, "num_return_sequences": 3},
    "beams": {"num_beams": 4, "num_return_sequences": 2},
    "sampling beams": {"num_beams": 3, "do_sample": True, "temperature": 2.0},
    "prompt look-up": {"prompt_lookup_num_tokens": 4},
    "sampling prompt look-up": {"prompt_lookup_num_tokens": 4, "do_sample": True, "temperature": 2.0},
    "assistant": {"assistant": True},
    "sampling assistant": {"assistant": True, "do_sample": True, "temperature": 2.0},
}
ALONE = ("look-up", "assistant")
"""modes that take one prompt at a time"""


class Loaded:
    """A model of transformers with its codec."""

    def __init__(self, folder: Path) -> None:
        device = "cuda" if torch.cuda.is_available() else "cpu"
        self.network = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).to(device)
        self.tokenizer = transformers.AutoTokenizer.from_pretrained(folder, padding_side="left")
        self.codec = sg.ChatCodec.from_pretrained(folder)
        self.ends = self.network.generation_config.eos_token_id
        self.info = sg.TokenizerInfo.from_huggingface(self.tokenizer, eos_token_ids=self.ends)

    def turn(self, user: str, **asked: Any) -> sg.Turn:
        return self.codec.prepare([{"role": "user", "content": user}], **asked)

    def constraint(self, constraint: Any) -> Constraint:
        return Constraint(constraint, self.tokenizer, eos_token_ids=self.ends)

    def generate(self, turns: list[sg.Turn], *, assistant: bool = False, **options: Any) -> list[list[int]]:
        """What was written behind the prompts; `transformers` takes an assistant model by its own name."""
        inputs = self.tokenizer(
            [str(turn.prompt) for turn in turns], return_tensors="pt", add_special_tokens=False, padding=True
        ).to(self.network.device)
        if assistant:
            options["assistant_model"] = self.network
        options = {"max_new_tokens": LENGTH, "do_sample": False, **options}
        written = self.network.generate(**inputs, **options)
        rows: list[list[int]] = written[:, inputs["input_ids"].shape[1] :].tolist()
        return rows

    def trimmed(self, row: list[int]) -> list[int]:
        """The tokens of a sequence up to the one that ends it."""
        end = next((at for at, token in enumerate(row) if token in self.ends), len(row))
        return row[: end + 1]

    def accepts(self, grammar: sg.Grammar | None, row: list[int]) -> bool:
        """Whether a grammar accepts a sequence: whole if it has ended, else as a beginning."""
        assert grammar is not None
        matcher = sg.GrammarMatcher(sg.GrammarCompiler(self.info).compile(grammar))
        tokens = self.trimmed(row)
        if not all(matcher.accept_token(token) for token in tokens):
            return False
        return matcher.is_terminated() or len(row) == LENGTH


@pytest.fixture(scope="module")
def loaded(plain_folder: Path) -> Loaded:
    torch.set_num_threads(1)  # the matrices are small
    return Loaded(plain_folder)


class Naive:
    """The reference: for each row a matcher that reads all that stands behind the prompt, at every step."""

    def __init__(self, grammar: sg.Grammar, info: sg.TokenizerInfo) -> None:
        self.compiled = sg.GrammarCompiler(info).compile(grammar)
        self.info = info
        self.prompt: int | None = None

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        self.prompt = input_ids.shape[1] if self.prompt is None else self.prompt
        masked = torch.full_like(scores, -torch.inf)
        for row, tokens in enumerate(input_ids[:, self.prompt :].tolist()):
            matcher = sg.GrammarMatcher(self.compiled)
            over = any(matcher.is_terminated() or not matcher.accept_token(token) for token in tokens)
            if over or matcher.is_terminated():
                allowed = list(self.info.eos_token_ids)
            else:
                allowed = [token for token in range(self.info.vocab_size) if matcher.accepts(token)]
            masked[row, allowed] = scores[row, allowed]
        return masked


def grammars(loaded: Loaded) -> dict[str, list[sg.Turn]]:
    """Turns by what holds them, one for each of `USERS`."""
    schema = {"type": "json_schema", "json_schema": {"name": "thing", "schema": SCHEMA}}
    return {
        "a call": [loaded.turn(user, tools=TOOLS, tool_choice="required") for user in USERS],
        "a schema": [loaded.turn(user, tools=[], response_format=schema) for user in USERS],
        "anything": [loaded.turn(user, tools=TOOLS, template_kwargs={"enable_thinking": True}) for user in USERS],
    }


@pytest.mark.parametrize("kind", ["a call", "a schema", "anything"])
@pytest.mark.parametrize("mode", MODES)
def test_every_sequence_is_accepted(loaded: Loaded, kind: str, mode: str) -> None:
    """One processor for calls of `generate` one after another, in batches and alone."""
    turns = grammars(loaded)[kind]
    processor = loaded.constraint(turns)
    single = loaded.constraint(turns[0])
    for seed in range(2):
        torch.manual_seed(seed)
        if any(word in mode for word in ALONE):
            rows = loaded.generate(turns[:1], logits_processor=[single], **MODES[mode])
        else:
            rows = loaded.generate(turns, logits_processor=[processor], **MODES[mode])
        of_each = max(1, len(rows) // len(turns))
        for number, row in enumerate(rows):
            assert loaded.accepts(turns[number // of_each].grammar, row), loaded.tokenizer.decode(row)


def test_rows_of_a_batch_have_turns_of_their_own(loaded: Loaded) -> None:
    """Padded on the left, each as if it were alone."""
    turns = [turns[number] for number, turns in enumerate(grammars(loaded).values())]
    rows = loaded.generate(turns, logits_processor=[loaded.constraint(turns)])
    alone = [loaded.generate([turn], logits_processor=[loaded.constraint(turn)])[0] for turn in turns]
    assert [loaded.trimmed(row) for row in rows] == [loaded.trimmed(row) for row in alone]


@pytest.mark.parametrize("kind", ["a call", "a schema"])
def test_greedy_is_the_greedy_answer_of_our_own_loop(loaded: Loaded, ours: EmbeddedModel, kind: str) -> None:
    for turn in grammars(loaded)[kind]:
        # `generate` asks the model for every token, also where the grammar leaves one text.
        asked = {"max_tokens": LENGTH, "complete": False, "jump_forward": False}
        options = sg.GenerationOptions(sampling=sg.Sampling(temperature=0), **asked)
        steps = sg.Generator(ours).generate(str(turn.prompt), grammar=turn.grammar, options=options)
        expected = [step.token_id for step in steps]
        for mode in ("greedy", "prompt look-up", "assistant"):
            (row,) = loaded.generate([turn], logits_processor=[loaded.constraint(turn)], **MODES[mode])
            assert loaded.trimmed(row) == expected, mode


@pytest.mark.parametrize("kind", ["a call", "a schema"])
@pytest.mark.parametrize("beams", [2, 3, 5])
def test_beams_are_those_of_a_naive_reference(loaded: Loaded, kind: str, beams: int) -> None:
    for turn in grammars(loaded)[kind]:
        assert turn.grammar is not None
        options = {"num_beams": beams, "num_return_sequences": 2, "max_new_tokens": 40}
        expected = loaded.generate([turn], logits_processor=[Naive(turn.grammar, loaded.info)], **options)
        assert loaded.generate([turn], logits_processor=[loaded.constraint(turn)], **options) == expected


def test_drafts_survive_the_constraint(loaded: Loaded) -> None:
    """Prompt look-up is there to save forward passes: what the prompt has already is taken from it."""
    turn = loaded.turn("Set a timer for 7 minutes", tools=TOOLS, tool_choice="required")
    passes = 0

    def count(*_: Any) -> None:
        nonlocal passes
        passes += 1

    hook = loaded.network.register_forward_hook(count)
    try:
        (row,) = loaded.generate([turn], logits_processor=[loaded.constraint(turn)], prompt_lookup_num_tokens=8)
    finally:
        hook.remove()
    assert passes < len(loaded.trimmed(row))


def test_the_logits_that_are_handed_out_are_the_models_own(loaded: Loaded) -> None:
    turn = loaded.turn("Hello there", tools=TOOLS, tool_choice="required")
    inputs = loaded.tokenizer(str(turn.prompt), return_tensors="pt", add_special_tokens=False)
    inputs = inputs.to(loaded.network.device)
    found = loaded.network.generate(
        **inputs,
        logits_processor=[loaded.constraint(turn)],
        max_new_tokens=5,
        do_sample=False,
        return_dict_in_generate=True,
        output_logits=True,
        output_scores=True,
    )
    assert all(torch.isfinite(logits).all() for logits in found.logits)
    assert all(torch.isinf(scores).any() for scores in found.scores)


def test_a_turn_that_constrains_nothing_masks_nothing(loaded: Loaded) -> None:
    turn = loaded.turn("Hello there", tools=[])
    assert turn.grammar is None
    assert loaded.generate([turn], logits_processor=[loaded.constraint(turn)]) == loaded.generate([turn])


def test_constraints_of_one_tokenizer_share_a_compiler(loaded: Loaded) -> None:
    grammar = sg.Grammar.from_choices(["yes", "no"])
    first, second = loaded.constraint(grammar), loaded.constraint([grammar, grammar])
    assert first.compiler is second.compiler
    assert Constraint(grammar, first.compiler).compiler is first.compiler
    assert Constraint(grammar, loaded.info).compiler.info is loaded.info
    assert Constraint(grammar, loaded.tokenizer).compiler.info.eos_token_ids == (loaded.tokenizer.eos_token_id,)
    assert Constraint(first.compiler.compile(grammar), first.compiler).compiler is first.compiler


@pytest.mark.parametrize("wrong", [None, 3, [None], "text"])
def test_what_constrains_nothing_is_refused(loaded: Loaded, wrong: Any) -> None:
    with pytest.raises(sg.ArgumentTypeError, match="E-ARGUMENT-TYPE"):
        loaded.constraint(wrong)


def test_lists_that_do_not_fit_are_refused(loaded: Loaded) -> None:
    with pytest.raises(sg.ArgumentError, match="E-ARGUMENT-VALUE"):
        loaded.constraint([])
    turns = grammars(loaded)["a call"]
    with pytest.raises(sg.ArgumentError, match="E-BATCH-SIZE"):
        loaded.generate(turns, logits_processor=[loaded.constraint(turns[:2])])
    with pytest.raises(sg.ArgumentError, match="E-BATCH-SIZE"):
        loaded.generate(turns, streamer=EventStreamer(turns[:2], loaded.tokenizer))
    with pytest.raises(sg.VocabularyError):
        Constraint(turns, loaded.tokenizer, eos_token_ids=10**6)
    with pytest.raises(sg.ArgumentError, match="E-BITMASK-SIZE"):
        Constraint(sg.GrammarCompiler(sg.testing.byte_vocabulary()).compile(turns[0].grammar), loaded.tokenizer)


def test_continuous_batching_is_told_that_it_cannot_use_it(loaded: Loaded) -> None:
    from transformers.generation.continuous_batching.cb_logits_processors import ContinuousBatchingLogitsProcessorList
    from transformers.generation.logits_process import LogitsProcessorList

    processors = LogitsProcessorList([loaded.constraint(sg.Grammar.from_choices(["a"]))])
    kept = ContinuousBatchingLogitsProcessorList(processors, drop_unsupported_processors=True)
    assert not kept.logits_processor


# -- events


def read(loaded: Loaded, turn: sg.Turn, row: list[int]) -> sg.Message:
    parser = turn.parser()
    parser.feed_tokens(loaded.trimmed(row), loaded.info)
    parser.finish("stop" if row[-1] in loaded.ends else "length")
    return parser.message


@pytest.mark.parametrize("mode", [mode for mode in MODES if "beams" not in mode])
def test_events_of_a_batch_are_those_of_its_sequences(loaded: Loaded, mode: str) -> None:
    turns = grammars(loaded)["anything"]
    turns = turns[:1] if any(word in mode for word in ALONE) else turns
    events: dict[int, list[Any]] = {}
    streamer = EventStreamer(
        turns, loaded.tokenizer, lambda row, event: events.setdefault(row, []).append(event), eos_token_ids=loaded.ends
    )
    for seed in range(2):  # one streamer for calls one after another
        events.clear()
        torch.manual_seed(seed)
        rows = loaded.generate(turns, logits_processor=[loaded.constraint(turns)], streamer=streamer, **MODES[mode])
        assert sorted(events) == list(range(len(rows)))
        of_each = len(rows) // len(turns)
        for number, row in enumerate(rows):
            expected = read(loaded, turns[number // of_each], row)
            message = streamer.messages[number]
            assert without_ids(message) == without_ids(expected)
            texts = {
                kind: "".join(event.text for event in events[number] if type(event).__name__ == kind)
                for kind in ("ContentDelta", "ReasoningDelta")
            }
            assert texts["ContentDelta"] == (message.content or "")
            assert texts["ReasoningDelta"] == (message.reasoning_content or "")
            assert type(events[number][-1]).__name__ == "MessageEnd"


def without_ids(message: sg.Message) -> Any:
    return (message.content, message.reasoning_content, [(call.name, call.arguments) for call in message.tool_calls])


def test_parsers_are_used_once_each(loaded: Loaded) -> None:
    turn = loaded.turn("Set a timer for 7 minutes", tools=TOOLS, tool_choice="required")
    parsers = [turn.parser(), turn.parser()]
    streamer = EventStreamer(parsers, loaded.tokenizer, eos_token_ids=loaded.ends)
    loaded.generate([turn] * 2, logits_processor=[loaded.constraint(turn)], streamer=streamer)
    assert [parser.message for parser in parsers] == streamer.messages
    with pytest.raises(sg.ArgumentError, match="E-ARGUMENT-FINISHED"):
        loaded.generate([turn] * 2, streamer=streamer)


# -- response templates


def test_the_tokenizer_parses_with_our_template(loaded: Loaded, tmp_path: Path) -> None:
    set_response_template(loaded.tokenizer, loaded.codec)
    loaded.tokenizer.save_pretrained(tmp_path)
    again = transformers.AutoTokenizer.from_pretrained(tmp_path)
    for kind in ("a call", "anything"):
        for turn in grammars(loaded)[kind]:
            (row,) = loaded.generate([turn], logits_processor=[loaded.constraint(turn)])
            if row[-1] not in loaded.ends:
                continue
            ours = read(loaded, turn, row)
            theirs = again.parse_response(loaded.tokenizer.decode(row), prefix=str(turn.prompt))
            assert (theirs.get("content") or None) == ours.content
            assert (theirs.get("thinking") or None) == (ours.reasoning_content or None)
            found = [(call["function"]["name"], call["function"]["arguments"]) for call in theirs.get("tool_calls", [])]
            assert found == [(call.name, call.parsed_arguments()) for call in ours.tool_calls]


# -- the table of cases


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("case", TABLE, ids=lambda case: case.name)
def test_the_table_of_cases(loaded: Loaded, case: Case, stream: bool) -> None:
    turn, sampling = loaded.codec.prepare(MESSAGES, **options_of(case)), Sampling(case)
    torch.manual_seed(sampling.seed)
    options: dict[str, Any] = {"max_new_tokens": sampling.max_tokens, "logits_processor": [loaded.constraint(turn)]}
    if sampling.temperature:
        options |= {"do_sample": True, "temperature": sampling.temperature, "top_k": 0}
    if stream:
        reasons: list[str] = []
        streamer = EventStreamer(
            turn,
            loaded.tokenizer,
            lambda _, event: reasons.append(event.finish_reason) if isinstance(event, sg.events.MessageEnd) else None,
            eos_token_ids=loaded.ends,
        )
        loaded.generate([turn], streamer=streamer, **options)
        check_message(case, streamer.messages[0].to_openai(), reasons[0])
    else:
        (row,) = loaded.generate([turn], **options)
        parser = turn.parser()
        parser.feed_tokens(row, loaded.info)
        parser.finish("stop" if row[-1] in loaded.ends else "length")
        check_message(case, parser.message.to_openai(), parser.finish_reason)
    record("transformers", case, stream=stream)


def test_numbers_of_scores_beyond_the_vocabulary_are_masked(loaded: Loaded) -> None:
    """Models pad their logits; no grammar allows what is no token."""
    width = loaded.info.vocab_size + 40
    scores = torch.zeros(1, width)
    masked = loaded.constraint(sg.Grammar.from_choices(["a"]))(torch.tensor([[3]]), scores)
    assert np.isinf(masked[0, loaded.info.vocab_size :].numpy()).all()
    assert (scores == 0).all()
