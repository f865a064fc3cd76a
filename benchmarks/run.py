"""Runs every benchmark and writes benchmarks/RESULTS.md."""

from __future__ import annotations

import platform
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
SCRIPTS = (
    "masks.py",
    "schema_masks.py",
    "parser_growth.py",
    "openchatml.py",
    "constrained_validity.py",
    "template_overhead.py",
    "embedded_speed.py",
)


def main() -> int:
    head = f"{platform.machine()}, {platform.python_implementation()} {platform.python_version()}"
    parts = [
        f"# Results\n\nWritten by `make bench` ({head}). What each table means stands at the head of its script.\n"
    ]
    for script in SCRIPTS:
        print(f"running {script} …", file=sys.stderr)
        done = subprocess.run([sys.executable, str(HERE / script)], capture_output=True, text=True, check=False)
        body = done.stdout.strip()
        if done.returncode:
            body = f"failed:\n\n```text\n{done.stderr.strip()[-2000:]}\n```"
        elif not body.startswith("|"):
            body = f"```text\n{body}\n```"
        parts.append(f"\n## {script}\n\n{body}\n")
    (HERE / "RESULTS.md").write_text("".join(parts))
    return 0


if __name__ == "__main__":
    sys.exit(main())
