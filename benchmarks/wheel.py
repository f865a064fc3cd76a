"""The wheel installed where there is nothing but Python: what came of each step, and the seconds it took.

Run: `python benchmarks/wheel.py`, after `make wheel`. What is measured is the whole of a step, downloads included.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

if __name__ == "__main__":
    root = Path(__file__).resolve().parents[1]
    sys.exit(subprocess.run([sys.executable, "-m", "tests.packaging.check_wheel"], cwd=root, check=False).returncode)
