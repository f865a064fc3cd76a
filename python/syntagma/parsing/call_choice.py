"""Decides between patterns of a call that begin alike, when more than one has been read up to its arguments.

The one that commits first is taken, if its arguments can be read. So the arguments are tried with each of them, and
nothing is reported until the first has read them completely or all others have failed. Patterns that read arguments
alike need no trial: the closer after the arguments tells them apart.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from syntagma.parsing.arguments.source import ArgumentSource
from syntagma.parsing.call_matcher import CallMatcher
from syntagma.parsing.call_patterns import CallPattern
from syntagma.parsing.text.window import Window

__all__ = ["CallChoice", "LoneCall", "Way", "by_commit", "ways_of"]


def by_commit(matchers: Sequence[CallMatcher]) -> list[CallMatcher]:
    """The matchers that have committed, in order: the earliest, those without arguments, the longest literals.

    That an argument follows is known one character later than that none does.
    """
    committed = [one for one in matchers if one.status == "commit"]
    if len(committed) < 2:
        return committed
    if not all(one.pattern.without_arguments for one in committed):
        # If the call goes on with arguments, a pattern without arguments does not fit.
        committed = [one for one in committed if not one.pattern.without_arguments or one.pattern.ends_itself]
    return sorted(committed, key=lambda one: (one.commit_at, not _is_whole(one), -one.pattern.weight))


def _is_whole(matcher: CallMatcher) -> bool:
    return matcher.source is not None and matcher.source.done


def ways_of(committed: Sequence[CallMatcher]) -> list[tuple[CallMatcher, Way]]:
    """The ways to read the arguments, each with its first candidate."""
    found: list[tuple[CallMatcher, Way]] = []
    for one in committed:
        if not any(_reads_alike(first, one) for first, _ in found):
            alike = tuple(other.pattern for other in committed if other is not one and _reads_alike(one, other))
            found.append((one, Way(one.pattern, alike)))
    return found


def _reads_alike(first: CallMatcher, other: CallMatcher) -> bool:
    """Whether two candidates read the arguments in the same way."""
    one, two = first.pattern, other.pattern
    if first.commit_at != other.commit_at or type(first.source) is not type(other.source):
        return False
    separate = one.ops[-1].text == "value" or one.form.values == "literal"
    if separate and (one.form is not two.form or (one.value_ends, one.closer) != (two.value_ends, two.closer)):
        return False
    return one.form.notation == two.form.notation


class Way(NamedTuple):
    """A pattern of a call, and others that differ from it only after the arguments."""

    pattern: CallPattern
    alike: tuple[CallPattern, ...]


class _Trial(NamedTuple):
    """A way to read the arguments, and the source that tries it."""

    way: Way
    source: ArgumentSource

    @property
    def fits(self) -> bool:
        """Whether the arguments can be read so far, without repairs."""
        return not (self.source.bad or self.source.has_repair)


class CallChoice:
    """Tries the arguments of a call.

    Args:
        window: the text, with its mark before the call.
        ways: the ways to read the arguments, in the order of `by_commit`.
        declare: gives a candidate's source, with the schema of its tool.
        room: the most code points that are tried.
    """

    __slots__ = ("_end", "_trials", "_window")

    def __init__(
        self,
        window: Window,
        ways: Sequence[tuple[CallMatcher, Way]],
        declare: Callable[[CallMatcher], ArgumentSource],
        room: int,
    ) -> None:
        self._window = window
        self._end = ways[0][0].pos + room
        self._trials = [(_Trial(way, declare(matcher)), matcher.pos) for matcher, way in ways]

    def read(self, *, final: bool) -> Way | None:
        """Read on; returns the way in which the arguments fit; None: more text is needed."""
        window = self._window
        left: list[tuple[_Trial, int]] = []
        failed: list[tuple[_Trial, int]] = []
        for trial, pos in self._trials:
            after = _fed(window, trial, pos)
            (left if trial.fits else failed).append((trial, after))
        if not left:
            # The last one to fail: on a shorter text, it would have been the only one left.
            return max(failed, key=lambda one: one[1])[0].way
        whole = [trial for trial, _ in left if trial.source.done]
        first = left[0][0]
        if len(left) == 1 or first.source.done or max(pos for _, pos in left) >= self._end:
            return first.way
        if final:
            return (whole or [first])[0].way
        self._trials = left
        window.move(min(pos for _, pos in left) - window.base)
        return None


class LoneCall:
    """Tries a call that is all of an answer.

    Args:
        window: the text, with its mark before the call.
        matcher: the call, read up to its arguments.
        source: its arguments.
        room: the most code points that are tried.
    """

    __slots__ = ("_closers", "_end", "_pos", "_trial", "_window", "pattern")

    def __init__(self, window: Window, matcher: CallMatcher, source: ArgumentSource, room: int) -> None:
        self.pattern = matcher.pattern
        self._window = window
        self._trial = _Trial(Way(matcher.pattern, ()), source)
        self._pos, self._end = matcher.pos, matcher.pos + room
        self._closers = [op.text for op in matcher.pattern.closer if op.kind == "literal"]

    def read(self, *, final: bool) -> bool | None:
        """Read on; returns whether the call can be read without repairs, up to the end of the text; None: so far."""
        window, source = self._window, self._trial.source
        if not source.done:
            self._pos = _fed(window, self._trial, self._pos)
        while source.done:
            index = window.after_whitespace(self._pos - window.base)
            self._pos = window.base + index
            if not self._closers or not window.text.startswith(self._closers[0], index):
                break
            self._pos += len(self._closers.pop(0))
        rest, cut = self._pos - window.base, bool(self._closers)
        if source.done and rest < len(window.text) and not (cut and window.cut_at(rest, self._closers[0])):
            return False
        if final or not self._trial.fits or self._pos >= self._end:
            return final and source.done and not cut and rest == len(window.text)
        window.move(rest)
        return None


def _fed(window: Window, trial: _Trial, pos: int) -> int:
    """Read the available text; returns the absolute position after it."""
    source = trial.source
    index = pos - window.base
    while trial.fits and not source.done:
        after, fragment = source.feed(window.text, index, len(window.text))
        if after == index and not fragment:
            break
        index = after
    return window.base + index
