"""Templates that write turns otherwise by a variable: every notation is read, or the certificate says which is not."""

from __future__ import annotations

import functools
import json

import pytest

from syntagma.analysis import Analysis, analyze
from syntagma.codec import ChatCodec
from syntagma.decoding import GrammarCompiler, GrammarMatcher
from syntagma.templates import ChatTemplate
from syntagma.testing import byte_vocabulary

NOTATIONS = {
    "json": "'<do>' + (c.function | tojson) + '</do>'",
    "tags": "'<use tool=\"' + c.function.name + '\">' + ARGUMENTS + '</use>'",
    "fence": "'```run\\n' + c.function.name + '\\n' + (c.function.arguments | tojson) + '\\n```'",
    "signed": "'[[call ' + c.function.name + ']]' + (c.function.arguments | tojson) + '[[/call]]'",
    "name last": "'<last>' + (c.function.arguments | tojson) + '@' + c.function.name + '</last>'",
    "backwards": "'<back>' + (c.function | tojson)[::-1] + '</back>'",
}
ARGUMENTS = (
    "{%- set lines = namespace(all='') %}{%- for k, v in c.function.arguments | items %}"
    "{%- set lines.all = lines.all + '<arg name=\"' + k + '\">' + (v if v is string else v | tojson) + '</arg>' %}"
    "{%- endfor %}"
)
TEMPLATE = """{MACRO}{%- for m in messages %}
{%- if m.role == 'assistant' %}{{- '<bot>' }}
{%- if m.reasoning_content %}{{- '{THINK}' + m.reasoning_content + '{/THINK}' }}{% endif %}
{{- m.content or '' }}
{%- for c in m.tool_calls or [] %}{ARGUMENTS}{CHOICE}{%- endfor %}
{{- '<end>' }}
{%- else %}{{- '<' + m.role + '>' + m.content + '<end>' }}{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<bot>' }}{% endif %}"""
CHOICES = {
    "compared": "{%- if style == 'second' %}{{- SECOND }}{%- else %}{{- FIRST }}{%- endif %}",
    "by its default": "{%- set s = style | default('first') %}{{- SECOND if s != 'first' else FIRST }}",
    "a boolean": "{%- if style %}{{- SECOND }}{%- else %}{{- FIRST }}{%- endif %}",
    "in a list": "{%- if style in ['second', 'later'] %}{{- SECOND }}{%- else %}{{- FIRST }}{%- endif %}",
    "keys of an object": "{%- set all = {'first': FIRST, 'second': SECOND} %}{{- all[style or 'first'] }}",
    "a parameter of a macro": "{{- written(c, lines, style) }}",
}
MACRO = (
    "{%- macro written(c, lines, kind='first') %}"
    "{%- if kind == 'second' %}{{- SECOND }}{% else %}{{- FIRST }}{% endif %}"
    "{%- endmacro %}"
)
TOOL = {
    "type": "function",
    "function": {
        "name": "brew",
        "parameters": {"type": "object", "properties": {"leaf": {"type": "string"}, "cups": {"type": "integer"}}},
    },
}
CALL = {"id": "abcdefghi", "type": "function", "function": {"name": "brew", "arguments": {"leaf": "mint", "cups": 2}}}


def _source(first: str, second: str, choice: str = "compared", think: str = "'<muse>'") -> str:
    source = TEMPLATE.replace("{MACRO}", MACRO if "macro" in choice else "").replace("{CHOICE}", CHOICES[choice])
    source = source.replace("{ARGUMENTS}", ARGUMENTS).replace("FIRST", NOTATIONS[first])
    source = source.replace("SECOND", NOTATIONS[second]).replace("ARGUMENTS", "lines.all")
    closer = think.replace("<", "</")
    return source.replace("'{THINK}'", think).replace("'{/THINK}'", closer)


@functools.cache
def _analysis(source: str) -> Analysis:
    return analyze(source, candidates="derived")


def _reads_and_holds(source: str, settings: dict[str, object]) -> bool:
    """Whether a call and a thought that the template writes under the settings come back, and the grammar lets them."""
    codec = ChatCodec.from_template(ChatTemplate(source), _analysis(source))
    user = [{"role": "user", "content": "Tea?"}]
    message = {"role": "assistant", "content": "", "reasoning_content": "Hm.", "tool_calls": [CALL]}
    prompt = codec.render(user, tools=[TOOL], template_kwargs=settings)
    whole = codec.render([*user, message], tools=[TOOL], template_kwargs=settings, add_generation_prompt=False)
    raw = str(whole)[len(prompt) :].removesuffix("<end>")
    turn = codec.prepare(user, tools=[TOOL], template_kwargs=settings)
    found = True
    for chunks in ([raw], list(raw)):
        parser = turn.parser()
        for chunk in chunks:
            parser.feed(chunk)
        parser.finish()
        calls = [(call.name, json.loads(call.arguments)) for call in parser.message.tool_calls]
        found = found and calls == [("brew", CALL["function"]["arguments"])]  # type: ignore[index]
        found = found and parser.message.reasoning_content == "Hm." and not parser.message.content
    assert turn.grammar is not None
    matcher = GrammarMatcher(GrammarCompiler(byte_vocabulary()).compile(turn.grammar))
    return found and matcher.accept_bytes(raw.encode()) and matcher.is_accepting()


