"""What `syntagma doctor` finds of llama.cpp is what the page says; our server in front of it has none."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from syntagma import upstreams
from syntagma.doctor import diagnose
from syntagma.serving import ServedModel, create_app
from tests.engines.conftest import llamacpp_server
from tests.serving.live import listening

PAGE = Path(__file__).parents[2] / "docs" / "doctor.md"
MAX_TOKENS = 300
BY_CHANCE = ("stream.one-envelope", "created is not one in all chunks")
"""what shows only in a stream during which a second of the clock passes: each chunk has a time of its own"""


@pytest.fixture(scope="module")
def engine(gguf_file: Path) -> Any:
    """llama.cpp as most people start it: it hides control tokens."""
    return llamacpp_server(gguf_file, show_control_tokens=False)


def listed() -> Iterator[str]:
    """The faults that the page lists."""
    section = PAGE.read_text(encoding="utf-8").partition("### llama.cpp")[2]
    return iter(re.findall(r"^\| `([\w.-]+)` \|", section, re.MULTILINE))


def test_what_is_found_of_llama_cpp(engine: Any) -> None:
    report = diagnose(engine.listening_address, max_tokens=MAX_TOKENS)
    found = {fault.id: fault.said for fault in report.faults}
    name, says = BY_CHANCE
    if found.get(name, "").startswith(says):
        del found[name]
    assert found.keys() == set(listed())


@pytest.mark.parametrize("prompts", ["text", "ids"])
def test_our_server_in_front_of_it(engine: Any, folder: Path, prompts: str) -> None:
    loaded = upstreams.load(f"llamacpp:{engine.listening_address}", model=folder if prompts == "ids" else None)
    with listening(create_app(ServedModel(*loaded))) as url:
        report = diagnose(url, max_tokens=MAX_TOKENS)
    assert {fault.id: (fault.said, fault.request, fault.came) for fault in report.faults} == {}
