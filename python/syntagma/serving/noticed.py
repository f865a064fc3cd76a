"""What the parser noticed in answers, for the log."""

from __future__ import annotations

import logging

from syntagma.serving.records import Choice, Observer, RequestRecord

__all__ = ["NoticedLog"]

_log = logging.getLogger("syntagma.serving")
_MOST_LINES = 5
"""diagnostics of one choice that have a line of their own"""


class NoticedLog(Observer):
    """An observer that writes a line for each diagnostic of an answer, at level `warning`, with the request's id."""

    def ended(self, record: RequestRecord, choice: Choice) -> None:
        """See `Observer`."""
        found = choice.result.message.diagnostics
        for one in found[:_MOST_LINES]:
            # The message quotes the model's text: characters that could end the line are escaped.
            text = one.message.encode("unicode_escape").decode()
            _log.warning("%s: %s: %s (at %d of the answer)", record.model, one.code, text, one.span[0])
        if len(found) > _MOST_LINES:
            _log.warning("%s: %d further diagnostics of the same answer", record.model, len(found) - _MOST_LINES)
