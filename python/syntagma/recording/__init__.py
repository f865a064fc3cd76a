"""Records answers with everything that is needed to parse them again.

A `Recorder` has the interface of a `StreamParser`. Its `Bundle` contains the prompt, the chunks with their times, the
format, the request and the result. `replay` parses a bundle again and compares the results.
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
