"""What is expected back from a rendered turn, and what a format can be asked at all."""

from __future__ import annotations

from typing import Literal

from syntagma.analysis.conversations import Turn
from syntagma.analysis.scene import View
from syntagma.formats import ChatFormat

__all__ = ["covers", "is_unsayable", "markers_of", "rendered_state", "shown_turn", "shows_ids"]


def rendered_state(fmt: ChatFormat, shown: Turn) -> Literal["auto", "open", "closed"]:
    """The state of reasoning right behind the header of a rendered turn: no prompt has opened anything there."""
    reasoning = fmt.spec.reasoning
    if reasoning is None:
        return "auto"
    return "open" if shown.reasoning is not None and not reasoning.block[0].opener.strip() else "closed"


def is_unsayable(fmt: ChatFormat, shown: Turn) -> bool:
    """Content that begins like a call where calls are bare JSON: the strict reading keeps such text for calls."""
    tools, content = fmt.spec.tools, shown.content or ""
    if tools is None or shown.calls:
        return False
    opener = tools.section[0].opener.strip() or tools.call[0].opener.strip()
    return opener in ("", "[", "{") and (content.lstrip()[:1] in ("{", "[") or bool(opener and opener in content))


def covers(coverage: dict[str, int], letter: str) -> bool:
    """Whether some covered shape has that letter; types of arguments are written small."""
    return any(letter in key for key in coverage)


def shows_ids(view: View, shown: Turn) -> bool:
    """Whether the render shows the ids of all calls."""
    return bool(shown.calls) and all(call.id and call.id in view.text for call in shown.calls)


def shown_turn(view: View) -> Turn:
    """The turn as far as the view shows it: what the template dropped is not expected back."""
    turn, text = view.turn, view.text
    calls = turn.calls
    names = [call.name for call in calls]
    if any(text.count(name) < names.count(name) for name in set(names)):
        calls = ()
    return Turn(
        reasoning=turn.reasoning if turn.reasoning and turn.reasoning.strip() in text else None,
        content=turn.content if turn.content and turn.content.strip() in text else None,
        calls=calls,
    )


def markers_of(fmt: ChatFormat) -> tuple[str, ...]:
    """Openers and closers of the format's calls and thoughts, to be quoted inside of values."""
    spec = fmt.spec
    texts: list[str] = []
    if spec.reasoning is not None:
        texts += [spec.reasoning.block[0].opener, spec.reasoning.block[0].closer]
    if spec.tools is not None:
        texts += [spec.tools.section[0].opener, spec.tools.section[0].closer]
        if not spec.tools.argument:
            texts += [spec.tools.call[0].opener, spec.tools.call[0].closer]
    return tuple(dict.fromkeys(text.strip() for text in texts if text.strip()))
