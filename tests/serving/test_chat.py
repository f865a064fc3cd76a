from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import unquote

import pytest
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from starlette.testclient import TestClient

from syntagma.codec import ChatCodec
from syntagma.formats import ChatFormat
from syntagma.serving import ServedModel, Settings, create_app
from syntagma.templates import ChatTemplate
from syntagma.testing import ScriptedBackend
from tests.serving.strict import unlisted
from tests.serving.support import (
    CALL,
    CLOCK,
    FORMAT,
    NO_REASONING,
    SWITCHED,
    WEATHER,
    ask,
    body,
    client,
    joined,
    model,
    stream,
)

# What other servers have made common and OpenAI's types do not list.
EXTRAS = {"reasoning_content", "reasoning", "extra"}


def test_the_answer_is_what_strict_types_want() -> None:
    answer = ask("<note>well</note>hello" + CALL, tools=[WEATHER], logprobs=True, top_logprobs=2)
    read = ChatCompletion.model_validate_json(json.dumps(answer), strict=True)
    assert unlisted(read) <= EXTRAS
    message = answer["choices"][0]["message"]
    assert message["refusal"] is None
    assert message["content"] == "hello"
    assert message["reasoning_content"] == "well"
    assert answer["choices"][0]["finish_reason"] == "tool_calls"
    call = message["tool_calls"][0]
    assert call["type"] == "function"
    assert call["function"]["name"] == "weather"
    assert json.loads(call["function"]["arguments"]) == {"city": "Oslo", "days": 2}


def test_a_plain_answer() -> None:
    answer = ask("hello")
    choice = answer["choices"][0]
    assert choice["message"] == {"role": "assistant", "content": "hello", "refusal": None, "annotations": []}
    assert choice["logprobs"] is None
    assert choice["finish_reason"] == "stop"
    assert answer["object"] == "chat.completion"
    assert answer["id"].startswith("chatcmpl-")
    usage = answer["usage"]
    assert usage["completion_tokens"] == 6
    assert usage["total_tokens"] == usage["prompt_tokens"] + 6
    seconds = {"grammar_init_s": 0.0, "grammar_per_token_s": 0.0}
    assert usage["extra"] == {**seconds, "forced_tokens": 0, "forward_passes": 6}


def test_every_chunk_is_what_strict_types_want() -> None:
    chunks = stream(
        "<note>well</note>hello" + CALL, tools=[WEATHER], stream_options={"include_usage": True}, logprobs=True
    )
    for chunk in chunks:
        read = ChatCompletionChunk.model_validate_json(json.dumps(chunk), strict=True)
        assert unlisted(read) <= EXTRAS
    assert chunks[0]["choices"][0]["delta"] == {"role": "assistant", "content": ""}
    assert all(chunk["usage"] is None for chunk in chunks[:-1])
    assert chunks[-1]["choices"] == []
    assert chunks[-1]["usage"]["completion_tokens"] > 0
    assert chunks[-1]["usage"]["extra"]["grammar_init_s"] > 0
    assert chunks[-2]["choices"][0]["finish_reason"] == "tool_calls"
    assert all(chunk["choices"][0]["finish_reason"] is None for chunk in chunks[:-2])
    assert len({chunk["id"] for chunk in chunks}) == 1
    assert "usage" not in stream("hello")[0]


@pytest.mark.parametrize(
    "script",
    ["hello", "", "<note>hm</note>hello", CALL, "<note>hm</note>" + CALL + CALL, "é€😀", "<not a call", "a<call>b"],
)
def test_the_stream_says_what_the_whole_says(script: str) -> None:
    whole = ask(script, tools=[WEATHER, CLOCK])
    parts = joined(stream(script, tools=[WEATHER, CLOCK]))
    message = whole["choices"][0]["message"]
    assert parts["content"] == (message["content"] or "")
    assert parts["reasoning_content"] == message.get("reasoning_content", "")
    assert parts["finish_reason"] == whole["choices"][0]["finish_reason"]
    calls = message.get("tool_calls", [])
    assert [(call["name"], call["arguments"]) for call in parts["tool_calls"]] == [
        (call["function"]["name"], call["function"]["arguments"]) for call in calls
    ]


def test_auto_may_answer_in_text_or_call() -> None:
    for script, reason in (("no call", "stop"), (CALL, "tool_calls")):
        assert ask(script, tools=[WEATHER])["choices"][0]["finish_reason"] == reason


