"""Shows the progress of long work on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

__all__ = ["Advance", "progress"]

Advance: TypeAlias = Callable[[float, str], None]
"""called with the amount of work done, in the unit of the total, and a short text"""


@contextmanager
def progress(label: str, total: float | None = None, *, hidden: bool = False) -> Iterator[Advance | None]:
    """Show a progress bar on standard error while the block runs, if that is a terminal, and remove it at the end.

    Args:
        label: a label for the work, such as the name of a file.
        total: the amount of work, in any unit; None: unknown, so the bar only shows activity.
        hidden: show nothing, because the block writes to the terminal itself.

    Yields:
        a function to call with the progress; None if no bar is shown.
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
