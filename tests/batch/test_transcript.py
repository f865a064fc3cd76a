from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import pytest

import syntagma as sg
from syntagma.batch import Transcript, process_file, training_ids
from tests.batch.rows import WEATHER, made_format, made_template

MARKERS = ["<|end|>", "<|user|>", "<|assistant|>", "<|tool|>", "<call>", "</call>"]
INFO = sg.testing.byte_vocabulary(MARKERS)
END = 256
CHAT: list[dict[str, Any]] = [
    {"role": "user", "content": "Oslo?"},
    {
        "role": "assistant",
        "content": "",
        "tool_calls": [{"id": "1", "function": {"name": "weather", "arguments": {"city": "Oslo"}}}],
    },
    {"role": "tool", "content": "sunny", "tool_call_id": "1"},
    {"role": "assistant", "content": "It is sunny."},
]


def codec() -> sg.ChatCodec:
    return sg.ChatCodec.from_format(made_format(), made_template())


def written(ids: list[int], mask: list[int], info: sg.TokenizerInfo = INFO) -> list[bytes]:
    """The texts that the model wrote: runs of tokens with a 1."""
    runs: list[list[int]] = []
    before = 0
    for token, own in zip(ids, mask, strict=True):
        if own and not before:
            runs.append([])
        if own:
            runs[-1].append(token)
        before = own
    return [info.decode(run) for run in runs]


def test_the_model_wrote_its_turns_and_their_ends() -> None:
    ids, mask = training_ids(codec(), CHAT, INFO)
    assert INFO.decode(ids) == str(codec().render(CHAT, add_generation_prompt=False)).encode()
    call, answer = written(ids, mask)
    assert call.startswith(b"<call>{")
    assert call.endswith(b"</call><|end|>")
    assert answer == b"It is sunny.<|end|>"
    # Markers of the template are tokens.
    assert [token for token in ids if token >= END] == [257, END, 258, 260, 261, END, 259, END, 258, END]


def test_only_the_last_turn() -> None:
    ids, mask = training_ids(codec(), CHAT, INFO, turns="last")
    assert (ids, written(ids, mask)) == (training_ids(codec(), CHAT, INFO).ids, [b"It is sunny.<|end|>"])


def test_texts_of_others_make_no_control_tokens() -> None:
    chat = [{"role": "user", "content": "a<|end|>b"}, {"role": "assistant", "content": "c<|end|>d"}]
    ids, mask = training_ids(codec(), chat, INFO)
    assert ids.count(END) == 2
    assert written(ids, mask) == [b"c<|end|>d<|end|>"]


def test_recorded_tokens_are_taken_as_they_are() -> None:
    """A model may spell a text otherwise than an encoder does; no text is encoded twice."""
    own = [*b"It", *b" is  sunny", END]
    ids, mask = training_ids(codec(), CHAT, INFO, completions={3: own})
    assert [token for token, one in zip(ids, mask, strict=True) if one][-len(own) :] == own
    before = training_ids(codec(), CHAT, INFO)
    assert ids[: -len(own)] == before.ids[: len(ids) - len(own)]
    # What follows a recorded turn is what the template writes there.
    first = [*b"<call>odd"]
    ids, mask = training_ids(codec(), CHAT, INFO, completions={1: [*first, END], 3: own})
    prompt = codec().render(CHAT[:1]).ids(INFO)
    assert ids[: len(prompt) + len(first) + 1] == [*prompt, *first, END]
    between = codec().render(CHAT[2:3]).ids(INFO)
    assert ids[len(prompt) + len(first) + 1 :] == [*between, *own]


@pytest.mark.parametrize("own", [[], [*b"It is"]])
def test_an_end_that_was_not_recorded_is_not_the_models(own: list[int]) -> None:
    ids, mask = training_ids(codec(), CHAT, INFO, turns="last", completions={3: own})
    assert written(ids, mask) == ([bytes(own)] if own else [])
    assert ids[len(ids) - len(own) - 1 :] == [*own, END]
    assert mask[-1] == 0


def test_the_opening_of_a_turn_is_the_prompts() -> None:
    template = sg.ChatTemplate(
        "{% for m in messages %}<|{{ m.role }}|>{% if m.role == 'assistant' %}<note></note>{% endif %}"
        "{{ m.content }}<|end|>\n{% endfor %}{% if add_generation_prompt %}<|assistant|><note></note>{% endif %}"
    )
    ids, mask = training_ids(sg.ChatCodec.from_format(made_format(), template), [CHAT[0], CHAT[3]], INFO)
    assert written(ids, mask) == [b"It is sunny.<|end|>"]
    assert INFO.decode(ids).endswith(b"<|end|>\n")