def test_auto_holds_calls_to_the_schema() -> None:
    wrong = '<call>{"name": "weather", "arguments": {"city": "Atlantis"}}</call>'
    choice = ask(wrong, tools=[WEATHER], max_tokens=300, seed=1)["choices"][0]
    if choice["finish_reason"] == "tool_calls":
        assert json.loads(choice["message"]["tool_calls"][0]["function"]["arguments"])["city"] in ("Oslo", "Lima")
    free = client(wrong, settings=Settings(enforce="off")).post("/v1/chat/completions", json=body(tools=[WEATHER]))
    call = free.json()["choices"][0]["message"]["tool_calls"][0]["function"]
    assert json.loads(call["arguments"]) == {"city": "Atlantis"}


@pytest.mark.parametrize(
    ("choice", "names"),
    [
        ("required", {"weather", "clock"}),
        ({"type": "function", "function": {"name": "clock"}}, {"clock"}),
        (
            {
                "type": "allowed_tools",
                "allowed_tools": {"mode": "required", "tools": [{"type": "function", "function": {"name": "clock"}}]},
            },
            {"clock"},
        ),
    ],
)
@pytest.mark.parametrize("script", ["I would rather talk", CALL])
def test_a_call_can_be_demanded(script: str, choice: Any, names: set[str]) -> None:
    asked = {"tools": [WEATHER, CLOCK], "tool_choice": choice, "parallel_tool_calls": False}
    given = ask(script, spec=NO_REASONING, **asked, temperature=1, seed=2)
    calls = given["choices"][0]["message"]["tool_calls"]
    assert len(calls) == 1
    assert calls[0]["function"]["name"] in names
    assert isinstance(json.loads(calls[0]["function"]["arguments"]), dict)
    assert given["choices"][0]["finish_reason"] == "tool_calls"
    assert given["choices"][0]["message"]["content"] is None


def test_none_makes_no_calls() -> None:
    choice = ask(CALL, tools=[WEATHER], tool_choice="none", max_tokens=40)["choices"][0]
    assert "tool_calls" not in choice["message"]
    assert choice["finish_reason"] != "tool_calls"


def test_without_tools_a_call_is_text() -> None:
    choice = ask(CALL)["choices"][0]
    assert "tool_calls" not in choice["message"]
    assert choice["message"]["content"] == CALL
    assert choice["finish_reason"] == "stop"


SCHEMA = {"type": "object", "properties": {"n": {"enum": [7, 8]}}, "required": ["n"], "additionalProperties": False}


@pytest.mark.parametrize(
    "response_format",
    [
        {"type": "json_schema", "json_schema": {"name": "n", "strict": True, "schema": SCHEMA}},
        {"type": "json_object", "schema": SCHEMA},
    ],
)
@pytest.mark.parametrize("script", ["certainly not", '{"n": 8}', '{"n": 9}'])
def test_the_answer_can_be_constrained_by_a_schema(script: str, response_format: dict[str, Any]) -> None:
    choice = ask(script, spec=NO_REASONING, response_format=response_format, temperature=1, seed=4)["choices"][0]
    assert json.loads(choice["message"]["content"])["n"] in (7, 8)
    assert choice["finish_reason"] == "stop"


def test_further_response_formats() -> None:
    free = ask("plain", response_format={"type": "text"})
    assert free["choices"][0]["message"]["content"] == "plain"
    grammar = {"type": "grammar", "grammar": 'start ::= "left" | "right"'}
    assert ask("right", response_format=grammar)["choices"][0]["message"]["content"] == "right"
    any_object = ask('{"a": [1]}', response_format={"type": "json_object"})
    assert any_object["choices"][0]["message"]["content"] == '{"a": [1]}'
    assert any_object["usage"]["extra"]["grammar_init_s"] > 0
    assert any_object["usage"]["extra"]["grammar_per_token_s"] > 0


PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "role": {"type": "string", "enum": ["cook", "pilot"]},
        "active": {"type": "boolean"},
    },
    "required": ["name", "role", "active"],
}


def test_a_schema_may_be_json_text() -> None:
    """As clients of other engines for the browser send it."""
    written = '{"name": "Ida", "role": "pilot", "active": true}'
    asked = {"response_format": {"type": "json_object", "schema": json.dumps(PERSON)}, "max_tokens": 128}
    answer = ask(written, **asked)
    assert json.loads(answer["choices"][0]["message"]["content"]) == json.loads(written)
    extra = answer["usage"]["extra"]
    assert 0 < extra["forced_tokens"] < answer["usage"]["completion_tokens"]
    assert 0 < extra["forward_passes"] < answer["usage"]["completion_tokens"]
    assert extra["grammar_init_s"] > 0
    assert extra["grammar_per_token_s"] > 0
    chunks = stream(written, **asked)
    text = "".join(chunk["choices"][0]["delta"].get("content") or "" for chunk in chunks if chunk["choices"])
    assert text == written


