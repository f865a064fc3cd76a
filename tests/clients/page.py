"""The programs of docs/clients.md."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

from tests.clients.asks import HOST
from tests.environments import HOME

__all__ = ["check_program"]
_PAGE = Path(__file__).resolve().parents[2] / "docs" / "clients.toml"
_SHOWN = "http://127.0.0.1:8000"
_SECONDS = 180


def check_program(name: str) -> None:
    """Run the program of a client against the server of the tests; it prints what the model said."""
    clients = tomllib.loads(_PAGE.read_text(encoding="utf-8"))["client"]
    program = next(client["program"] for client in clients if client["id"] == name).replace(_SHOWN, HOST)
    if "console.log" in program:
        script, run = Path(os.environ[HOME]) / "page.mjs", shutil.which("node")
    else:
        script, run = Path(os.environ[HOME]) / "page.py", sys.executable
    script.write_text(program, encoding="utf-8")
    assert run is not None
    done = subprocess.run([run, script], check=False, capture_output=True, text=True, timeout=_SECONDS)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()