@pytest.mark.parametrize("choice", CHOICES)
def test_a_notation_behind_a_switch_is_derived_however_it_is_asked_for(choice: str) -> None:
    source = _source("json", "tags", choice)
    found = _analysis(source)
    assert found.certificate is not None
    assert found.certificate.clean
    assert "style" not in found.certificate.summary
    assert any("style=" in item.name for item in found.certificate.items)
    assert _reads_and_holds(source, {})
    assert _reads_and_holds(source, {"style": True if choice == "a boolean" else "second"})


@pytest.mark.parametrize("first", ["json", "tags", "fence", "signed"])
@pytest.mark.parametrize("second", ["json", "tags", "fence", "signed"])
def test_any_two_notations_are_read_side_by_side(first: str, second: str) -> None:
    source = _source(first, second)
    certificate = _analysis(source).certificate
    assert certificate is not None
    assert certificate.clean
    assert "style" not in certificate.summary
    assert _reads_and_holds(source, {})
    assert _reads_and_holds(source, {"style": "second"})


def test_reasoning_behind_a_switch_is_derived() -> None:
    source = _source("json", "json", think="('<deep>' if style == 'second' else '<muse>')")
    found = _analysis(source)
    assert found.certificate is not None
    assert found.certificate.summary == "clean"
    assert _reads_and_holds(source, {})
    assert _reads_and_holds(source, {"style": "second"})


@pytest.mark.parametrize("pair", ["<muse> </muse> <muse/>", "[muse] [/muse] [muse/]", "{muse} {/muse} {muse/}"])
def test_an_empty_tag_in_the_prompt_says_that_reasoning_is_off(pair: str) -> None:
    opener, closer, empty = pair.split()
    source = TEMPLATE.replace("{THINK}", opener).replace("{/THINK}", closer).replace("{MACRO}", "")
    source = source.replace("{ARGUMENTS}", "").replace("{CHOICE}", "{{- " + NOTATIONS["json"] + " }}")
    prompt = "{{- '<bot>' }}{% endif %}"
    assert source.endswith(prompt)
    off = f"{{{{- '<bot>' }}}}{{%- if enable_thinking is false %}}{{{{- '{empty}' }}}}{{% endif %}}{{% endif %}}"
    found = _analysis(source.removesuffix(prompt) + off)
    assert found.certificate is not None
    assert found.certificate.summary == "clean"
    assert found.format.spec.reasoning is not None
    assert found.format.spec.reasoning.switch["enable_thinking"]["false"] == "off"
    thought = f"{opener}Hm.{closer}Yes."
    for settings, may_reason in (({}, True), ({"enable_thinking": False}, False)):
        assert found.format.grammar(template_kwargs=settings).check(thought).accepted is may_reason


def test_a_notation_that_no_format_can_say_is_named() -> None:
    found = _analysis(_source("json", "name last")).certificate
    assert found is not None
    assert found.clean
    assert found.summary.startswith("clean, but: ")
    wanted = 'with `style="second"` calls are written otherwise, and this format does not read that'
    assert wanted in found.summary
    assert wanted in {remark.why for remark in found.losses}
    assert {item.verdict for item in found.items if "style" in item.name} == {"other setting"}


def test_a_setting_that_hides_calls_is_named() -> None:
    found = _analysis(_source("json", "backwards")).certificate
    assert found is not None
    assert 'with `style="second"`, calls are left out' in found.summary


def test_what_a_switch_writes_otherwise_and_is_read_all_the_same_is_no_loss() -> None:
    source = _source("json", "json").replace("'<do>' + (c", "'<do>' + ('\\n' if style == 'second' else '') + (c")
    found = _analysis(source)
    assert found.certificate is not None
    assert found.certificate.summary == "clean"
    assert found.format.spec.tools is not None
    assert found.format.spec.tools.also == ()
    assert _reads_and_holds(source, {"style": "second"})


def test_words_that_a_prompt_holds_are_no_switch_of_turns() -> None:
    source = _source("json", "json").replace("{{- '<bot>' }}{% endif %}", "{{- '<bot>' }}{% endif %}{# #}", 1)
    source = "{{- '<sys>' + ('short' if tone == 'brief' else 'long') + '<end>' }}" + source
    certificate = _analysis(source).certificate
    assert certificate is not None
    assert certificate.summary == "clean"
    assert not [item for item in certificate.items if "tone" in item.name]


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("{% if a == 'x' %}{% elif a == 2 %}{% endif %}", {"a": ("x", 2)}),
        ("{% set b = a | default('x') %}{{ b in ['x', 'y'] }}", {"a": ("x", "y")}),
        ("{% set n = namespace(k='') %}{% set n.k = a %}{% if n.k != 'x' %}{% endif %}", {"a": ("x",)}),
        ("{% macro m(p) %}{{ p == 'x' }}{% endmacro %}{{ m(a) }}{{ m(p=b) }}", {"a": ("x",), "b": ("x",)}),
        ("{{ {'x': 1, 'y': 2}[a] }}", {"a": ("x", "y")}),
        ("{% if not a is defined %}{% set a = 'x' %}{% endif %}{{ a == 'y' }}", {"a": ("y",)}),
        ("{% if messages %}{% set a = 'x' %}{% endif %}{{ a == 'y' }}", {}),
        ("{{ messages[0].role == 'user' }}{{ add_generation_prompt }}{{ a }}", {"a": ()}),
        ("{% for m in messages %}{% set c = m.content %}{{ c == a }}{% endfor %}", {"a": ()}),
    ],
)
def test_variables_are_followed_to_what_they_are_compared_with(
    source: str, found: dict[str, tuple[object, ...]]
) -> None:
    assert ChatTemplate(source).switch_values() == found
