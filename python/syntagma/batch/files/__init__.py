"""Runs a stage over files of any size: in chunks, in constant memory, and resumable."""

from __future__ import annotations

from syntagma.batch.files.run import Progress, Summary, process_file

__all__ = ["Progress", "Summary", "process_file"]
