"""The caller's choices where more than one answer is right, the same for every format."""

from __future__ import annotations

from typing import Literal

import msgspec

from syntagma.entry import check_fields

__all__ = ["Policies"]


class Policies(msgspec.Struct, frozen=True, kw_only=True):
    """Choices of the parser where more than one answer is right.

    Attributes:
        unknown_tool: a call of an undeclared tool: `pass` it on with a diagnostic, or leave its text in
            `content`. It has no effect if no tools are declared.
        malformed: a call that is malformed before its commit point: its text is `content`, or is `drop`ped (it is
            still in `parser.raw` and in the diagnostics).
        truncated: a call that the end of the stream cuts off: `emit` keeps it in the message with `complete=False`,
            `drop` leaves it out of the message (its events were emitted before).
        interrupt: a marker that ends open reasoning without its closer: `wait` until the closer, or the end of the
            stream, decides whether it was a quotation; or end reasoning `now`.
        repair: whether slips in a call are repaired, each with the diagnostic `E-PARSE-REPAIRED`; if not, a call is
            read up to the first of them.
    """

    unknown_tool: Literal["pass", "content"] = "pass"
    malformed: Literal["content", "drop"] = "content"
    truncated: Literal["emit", "drop"] = "emit"
    interrupt: Literal["wait", "now"] = "wait"
    repair: bool = True

    def __post_init__(self) -> None:
        check_fields(self)
