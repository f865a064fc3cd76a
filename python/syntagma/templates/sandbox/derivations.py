"""Derives the origins of the results of string operations that chat templates use.

Each function takes the operation's arguments and its result, and returns the result's runs, or None if it cannot assign
each character. Then the whole result gets one origin (`blame`), which is the template's only if all input texts are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Any, Final, TypeAlias

from syntagma.templates.sandbox.budget import CONTAINERS, parts_of
from syntagma.templates.sandbox.traced import TEMPLATE, Run, cut, is_traced, only, runs_of, traced, whole

__all__ = ["blame", "derived_list", "derived_text"]

_Arguments: TypeAlias = tuple[Any, ...]
_Derivation: TypeAlias = Callable[[str, _Arguments, str], Iterable[Run] | None]

_WRITES_VALUES: Final = frozenset({"%", "format", "format_map", "tojson", "text"})
"""operations that convert numbers to text"""

_MAX_REPEATED: Final = 10_000


def derived_text(operation: str, owner: Any, args: _Arguments, result: str) -> str:
    """The result of an operation with its origins.

    Args:
        operation: an operator, or the name of a string method or filter.
        owner: the left operand, or the value of the method or filter.
        args: the arguments.
        result: the result that Python computed.
    """
    derivation = _DERIVATIONS.get(operation)
    if derivation is not None and isinstance(owner, str):
        runs = derivation(owner, args, result)
        if runs is not None:
            return traced(result, runs)
    return whole(result, blame((owner, *args), numbers=operation in _WRITES_VALUES))


def derived_list(operation: str, owner: str, args: _Arguments, result: Sequence[Any]) -> list[Any]:
    """The pieces of a string with their origins, for methods that split it. Other values are returned unchanged."""
    one = only(owner)
    if one is not None:
        return [whole(part, one[0]) if type(part) is str else part for part in result]
    separator = args[0] if args and isinstance(args[0], str) and operation in ("split", "rsplit") else None
    pieces: list[Any] = []
    done = 0
    for part in result:
        if not isinstance(part, str):
            return list(result)
        # Without a separator, only whitespace is between two pieces, and no piece begins with whitespace.
        place = done if separator is not None or operation.endswith("partition") else owner.find(part, done)
        if not owner.startswith(part, place):
            return list(result)
        # A separator that is returned keeps its own origins.
        pieces.append(part if is_traced(part) else traced(part, cut(runs_of(owner), place, place + len(part))))
        done = place + len(part) + len(separator or "")
    return pieces


def blame(values: Iterable[Any], *, numbers: bool) -> str | None:
    """The origin of a text of which only the input values are known.

    Args:
        values: the input values: strings, containers of strings, and others.
        numbers: whether numbers and other values among `values` count as text of unknown origin. Those inside of
            containers always do.

    Returns: the first origin that is not the template's; else None if any text has an unknown origin, or there is no
        text; else the template's.
    """
    found: str | None = None
    unknown = False
    stack = list(reversed(list(values)))
    inside = False
    while stack:
        value = stack.pop()
        if isinstance(value, str):
            for _, origin in runs_of(value):
                if origin not in (TEMPLATE, None):
                    return origin
                unknown |= origin is None
                found = origin or found
        elif isinstance(value, CONTAINERS):
            inside = True
            stack.extend(parts_of(value))
        elif numbers or inside or not isinstance(value, int | float | None):
            unknown = True
    return None if unknown else found


# -- one function per operation


def _added(left: str, args: _Arguments, _result: str) -> Iterable[Run] | None:
    return (*runs_of(left), *runs_of(args[0])) if isinstance(args[0], str) else None


def _repeated(text: str, args: _Arguments, _result: str) -> Iterable[Run] | None:
    times = args[0]
    if not isinstance(times, int) or times > _MAX_REPEATED:
        return None
    return runs_of(text) * max(times, 0)


def _joined(separator: str, args: _Arguments, _result: str) -> Iterable[Run] | None:
    parts = args[0] if args else ()
    if not isinstance(parts, list | tuple) or not all(isinstance(part, str) for part in parts):
        return None
    runs: list[Run] = []
    for number, part in enumerate(parts):
        if number:
            runs += runs_of(separator)
        runs += runs_of(part)
    return runs


def _stripped_left(text: str, args: _Arguments, result: str) -> Iterable[Run]:
    start = len(text) - len(str.lstrip(text, *_chars(args)))
    return cut(runs_of(text), start, start + len(result))


def _kept_left(text: str, _args: _Arguments, result: str) -> Iterable[Run]:
    return cut(runs_of(text), 0, len(result))


def _kept_right(text: str, _args: _Arguments, result: str) -> Iterable[Run]:
    return cut(runs_of(text), len(text) - len(result), len(text))


def _chars(args: _Arguments) -> _Arguments:
    return args[:1] if args and isinstance(args[0], str) else ()


def _replaced(text: str, args: _Arguments, _result: str) -> Iterable[Run] | None:
    if len(args) < 2 or not isinstance(args[0], str) or not isinstance(args[1], str) or not args[0]:
        return None
    old, new = args[0], args[1]
    times = args[2] if len(args) > 2 and isinstance(args[2], int) and args[2] >= 0 else len(text)
    own = runs_of(text)
    runs: list[Run] = []
    done = 0
    for _ in range(min(times, _MAX_REPEATED)):
        place = text.find(old, done)
        if place < 0:
            break
        runs += cut(own, done, place)
        # A replacement of text of others has their origin, whatever its own is.
        origins = [origin for _, origin in cut(own, place, place + len(old)) if origin != TEMPLATE]
        runs += ((len(new), origins[0]),) if origins else runs_of(new)
        done = place + len(old)
    else:
        if text.find(old, done) >= 0 and times > _MAX_REPEATED:
            return None
    return (*runs, *cut(own, done, len(text)))


def _respelled(change: Callable[[str], str]) -> _Derivation:
    """A derivation for operations that change each character separately, such as its case."""

    def derivation(text: str, _args: _Arguments, result: str) -> Iterable[Run] | None:
        runs: list[Run] = []
        done, pieces = 0, []
        for length, origin in runs_of(text):
            pieces.append(change(str.__getitem__(text, slice(done, done + length))))
            runs.append((len(pieces[-1]), origin))
            done += length
        return runs if "".join(pieces) == result else None

    return derivation


def _same(text: str, _args: _Arguments, result: str) -> Iterable[Run] | None:
    return runs_of(text) if text == result else None


def _percent(form: str, args: _Arguments, result: str) -> Iterable[Run] | None:
    """`form % values`, if every place of the form is `%s`."""
    values = args[0] if len(args) == 1 and isinstance(args[0], tuple) else args
    pieces = _cut_at(form, "%s")
    if len(pieces) != len(values) + 1 or any("%" in piece for piece in pieces):
        return None
    return _interleaved(pieces, values, result)


def _formatted(form: str, args: _Arguments, result: str) -> Iterable[Run] | None:
    """`form.format(…)`, if every field is `{}`."""
    pieces = _cut_at(form, "{}")
    if len(pieces) != len(args) + 1 or any("{" in piece or "}" in piece for piece in pieces):
        return None
    return _interleaved(pieces, args, result)


def _interleaved(pieces: Sequence[str], values: Sequence[Any], result: str) -> Iterable[Run] | None:
    texts = [value if isinstance(value, str) else str(value) for value in values if not isinstance(value, CONTAINERS)]
    if len(texts) != len(values):
        return None
    runs: list[Run] = []
    written: list[str] = []
    for number, piece in enumerate(pieces):
        for text in (piece, *islice(texts, number, number + 1)):
            runs += runs_of(text)
            written.append(text)
    return runs if "".join(written) == result else None


def _cut_at(text: str, separator: str) -> list[str]:
    return derived_list("split", text, (separator,), str.split(text, separator))


_DERIVATIONS: Final[dict[str, _Derivation]] = {
    "+": _added,
    "*": _repeated,
    "%": _percent,
    "join": _joined,
    "strip": _stripped_left,
    "trim": _stripped_left,
    "lstrip": _kept_right,
    "removeprefix": _kept_right,
    "rstrip": _kept_left,
    "removesuffix": _kept_left,
    "replace": _replaced,
    "string": _same,
    "safe": _same,
    "upper": _respelled(str.upper),
    "lower": _respelled(str.lower),
    "casefold": _respelled(str.casefold),
    "swapcase": _respelled(str.swapcase),
    "format": _formatted,
}
