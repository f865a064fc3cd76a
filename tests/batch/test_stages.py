from __future__ import annotations

import json
import pickle
from typing import Any

import msgspec
import numpy as np
import pytest

import syntagma as sg
from syntagma import batch
from tests.batch.rows import CALL, FORMAT, WEATHER, answer, made_format, made_template

RAW = "<note>hm</note>Yes." + CALL
PARSED = {
    "role": "assistant",
    "content": "Yes.",
    "reasoning_content": "hm",
    "finish_reason": "tool_calls",
    "incomplete": False,
    "diagnostics": [],
    "error": None,
}


def column(values: list[Any]) -> Any:
    """A column of objects, as NumPy holds any values."""
    array = np.empty(len(values), object)
    for at, value in enumerate(values):
        array[at] = value
    return array


def test_a_row_becomes_a_message() -> None:
    row = {"generated_text": RAW, "id": 7}
    found = sg.batch.Parse(made_format())(row)
    calls = found.pop("tool_calls")
    assert found == {**row, **PARSED}
    assert [(call["name"], call["arguments"], call["complete"]) for call in calls] == [
        ("weather", '{"city": "Oslo"}', True)
    ]


def test_all_forms_of_a_batch_say_the_same() -> None:
    parse = sg.batch.Parse(made_format(), tools=[WEATHER])
    texts = [answer(number) for number in range(5)] + [None]
    rows = [parse({"generated_text": text}) for text in texts]
    assert parse([{"generated_text": text} for text in texts]) == rows
    columns = parse({"generated_text": column(texts)})
    assert [{name: values[at] for name, values in columns.items()} for at in range(len(texts))] == rows


def test_arrow_tables_and_record_batches() -> None:
    pa = pytest.importorskip("pyarrow")
    parse = sg.batch.Parse(made_format())
    texts = [answer(number) for number in range(5)] + [None]
    rows = [parse({"generated_text": text, "n": at}) for at, text in enumerate(texts)]
    table = pa.table({"generated_text": texts, "n": range(6)}).replace_schema_metadata({"kept": "yes"})
    found = parse(table)
    assert found.to_pylist() == rows
    assert found.schema.metadata == {b"kept": b"yes"}
    batch = parse(pa.RecordBatch.from_pylist([{"generated_text": "", "n": 1}]))
    assert isinstance(batch, pa.RecordBatch)
    # An empty batch has columns of the same types, so that batches can be joined.
    assert (
        parse(table.slice(0, 0)).schema
        == found.schema
        == pa.Table.from_batches([batch]).schema.with_metadata({"kept": "yes"})
    )


def test_pandas_frames() -> None:
    pd = pytest.importorskip("pandas")
    parse = sg.batch.Parse(made_format())
    frame = parse(pd.DataFrame({"generated_text": [RAW, None], "n": [1, 2]}))
    assert frame["content"][0] == "Yes."
    assert pd.isna(frame["content"][1])
    assert frame["error"][1]["code"] == "E-BATCH-COLUMN"
    assert list(frame["n"]) == [1, 2]


@pytest.mark.parametrize(
    ("row", "code"),
    [
        ({}, "E-BATCH-MISSING"),
        ({"text": "x"}, "E-BATCH-MISSING"),
        ({"generated_text": None}, "E-BATCH-COLUMN"),
        ({"generated_text": 7}, "E-BATCH-COLUMN"),
        ({"generated_text": b"x"}, "E-BATCH-COLUMN"),
        ({"generated_text": "x", "tools": "[{"}, "E-BATCH-COLUMN"),
        ({"generated_text": "x", "tools": [{"type": "function"}]}, "E-TOOL-INVALID"),
        ({"generated_text": "x", "tools": 3}, "E-TOOL-LIST"),
    ],
)
def test_a_bad_row_has_its_error_and_no_results(row: dict[str, Any], code: str) -> None:
    parse = sg.batch.Parse(made_format())
    bad, good = parse([row, {"generated_text": RAW}])
    assert bad["error"]["code"] == code
    assert bad["error"]["message"]
    assert {name: bad[name] for name in ("role", "content", "tool_calls")} == dict.fromkeys(
        ("role", "content", "tool_calls")
    )
    assert good["content"] == "Yes."


