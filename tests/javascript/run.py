"""Builds the WebAssembly module and runs the tests of `js/` in node; what is missing is named, and the rest skipped.

    python -m tests.javascript.run [--built]

With `--built` the module is taken as it is. Types are checked where npm can install TypeScript.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = Path(__file__).resolve().parent
NODE = (20, 16)
"""the oldest node that has what the package uses"""
MISSING = 3
"""what js/build.py says where nothing can build the module"""
TYPESCRIPT = "typescript@5.9.3"


def _said(*command: str | Path) -> str:
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return ""


def _check_types() -> int:
    """Compiles the types of the package and a use of it."""
    home = ROOT / ".venv-javascript"
    compiler = home / "node_modules" / ".bin" / "tsc"
    if not compiler.exists():
        home.mkdir(exist_ok=True)
        command = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(home), TYPESCRIPT]
        if not shutil.which("npm") or subprocess.run(command, check=False, capture_output=True).returncode:
            print("types        skipped  npm cannot install TypeScript")
            return 0
    return subprocess.run([compiler, "--project", FOLDER / "tsconfig.json"], check=False).returncode


def main(arguments: Sequence[str]) -> int:
    """The exit status."""
    version = re.match(r"v(\d+)\.(\d+)", _said("node", "--version"))
    if version is None or tuple(map(int, version.groups())) < NODE:
        print(f"javascript   skipped  there is no node {'.'.join(map(str, NODE))} or newer")
        return 0
    built = (
        0
        if "--built" in arguments
        else subprocess.run([sys.executable, ROOT / "js" / "build.py"], check=False).returncode
    )
    if built:
        if built == MISSING:
            print("javascript   skipped  the module cannot be built here")
        return 0 if built == MISSING else built
    python = {**os.environ, "SYNTAGMA_PYTHON": sys.executable}
    tests = sorted(map(str, FOLDER.glob("*.test.mjs")))
    failed = subprocess.run(["node", "--test", *tests], cwd=ROOT, env=python, check=False).returncode
    return failed or _check_types()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
