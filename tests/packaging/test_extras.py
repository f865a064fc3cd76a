"""An extra has what its part of the package imports; the environment of the tests has more, and would not notice."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, packages_distributions, requires
from pathlib import Path

import pytest

PROJECT = tomllib.loads((Path(__file__).resolve().parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def _name(requirement: str) -> str:
    return re.split(r"[\s<>=!~;\[(]", requirement, maxsplit=1)[0].lower().replace("_", "-")


def _closure(names: set[str]) -> set[str]:
    """What these need, and what that needs, extras left out."""
    found: set[str] = set()
    while names - found:
        for name in names - found:
            found.add(name)
            try:
                asked = requires(name) or ()
            except PackageNotFoundError:
                continue
            names |= {_name(one) for one in asked if "extra ==" not in one}
    return found


_ALONE = """
import importlib, sys
for name in sys.argv[2:]:
    sys.modules[name] = None  # as if it were not installed
importlib.import_module(sys.argv[1])
"""


@pytest.mark.parametrize(
    ("extra", "module", "lacks"),
    [
        (None, "syntagma.cli.serve", "typer"),
        ("serve", "syntagma.cli.serve_run", "httpx"),
        ("upstreams", "syntagma.upstreams.vllm", "httpx"),
    ],
)
def test_what_is_imported_is_asked_for(extra: str | None, module: str, lacks: str) -> None:
    asked = [*PROJECT["dependencies"], *(PROJECT["optional-dependencies"][extra] if extra else ())]
    allowed = _closure({_name(one) for one in asked})
    owners = packages_distributions()
    others = [top for top, names in owners.items() if not {*map(_name, names)} & allowed and top != "syntagma"]
    assert len(others) > 5
    command = [sys.executable, "-c", _ALONE, module]
    done = subprocess.run([*command, *others], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    # Without one more the same command fails: what is not installed is noticed.
    assert subprocess.run([*command, *others, lacks], capture_output=True, check=False).returncode != 0
