"""`sg.load`: a model with its codec and compiler, in one line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import syntagma as sg
from syntagma.codec import ChatCodec
from syntagma.events import ContentDelta, MessageEnd, ToolCallEnd
from syntagma.formats import ChatFormat
from syntagma.generation import Model
from syntagma.testing import ScriptedBackend

WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "parameters": {
            "type": "object",
            "properties": {"city": {"enum": ["Oslo", "Lima"]}},
            "required": ["city"],
            "additionalProperties": False,
        },
    },
}
QUESTION = [{"role": "user", "content": "What is the weather in Oslo?"}]


@pytest.fixture(scope="module")
def model() -> Model:
    return sg.load("embedded")


def test_a_required_call_is_one_of_a_declared_tool(model: Model) -> None:
    message = model.chat(QUESTION, tools=[WEATHER], tool_choice="required", seed=3)
    assert [call.name for call in message.tool_calls]
    for call in message.tool_calls:
        assert (call.name, call.complete) == ("get_weather", True)
        assert call.parsed_arguments()["city"] in ("Oslo", "Lima")


def test_an_answer_by_schema_is_an_instance(model: Model) -> None:
    schema = {"type": "object", "properties": {"n": {"enum": [1, 2]}}, "required": ["n"], "additionalProperties": False}
    wanted = {"type": "json_schema", "json_schema": {"name": "n", "schema": schema}}
    message = model.chat(QUESTION, response_format=wanted, seed=4)
    assert isinstance(message.content, str)
    assert json.loads(message.content) in ({"n": 1}, {"n": 2})


def test_the_stream_holds_the_message(model: Model) -> None:
    asked = {"temperature": 0.0, "max_tokens": 24}
    events = list(model.stream(QUESTION, **asked))  # type: ignore[arg-type]
    whole = model.chat(QUESTION, **asked)  # type: ignore[arg-type]
    assert isinstance(events[-1], MessageEnd)
    assert "".join(event.text for event in events if isinstance(event, ContentDelta)) == (whole.content or "")


def test_calls_stream_as_events(model: Model) -> None:
    events = list(model.stream(QUESTION, tools=[WEATHER], tool_choice="get_weather", temperature=0))
    assert [event.complete for event in events if isinstance(event, ToolCallEnd)] == [True]


def test_a_bad_request_is_refused_before_the_first_event(model: Model) -> None:
    with pytest.raises(sg.RequestError) as caught:
        model.stream(QUESTION, tools=[WEATHER], tool_choice="nobody")
    assert caught.value.code == "E-REQUEST-TOOL-CHOICE"
    with pytest.raises(sg.ArgumentError):
        model.stream(QUESTION, max_tokens=0)


def test_codec_and_compiler_fit_the_model(model: Model) -> None:
    turn = model.codec.prepare(QUESTION, tools=[WEATHER], tool_choice="required")
    assert turn.grammar is not None
    matcher = sg.GrammarMatcher(model.compiler.compile(turn.grammar))
    for city, fits in (("Lima", True), ("Rome", False)):
        call = sg.ToolCall(id="", name="get_weather", arguments=json.dumps({"city": city}))
        ids = model.backend.encode(model.codec.format.write(sg.Message(tool_calls=(call,))))
        assert (matcher.validate_tokens(ids) == len(ids)) is fits


@pytest.mark.parametrize("source", ["models/mine", Path("model.gguf"), "https://models.test/mine", ""])
def test_what_is_no_source_says_what_is(source: str | Path) -> None:
    with pytest.raises(sg.ModelError) as caught:
        sg.load(source)
    assert caught.value.code == "E-MODEL-SOURCE"
    assert 'load("embedded")' in (caught.value.hint or "")


def test_importing_the_library_loads_no_model() -> None:
    code = "import sys, syntagma; print([name for name in sys.modules if 'generation' in name or 'embedded' in name])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_model_of_ones_own_without_tools_holds_no_calls() -> None:
    fmt = ChatFormat.from_toml('end_of_turn = ["<end>"]\n[tools]\ncall = "<call>{name} {arguments}</call>"\n')
    template = sg.ChatTemplate("{% for m in messages %}<{{ m.role }}>{{ m.content }}<end>{% endfor %}<assistant>")
    mine = Model(ScriptedBackend("say <call>f {}</call>"), ChatCodec.from_format(fmt, template))
    message = mine.chat(QUESTION, temperature=0)
    assert (message.content, message.tool_calls) == ("say <call>f {}</call>", ())
    mine.close()
