"""Files of any size through a stage: in chunks, in constant memory, and on from where an earlier run stopped."""

from __future__ import annotations

from syntagma.batch.files.run import Progress, Summary, process_file

__all__ = ["Progress", "Summary", "process_file"]
