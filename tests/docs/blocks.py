"""Python blocks of a page, run in order as one program."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

__all__ = ["run_blocks"]

_BLOCK = re.compile(r"^( *)```python\n(.*?)^ *```", re.MULTILINE | re.DOTALL)


def run_blocks(page: Path, **names: object) -> None:
    """Run the blocks of a page.

    Args:
        page: the Markdown file.
        **names: what the first block finds defined.
    """
    for _, block in _BLOCK.findall(page.read_text(encoding="utf-8")):
        exec(compile(textwrap.dedent(block), str(page), "exec"), names)
