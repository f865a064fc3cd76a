"""One version for the package and the crates, wherever it is written."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import syntagma as sg

ROOT = Path(__file__).resolve().parents[2]


def test_the_version_is_the_same_everywhere() -> None:
    workspace = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]
    locked = tomllib.loads((ROOT / "Cargo.lock").read_text(encoding="utf-8"))["package"]
    versions = {"Cargo.toml": workspace["package"]["version"]}
    versions |= {name: one["version"] for name, one in workspace["dependencies"].items() if "path" in one}
    versions |= {f"{one['name']} (locked)": one["version"] for one in locked if "source" not in one}
    assert len(versions) == 1 + 3 + len(workspace["members"])
    assert set(versions.values()) == {sg.__version__}, versions


def test_the_changelog_begins_with_the_version() -> None:
    sections = re.findall(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert sections[0] == "Unreleased"
    assert re.fullmatch(rf"{re.escape(sg.__version__)} - \d{{4}}-\d\d-\d\d", sections[1]), sections[1]