def test_what_nobody_expects_in_a_row_is_an_error_of_that_row() -> None:
    class Odd(str):
        def __format__(self, _: str) -> str:
            raise RuntimeError("odd")

    found = sg.batch.Parse(made_format())([{"generated_text": Odd("x")}, {"generated_text": "y"}])
    assert found[0]["error"] == {"code": "E-BATCH-ROW", "message": "unexpected RuntimeError: odd"}
    assert found[1]["content"] == "y"


def test_strict_reading_makes_bad_text_a_bad_row() -> None:
    parse = sg.batch.Parse(made_format(), strict=True)
    assert parse({"generated_text": "<call>{"})["error"]["code"].startswith("E-PARSE-")
    assert sg.batch.Parse(made_format())({"generated_text": "<call>{"})["error"] is None


def test_a_table_without_the_column_is_refused() -> None:
    with pytest.raises(sg.ArgumentError) as caught:
        sg.batch.Parse(made_format())({"text": np.array(["x"], object)})
    assert caught.value.code == "E-BATCH-MISSING"
    assert "text" in caught.value.message


@pytest.mark.parametrize("batch", [7, "text", None, {1, 2}])
def test_what_is_no_batch_is_refused(batch: object) -> None:
    with pytest.raises(sg.ArgumentTypeError) as caught:
        sg.batch.Parse(made_format())(batch)
    assert caught.value.code == "E-BATCH-FORM"


def test_columns_get_other_names() -> None:
    names = {"generated_text": "response", "content": "answer", "error": "problem"}
    found = sg.batch.Parse(made_format(), columns=names)({"response": RAW, "content": "kept"})
    assert (found["answer"], found["content"], found["problem"]) == ("Yes.", "kept", None)


@pytest.mark.parametrize("columns", [{"txt": "x"}, {"content": "x", "role": "x"}])
def test_names_that_cannot_be_are_refused(columns: dict[str, str]) -> None:
    with pytest.raises(sg.ArgumentError) as caught:
        sg.batch.Parse(made_format(), columns=columns)
    assert caught.value.code == "E-BATCH-NAME"


def test_options_are_checked_when_the_stage_is_made() -> None:
    with pytest.raises(sg.ArgumentError):
        sg.batch.Parse(made_format(), reasoning="maybe")  # type: ignore[arg-type]
    with pytest.raises(sg.ArgumentError):
        sg.batch.Parse(made_format(), tools=[WEATHER, WEATHER])
    with pytest.raises(sg.ArgumentError):
        sg.batch.Constrain(made_format(), "bnf")  # type: ignore[arg-type]
    with pytest.raises(sg.ArgumentError):
        sg.batch.Render(sg.ChatCodec.from_format(made_format()))


def test_ids_of_calls_are_the_same_in_another_run() -> None:
    first, second = (sg.batch.Parse(made_format())({"generated_text": RAW + CALL}) for _ in range(2))
    assert first == second
    ids = [call["id"] for call in first["tool_calls"]]
    assert len(set(ids)) == 2
    # Answers to different prompts may be equal, and their calls still are different ones.
    other = sg.batch.Parse(made_format())({"generated_text": RAW, "prompt": "x"})
    assert other["tool_calls"][0]["id"] not in ids
    seeded = sg.batch.Parse(made_format(), id_seed="7")({"generated_text": RAW})
    assert seeded["tool_calls"][0]["id"] not in ids


def test_rows_bring_their_own_request() -> None:
    parse = sg.batch.Parse(made_format())
    assert parse({"generated_text": CALL, "tools": "[]"})["content"] == CALL
    assert parse({"generated_text": CALL, "tool_choice": "none"})["content"] == CALL
    assert parse({"generated_text": CALL, "tools": json.dumps([WEATHER])})["tool_calls"][0]["name"] == "weather"
    fenced = parse({"generated_text": "```json\n{}\n```", "response_format": {"type": "json_object"}})
    assert fenced["content"] == "{}"


def test_the_prompt_says_what_is_open() -> None:
    parse = sg.batch.Parse(made_format())
    found = parse({"generated_text": "hm</note>Yes.", "prompt": "<|assistant|><note>", "prompt_start": 13})
    assert (found["reasoning_content"], found["content"]) == ("hm", "Yes.")
    fixed = sg.batch.Parse(made_format(), prompt=sg.Prompt("<|assistant|><note>", 13))
    assert fixed({"generated_text": "hm</note>Yes."})["reasoning_content"] == "hm"


