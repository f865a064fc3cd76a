"""Blocks of a page, run in order as one program: Python in this process, shell commands beside it."""

from __future__ import annotations

import contextlib
import io
import os
import re
import signal
import subprocess
import sys
import sysconfig
import textwrap
from collections.abc import Collection
from pathlib import Path

__all__ = ["run_blocks"]

# A block of a kind that runs, and what it prints right below, in "```text output": "…" is any text, and whitespace does
# not count.
_BLOCK = re.compile(
    r"^( *)```(?P<kind>python|sh)(?P<needs> [\w-]+)?\n(?P<code>.*?)^ *```\n"
    r"(?:\n\1```text output\n(?P<output>.*?)^ *```)?",
    re.MULTILINE | re.DOTALL,
)

# Environments of engines have the package, and may lack its command.
_COMMAND = 'command -v syntagma > /dev/null || syntagma() { python -m syntagma "$@"; }\n'
_SECONDS = 120
"""the longest that the commands of a block may take"""


def run_blocks(
    page: Path, *, here: Collection[str] = (), ports: dict[str, int] | None = None, **names: object
) -> dict[str, object]:
    """Run the blocks of a page.

    A block runs if nothing follows its language, or something that is here; so "no-run" never does.

    Args:
        page: the Markdown file.
        here: what blocks may need beside the package and its command line: "server", or an engine by its name.
        ports: numbers of ports on the page, and those to take in their place.
        **names: what the first block finds defined.

    Returns:
        What is defined after the last block of Python.

    Raises:
        AssertionError: a block prints something else than the page shows, or shows nothing of it; or a command fails.
    """
    text = page.read_text(encoding="utf-8")
    for named, port in (ports or {}).items():
        text = text.replace(named, str(port))
    started: list[int] = []
    try:
        for block in _BLOCK.finditer(text):
            if (block["needs"] or "").strip() not in ("", *here):
                continue
            code, promised = textwrap.dedent(block["code"]), block["output"]
            is_python = block["kind"] == "python"
            printed = _python(code, page, names) if is_python else _shell(code, started)
            shown = ".*".join(map(re.escape, " ".join((promised or "").split()).split("…")))
            same = re.fullmatch(shown, " ".join(printed.split()), re.DOTALL)
            assert same, f"{page.name} shows:\n{promised}\nand this came of\n{code}\n{printed}"
    finally:
        for group in started:  # what was started in the background, and is still there
            with contextlib.suppress(ProcessLookupError):
                os.killpg(group, signal.SIGTERM)
    return names


def _python(code: str, page: Path, names: dict[str, object]) -> str:
    """What the code prints."""
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(compile(code, str(page), "exec"), names)
    return out.getvalue()


def _shell(code: str, started: list[int]) -> str:
    """What the commands print; `syntagma` and `python` are those of this interpreter."""
    here = [str(Path(sys.executable).parent), sysconfig.get_path("scripts")]
    path = os.pathsep.join([*here, os.environ.get("PATH", os.defpath)])
    with subprocess.Popen(
        ["bash", "-euo", "pipefail", "-c", _COMMAND + code],
        env={**os.environ, "PATH": path, "COLUMNS": "120", "TQDM_DISABLE": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as shell:
        started.append(shell.pid)
        try:
            printed = shell.communicate(timeout=_SECONDS)[0]
        except subprocess.TimeoutExpired:
            os.killpg(shell.pid, signal.SIGKILL)
            raise
    assert shell.returncode == 0, f"{code}\nends with {shell.returncode}:\n{printed}"
    return printed
