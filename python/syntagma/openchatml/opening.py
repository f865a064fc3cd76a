"""The beginning of a transcript: the document header, or the sign that there is none."""

from __future__ import annotations

from syntagma.errors import LimitError, SyntagmaError
from syntagma.limits import Limits
from syntagma.openchatml import legacy
from syntagma.openchatml.document_header import read_header
from syntagma.openchatml.tokens import spell
from syntagma.openchatml.transcript import Profile, SourceLocation

__all__ = ["OpeningReading"]

_START = spell("start")
_OPENERS = (_START, legacy.BEGIN, *legacy.EDGES)
_BOM = "\ufeff"


class OpeningReading(legacy.LegacyReading):
    """The states before the first message."""

    def __init__(self, *, strict: bool, profile: Profile | None, response: bool, deltas: bool, limits: Limits) -> None:
        super().__init__(strict=strict, profile=profile, response=response, deltas=deltas, limits=limits)
        self._yaml: list[str] = []
        self._yaml_size = 0
        self._delimited = False
        self._state = self._opening

    def _opening(self) -> bool:
        cursor = self._cursor
        if cursor.offset == 0 and cursor.text.startswith(_BOM, cursor.at):
            cursor.at += 1
        rest = cursor.text[cursor.at :]
        if cursor.offset <= 1 and "---".startswith(rest[:3]):
            line, broken, _ = rest.partition("\n")
            if not broken:
                return False
            if line.rstrip(" \t\r") == "---":
                cursor.at += len(line) + 1
                self._delimited = True
                self._state = self._document
                return True
        begin = self._blanks()
        self._bound(
            "openchatml_message_header_chars", begin - max(cursor.at, cursor.text.rfind("\n", cursor.at, begin))
        )
        # Blank lines go at once; the blanks before a first line of YAML are its indentation.
        cursor.at = cursor.text.rfind("\n", cursor.at, begin) + 1 or cursor.at
        word = cursor.text[begin:]
        if not word or any(len(word) < len(opener) and opener.startswith(word) for opener in _OPENERS):
            return False
        if word.startswith(_START):
            self._no_header(begin)
            self._state = self._between
        elif word.startswith(_OPENERS):
            self._no_header(begin)
            self._go_legacy()
        else:
            self._state = self._document
        return True

    def _no_header(self, at: int) -> None:
        self._warn("W-HEADER-MISSING", "a transcript without a document header", self._cursor.place(at))

    def _document(self) -> bool:
        cursor = self._cursor
        while True:
            line_end = cursor.text.find("\n", cursor.at)
            rest = cursor.text[cursor.at : line_end if line_end >= 0 else len(cursor.text)]
            if not self._delimited and rest.startswith((_START, legacy.BEGIN)):
                self._end_document()
                if rest.startswith(_START):
                    self._state = self._between
                else:
                    self._go_legacy()
                return True
            self._bound("openchatml_header_bytes", self._yaml_size + len(rest))
            if line_end < 0:
                return False
            cursor.at = line_end + 1
            if self._delimited and rest.rstrip(" \t\r") in ("---", "..."):
                self._end_document()
                self._state = self._between
                return True
            self._yaml.append(rest)
            self._yaml_size += len(rest) + 1

    def _end_document(self) -> None:
        try:
            self.header = read_header("\n".join(self._yaml), limits=self._limits)
        except LimitError:
            raise
        except SyntagmaError as error:
            self._fail(error.code, error.message, SourceLocation(0, 1))
            return
        if self.header.number > (2, 2):
            self._warn("W-VERSION", f"version {self.header.version} is newer than 2.2", SourceLocation(0, 1))
        if not self._profile_given:
            self.profile = self.header.profile
