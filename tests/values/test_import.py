"""What `import syntagma` loads, and that every public name is found."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import syntagma

HEAVY = ("asyncio", "jinja2", "msgspec", "numpy", "yaml")


def loaded_by(statement: str) -> set[str]:
    """Which of the heavy modules a fresh interpreter has loaded after a statement."""
    code = f"import sys, json\n{statement}\nprint(json.dumps([name for name in {HEAVY!r} if name in sys.modules]))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    return set(json.loads(done.stdout))


def test_the_import_alone_loads_nothing_heavy() -> None:
    assert loaded_by("import syntagma") == set()


def test_reading_a_text_needs_neither_templates_nor_vocabularies() -> None:
    assert loaded_by("import syntagma as sg\nsg.formats.get('hermes').parse('<tool_call>')") == {"msgspec"}


@pytest.mark.parametrize("name", syntagma.__all__)
def test_every_public_name_is_found_at_first_use(name: str) -> None:
    assert getattr(syntagma, name) is not None
    assert name in dir(syntagma)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        syntagma.nothing  # type: ignore[attr-defined]  # noqa: B018
    assert {*syntagma._HOME} <= {*syntagma.__all__}
