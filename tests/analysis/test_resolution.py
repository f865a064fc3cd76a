"""Which format is resolved for a template and a model, how sure it is, and what is said of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import syntagma as sg
from syntagma.analysis import Resolution, resolve_format
from syntagma.cli.app import app
from syntagma.errors import ArgumentError, FormatError

TURN = "{% for m in messages %}{{ '<|' + m.role + '|>' + (m.content or '') + '<|end|>' }}{% endfor %}"
PROMPT = "{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}"
LISTED = "{% if tools %}{{ '<|system|>Tools: ' + (tools | tojson) + '<|end|>' }}{% endif %}"
CALLS = (
    "{% for m in messages %}{{ '<|' + m.role + '|>' + (m.content or '') }}"
    "{% for c in m.tool_calls or [] %}{{ '<call>' + (c.function | tojson) + '</call>' }}{% endfor %}"
    "{{ '<|end|>' }}{% endfor %}"
)
EXAMPLE = (
    "{% if tools %}{{ '<|system|>Tools: ' + (tools | tojson) + ' Call them so:\\n<tool_call>\\n"
    '{"name": <function-name>, "arguments": <args-json-object>}'
    "\\n</tool_call><|end|>' }}{% endif %}"
)
CUT = (
    "{% for m in messages %}{% set c = m.content or '' %}{% if m.role == 'assistant' and '</ponder>' in c %}"
    "{% set c = c.split('</ponder>')[-1] %}{% endif %}{{ '<|' + m.role + '|>' + c + '<|end|>' }}{% endfor %}"
)


def test_a_template_that_shows_everything_is_proved() -> None:
    found = resolve_format(LISTED + CALLS + PROMPT)
    assert (found.name, found.level) == (
        "derived",
        "proved with losses" if found.analysis.certificate.losses else "proved",
    )  # type: ignore[union-attr]
    assert set(found.parts) == {"content", "calls"}
    assert not found.is_unsure
    found.require("proved")


def test_a_template_that_tells_nothing_of_calls_is_guessed_and_says_so() -> None:
    found = resolve_format(LISTED + TURN + PROMPT)
    assert found.name == "derived"
    assert found.level == found.parts["calls"] == "guessed"
    assert found.is_unsure
    assert "no calls are read" in found.line
    with pytest.raises(FormatError) as caught:
        found.require("supported")
    assert caught.value.code == "E-FORMAT-UNSURE"
    with pytest.raises(ArgumentError):
        found.require("certain")  # type: ignore[arg-type]


def test_an_example_in_what_the_model_is_told_tells_the_format() -> None:
    found = resolve_format(EXAMPLE + TURN + PROMPT)
    assert found.name != "derived"
    message = found.format.parse('<tool_call>\n{"name": "clock", "arguments": {"a": 1}}\n</tool_call>')
    assert [(call.name, call.arguments) for call in message.tool_calls] == [("clock", '{"a": 1}')]
    assert "an example of its calls" in " ".join(found.reasons)


@pytest.mark.parametrize("name", ["lfm2", "kimi_k2", "deepseekv31"])
def test_special_tokens_tell_the_format(name: str) -> None:
    tokens = [text for text in sg.formats.get(name).preserved_tokens if text.isprintable()]
    assert resolve_format(LISTED + TURN + PROMPT).format.spec.tools is None
    found = resolve_format(LISTED + TURN + PROMPT, vocabulary=tokens)
    assert name in (found.name, *found.alternatives)
    assert found.level == ("guessed" if found.alternatives else "supported")
    tools, known = found.format.spec.tools, sg.formats.get(found.name).spec.tools
    assert tools is not None
    assert known is not None
    assert tools.forms[: len(known.forms)] == known.forms or tools.call == known.call


def test_the_models_type_only_breaks_ties() -> None:
    tokens = ["<tool_call>", "</tool_call>"]
    plain = resolve_format(LISTED + TURN + PROMPT, vocabulary=tokens)
    assert plain.alternatives
    for name in plain.alternatives:
        family = next(iter(sg.formats.get(name).spec.families), None)
        if family is not None:
            told = resolve_format(LISTED + TURN + PROMPT, vocabulary=tokens, config={"model_type": family})
            assert family in sg.formats.get(told.name).spec.families
    again = resolve_format(LISTED + CALLS + PROMPT, config={"model_type": "lfm2"})
    assert again.format == resolve_format(LISTED + CALLS + PROMPT).format


def test_a_cut_gives_reasoning_that_a_turn_may_lack() -> None:
    found = resolve_format(CUT + PROMPT)
    prompt = "<|user|>Hi<|end|><|assistant|>"
    assert found.format.parse("Plain.", prompt=prompt).content == "Plain."
    message = found.format.parse("<ponder>Hm.</ponder>Plain.", prompt=prompt)
    assert (message.reasoning_content, message.content) == ("Hm.", "Plain.")


def test_the_codec_tells_its_resolution() -> None:
    template = sg.ChatTemplate(LISTED + CALLS + PROMPT)
    codec = sg.ChatCodec.from_template(template)
    assert codec.resolution == Resolution.of(sg.analyze(template))
    assert sg.ChatCodec(codec.format, template).resolution is None
    assert json.loads(json.dumps(codec.resolution.to_dict()))["name"] == "derived"  # type: ignore[union-attr]


def test_analyze_prints_it(tmp_path: Path) -> None:
    file = tmp_path / "chat.jinja"
    file.write_text(LISTED + TURN + PROMPT, encoding="utf-8")
    text = CliRunner().invoke(app, ["analyze", str(file)]).stdout
    assert text.startswith("# format: derived, guessed\n")
    assert "calls: guessed" in text
    data = json.loads(CliRunner().invoke(app, ["analyze", str(file), "--json"]).stdout)
    assert data["resolution"]["level"] == "guessed"


def test_tools_of_another_variable_are_listed_and_what_it_tells_counts() -> None:
    template = sg.ChatTemplate(EXAMPLE.replace("tools", "my_tools") + TURN + PROMPT)
    codec = sg.ChatCodec.from_template(template)
    assert codec.capabilities.tools_variable == "my_tools"
    assert codec.format.spec.tools is not None
    tool = {"type": "function", "function": {"name": "clock", "parameters": {"type": "object", "properties": {}}}}
    assert "clock" in codec.prepare([{"role": "user", "content": "Hi"}], tools=[tool]).prompt


def test_content_that_is_shown_in_parts_only() -> None:
    template = sg.ChatTemplate(TURN.replace("(m.content or '')", "(m.content[0].text if m.content else '')") + PROMPT)
    found = sg.analyze(template)
    assert found.capabilities.content_parts
    assert found.format.spec.end_of_turn == ("<|end|>",)


@pytest.mark.parametrize("beside", ["m.tool_calls", "true"])
def test_reasoning_of_a_field_with_any_name(beside: str) -> None:
    shown = "{% if m.musings and " + beside + " %}{{ '<muse>' + m.musings + '</muse>' }}{% endif %}"
    source = LISTED + CALLS.replace(" + (m.content or '') }}", " }}" + shown + "{{ m.content or '' }}") + PROMPT
    found = sg.analyze(source)
    assert found.capabilities.reasoning == "musings"
    assert found.format.spec.reasoning is not None
    assert found.format.spec.reasoning.block[0].text == "<muse>{reasoning}</muse>"


def test_formats_that_nothing_tells_apart_are_read_side_by_side() -> None:
    tokens = ["<tool_call>", "</tool_call>"]
    found = resolve_format(LISTED + TURN + PROMPT, vocabulary=tokens)
    assert found.level == "guessed"
    names = (found.name, *found.alternatives)
    read = 0
    for name in names:
        tools = sg.formats.get(name).spec.tools
        assert tools is not None
        read += any(form.call == tools.call for form in found.format.spec.forms)
    assert read > 1
    assert found.format.parse('<tool_call>\n{"name": "a", "arguments": {}}\n</tool_call>').tool_calls


def test_a_template_without_tools_gets_no_calls_from_a_vocabulary() -> None:
    found = resolve_format(TURN + PROMPT, vocabulary=["<tool_call>", "</tool_call>", "<think>", "</think>"])
    assert found.format.spec.tools is None


def test_of_equal_formats_the_one_that_claims_least_is_written() -> None:
    """Nothing in this template speaks of reasoning, or of a wrapper of answers, which one of the formats has."""
    turn = TURN.replace("<|end|>", "<|im_end|>")
    for example in (EXAMPLE, EXAMPLE + CALLS.replace("<call>", "<tool_call>\\n").replace("</call>", "\\n</tool_call>")):
        source = example if example != EXAMPLE else example + turn
        found = resolve_format(source.replace("<|end|>", "<|im_end|>") + PROMPT)
        assert found.name in sg.formats.names()
        assert found.format.spec.content is None
        assert {"content", "calls"} == set(found.parts)