@pytest.mark.parametrize(
    "notation", ['root ::= "left" | "right"', 'start: "left" | "right"\n', 'start = "left" | "right";']
)
def test_a_grammar_may_be_in_any_notation(notation: str) -> None:
    answer = ask("right", response_format={"type": "grammar", "grammar": notation})
    assert answer["choices"][0]["message"]["content"] == "right"


def test_stop_strings_and_lengths() -> None:
    assert ask("one two three", stop="two")["choices"][0]["message"]["content"] == "one "
    assert ask("one two three", stop=["zzz", "e t"])["choices"][0]["message"]["content"] == "on"
    for field in ("max_tokens", "max_completion_tokens"):
        choice = ask("hello", **{field: 3})["choices"][0]
        assert (choice["message"]["content"], choice["finish_reason"]) == ("hel", "length")


def test_a_call_that_is_cut_is_no_tool_calls() -> None:
    choice = ask(CALL, tools=[WEATHER], max_tokens=len(CALL) - 12)["choices"][0]
    assert choice["finish_reason"] == "length"


def test_several_choices_have_their_own_seeds() -> None:
    pattern = {"type": "grammar", "grammar": 'start ::= #"[a-z]{10}"'}
    asked = {"response_format": pattern, "temperature": 1, "n": 3}
    first = ask("", seed=11, **asked)
    texts = [choice["message"]["content"] for choice in first["choices"]]
    assert [choice["index"] for choice in first["choices"]] == [0, 1, 2]
    assert len(set(texts)) == 3
    # Choice i is the only choice of a request with the seed plus i.
    assert [ask("", seed=11 + i, **(asked | {"n": 1}))["choices"][0]["message"]["content"] for i in range(3)] == texts
    chunks = stream("", seed=11, **asked)
    assert [joined(chunks, index)["content"] for index in range(3)] == texts
    assert first["usage"]["completion_tokens"] >= 30


def test_log_probabilities_cover_every_token() -> None:
    asked = {"logprobs": True, "top_logprobs": 3}
    entries = ask("hé", **asked)["choices"][0]["logprobs"]["content"]
    assert bytes(byte for entry in entries for byte in entry["bytes"]).decode() == "hé"
    assert all(entry["logprob"] <= 0 for entry in entries)
    assert all(len(entry["top_logprobs"]) == 3 for entry in entries)
    assert entries[0]["top_logprobs"][0]["token"] == "h"
    chunks = stream("hé", **asked)
    streamed = [
        entry
        for chunk in chunks
        for choice in chunk["choices"]
        for entry in (choice["logprobs"] or {}).get("content", [])
    ]
    assert streamed == entries


def test_reasoning_can_stay_in_the_text() -> None:
    kept = ask("<note>well</note>hello", separate_reasoning=False)["choices"][0]["message"]
    assert kept["content"] == "<note>well</note>hello"
    assert "reasoning_content" not in kept


def test_template_variables_reach_the_template() -> None:
    message = ask("well</note>hello", chat_template_kwargs={"opened": True})["choices"][0]["message"]
    assert (message["reasoning_content"], message["content"]) == ("well", "hello")


def test_text_parts_are_joined_and_a_conversation_with_calls_is_read() -> None:
    messages = [
        {"role": "system", "content": [{"type": "text", "text": "be"}, {"type": "text", "text": "brief"}]},
        {"role": "user", "content": "hi"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "clock", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "noon"},
    ]
    served = client(lambda prompt: "seen" if "be\nbrief" in prompt and "<tool>noon" in prompt else prompt)
    answer = served.post("/v1/chat/completions", json=body(messages=messages, tools=[CLOCK]))
    assert answer.json()["choices"][0]["message"]["content"] == "seen"


