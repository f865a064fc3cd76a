"""The list of SGLang's names: what it says is offered is there, and what is not has a reason."""

from __future__ import annotations

import importlib
import inspect
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from syntagma.compat import sglang

SECTIONS: list[dict[str, Any]] = tomllib.loads(
    (Path(__file__).parent / "sglang_names.toml").read_text(encoding="utf-8")
)["section"]
OFFERED = [(name, place) for section in SECTIONS for name, place in section.get("offered", {}).items()]
REASONS = [(name, reason) for section in SECTIONS for name, reason in section.get("not_offered", {}).items()]
SAMPLES: dict[str, Any] = {
    "FunctionCallParser": lambda: sglang.FunctionCallParser([], "qwen25"),
    "ReasoningParser": lambda: sglang.ReasoningParser("qwen3"),
    "BaseFormatDetector": lambda: sglang.FunctionCallDetector("qwen25"),
    "BaseReasoningFormatDetector": lambda: sglang.BaseReasoningFormatDetector("<a>", "</a>"),
    "StructureInfo": lambda: sglang.StructureInfo("", "", ""),
    "ReasonerGrammarObject": lambda: sglang.ReasonerGrammarObject(None, 1),
}
"""an object of each class whose attributes are made with it"""
_PLACE = re.compile(r"([\w.]+)(?:\((\w+)\)|\[([\w.-]+)\])?")


def _at(path: str) -> Any:
    """What stands at a dotted path: a module, or what a module, class or object has."""
    whole = path if path.startswith("syntagma.") else f"syntagma.compat.sglang.{path}"
    parts = whole.split(".")
    size = len(parts)
    while True:
        try:
            found: Any = importlib.import_module(".".join(parts[:size]))
            break
        except ModuleNotFoundError:
            size -= 1
    for part in parts[size:]:
        if not hasattr(found, part) and inspect.isclass(found):
            found = SAMPLES[found.__name__]()
        found = getattr(found, part)
    return found


@pytest.mark.parametrize(("name", "place"), OFFERED, ids=lambda value: value)
def test_what_is_offered_is_there(name: str, place: str) -> None:
    match = _PLACE.fullmatch(place)
    assert match, f"{name}: no place"
    path, parameter, key = match.groups()
    found = _at(path)
    if parameter:
        assert parameter in inspect.signature(found).parameters
    if key:
        assert key in found
        assert key == name


@pytest.mark.parametrize(("name", "reason"), REASONS, ids=lambda value: value[:40])
def test_what_is_not_offered_has_a_reason(name: str, reason: str) -> None:
    assert reason == "the same" or len(reason.split()) >= 8
    assert not hasattr(sglang, name)


def test_no_name_stands_twice_in_a_section() -> None:
    for section in SECTIONS:
        names = [*section.get("offered", {}), *section.get("not_offered", {})]
        assert len(names) == len(set(names))


def test_the_classes_that_are_listed_as_data_are_all_in_the_list() -> None:
    data = tomllib.loads((Path(sglang.__file__).parent / "detectors.toml").read_text(encoding="utf-8"))
    del data["families"]
    listed = {place.rpartition(".")[2] for _, place in OFFERED}
    for part in data.values():
        assert listed >= set(part)


@pytest.mark.parametrize(
    ("family", "names"),
    [
        ("Qwen3Detector", ["qwen3", "deepseek-v3", "glm45", "interns1", "kimi_k2", "minimax", "qwen3-thinking"]),
        ("DeepSeekR1Detector", ["deepseek-r1", "step3", "step3p5"]),
    ],
)
def test_detectors_of_one_family_are_instances_of_its_class(family: str, names: list[str]) -> None:
    kind = getattr(sglang.reasoning_parser, family)
    for name in names:
        detector = sglang.ReasoningParser(name).detector
        assert isinstance(detector, kind), name
        assert type(detector).__name__ == family
    assert not isinstance(sglang.ReasoningParser("kimi").detector, kind)
