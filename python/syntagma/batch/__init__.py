"""Many conversations at once: stages for tables and for Ray Data, and files of any size.

`Render`, `Parse`, `Constrain` and `Transcript` are steps over rows. Called with a batch in the form of a data library
they give it back with further columns; a row that cannot be processed has its error in a column and stops nothing.
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
