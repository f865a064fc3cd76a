"""What probing finds out about a template's inputs."""

from __future__ import annotations

import pytest

from syntagma.analysis import analyze

from .cases import NAMES, derived, template

EXPECTED: dict[str, dict[str, object]] = {
    "array-marker": {"call_ids": True, "content_with_calls": False, "parallel_tool_calls": True, "tools": True},
    "bare-json": {"parallel_tool_calls": False, "tool_calls": True, "content_with_calls": False},
    "cut-thoughts": {"reasoning": None, "content_with_calls": True},
    "delimiter": {"reasoning": "reasoning_content", "call_ids": False},
    "empty-thoughts": {"reasoning": "thinking", "thinking_switches": {"thinking": (True, False)}},
    "forced-open": {"thinking_switches": {"enable_thinking": (True, False)}, "tool_results": True},
    "plain": {"tool_calls": False, "system": False, "tools": False},
    "string-arguments": {"arguments": "string"},
    "tags-json": {"arguments": "object", "tools": True, "system": True, "reasoning": "reasoning_content"},
    "wrapped-answer": {"content_with_calls": False, "reasoning": "reasoning_content"},
}


@pytest.mark.parametrize("name", EXPECTED)
def test_capabilities(name: str) -> None:
    found = derived(name).capabilities
    assert {key: getattr(found, key) for key in EXPECTED[name]} == EXPECTED[name]


@pytest.mark.parametrize("name", NAMES)
def test_object_arguments_are_preferred(name: str) -> None:
    assert derived(name).capabilities.arguments == ("string" if name == "string-arguments" else "object")


@pytest.mark.parametrize("change", ["lower", "upper", "replace(' ', '')"])
def test_the_form_of_arguments_that_comes_back_unchanged_is_preferred(change: str) -> None:
    for as_text, as_object, form in (
        ("given", f"given | tojson | {change}", "string"),
        (f"given | {change}", "given | tojson", "object"),
    ):
        given = f"{{% if given is string %}}{{{{ {as_text} }}}}{{% else %}}{{{{ {as_object} }}}}{{% endif %}}"
        source = (
            "{%- if tools %}{{ tools | tojson }}{% endif %}"
            "{%- for m in messages %}<|{{ m.role }}|>{{ m.content or '' }}"
            "{%- for call in m.tool_calls or [] %}{%- set given = call.function.arguments %}"
            "<use>{{ call.function.name }} " + given + "</use>{% endfor %}<|end|>{% endfor %}"
            "{% if add_generation_prompt %}<|assistant|>{% endif %}"
        )
        assert analyze(source, certify=False).capabilities.arguments == form


def test_an_id_may_have_to_carry_the_name() -> None:
    source = template("counted-ids").source.replace(
        "tools.' + call.function.name + ':' + (count.n | string)", "' + (call.id if ':' in call.id else '')"
    )
    found = analyze(source, certify=False)
    assert found.capabilities.call_id_form == "functions.{name}:{index}"
    assert found.derived.spec.tools is not None
    assert [pattern.text for pattern in found.derived.spec.tools.id] == ["functions.{name}:{index}"]
