"""Decodes XML escapes in text as it arrives."""

from __future__ import annotations

from syntagma.format_schema.xml_escapes import ENTITIES, RAW_CLOSE, RAW_OPEN

__all__ = ["Unescaper", "unescaped"]

_MEANINGS = {entity: char for char, entity in ENTITIES.items()}


class Unescaper:
    """Decodes `&amp; &lt; &gt; &quot; &#39;` and raw sections; a bare `&` stays.

    Attributes:
        raw: whether the position is in a raw section, whose text is not decoded.
    """

    __slots__ = ("_pending", "raw")

    def __init__(self) -> None:
        self._pending = ""
        self.raw = False

    def feed(self, text: str) -> str:
        """Read more text; returns the decoded text, as far as it is certain."""
        text = self._pending + text
        self._pending = ""
        out: list[str] = []
        pos = 0
        while pos < len(text):
            wanted = (RAW_CLOSE,) if self.raw else (*_MEANINGS, RAW_OPEN)
            stops = [at for first in {one[0] for one in wanted} if (at := text.find(first, pos)) >= 0]
            stop = min(stops, default=len(text))
            out.append(text[pos:stop])
            pos = stop
            if pos == len(text):
                break
            found = next((one for one in wanted if text.startswith(one, pos)), None)
            if found is not None:
                out.append(_MEANINGS.get(found, ""))
                self.raw = (found == RAW_OPEN) if found in (RAW_OPEN, RAW_CLOSE) else self.raw
                pos += len(found)
            elif any(one.startswith(text[pos:]) for one in wanted):
                self._pending = text[pos:]
                break
            else:
                out.append(text[pos])
                pos += 1
        return "".join(out)

    def finish(self) -> str:
        """The rest at the end of the text: an incomplete escape stays as it is."""
        pending, self._pending = self._pending, ""
        return pending


def unescaped(text: str) -> str:
    """The text with its escapes decoded."""
    reader = Unescaper()
    return reader.feed(text) + reader.finish()
