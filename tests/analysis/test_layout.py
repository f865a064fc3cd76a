"""What an analysis says of modes, kinds, markers and prompts."""

from __future__ import annotations

import logging

import pytest

from syntagma.analysis import analyze, comparisons

from .cases import NAMES, derived, template

EXPECTED: dict[str, dict[str, str]] = {
    "array-marker": {"tool_format": "json_native", "call_id_position": "in_json", "reasoning_mode": "none"},
    "counted-ids": {"call_id_position": "holds_name", "tool_format": "tag_with_json", "argument_kind": "json"},
    "delimiter": {"reasoning_mode": "delimiter"},
    "empty-thoughts": {"reasoning_mode": "forced_closed"},
    "forced-open": {"reasoning_mode": "forced_closed"},
    "keyword-arguments": {"tool_format": "tag_with_tagged", "argument_kind": "literal_each"},
    "named-slots": {"call_id_position": "between_name_and_arguments", "tool_format": "tag_with_json"},
    "nested-envelope": {"argument_kind": "json_text", "tool_format": "json_native"},
    "plain": {"reasoning_mode": "none", "content_mode": "plain", "tool_format": "none", "argument_kind": "none"},
    "tagged-arguments": {"argument_kind": "text_each"},
    "tags-json": {"reasoning_mode": "tag_based", "tool_format": "json_native", "call_id_position": "none"},
    "wrapped-answer": {"content_mode": "always_wrapped", "reasoning_mode": "tools_only"},
}


@pytest.mark.parametrize("name", EXPECTED)
def test_modes_and_kinds(name: str) -> None:
    layout = derived(name).layout
    assert {key: getattr(layout, key) for key in EXPECTED[name]} == EXPECTED[name]


@pytest.mark.parametrize("name", NAMES)
def test_markers_are_those_of_the_format(name: str) -> None:
    found = derived(name)
    written = found.format.to_toml()
    for marker in found.layout.markers.values():
        for line in marker.split("\n"):
            assert line.replace('"', '\\"') in written or line in written
    assert found.layout.markers["turn_start"] == found.format.spec.anchor


def test_places_in_json() -> None:
    assert derived("name-as-key").layout.fields["name"] == "/{name}"
    fields = derived("nested-envelope").layout.fields
    assert fields["name"].endswith("/name")
    assert fields["arguments"].count("/") == 2


def test_generation_prompts_of_every_switch() -> None:
    found = {(tuple(one.settings.items()), one.tools): one for one in derived("forced-open").prompts}
    on, off = found[(("enable_thinking", True),), False], found[(("enable_thinking", False),), False]
    assert (on.reasoning, off.reasoning) == ("open", "done")
    assert off.text.startswith(on.text.rstrip("\n"))
    assert found[(), False] == derived("forced-open").prompts[0]
    assert ((), True) in found


def test_tokens_are_those_of_the_format() -> None:
    found = derived("tags-json")
    assert found.triggers == ("<invoke>",)
    assert {"<invoke>", "</invoke>", "<muse>"} <= set(found.preserved_tokens)
    assert found.stop_strings == ("<|stop|>",)


@pytest.mark.parametrize("name", NAMES)
def test_pairs_differ_by_what_they_are_about(name: str) -> None:
    pairs = comparisons(template(name), derived(name))
    assert {"C1", "G1"} <= {pair.step for pair in pairs} or name == "header-appended"
    for pair in pairs:
        before, first, second, after = pair.parts
        assert before + first + after == pair.first
        assert before + second + after == pair.second
        assert pair.step != "T1" or (first and second)


def test_steps_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, "syntagma.analysis"):
        analyze(template("tags-json"), cache={})
    said = "\n".join(record.getMessage() for record in caplog.records)
    assert "probing" in said
    assert "found tools.call" in said
    assert "certificate clean" in said