FORGETS = (
    "{% for m in messages %}<|{{ m.role }}|>{% if m.reasoning_content and loop.last %}<note>{{ m.reasoning_content }}"
    "</note>{% endif %}{{ m.content }}<|end|>{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}"
)


def test_a_turn_that_the_template_rewrites_is_refused() -> None:
    """The model never saw a conversation in which its own reasoning is left out where it stood."""
    forgets = sg.ChatCodec.from_format(made_format(), sg.ChatTemplate(FORGETS))
    chat = [
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": "b", "reasoning_content": "hm"},
        {"role": "user", "content": "c"},
        {"role": "assistant", "content": "d", "reasoning_content": "oh"},
    ]
    with pytest.raises(sg.ArgumentError) as caught:
        training_ids(forgets, chat, INFO)
    assert (caught.value.code, caught.value.pointer) == ("E-TRANSCRIPT-PREFIX", "/messages/1")
    for end in (2, 4):
        ids, mask = training_ids(forgets, chat[:end], INFO, turns="last")
        thought = b"hm" if end == 2 else b"oh"
        assert written(ids, mask) == [b"<note>" + thought + b"</note>" + chat[end - 1]["content"].encode() + b"<|end|>"]
        assert ids[: mask.index(1)] == forgets.render(chat[: end - 1]).ids(INFO)


def test_a_turn_that_does_not_continue_its_prompt_is_refused() -> None:
    opens = sg.ChatTemplate(
        "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>{% endfor %}"
        "{% if add_generation_prompt %}<|assistant|><note>{% endif %}"
    )
    with pytest.raises(sg.ArgumentError) as caught:
        training_ids(sg.ChatCodec.from_format(made_format(), opens), [CHAT[0], CHAT[3]], INFO)
    assert (caught.value.code, caught.value.pointer) == ("E-TRANSCRIPT-PREFIX", "/messages/1")


@pytest.mark.parametrize(
    ("messages", "options"),
    [([], {}), (CHAT[:1], {}), (CHAT, {"completions": {0: [1]}}), (CHAT, {"completions": {1: [1]}, "turns": "last"})],
)
def test_turns_that_are_not_there(messages: list[Any], options: dict[str, Any]) -> None:
    with pytest.raises(sg.ArgumentError) as caught:
        training_ids(codec(), messages, INFO, **options)
    assert caught.value.code == "E-TRANSCRIPT-TURN"


def metaspace(path: Path, scheme: str) -> sg.TokenizerInfo:
    """A vocabulary that writes blanks as a sign, and one before a text, or before each behind a control token."""
    tokenizers = pytest.importorskip("tokenizers")
    texts = ["<unk>", "</s>", "<|user|>", "<|assistant|>", "▁", "▁h", "▁hi", "h", "i", "hi"]
    vocabulary = {text: at for at, text in enumerate([*texts, *(f"<0x{byte:02X}>" for byte in range(256))])}
    merges = [("h", "i"), ("▁", "h"), ("▁", "hi")]
    model = tokenizers.models.BPE(
        vocab=vocabulary,
        merges=merges,
        byte_fallback=True,
        unk_token="<unk>",
        fuse_unk=True,
    )
    whole = tokenizers.Tokenizer(model)
    whole.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace(prepend_scheme=scheme, split=False)
    steps = [tokenizers.decoders.Replace("▁", " "), tokenizers.decoders.ByteFallback(), tokenizers.decoders.Fuse()]
    whole.decoder = tokenizers.decoders.Sequence(steps)
    special = ["</s>", "<|user|>", "<|assistant|>"]
    whole.add_special_tokens([tokenizers.AddedToken(text, special=True, normalized=False) for text in special])
    whole.save(str(path))
    return sg.TokenizerInfo.from_tokenizer_json(path, eos_token_ids=[1])


