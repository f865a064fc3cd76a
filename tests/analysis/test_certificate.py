"""What certificates prove, and that they notice damage."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from syntagma.analysis import Analysis, Certificate, analyze
from syntagma.analysis.cache import AnalysisFolder, RecentAnalyses
from syntagma.errors import ArgumentError
from syntagma.format_schema import Pattern

from .cases import NAMES, TEMPLATES, derived, template

UNPROVED = {"cut-answer": {"reasoning-end"}, "wrapped-answer": {"reasoning-end"}}
"""findings that are right: two closers stand side by side in every render"""


def _certificate(analysis: Analysis) -> Certificate:
    assert analysis.certificate is not None
    return analysis.certificate


@pytest.mark.parametrize("name", NAMES)
def test_every_message_comes_back(name: str) -> None:
    found = _certificate(derived(name))
    codes = {finding.code for finding in found.findings}
    assert [(item.name, item.why) for item in found.failing] == []
    assert codes == UNPROVED.get(name, set())
    assert found.grammar_checked
    assert found.clean == (not codes)


def test_coverage_counts_shapes_and_types() -> None:
    found = _certificate(derived("tags-json"))
    assert {"C", "RC", "T", "CT", "RT", "RCT"} <= found.coverage.keys()
    assert {"string", "integer", "number", "boolean", "null", "array", "object"} <= found.coverage.keys()
    assert "T" not in _certificate(derived("plain")).coverage


def test_what_the_template_drops_is_no_success() -> None:
    verdicts = {item.name: item.verdict for item in _certificate(derived("array-marker")).items}
    assert verdicts["content calls 1"] == "dropped"
    assert verdicts["thoughts content"] == "dropped"
    assert {item.name: item.verdict for item in _certificate(derived("plain")).items}["calls 1"] == "not rendered"
    assert {item.name: item.verdict for item in _certificate(derived("bare-json")).items}["calls 2"] == "not rendered"


def test_a_switch_without_reasoning_is_a_finding() -> None:
    source = template("plain").source + "{% if add_generation_prompt and enable_thinking %}{{ 'Think!' }}{% endif %}"
    found = _certificate(analyze(source, candidates="derived"))
    assert "mention-thinking" in {finding.code for finding in found.findings}
    assert not found.clean


def test_calls_that_are_not_understood_are_a_finding() -> None:
    source = template("plain").source.replace(
        "'</turn>", "(message.tool_calls | default([]) | map(attribute='function.name') | join(' ')) + '</turn>"
    )
    found = analyze(source, candidates="derived")
    assert found.derived.spec.tools is None
    assert {finding.code for finding in _certificate(found).findings} & {"mention-calls", "calls-unsupported"}


@pytest.mark.parametrize(
    ("name", "part", "change"),
    [
        ("tags-json", "call", "<invoke>\n{envelope}"),
        ("tags-json", "call", "<invok>\n{envelope}\n</invoke>"),
        ("name-as-key", "section", "<|calls|>[{calls}<|/calls|>"),
        ("counted-ids", "call", "⟦call⟧{id}⟦wit⟧{arguments}⟦/call⟧"),
    ],
)
def test_damage_is_noticed(name: str, part: str, change: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from syntagma.analysis import analysis as module

    infer = module.infer_format

    def damaged(*args: object, **kwargs: object) -> object:
        found = infer(*args, **kwargs)  # type: ignore[arg-type]
        tools = msgspec.structs.replace(found.spec.tools, **{part: (Pattern(change),)})
        return msgspec.structs.replace(found, spec=msgspec.structs.replace(found.spec, tools=tools))

    monkeypatch.setattr(module, "infer_format", damaged)
    assert not _certificate(analyze(template(name), candidates="derived", cache={})).clean


def test_a_record_is_plain_data() -> None:
    record = derived("tags-json").to_dict()
    assert json.loads(json.dumps(record)) == record
    assert record["chosen"] == "derived"
    assert record["certificate"]["clean"] is True
    assert record["capabilities"]["tool_calls"] is True


def test_analyses_are_cached() -> None:
    cache: dict[str, Analysis] = {}
    first = analyze(template("plain"), certify=False, cache=cache)
    assert analyze(template("plain"), certify=False, cache=cache) is first
    assert analyze(template("plain"), candidates="derived", cache=cache) is not first
    assert len(cache) == 2


def test_analyses_are_kept_in_memory() -> None:
    first = analyze(template("tags-json"))
    assert analyze(template("tags-json")) is first
    assert analyze(template("tags-json").variant(eos_token="<stop>")) is not first
    kept = RecentAnalyses(most=2)
    for name in ("plain", "tags-json", "bare-json"):
        analyze(template(name), certify=False, cache=kept)
    assert len(kept) == 2
    assert [found.capabilities.tool_calls for found in kept.values()] == [True, True]


def test_analyses_are_kept_in_a_folder(tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    first = analyze(template("wrapped-answer"), cache=folder)
    again = analyze(template("wrapped-answer"), cache=str(folder))
    assert again is not first
    assert again.to_dict() == first.to_dict()
    assert again.format.spec == first.format.spec
    assert again.certificate == first.certificate
    assert len(AnalysisFolder(folder)) == 1
    (path,) = folder.glob("*.json")
    path.write_bytes(path.read_bytes()[:100])
    assert analyze(template("wrapped-answer"), cache=folder).to_dict() == first.to_dict()
    assert analyze(template("wrapped-answer"), certify=False, cache=folder).certificate is None
    assert sorted(file.suffix for file in folder.iterdir()) == [".json", ".json"]


_ANALYSED = """
import sys
import syntagma as sg
sg.formats.register(sys.argv[1], name="own")
template = sg.ChatTemplate(open(sys.argv[2], encoding="utf-8").read(), eos_token="</s>")
print(sg.analyze(template, candidates="named", cache=sys.argv[3]).renders, len(sg.formats.names()))
"""


def test_analyses_made_with_other_contents_of_formats_are_not_served(tmp_path: Path) -> None:
    source = TEMPLATES / "plain.jinja"
    folder = tmp_path / "kept"
    for count, opener in ((1, "<a>"), (1, "<a>"), (2, "<b>")):
        text = f'[reasoning]\nblock = "{opener}{{reasoning}}</a>"\n'
        arguments = [sys.executable, "-c", _ANALYSED, text, str(source), str(folder)]
        subprocess.run(arguments, check=True, capture_output=True)
        assert len(AnalysisFolder(folder)) == count


def test_a_folder_of_analyses_has_a_name() -> None:
    with pytest.raises(ArgumentError) as caught:
        analyze(template("plain"), certify=False, cache="")
    assert caught.value.code == "E-ARGUMENT-VALUE"
