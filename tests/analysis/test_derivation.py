"""What is derived from renders: the format key for key, the same from every seed, and nothing of the probes in it."""

from __future__ import annotations

import pytest

from syntagma.analysis import analyze
from syntagma.errors import TemplateError
from syntagma.format_schema import FormatSpec
from syntagma.formats import ChatFormat
from syntagma.limits import Limits
from syntagma.templates import ChatTemplate

from .cases import NAMES, TEMPLATES, derived, template


def _expected(name: str) -> FormatSpec:
    return ChatFormat.from_toml((TEMPLATES / f"{name}.toml").read_text(encoding="utf-8"), source=f"{name}.toml").spec


@pytest.mark.parametrize("name", NAMES)
def test_the_format_is_found_key_for_key(name: str) -> None:
    assert derived(name).derived.spec == _expected(name)


@pytest.mark.parametrize("name", NAMES)
def test_the_format_does_not_depend_on_the_words_of_the_probes(name: str) -> None:
    found = derived(name).derived.to_toml()
    for seed in (7, 12345):
        again = analyze(template(name), certify=False, seed=seed)
        assert again.derived.to_toml() == found
        assert again.certificate is None


def test_the_end_of_sequence_token_is_the_templates_own() -> None:
    source = template("array-marker").source
    with_token = analyze(ChatTemplate(source, eos_token="<|fin|>"), certify=False).derived.spec
    without = analyze(source, certify=False).derived.spec
    assert with_token.end_of_turn == ("<|fin|>",)
    assert without.end_of_turn == ()


def test_a_marker_may_be_renamed() -> None:
    source = template("tags-json").source.replace("muse", "ponder").replace("invoke", "do").replace("|bot|", "|me|")
    spec = analyze(source, certify=False).derived.spec
    text = (TEMPLATES / "tags-json.toml").read_text(encoding="utf-8")
    renamed = text.replace("muse", "ponder").replace("invoke", "do").replace("|bot|", "|me|")
    assert spec == ChatFormat.from_toml(renamed).spec


def test_what_an_undeclared_variable_misses_is_bound() -> None:
    source = "{{ 'Today is ' + today + '. ' }}" + template("plain").source
    found = analyze(source, certify=False)
    assert list(found.capabilities.variables) == ["today"]
    assert found.derived.spec == _expected("plain")


@pytest.mark.parametrize("source", ["{{ raise_exception('no') }}", "{{ messages[0].content }}", "nothing at all"])
def test_a_template_that_shows_no_answer_is_refused(source: str) -> None:
    with pytest.raises(TemplateError) as caught:
        analyze(source)
    assert caught.value.code == "E-TEMPLATE-ANALYSIS"


def test_three_probes_beyond_a_limit_end_the_analysis() -> None:
    slow = "{% for i in range(1000000) %}{% endfor %}"
    with pytest.raises(TemplateError) as caught:
        analyze(ChatTemplate(slow, limits=Limits(template_steps=10_000)))
    assert caught.value.code == "E-TEMPLATE-ANALYSIS"
    assert "limit" in caught.value.message


def test_endless_answers_are_no_turns() -> None:
    source = template("plain").source.replace("'</turn>", "('[' * 20000) + '</turn>")
    with pytest.raises(TemplateError) as caught:
        analyze(source)
    assert caught.value.code == "E-TEMPLATE-ANALYSIS"


def test_all_renders_share_one_account() -> None:
    with pytest.raises(TemplateError) as caught:
        analyze(ChatTemplate(template("tags-json").source, limits=Limits(analysis_seconds=0.0)))
    assert caught.value.code == "E-TEMPLATE-ANALYSIS"