def test_reasoning_has_a_budget() -> None:
    script = "<note>one, two, three</note>Four."
    answer = ask(script, thinking_token_budget=8)["choices"][0]
    assert answer["message"]["reasoning_content"] == "one, two"
    assert len(ask(script)["choices"][0]["message"]["reasoning_content"]) == 15
    served = client(script, settings=Settings(thinking_tokens=3))
    for fields, reasoning in (({}, "one"), ({"thinking_token_budget": 5}, "one, ")):
        answer = served.post("/v1/chat/completions", json=body(**fields)).json()["choices"][0]
        assert answer["message"]["reasoning_content"] == reasoning
    refused = client().post("/v1/chat/completions", json=body(thinking_token_budget=-1))
    assert refused.json()["error"]["param"] == "thinking_token_budget"


@pytest.mark.parametrize("limit", [64, 68, 72])
def test_a_call_is_complete_where_the_tokens_run_out(limit: int) -> None:
    fields = {"tools": [WEATHER], "tool_choice": "required", "max_tokens": limit}
    script = CALL.replace("2}", "123456789}") * 3
    choice = ask(script, **fields)["choices"][0]
    assert choice["finish_reason"] == "length"
    assert [json.loads(call["function"]["arguments"])["city"] for call in choice["message"]["tool_calls"]] == ["Oslo"]
    cutting = client(script, settings=Settings(complete=False))
    cut = cutting.post("/v1/chat/completions", json=body(**fields)).json()["choices"][0]
    with pytest.raises(json.JSONDecodeError):
        json.loads(cut["message"]["tool_calls"][0]["function"]["arguments"])


def test_a_final_message_goes_on() -> None:
    served = model("ld")
    messages = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello wor"}]
    answer = TestClient(create_app(served)).post(
        "/v1/chat/completions", json=body(messages=messages, continue_final_message=True)
    )
    assert answer.json()["choices"][0]["message"]["content"] == "ld"
    assert isinstance(served.engine, ScriptedBackend)
    assert served.engine.prompts[-1].endswith("<assistant>hello wor")
    TestClient(create_app(served)).post("/v1/chat/completions", json=body(add_generation_prompt=False))
    assert served.engine.prompts[-1].endswith("<user>hi<end>")


def test_documents_and_efforts_reach_the_template() -> None:
    shown = "{{ documents[0].text }} {{ reasoning_effort }}<user>{{ messages[0].content }}"
    codec = ChatCodec.from_format(ChatFormat.from_toml(FORMAT), ChatTemplate(shown))
    served = ServedModel(ScriptedBackend("ok"), codec)
    fields = {"documents": [{"text": "a page"}], "reasoning_effort": "low"}
    answer = TestClient(create_app(served)).post("/v1/chat/completions", json=body(**fields))
    assert "x-syntagma-ignored" not in answer.headers
    assert isinstance(served.engine, ScriptedBackend)
    assert served.engine.prompts[-1].startswith("a page low<user>")


@pytest.mark.parametrize(
    ("path", "asked"),
    [
        ("/v1/chat/completions", lambda effort: body(reasoning_effort=effort)),
        ("/v1/responses", lambda effort: {"input": "hi", "reasoning": {"effort": effort}}),
    ],
)
def test_an_effort_turns_the_template_s_own_switch(path: str, asked: Callable[[str], dict[str, Any]]) -> None:
    served = ServedModel(ScriptedBackend("ok"), ChatCodec.from_template(ChatTemplate(SWITCHED)))
    assert isinstance(served.engine, ScriptedBackend)
    for effort, ending in (("none", "<note></note>"), ("low", "<assistant>"), ("high", "<assistant>")):
        assert TestClient(create_app(served)).post(path, json=asked(effort)).status_code == 200
        assert served.engine.prompts[-1].endswith(ending)


def test_a_variable_of_the_template_counts_before_an_effort() -> None:
    served = ServedModel(ScriptedBackend("ok"), ChatCodec.from_template(ChatTemplate(SWITCHED)))
    assert isinstance(served.engine, ScriptedBackend)
    fields = {"reasoning_effort": "high", "chat_template_kwargs": {"enable_thinking": False}}
    TestClient(create_app(served)).post("/v1/chat/completions", json=body(**fields))
    assert served.engine.prompts[-1].endswith("<note></note>")


def test_unknown_fields_are_named_and_change_nothing() -> None:
    answer = client("hello").post(
        "/v1/chat/completions", json=body(unheard_of=1, user="me", **{"odd\r\nx: y": 1, "ü": 2})
    )
    assert answer.status_code == 200
    named = answer.headers["x-syntagma-ignored"].split(", ")
    assert named[0] == "unheard_of"
    assert "user" not in named
    assert "\n" not in answer.headers["x-syntagma-ignored"]
    assert len(named) == 3
    assert "x-syntagma-ignored" not in client("hello").post("/v1/chat/completions", json=body()).headers


