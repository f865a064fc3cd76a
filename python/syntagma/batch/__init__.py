"""Batch processing of conversations: stages for tables and Ray Data, and runs over files of any size.

`Render`, `Parse`, `Constrain` and `Transcript` are stages, which process rows. Called with a batch of a data library,
a stage returns it with further columns. If a row cannot be processed, its error is in a column; other rows continue.
"""

from __future__ import annotations

from syntagma.batch.constrain import Constrain, Dialect
from syntagma.batch.files import Progress, Summary, process_file
from syntagma.batch.parse import Parse
from syntagma.batch.render import Render
from syntagma.batch.transcript import TrainingIds, Transcript, training_ids

__all__ = [
    "Constrain",
    "Dialect",
    "Parse",
    "Progress",
    "Render",
    "Summary",
    "TrainingIds",
    "Transcript",
    "process_file",
    "training_ids",
]
