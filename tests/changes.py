"""Which files a change touches: since the merge base with `main`, or in the last commit on it, and uncommitted ones."""

from __future__ import annotations

import functools
import subprocess
from pathlib import Path

__all__ = ["ROOT", "changed_files", "commit_number"]

ROOT = Path(__file__).resolve().parents[1]


def _git(*arguments: str) -> str | None:
    """What git prints; None where it is not installed, or refuses."""
    try:
        done = subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()


def _base() -> str | None:
    """The commit that the change begins after."""
    head = _git("rev-parse", "HEAD")
    for main in ("origin/main", "main"):
        base = _git("merge-base", "HEAD", main)
        if base is not None and base != head and _git("rev-parse", "--abbrev-ref", "HEAD") != "main":
            return base
    return _git("rev-parse", "HEAD~1")


@functools.cache
def changed_files() -> frozenset[str] | None:
    """Paths below the root of the repository that the change adds, edits or deletes; None where git cannot tell."""
    base = _base()
    edited = _git("diff", "--name-only", "--no-renames", base) if base is not None else None
    new = _git("ls-files", "--others", "--exclude-standard")
    if edited is None or new is None:
        return None
    return frozenset(line for line in (*edited.splitlines(), *new.splitlines()) if line)


def commit_number() -> int:
    """How many commits lead to HEAD, so that what is chosen by it comes round; 0 where git cannot tell."""
    return int(_git("rev-list", "--count", "HEAD") or 0)