def test_a_limit_of_the_engine_is_the_finish_reason() -> None:
    found = sg.batch.Parse(made_format())({"generated_text": CALL[:40], "finish_reason": "length"})
    assert (found["finish_reason"], found["incomplete"]) == ("length", True)
    assert found["tool_calls"][0]["complete"] is False
    assert found["diagnostics"][0]["code"] == "E-PARSE-TRUNCATED"


def test_token_ids_are_read_as_tokens() -> None:
    info = sg.testing.byte_vocabulary(["<call>", "</call>", "<|end|>"])
    special = {"<call>": 256, "</call>": 257}
    body = CALL.removeprefix("<call>").removesuffix("</call>").encode()
    parse = sg.batch.Parse(made_format(), info=info)
    assert {info.token_bytes(one).decode() for one in special.values()} == set(special)
    tokens = [special["<call>"], *body, special["</call>"]]
    assert parse({"generated_tokens": tokens})["tool_calls"][0]["name"] == "weather"
    assert parse({"generated_tokens": column([tokens, [65]])})["content"][1] == "A"
    # The same text without the special tokens is text.
    assert parse({"generated_tokens": list(CALL.encode())})["tool_calls"] == []
    assert parse({"generated_tokens": "text"})["error"]["code"] == "E-BATCH-COLUMN"


def test_conversations_become_prompts() -> None:
    messages = [{"role": "user", "content": "Oslo?"}]
    wanted = made_template().render(messages, tools=[WEATHER])
    for given in (messages, json.dumps(messages), column(messages)):
        found = sg.batch.Render(made_template())({"messages": given, "tools": [WEATHER]})
        assert found["error"] is None
        assert (found["prompt"], found["prompt_start"]) == (str(wanted), wanted.start)
    codec = sg.ChatCodec.from_format(made_format(), made_template())
    assert sg.batch.Render(codec, tools=[WEATHER])({"messages": messages})["prompt"] == str(wanted)
    assert sg.batch.Render(codec)({"messages": messages, "tools": []})["prompt"] == "<|user|>Oslo?<|end|><|assistant|>"
    closed = sg.batch.Render(codec, add_generation_prompt=False)({"messages": messages})
    assert closed["prompt"] == "<|user|>Oslo?<|end|>"


def test_a_conversation_that_cannot_be_rendered_is_a_bad_row() -> None:
    render = sg.batch.Render(made_template())
    found = render([{"messages": "["}, {"messages": 7}, {"messages": [{"role": "user", "content": "x"}]}])
    assert [one["error"] is None for one in found] == [False, False, True]


def test_structures_of_arrow_lose_what_arrow_added() -> None:
    pa = pytest.importorskip("pyarrow")
    template = sg.ChatTemplate("{% for m in messages %}{{ m | tojson }}{% endfor %}")
    messages = [[{"role": "user", "content": "x"}], [{"role": "tool", "content": "y", "tool_call_id": "1"}]]
    table = pa.table({"messages": messages})
    prompts = sg.batch.Render(template)(table).column("prompt").to_pylist()
    assert [json.loads(prompt) for prompt in prompts] == [one[0] for one in messages]
    # A row of one's own is taken as it is.
    row = {"messages": [{"role": "user", "content": None}]}
    assert json.loads(sg.batch.Render(template).row(row)["prompt"]) == row["messages"][0]


@pytest.mark.parametrize("dialect", ["ebnf", "gbnf", "lark", "structural_tag", "xgrammar"])
def test_each_row_gets_its_grammar(dialect: Any) -> None:
    constrain = sg.batch.Constrain(made_format(), dialect, tool_choice="required")
    found = constrain([{"tools": [WEATHER]}, {"tools": json.dumps([WEATHER])}, {"tools": None}])
    export = made_format().grammar([WEATHER], tool_choice="required").exports()[dialect]
    wanted = export.source if isinstance(export.source, str) else json.dumps(export.source)
    for row in found[:2]:
        assert row["error"] is None
        same = row["grammar"] == wanted or json.loads(row["grammar"]) == json.loads(wanted)
        assert same
        assert row["grammar_status"] == export.status
        assert row["preserved_tokens"] == list(export.preserved_tokens)
    assert found[2]["error"]["code"] == "E-REQUEST-TOOL-CHOICE"