def test_fields_that_are_not_read_are_named_at_any_depth() -> None:
    asked = body(
        stream_options={"include_usage": True, "new": 1},
        structured_outputs={"choice": ["hello"], "backend": "any"},
        tools=[WEATHER | {"anything": 1}],
    )
    answer = client("hello").post("/v1/chat/completions", json=asked)
    named = unquote(answer.headers["x-syntagma-ignored"]).split(", ")
    assert named == ["stream_options.new", "structured_outputs.backend", "tools[0].anything"]


SCHEMA = {"enum": ["yes", "no"]}
WORD = "[a-z]{4}"


@pytest.mark.parametrize(
    ("field", "value", "answer"),
    [
        ("response_format", {"type": "regex", "regex": WORD}, "hell"),
        ("response_format", {"type": "choice", "choice": ["hull", "hell"]}, "hell"),
        (
            "response_format",
            {"type": "grammar", "grammar": "top: /[a-z]{4}/", "syntax": "lark", "start": "top"},
            "hell",
        ),
        ("structured_outputs", {"json": SCHEMA}, '"yes"'),
        ("structured_outputs", {"regex": WORD}, "hell"),
        ("structured_outputs", {"choice": ["hull", "hell"]}, "hell"),
        ("structured_outputs", {"grammar": 'root ::= "he" [a-z]{2}'}, "hell"),
        ("structured_outputs", {"json_object": True}, "{}"),
        ("structured_outputs", {"structural_tag": {"format": {"type": "regex", "pattern": WORD}}}, "hell"),
        ("guided_json", SCHEMA, '"yes"'),
        ("guided_json", json.dumps(SCHEMA), '"yes"'),
        ("guided_regex", WORD, "hell"),
        ("guided_choice", ["hull", "hell"], "hell"),
        ("guided_grammar", "start: /[a-z]{4}/", "hell"),
        ("json_schema", json.dumps(SCHEMA), '"yes"'),
        ("json_schema", SCHEMA, '"yes"'),
        ("regex", WORD, "hell"),
        ("ebnf", 'root ::= "he" [a-z]{2}', "hell"),
        ("grammar", 'root ::= "he" [a-z]{2}', "hell"),
        ("structural_tag", json.dumps({"format": {"type": "regex", "pattern": WORD}}), "hell"),
    ],
)
def test_every_field_that_shapes_the_answer_holds_it(field: str, value: Any, answer: str) -> None:
    for script in ("hello", '{"a": 1}', ""):
        written = ask(script, max_tokens=60, **{field: value})["choices"][0]["message"]["content"]
        check = re.compile(WORD) if answer == "hell" else re.compile(r"\{.*\}|\"(yes|no)\"", re.DOTALL)
        assert check.fullmatch(written), written
    assert ask("hello", **{field: value})["choices"][0]["message"]["content"] == answer or answer != "hell"


def test_sampling_fields_reach_the_generation() -> None:
    def content(**fields: Any) -> Any:
        return ask("hello", **fields)["choices"][0]["message"]["content"]

    assert content(logit_bias={str(ord("j")): 100}, max_tokens=2) == "jj"
    assert content(stop_token_ids=[ord("l")]) == "he"
    assert content(bad_words=["ll"])[:3] == "hel"
    assert "ll" not in content(bad_words=["ll"], max_tokens=40)
    assert len(content(min_tokens=9)) == 9
    assert set(content(allowed_token_ids=[ord("a"), ord("b")], temperature=1, top_k=-1, max_tokens=9)) <= set("ab")
    assert content(presence_penalty=2, frequency_penalty=-2, repetition_penalty=1, min_p=0.1, top_k=3) == "hello"


def test_the_operator_says_where_reasoning_stands() -> None:
    for fields in (("reasoning",), ("reasoning_content",), ("reasoning_content", "reasoning")):
        served = client("<note>well</note>hello", settings=Settings(reasoning_fields=fields))  # type: ignore[arg-type]
        message = served.post("/v1/chat/completions", json=body()).json()["choices"][0]["message"]
        assert {key for key in message if key.startswith("reasoning")} == set(fields)
        assert {message[field] for field in fields} == {"well"}
    message = ask("<note>well</note>hello", include_reasoning=False)["choices"][0]["message"]
    assert message["content"] == "hello"
    assert not any(key.startswith("reasoning") for key in message)
    assert joined(stream("<note>well</note>hello", include_reasoning=False))["reasoning_content"] == ""
