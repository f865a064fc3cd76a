"""How the answer is wrapped, if it is."""

from __future__ import annotations

from typing import Literal

import msgspec

from syntagma.analysis.atoms import same_but_blanks, skip_prefix
from syntagma.analysis.extents import Reading
from syntagma.analysis.frame import Frame
from syntagma.analysis.reasoning import Thoughts, without_empty_block
from syntagma.analysis.survey import Survey

__all__ = ["Wrapper", "find_wrapper"]


class Wrapper(msgspec.Struct, frozen=True, kw_only=True):
    """Opener and closer of content."""

    open: str
    close: str
    when: Literal["always", "reasoning"] = "always"


def find_wrapper(survey: Survey, frame: Frame, thoughts: Thoughts | None) -> Wrapper | None:
    """Compare content alone with content behind thoughts; None if content stands bare."""
    plain = survey.best("C")
    if plain is not None:
        opener = _opener(plain, frame, thoughts)
        if opener.strip():
            return Wrapper(open=opener, close=frame.tail(plain))
    beside = survey.best("RC", "RCT")
    if beside is not None and thoughts is not None and beside.follower("R") == "C":
        rest = skip_prefix(beside.behind("R"), thoughts.end)
        closer = frame.tail(beside) if beside.follower("C") == "" else ""
        if rest is not None and rest.strip():
            return Wrapper(open=rest, close=closer, when="reasoning" if plain is not None else "always")
    return None


def _opener(reading: Reading, frame: Frame, thoughts: Thoughts | None) -> str:
    body = frame.body(reading)
    if thoughts is not None and thoughts.start.strip() and same_but_blanks(body, thoughts.start):
        return ""
    return without_empty_block(body, thoughts)