def test_grammars_follow_the_row() -> None:
    constrain = sg.batch.Constrain(made_format(), "ebnf", tools=[WEATHER])
    rows = [
        {},
        {"tool_choice": "none"},
        {"tool_choice": "weather"},
        {"response_format": {"type": "json_object"}, "tools": []},
        {"prompt": "<|assistant|><note>", "prompt_start": 13},
    ]
    found = constrain(rows)
    assert [one["error"] for one in found] == [None] * 5
    grammars = [sg.Grammar.from_ebnf(one["grammar"]) for one in found]
    assert [grammar.accepts("{}") for grammar in grammars] == [True, True, False, True, False]
    assert [grammar.accepts(CALL) for grammar in grammars] == [True, False, True, False, False]
    assert [grammar.accepts("hm</note>Yes.") for grammar in grammars] == [False, False, False, False, True]


def test_a_row_that_asks_for_nothing_has_no_grammar() -> None:
    found = sg.batch.Constrain(made_format(), "gbnf")({"tools": None, "id": 1})
    assert (found["grammar"], found["grammar_status"], found["error"]) == (None, "free", None)


def test_a_grammar_that_a_language_cannot_say_is_a_bad_row() -> None:
    fmt = sg.ChatFormat.from_toml(FORMAT.replace("<call>", "[CALL]").replace("</call>", "[/CALL]"))
    row = {"tools": [WEATHER], "tool_choice": "required"}
    found = sg.batch.Constrain(fmt, "lark")(row)
    assert found["error"]["code"] == "E-BATCH-DIALECT"
    assert "[CALL]" in found["error"]["message"]
    # With the vocabulary the marker is a token, and has a number.
    info = sg.testing.byte_vocabulary(["[CALL]", "[/CALL]"])
    assert "<[256]>" in sg.batch.Constrain(fmt, "lark", info=info)(row)["grammar"]


def test_a_grammar_that_accepts_more_says_so() -> None:
    unlike = {"type": "array", "items": {"type": "string"}, "uniqueItems": True}
    wide = {"type": "json_schema", "json_schema": {"name": "x", "schema": unlike}}
    assert sg.batch.Constrain(made_format(), "gbnf")({"response_format": wide})["grammar_status"] == "wider"


def test_stages_can_be_pickled() -> None:
    codec = sg.ChatCodec.from_format(made_format(), made_template())
    row = {
        "generated_text": RAW,
        "messages": [{"role": "user", "content": "x"}],
        "tools": [WEATHER],
    }
    for stage in (
        sg.batch.Parse(made_format()),
        sg.batch.Render(codec),
        sg.batch.Constrain(made_format(), "lark", tool_choice="required"),
    ):
        assert pickle.loads(pickle.dumps(stage))(row) == stage(row)


def test_what_cannot_be_pickled_says_what_can() -> None:
    info = sg.testing.byte_vocabulary()
    compiler = sg.GrammarCompiler(info)
    grammar = sg.Grammar.from_regex("a*")
    compiled = compiler.compile(grammar)
    matcher = sg.GrammarMatcher(compiled)
    matcher.accept_bytes(b"aa")
    for value, what in ((compiler, "TokenizerInfo"), (compiled, "Grammar"), ([matcher], "state_bytes")):
        with pytest.raises(sg.ArgumentTypeError) as caught:
            pickle.dumps(value)
        assert caught.value.code == "E-STATE-PICKLE"
        assert what in str(caught.value.hint)
    # And what the hints say works.
    there_grammar, there_info, state = pickle.loads(pickle.dumps((grammar, info, matcher.state_bytes())))
    there = sg.GrammarMatcher.from_state_bytes(sg.GrammarCompiler(there_info).compile(there_grammar), state)
    assert there.steps == matcher.steps


def test_a_type_is_a_response_format_of_a_stage() -> None:
    """It is kept as its schema: a stage is data, so that a run can be resumed."""

    class Shape(msgspec.Struct):
        a: int

    stages = [
        batch.Parse(made_format(), response_format=Shape),
        batch.Constrain(made_format(), "gbnf", response_format=Shape),
    ]
    for stage in stages:
        assert msgspec.json.encode(stage.identity())
        assert pickle.loads(pickle.dumps(stage)).identity() == stage.identity()
