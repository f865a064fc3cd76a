"""A certificate is never falsely clean: what a template changes or leaves out is found, and said."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest

from syntagma.analysis import Analysis, Certificate, analyze
from syntagma.analysis.certify.certificate import Verdict
from syntagma.templates import ChatTemplate

SOURCE = """
{%- if tools %}{{ '<|tools|>' + (tools | tojson) + '<|stop|>' }}{% endif %}
{%- for message in messages %}
{%- if message.role == 'assistant' %}
{{- '<|bot|>' }}
{%- if message.reasoning_content %}{{ '<muse>' + message.reasoning_content + '</muse>' }}{% endif %}
{{- message.content or '' }}
{%- for call in message.tool_calls or [] %}
{{- '<do>' + ({'name': call.function.name, 'input': call.function.arguments} | tojson) + '</do>' }}
{%- endfor %}
{{- '<|stop|>' }}
{%- else %}{{ '<|' + message.role + '|>' + message.content + '<|stop|>' }}
{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{ '<|bot|>' }}{% endif %}"""

CONTENT = "message.content or ''"
REASONING = "'<muse>' + message.reasoning_content + '</muse>'"
CALL = "'<do>' + ({'name': call.function.name, 'input': call.function.arguments} | tojson) + '</do>'"
TAGGED = """'<do><fn>' + call.function.name + '</fn>' }}
{%- for key, value in call.function.arguments | items %}
{{- '<' + key + '>' + (value if value is string else value | tojson) + '</>' }}
{%- endfor %}{{ '</do>'"""


def _analysis(source: str) -> Analysis:
    return analyze(ChatTemplate(source, eos_token="</s>"))


def _certificate(*changes: tuple[str, str]) -> Certificate:
    source = SOURCE
    for old, new in changes:
        assert old in source
        source = source.replace(old, new)
    found = _analysis(source).certificate
    assert found is not None
    return found


def test_a_template_that_loses_nothing_is_plainly_clean() -> None:
    found = _certificate()
    assert found.summary == "clean"
    assert not found.losses
    assert {item.verdict for item in found.items} == {"works"}


CHANGED = {
    "trimmed content": ((CONTENT, "(message.content or '') | trim"), "content: whitespace at both ends is removed"),
    "trimmed on the left": ((CONTENT, "(message.content or '').lstrip()"), "content: whitespace at the beginning"),
    "trimmed reasoning": (
        (REASONING, "'<muse>' + message.reasoning_content | trim + '</muse>'"),
        "reasoning: whitespace at both ends is removed",
    ),
    "names in small letters": (("call.function.name", "(call.function.name | lower)"), "names of tools: letters"),
    "content in small letters": ((CONTENT, "(message.content or '') | lower"), "content: letters change their case"),
    "long content": ((CONTENT, "(message.content or '')[:400]"), "content: long texts are cut off"),
    "long reasoning": (
        (REASONING, "'<muse>' + message.reasoning_content[:400] + '</muse>'"),
        "reasoning: long texts are cut off",
    ),
    "very short content": ((CONTENT, "(message.content or '')[:40]"), "content: long texts are cut off"),
    "entities": ((CONTENT, "(message.content or '') | e"), "written as entities"),
    "entities in reasoning": (
        (REASONING, "'<muse>' + message.reasoning_content | replace('<', '&lt;') + '</muse>'"),
        "reasoning: `<`, `>`, `&` or quotes are written as entities",
    ),
    "content left out beside calls": (
        (CONTENT, "'' if message.tool_calls else message.content"),
        "content beside calls is left out",
    ),
    "reasoning left out beside calls": (
        ("if message.reasoning_content", "if message.reasoning_content and not message.tool_calls"),
        "reasoning beside calls is left out",
    ),
    "reasoning only beside calls": (
        ("if message.reasoning_content", "if message.reasoning_content and message.tool_calls"),
        "reasoning before content is left out",
    ),
    "only the first call": (
        ("in message.tool_calls or []", "in (message.tool_calls or [])[:1]"),
        "of several calls, not all are written",
    ),
    "parallel calls refused": (
        (
            "{{- '<|bot|>' }}",
            "{{- raise_exception('one at a time') if message.tool_calls | length > 1 else '<|bot|>' }}",
        ),
        "the template refuses it: one at a time",
    ),
}


@pytest.mark.parametrize("name", CHANGED)
def test_what_a_template_changes_is_said(name: str) -> None:
    change, sentence = CHANGED[name]
    found = _certificate(change)
    assert found.clean, found.summary
    assert found.summary.startswith("clean, but: ")
    assert sentence in found.summary


def test_names_of_which_none_is_shown_as_it_is_are_not_clean() -> None:
    found = _certificate(("call.function.name", "(call.function.name | upper)"))
    assert not found.clean
    assert "no call came back" in found.summary


def test_texts_of_arguments_that_are_changed_are_said() -> None:
    found = _certificate((CALL, TAGGED), ("value if value is string", "value | lower if value is string"))
    assert "texts in arguments: letters change their case" in found.summary
    assert _certificate((CALL, TAGGED)).clean


def test_entities_in_arguments_are_a_spelling_that_formats_know() -> None:
    source = SOURCE.replace(CALL, TAGGED).replace(
        "value if value is string", "value | replace('&', '&amp;') | replace('<', '&lt;') if value is string"
    )
    found = _analysis(source)
    assert found.certificate is not None
    assert found.certificate.clean
    assert "entities" not in found.certificate.summary
    assert found.derived.spec.tools is not None
    assert found.derived.spec.tools.escape == {"values"}


def test_a_number_beside_a_string_is_ambiguous_where_values_are_plain() -> None:
    found = _certificate((CALL, TAGGED))
    verdicts = {item.name: item.verdict for item in found.items}
    assert verdicts["union name_or_count integer"] == "ambiguous"
    assert verdicts["union name_or_count string"] == "works"
    assert verdicts["union count_or_none null"] == "works"
    assert "a number, boolean or null beside a string is written like text" in found.summary


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning", "thinking"])
def test_reasoning_that_nothing_tells_from_content_fails(field: str) -> None:
    found = _certificate((REASONING, "message.reasoning_content + '\\n\\n'"), ("reasoning_content", field))
    assert not found.clean
    assert "reasoning comes back as something else" in found.summary
    assert "reasoning before content is left out" not in found.summary


def test_no_word_of_the_probes_stays_in_a_marker() -> None:
    refuses = "raise_exception('one') if message.tool_calls | length > 1 else '<|bot|>'"
    source = SOURCE.replace("'<|bot|>' }}\n{%- if message.r", refuses + " }}\n{%- if message.r")
    source = source.replace(CALL, "'<do ' + call.function.name | upper + '>' + " + CALL.removeprefix("'<do>' + "))
    found = _analysis(source)
    assert found.certificate is not None
    assert "leak" in {finding.code for finding in found.certificate.findings}
    assert found.derived.spec.tools is None
    assert not found.certificate.clean


def test_a_template_that_lists_tools_and_writes_no_call_says_so() -> None:
    call = SOURCE[SOURCE.index("{%- for call") : SOURCE.index("{%- endfor %}") + len("{%- endfor %}")]
    found = _certificate((call, ""))
    assert not found.clean
    assert [finding.code for finding in found.findings] == ["calls-not-written"]


def test_calls_that_no_format_can_say_choose_no_other_format() -> None:
    backwards = "'<do>' + (call.function.arguments | string)[::-1] + call.function.name + '</do>'"
    found = _analysis(SOURCE.replace(CALL, backwards))
    assert found.chosen == "derived"
    assert found.certificate is not None
    assert not found.certificate.clean


@pytest.mark.parametrize(
    "marker",
    [
        "[[END]]",
        "{{'{{'}}END}}",
        "==END==",
        "~[END]~",
        "((end))",
        "<<end>>",
        "%%fin%%",
        "[/TURN]",
        "<end of turn>",
        "⟦x⟧",
    ],
)
def test_an_end_of_turn_of_any_shape_stays_one_marker(marker: str) -> None:
    found = _analysis(SOURCE.replace("<|stop|>", marker.replace("{{'{{'}}", "{{").replace("'", "\\'")))
    assert found.derived.spec.end_of_turn == (marker.replace("{{'{{'}}", "{{"),)
    assert found.certificate is not None
    assert found.certificate.summary == "clean"


def test_history_is_judged_apart_from_what_a_model_may_write() -> None:
    """Turns of the history have the closer alone, which no model writes: its prompts open reasoning, or close it."""
    source = SOURCE.replace("{{- '<|bot|>' }}", "{{- '<|bot|>' + ('' if message.reasoning_content else '</muse>') }}")
    source = source.replace(
        "{{ '<|bot|>' }}{% endif %}",
        "{{ '<|bot|>' + ('</muse>' if enable_thinking is defined and not enable_thinking else '<muse>') }}{% endif %}",
    )
    found = _analysis(source).certificate
    assert found is not None
    assert found.failing == ()
    assert found.clean


def test_alike_failures_are_one_line_with_one_example() -> None:
    found = _certificate((REASONING, "message.reasoning_content + '\\n\\n'"))
    failing = [remark for remark in found.remarks if remark.verdict == "fails"]
    assert len(failing) < len([item for item in found.items if item.verdict == "fails"])
    assert sum(len(remark.names) for remark in found.remarks) == len(found.items)
    assert all(remark.why and remark.example for remark in failing)


def test_every_verdict_but_success_says_why() -> None:
    for change, _ in CHANGED.values():
        for item in _certificate(change).items:
            assert item.verdict == "works" or item.why, item


def test_the_page_of_certificates_defines_every_verdict_and_finding() -> None:
    root = Path(__file__).parents[2]
    page = (root / "docs/reference/certificates.md").read_text(encoding="utf-8")
    code = "".join(path.read_text(encoding="utf-8") for path in (root / "python/syntagma/analysis").rglob("*.py"))
    findings = set(re.findall(r'Finding\(\s*"([a-z-]+)"', code))
    assert len(findings) > 8
    assert {name for name in (*findings, *get_args(Verdict)) if f"| `{name}` |" not in page} == set()