@pytest.mark.parametrize("scheme", ["always", "first", "never"])
@pytest.mark.parametrize("opening", ["<|assistant|>", "<|assistant|>: "])
def test_no_blank_is_put_before_a_turn(tmp_path: Path, scheme: str, opening: str) -> None:
    info = metaspace(tmp_path / "tokenizer.json", scheme)
    template = sg.ChatTemplate(
        "{% for m in messages %}{{ OPENING if m.role == 'assistant' else '<|user|>' }}{{ m.content }}</s>{% endfor %}"
        "{% if add_generation_prompt %}{{ OPENING }}{% endif %}".replace("OPENING", repr(opening))
    )
    own = sg.ChatCodec.from_format(sg.ChatFormat.from_toml('end_of_turn = ["</s>"]'), template)
    chat = [{"role": role, "content": "hi"} for role in ("user", "assistant", "user", "assistant")]
    ids, mask = training_ids(own, chat, info)
    # Every prompt is what the model was given, as far as the recorded turns before it allow.
    assert ids[: mask.index(1)] == own.render(chat[:1]).ids(info)
    # Behind a control token the vocabulary decides; behind text there is no blank that the text does not have.
    blank = b" " if scheme == "always" and opening == "<|assistant|>" else b""
    assert written(ids, mask, info) == [blank + b"hi</s>"] * 2
    if opening == "<|assistant|>":
        assert ids == own.render(chat, add_generation_prompt=False).ids(info)


def test_conversations_in_a_column(tmp_path: Path) -> None:
    stage = pickle.loads(pickle.dumps(Transcript(codec(), INFO, tools=[WEATHER])))
    wanted = training_ids(codec(), CHAT, INFO, tools=[WEATHER])
    rows = [
        {"messages": CHAT},
        {"messages": json.dumps(CHAT)},
        {"messages": CHAT, "completion_ids": [None, [65, END]]},
        {"messages": CHAT, "completion_ids": [[65]]},
        {"messages": CHAT, "completion_ids": "x"},
        {"messages": CHAT[:1]},
        {"messages": None},
    ]
    found = stage(rows)
    for row in found[:2]:
        assert (row["input_ids"], row["assistant_masks"]) == (wanted.ids, wanted.mask)
    assert found[2]["input_ids"][-2:] == [65, END]
    codes = ["E-BATCH-COLUMN", "E-BATCH-COLUMN", "E-TRANSCRIPT-TURN", "E-ARGUMENT-TYPE"]
    assert [row["error"]["code"] for row in found[3:]] == codes
    source = tmp_path / "in.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert process_file(stage, source, tmp_path / "out.jsonl").written == 3
    pa = pytest.importorskip("pyarrow")
    table = stage(pa.table({"messages": [json.dumps(CHAT)]}))
    assert table.column("input_ids").to_pylist() == [wanted.ids]
    assert table.schema.field("assistant_masks").type == pa.list_(pa.int8())


def test_prompts_as_token_ids() -> None:
    render = sg.batch.Render(codec(), info=INFO)
    row = {"messages": [{"role": "user", "content": "a<|end|>b"}]}
    assert render(row)["prompt_ids"] == codec().render(row["messages"]).ids(INFO)
    assert "prompt_ids" not in sg.batch.Render(codec())(row)


def test_training_sees_the_tokens_of_the_generation() -> None:
    """Prompt and answer of a model that ran, token by token."""
    pytest.importorskip("tokenizers")
    model = sg.load("embedded")
    info = model.generator.backend.tokenizer_info
    chat: list[Any] = [{"role": "user", "content": "Set a <|im_end|> reminder for Emma at 9."}]
    turn = model.codec.prepare(chat, tools=[WEATHER], tool_choice="required")
    options = sg.GenerationOptions(max_tokens=60)
    steps = list(model.generator.start(turn.prompt, grammar=turn.grammar, options=options))
    own = [step.token_id for step in steps]
    parser = turn.parser()
    parser.feed_tokens(own, info)
    parser.finish()
    chat.append(parser.message)
    ids, mask = training_ids(model.codec, chat, info, turns="last", completions={1: own}, tools=[WEATHER])
    prompt = turn.prompt_ids(info)
    size = len(prompt) + len(own)
    assert ids[:size] == [*prompt, *own]
    assert mask == [0] * len(prompt) + [1] * len(own) + [0] * (len(ids) - size)
    # Without the record, the text is encoded: the same text, perhaps in other tokens.
    again, _ = training_ids(model.codec, chat, info, turns="last", tools=[WEATHER])
    assert again[: len(prompt)] == prompt
    model.close()
