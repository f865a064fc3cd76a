"""Takes XML escapes off text as it arrives."""

from __future__ import annotations

__all__ = ["Unescaper", "unescaped"]

_ENTITIES = {"&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#39;": "'"}
_OPEN, _CLOSE = "<![CDATA[", "]]>"


class Unescaper:
    """Decodes `&amp; &lt; &gt; &quot; &#39;` and raw sections; a bare `&` is itself.

    Attributes:
        raw: inside a raw section, whose text stands as it is.
    """

    __slots__ = ("_held", "raw")

    def __init__(self) -> None:
        self._held = ""
        self.raw = False

    def feed(self, text: str) -> str:
        """More text → what of it is certain."""
        text = self._held + text
        self._held = ""
        out: list[str] = []
        pos = 0
        while pos < len(text):
            wanted = (_CLOSE,) if self.raw else (*_ENTITIES, _OPEN)
            stops = [at for first in {one[0] for one in wanted} if (at := text.find(first, pos)) >= 0]
            stop = min(stops, default=len(text))
            out.append(text[pos:stop])
            pos = stop
            if pos == len(text):
                break
            found = next((one for one in wanted if text.startswith(one, pos)), None)
            if found is not None:
                out.append(_ENTITIES.get(found, ""))
                self.raw = (found == _OPEN) if found in (_OPEN, _CLOSE) else self.raw
                pos += len(found)
            elif any(one.startswith(text[pos:]) for one in wanted):
                self._held = text[pos:]
                break
            else:
                out.append(text[pos])
                pos += 1
        return "".join(out)

    def finish(self) -> str:
        """No more text comes: what was held is itself."""
        held, self._held = self._held, ""
        return held


def unescaped(text: str) -> str:
    """The text without its escapes."""
    reader = Unescaper()
    return reader.feed(text) + reader.finish()
