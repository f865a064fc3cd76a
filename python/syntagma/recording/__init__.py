"""Answers recorded with all that is needed to parse them again.

A `Recorder` reads as a `StreamParser` does; its `Bundle` holds prompt, chunks with their times, format, request and
result; `replay` parses it again and says whether the result is the same.
"""

from __future__ import annotations

from syntagma.recording.bundle import Bundle, Chunk, PromptText, RecordedFormat, RecordedToken
from syntagma.recording.recorder import Recorder, record, record_turn
from syntagma.recording.replaying import Difference, Replay, Step, replay

__all__ = [
    "Bundle",
    "Chunk",
    "Difference",
    "PromptText",
    "RecordedFormat",
    "RecordedToken",
    "Recorder",
    "Replay",
    "Step",
    "record",
    "record_turn",
    "replay",
]
