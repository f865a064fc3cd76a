"""The linter: a template without defects has no finding, and each slip that is put into it breaks its own rule."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import syntagma as sg
from syntagma.analysis import lint_template
from syntagma.analysis.lint.rules import RULES
from syntagma.cli.app import app

ROOT = Path(__file__).parents[2]
CLEAN = """\
{%- if tools %}{{ '<|system|>Tools: ' + (tools | tojson) + '<|stop|>' }}{% endif -%}
{%- for message in messages %}
{%- if message.role == 'assistant' %}
{{- '<|bot|>' }}
{%- if message.reasoning_content %}{{ '<muse>' + message.reasoning_content + '</muse>' }}{% endif %}
{{- message.content or '' }}
{%- for call in message.tool_calls or [] %}
{%- set given = call.function.arguments %}
{{- '<use>' + call.id + ' ' + call.function.name + ' ' + (given if given is string else given | tojson) + '</use>' }}
{%- endfor %}
{{- '<|stop|>' }}
{%- else %}
{%- if message.tool_call_id %}{{ '<|to ' + message.tool_call_id + '|>' }}{% endif %}
{{- '<|' + message.role + '|>' + message.content + '<|stop|>' }}
{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{ '<|bot|>' }}{% endif %}
"""
REASONING = "message.reasoning_content %}"
CONTENT = "{{- message.content or '' }}"
ARGUMENTS = "(given if given is string else given | tojson)"
OTHER = "message.role + '|>' + message.content"
LOOP = "{%- for call in message.tool_calls or [] %}"
ONE = "{%- if message.tool_calls and message.tool_calls | length > 1 %}{{ raise_exception('one!') }}{% endif %}" + LOOP
LAST = "message.reasoning_content and loop.last %}"
LATER = (
    "message.reasoning_content and (loop.last or messages[loop.index].role == 'user') "
    "and not (messages | last).role == 'tool' %}"
)
SEARCH = "{%- for one in messages %}{% for other in messages %}{% set x = other.role %}{% endfor %}{% endfor %}"
HUGE = (
    "{%- for one in messages %}{% for other in messages %}{% for i in range(20) %}{% endfor %}{% endfor %}{% endfor %}"
)
TOOLS = "{%- if tools %}{{ '<|system|>Tools: ' + (tools | tojson) + '<|stop|>' }}{% endif -%}"
TO = "{%- if message.tool_call_id %}{{ '<|to ' + message.tool_call_id + '|>' }}{% endif %}"
EACH = "{%- for message in messages %}"
BOTH = (
    "{% if message.tool_calls and message.content and message.reasoning_content %}{{ raise_exception('2') }}{% endif %}"
)
SLIPS: list[tuple[str, str, str, bool]] = [
    ("parallel-calls", LOOP, ONE, False),
    ("parallel-calls", LOOP, "{%- for call in (message.tool_calls or [])[:1] %}", False),
    ("arguments-text", ARGUMENTS, "(given.items() | list | tojson)", False),
    ("arguments-object", ARGUMENTS, "given", False),
    ("arguments-object", ARGUMENTS, "(given | string)", False),
    ("arguments-twice", ARGUMENTS, "(call.function.arguments | tojson)", True),
    ("tool-results", "{%- else %}", "{%- elif message.role != 'tool' %}", False),
    ("tool-results", "{%- else %}", "{%- elif messages[loop.index0 - 1].role != 'tool' %}", False),
    ("history-reasoning", REASONING, LAST, False),
    ("loop-reasoning", REASONING, LATER, False),
    ("prefix", "<|system|>Tools: '", "<|system|>Tools ' + (messages | length | string)", False),
    ("altered-text", CONTENT, "{{- (message.content or '') | trim }}", True),
    ("altered-text", CONTENT, "{{- (message.content or '').strip() }}", True),
    ("altered-text", OTHER, "message.role + '|>' + message.content | replace('<', '&lt;')", False),
    ("altered-text", OTHER, "message.role + '|>' + message.content | lower", False),
    ("altered-text", OTHER, "message.role + '|>' + message.content[:400]", True),
    ("altered-call", ARGUMENTS, "(given if given is string else given | tojson | lower)", True),
    ("altered-call", ARGUMENTS, "(given if given is string else given | tojson | upper)", True),
    ("altered-call", ARGUMENTS, "(given if given is string else given | tojson | replace(' ', ''))", False),
    ("altered-call", ARGUMENTS, "(given | upper if given is string else given | tojson)", True),
    ("altered-call", ARGUMENTS, "(given[:300] if given is string else given | tojson)", False),
    ("altered-call", ARGUMENTS, "(given if given is string else given.values() | map('title') | join)", False),
    ("altered-call", "call.function.name", "(call.function.name | lower)", True),
    ("interpreted-text", OTHER, "message.role + '|>' + message.content.split('</muse>')[-1]", False),
    ("no-prompt", "{%- if add_generation_prompt %}{{ '<|bot|>' }}{% endif %}", "", True),
    (
        "other-prompt",
        "{%- if add_generation_prompt %}{{ '<|bot|>' }}",
        "{%- if add_generation_prompt %}{{ '<|boot|>' }}",
        False,
    ),
    ("growing-work", "{%- for message in messages %}", SEARCH + "{%- for message in messages %}", False),
    ("unbounded-work", EACH, HUGE + EACH, False),
    ("results-order", TO, "", False),
    ("call-content", CONTENT, "{%- if not message.tool_calls %}" + CONTENT + "{% endif %}", False),
    ("call-content", CONTENT, BOTH + CONTENT, False),
    ("lost-tools", TOOLS, "", False),
    ("lost-tools", LOOP, "{%- for call in [] %}", False),
    ("tool-members", "(tools | tojson)", "(tools[0].function.description + (tools | tojson))", False),
    ("tool-members", "(tools | tojson)", "(tools | selectattr('function.parameters') | list | tojson)", False),
    ("lost-system", EACH, "{%- for message in messages if message.role != 'system' %}", False),
    (
        "lost-system",
        EACH,
        "{%- for message in messages if message.role != 'system' or message == messages[0] %}",
        False,
    ),
    ("lost-developer", EACH, "{%- for message in messages if message.role != 'developer' %}", False),
    ("lost-message", EACH, "{%- for message in (messages[1:] if messages | length > 2 else messages) %}", False),
]
"""rule, what stands in the clean template, what stands there instead, whether a fix is offered"""


PATIENT = sg.Limits(template_seconds=20.0, analysis_seconds=120.0)
"""how much work is done counts, not how long a slow machine takes for it"""


def _slipped(old: str, new: str) -> sg.ChatTemplate:
    assert old in CLEAN
    return sg.ChatTemplate(CLEAN.replace(old, new), limits=PATIENT)


def test_a_template_without_defects() -> None:
    assert lint_template(sg.ChatTemplate(CLEAN)) == ()
    plain = "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>{% endfor %}"
    plain += "{% if add_generation_prompt %}<|assistant|>{% endif %}"
    assert lint_template(sg.ChatTemplate(plain)) == ()


ESCAPED = (
    "(given | tojson | replace('<', '\\\\u003c'))",
    "(given | tojson | tojson)",
    """(given if given is string else given.values() | map('replace', '\\n', '\\\\n') | join(' '))""",
)


@pytest.mark.parametrize("written", ESCAPED)
def test_escapes_change_no_argument(written: str) -> None:
    found = lint_template(_slipped(ARGUMENTS, written))
    assert "altered-call" not in {finding.rule for finding in found}


@pytest.mark.parametrize(("rule", "old", "new", "fixable"), SLIPS, ids=lambda value: str(value)[:40])
def test_every_slip_breaks_its_rule(rule: str, old: str, new: str, fixable: bool) -> None:
    template = _slipped(old, new)
    found = {finding.rule: finding for finding in lint_template(template)}
    assert rule in found
    finding = found[rule]
    assert finding.message
    assert finding.hint
    assert finding.request["messages"]
    assert (finding.fix is not None) == fixable


def test_slips_break_few_other_rules() -> None:
    expected = {
        "history-reasoning": {"prefix", "loop-reasoning"},
        "loop-reasoning": {"prefix"},
        "tool-results": {"prefix"},
        "no-prompt": {"prefix"},
    }
    expected |= {
        "other-prompt": {"prefix"},
        "unbounded-work": {"growing-work"},
        "lost-message": {"prefix", "lost-system"},
    }
    for rule, old, new, _ in SLIPS:
        others = {finding.rule for finding in lint_template(_slipped(old, new))} - {rule}
        assert others <= expected.get(rule, set()), (rule, new)


def test_every_rule_has_a_slip_and_stands_in_the_documentation() -> None:
    page = (ROOT / "docs" / "reference" / "template-lint.md").read_text(encoding="utf-8")
    tried = {rule for rule, *_ in SLIPS} | {"forgeable-turns"}
    for rule in RULES:
        assert rule.id in tried
        assert f"`{rule.id}`" in page
        assert rule.summary.endswith(".")


def test_the_first_differing_character_of_a_prefix() -> None:
    template = sg.ChatTemplate("{{ '[' + (messages | length | string) + ']' }}" + CLEAN)
    finding = next(one for one in lint_template(template) if one.rule == "prefix")
    assert finding.message.startswith("the next prompt differs from character 1 on")
    assert "'1]" in finding.shown
    assert "'3]" in finding.shown


def test_a_fix_is_a_diff_that_mends() -> None:
    finding = lint_template(_slipped(CONTENT, "{{- (message.content or '') | trim }}"))[0]
    assert finding.fix is not None
    assert "-{{- (message.content or '') | trim }}" in finding.fix
    assert "+{{- (message.content or '') }}" in finding.fix


def test_a_fix_changes_what_the_finding_says_and_nothing_else() -> None:
    conditions = "{%- if message.content is string and message.content | trim %}{{ '' }}{% endif %}"
    trimmed = OTHER.replace("message.content", "message.content | trim")
    source = CLEAN.replace(CONTENT, "{{- (message.content or '') | trim }}").replace(OTHER, trimmed)
    source = source.replace(
        "{%- if message.role == 'assistant' %}", conditions + "{%- if message.role == 'assistant' %}"
    )
    assert source.count("| trim") == 3
    found = [one for one in lint_template(sg.ChatTemplate(source, limits=PATIENT)) if one.rule == "altered-text"]
    assert [one.message.split()[3] for one in found] == ["system:", "user:", "assistant:", "tool:"]
    for finding in found:
        assert finding.fix is not None
        removed = [line for line in finding.fix.splitlines() if line.startswith("-") and "trim" in line]
        assert len(removed) == 1
        assert conditions not in removed[0]
        assert ("or ''" in removed[0]) == ("assistant" in finding.message)


def test_words_that_any_user_can_write() -> None:
    source = "{% for m in messages %}### {{ m.role }}:\n{{ m.content }}\n{% endfor %}"
    source += "{% if add_generation_prompt %}### assistant:\n{% endif %}"
    found = lint_template(sg.ChatTemplate(source))
    assert [finding.rule for finding in found] == ["forgeable-turns"]
    forged = found[0].request["messages"][0]["content"]
    real = [
        {"role": "user", "content": forged.partition("\n")[0]},
        {"role": "assistant", "content": "It warms up slowly."},
    ]
    assert sg.ChatTemplate(source).render(real) == sg.ChatTemplate(source).render(found[0].request["messages"])
    vocabulary = sg.testing.byte_vocabulary(["###"])
    assert lint_template(sg.ChatTemplate(source), vocabulary) == ()
    assert [one.rule for one in lint_template(sg.ChatTemplate(CLEAN), vocabulary)] == ["forgeable-turns"]


def test_the_command(tmp_path: Path) -> None:
    (tmp_path / "clean.jinja").write_text(CLEAN, encoding="utf-8")
    (tmp_path / "trims.jinja").write_text(CLEAN.replace(CONTENT, "{{- (message.content or '') | trim }}"))
    done = CliRunner().invoke(app, ["lint-template", str(tmp_path / "clean.jinja")])
    assert (done.exit_code, done.stdout.strip()) == (0, "no defects were found")
    done = CliRunner().invoke(app, ["lint-template", str(tmp_path / "trims.jinja")])
    assert done.exit_code == 1
    assert "altered-text: content of role assistant" in done.stdout
    assert "hint: " in done.stdout
    assert all(len(line) < 400 for line in done.stdout.splitlines())
    whole = CliRunner().invoke(app, ["lint-template", str(tmp_path / "trims.jinja"), "--verbose"]).stdout
    done = CliRunner().invoke(app, ["lint-template", str(tmp_path / "trims.jinja"), "--json"])
    finding = json.loads(done.stdout)[0]
    assert finding["rule"] == "altered-text"
    assert f"shown by: {json.dumps(finding['request'])}\n" in whole
    requests = tmp_path / "request.json"
    requests.write_text(json.dumps(finding["request"]))
    shown = CliRunner().invoke(app, ["render", str(tmp_path / "trims.jinja"), "--messages", str(requests)])
    assert shown.exit_code == 0


def test_wrong_values() -> None:
    with pytest.raises(sg.ArgumentTypeError):
        lint_template("text")  # type: ignore[arg-type]
    with pytest.raises(sg.TemplateError):
        lint_template(sg.ChatTemplate("nothing"))
