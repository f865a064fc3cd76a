"""Documentation that runs: README and guide blocks, examples, generated pages, links."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.blocks import run_blocks

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
_LINK = re.compile(r"\]\(([^)#:]+)\)")
# The pages of engines run in their environments: `tests/engines`.
RUNNING = [page for page in PAGES if page.parent != ROOT / "docs" / "engines"]


@pytest.mark.parametrize("page", [*RUNNING, ROOT / "CONTRIBUTING.md"], ids=lambda path: str(path.relative_to(ROOT)))
def test_blocks_run(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    run_blocks(page)


@pytest.mark.parametrize("example", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.name)
def test_examples_run(example: Path) -> None:
    done = subprocess.run([sys.executable, str(example)], capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


def test_generated_pages_are_up_to_date() -> None:
    done = subprocess.run(
        [sys.executable, "docs/generate.py", "--check"], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "DESIGN.md"], ids=lambda path: path.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in _LINK.findall(page.read_text()):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"
