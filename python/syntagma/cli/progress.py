"""How far long work is, on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

__all__ = ["Advance", "progress"]

Advance: TypeAlias = Callable[[float, str], None]
"""takes how much is done, in the unit of the total, and a word about it"""


@contextmanager
def progress(label: str, total: float | None = None, *, hidden: bool = False) -> Iterator[Advance | None]:
    """Shows a bar on standard error while its block runs, if that is a terminal, and takes it away at the end.

    Args:
        label: what is worked on, such as the name of a file.
        total: how much there is to do, in any unit; None: it is not known, and the bar only shows that work goes on.
        hidden: show nothing, as the block writes to the terminal itself.

    Yields:
        called with the progress; None: it is not shown.
    """
    if hidden or not sys.stderr.isatty():
        yield None
        return
    try:
        from rich.console import Console
        from rich.progress import Progress
    except ImportError:
        yield None
        return
    columns = Progress.get_default_columns()
    with Progress(*columns, "{task.fields[word]}", console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=total, word="")

        def show(done: float, word: str = "") -> None:
            bar.update(task, completed=done, word=word)

        yield show
