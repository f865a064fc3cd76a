"""What a template has a place for: parts of content that are no text, and tools without some members."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from syntagma.codec.samples import SAMPLES, sample_tool
from syntagma.errors import ArgumentError, TemplateError

__all__ = ["Places"]

_FILLS: Final[Mapping[str, Any]] = {"description": "", "parameters": {"type": "object", "properties": {}}}
"""what stands in place of a missing member of a tool"""
_MEDIA: Final[Mapping[str, str]] = {
    "image_url": "image",
    "input_image": "image",
    "input_audio": "audio",
    "audio_url": "audio",
    "video_url": "video",
    "file": "file",
    "image": "image",
    "audio": "audio",
    "video": "video",
}
"""types of parts that are no text, with the type that templates know instead"""
_TEXT: Final = "qxzvjkwhq"
_DATA: Final = "zqxjvkwzh"


class Places:
    """Finds out, once each, what a template has a place for.

    Args:
        render: renders a conversation with declared tools.
    """

    def __init__(self, render: Callable[[list[dict[str, Any]], list[dict[str, Any]]], str]) -> None:
        self._render = render
        self._fills: dict[tuple[str, ...], tuple[str, ...]] = {}
        self._places: dict[str, str | None] = {}

    def placed(self, messages: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """The conversation with parts that are no text in the form for which the template has a place.

        Raises:
            ArgumentError: `E-MESSAGE-PART`, it has no place for a part.
        """
        made = []
        for at, message in enumerate(messages):
            if isinstance(message.get("content"), list):
                parts = enumerate(message["content"])
                content = [self._placed(part, f"/messages/{at}/content/{number}") for number, part in parts]
                made.append({**message, "content": content})
            else:
                made.append(message)
        return made

    def _placed(self, part: Any, pointer: str) -> Any:
        kind = part.get("type") if isinstance(part, Mapping) else None
        if not isinstance(kind, str) or kind not in _MEDIA:
            return part
        if kind not in self._places:
            self._places[kind] = next((form for form in (kind, _MEDIA[kind]) if self._has_place(form, kind)), None)
        place = self._places[kind]
        if place is None:
            raise ArgumentError(
                "E-MESSAGE-PART",
                f"the template has no place for a part of type {kind!r}",
                hint="leave the part out; a model that reads it is told so by its template",
                pointer=pointer,
            )
        return {**part, "type": place}

    def _has_place(self, form: str, kind: str) -> bool:
        """Whether the template writes something for a part of this type, and not what the part holds."""
        part = {"type": form, kind: {"url": _DATA, "data": _DATA, "file_data": _DATA, "format": "wav"}}
        texts = []
        for more in ([], [part]):
            content = [{"type": "text", "text": _TEXT}, *more]
            try:
                texts.append(str(self._render([{"role": "user", "content": content}], [])))
            except TemplateError:
                return False
        without, shown = texts
        return _TEXT in shown and _DATA not in shown and len("".join(shown.split())) > len("".join(without.split()))

    def filled(self, tool: dict[str, Any]) -> dict[str, Any]:
        """The tool with members that it lacks, if the template fails or loses the tool without them."""
        function = tool["function"]
        missing = tuple(name for name in _FILLS if name not in function)
        if not missing:
            return tool
        if missing not in self._fills:
            self._fills[missing] = self._fill_for(missing)
        return _with(tool, self._fills[missing])

    def _fill_for(self, missing: tuple[str, ...]) -> tuple[str, ...]:
        """The fewest of the missing members with which the template shows a tool; none if nothing helps."""
        tool = sample_tool(_DATA)
        function = {name: value for name, value in tool["function"].items() if name not in missing}
        asked = SAMPLES["texts"].messages[:1]
        for count in range(len(missing) + 1):
            for fill in itertools.combinations(missing, count):
                try:
                    if _DATA in self._render(asked, [_with({**tool, "function": function}, fill)]):
                        return fill
                except TemplateError:
                    continue
        return ()


def _with(tool: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {**tool, "function": {**tool["function"], **{name: _FILLS[name] for name in names}}} if names else tool
