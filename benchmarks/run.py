"""Runs benchmarks and writes benchmarks/RESULTS.md.

Run: `python benchmarks/run.py [--quick] [script …]`; without scripts all of them. The results of scripts that are not
run stay in the file. `--quick` measures less of everything, in a few minutes altogether.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

HERE = Path(__file__).parent
RESULTS = HERE / "RESULTS.md"
SCRIPTS = (
    "masks",
    "compile_times",
    "plain_grammars",
    "dialects",
    "growth",
    "extremes",
    "schema_correctness",
    "schema_options",
    "batch",
    "contention",
    "batch_files",
    "valid_endings",
    "forced_tokens",
    "in_process",
    "batching",
    "captures",
    "parse",
    "parser_setup",
    "openchatml",
    "constrained_validity",
    "template_overhead",
    "analysis",
    "server_events",
    "server_load",
    "embedded_speed",
    "wheel",
    "wasm",
    "c_library",
)
WHOLE = {"constrained_validity", "template_overhead", "embedded_speed", "wheel"}
"""scripts that do not know --quick"""
NEEDED = {"in_process": ("torch", "transformers"), "batching": ("torch", "transformers", "uvicorn")}
"""libraries without which a script is left out, and its last results stay, unless it is asked for by name"""
BY_NAME = {"c_library", "wasm", "wheel"}
"""scripts that need more than this environment, so that they are run only when they are named"""
_SECTION = re.compile(r"^## (\w+)\.py\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_BY_HAND = re.compile(r"^## Experiments\n.*\Z", re.MULTILINE | re.DOTALL)
"""the section that no script writes, at the end of the file"""


def meaning(script: str) -> str:
    """The first paragraph of the script's own words."""
    source = (HERE / f"{script}.py").read_text()
    return source.split('"""')[1].split("\n\n")[0].strip()


def measured(script: str, *, quick: bool) -> str:
    """What a script prints."""
    options = ["--quick"] if quick and script not in WHOLE else []
    done = subprocess.run(
        [sys.executable, str(HERE / f"{script}.py"), *options], stdout=subprocess.PIPE, text=True, check=False
    )
    if done.returncode:
        return f"{done.stdout.strip()}\n\nIt ended with status {done.returncode}."
    return done.stdout.strip()


def pace() -> float:
    """Nanoseconds of a step of a bare loop: with it, times of different days can be compared."""
    steps = 1_000_000
    begun, at = time.perf_counter(), 0
    while at < steps:
        at += 1
    return (time.perf_counter() - begun) / steps * 1e9


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scripts", nargs="*", choices=[*SCRIPTS, []], metavar="script")
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    last = RESULTS.read_text() if RESULTS.is_file() else ""
    bodies = dict(_SECTION.findall(last))
    by_hand = _BY_HAND.search(last)
    usual = [script for script in SCRIPTS if script not in BY_NAME]
    here = [script for script in usual if all(find_spec(library) for library in NEEDED.get(script, ()))]
    for script in options.scripts or here:
        begun = time.monotonic()
        body = measured(script, quick=options.quick)
        print(f"\n## {script}.py\n\n{body}\n", flush=True)
        took = f"{'Quick run, ' if options.quick else ''}{time.monotonic() - begun:.0f} s"
        took += f", {os.cpu_count()} CPUs, {pace():.0f} ns a step of a bare loop."
        bodies[script] = f"\n{meaning(script)} {took}\n\n{body}\n"
        where = f"{platform.machine()}, {platform.python_implementation()} {platform.python_version()}"
        text = f"# Results\n\nWritten by `make bench` ({where}). The head of each script says what its tables mean.\n"
        known = [name for name in SCRIPTS if name in bodies]
        sections = "".join(f"\n## {name}.py\n\n{bodies[name].strip()}\n" for name in known)
        RESULTS.write_text(text + sections + (f"\n{by_hand[0]}" if by_hand else ""))
    return 0


if __name__ == "__main__":
    sys.exit(main())
