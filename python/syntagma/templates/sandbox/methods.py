"""Calls methods of built-in values within bounds: the size of a result is checked before the call."""

from __future__ import annotations

import string
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from jinja2.exceptions import SecurityError
from jinja2.sandbox import SandboxedEnvironment, SandboxedFormatter
from markupsafe import EscapeFormatter, Markup

from syntagma.templates.sandbox.budget import CONTAINERS, Budget

__all__ = ["FormatMethod", "call_builtin", "need_replaced", "need_search", "need_width"]

_ENCODINGS: Final = frozenset({"utf-8", "utf8", "ascii", "latin-1", "latin1", "iso-8859-1"})


class FormatMethod:
    """`text.format` or `text.format_map`, which only `BoundedEnvironment.call` can run."""

    __slots__ = ("_environment", "_mapped", "_text")

    def __init__(self, environment: SandboxedEnvironment, text: str, *, mapped: bool) -> None:
        self._environment = environment
        self._text = text
        self._mapped = mapped

    def __call__(self, *_args: Any, **_kwargs: Any) -> str:
        """Raise, because a filter such as `map` would call it without the budget of the render."""
        raise SecurityError("a format method can only be called directly")

    def run(self, budget: Budget, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
        """The formatted text. Its fields are read in the sandbox, within the bounds."""
        if self._mapped:
            if kwargs or len(args) != 1:
                raise TypeError("format_map() takes exactly one argument")
            (kwargs,) = args
            args = ()
        if isinstance(self._text, Markup):
            escaping = _BoundedEscapeFormatter(self._environment, budget, escape=self._text.escape)
            return Markup(escaping.vformat(self._text, args, kwargs))
        text = _BoundedFormatter(self._environment, budget).vformat(self._text, args, kwargs)
        formatted: str = budget.derived(text, "format", self._text, args, dict(kwargs))
        return formatted


class _BoundedFormatter(SandboxedFormatter):
    def __init__(self, environment: SandboxedEnvironment, budget: Budget, **options: Any) -> None:
        super().__init__(environment, **options)
        self._budget = budget
        self._made = 0

    def format_field(self, value: Any, format_spec: str) -> str:
        """One field as text. The sum of the numbers in its format (width, precision) bounds its length."""
        self._budget.tick()
        digits = "".join(char if char in string.digits else " " for char in format_spec)
        numbers = sum(int(run) if len(run) < 19 else 10**18 for run in digits.split())
        if isinstance(value, CONTAINERS):
            value = self._budget.text(value)
        self._budget.need_chars(numbers + (len(value) if isinstance(value, str) else 0))
        text = str(super().format_field(value, format_spec))
        self._made += len(text)
        self._budget.need_chars(self._made)
        return text

    def convert_field(self, value: Any, conversion: Any) -> Any:
        """The conversions `!r`, `!s` and `!a`."""
        if conversion is not None and isinstance(value, CONTAINERS):
            self._budget.text(value)
        elif conversion is not None and isinstance(value, str):
            self._budget.need_chars(len(value))
        return super().convert_field(value, conversion)


class _BoundedEscapeFormatter(_BoundedFormatter, EscapeFormatter):
    """The formatter of `Markup`, which escapes inserted values."""


def call_builtin(budget: Budget, method: types.BuiltinMethodType, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a method of a built-in value within the bounds.

    Raises:
        LimitError: `E-LIMIT-TEMPLATE-…`, the result would be too large.
        Exception: an exception of the method.
    """
    owner, name = method.__self__, method.__name__
    if name == "get" and type(owner) is dict and args and type(args[0]) is str:
        # Templates ask for members of all messages for each one: nothing is made, and a key is short.
        return budget.derived(method(*args, **kwargs), name, owner, args, kwargs)
    for value in (*args, *kwargs.values()):
        if isinstance(value, CONTAINERS):
            budget.measure(value)
    if isinstance(owner, str | bytes):
        budget.visit(owner)
        check = _TEXT_METHODS.get(name)
        if check is not None:
            args = check(budget, owner, args, kwargs) or args
    elif isinstance(owner, list | tuple):
        if name in ("count", "index"):
            budget.measure(owner)
        elif name == "append":
            budget.need_items(len(owner) + 1)
    elif isinstance(owner, int) and name == "to_bytes":
        budget.need_chars(_number(args[0]) if args else _number(kwargs.get("length", 1)))
    return budget.derived(budget.made(method(*args, **kwargs)), name, owner, args, kwargs)


def need_width(budget: Budget, text: Any, width: Any) -> None:
    """Check the length of a padded text."""
    budget.need_chars(max(len(text), _number(width)))


def need_replaced(budget: Budget, text: Any, old: Any, new: Any) -> None:
    """Check the length of `text.replace(old, new)`."""
    if isinstance(old, str) is isinstance(text, str) and isinstance(new, str | bytes):
        budget.visit(text)
        times: int = text.count(old)
        budget.need_chars(len(text) + times * max(len(new) - len(old), 0))


def need_search(budget: Budget, text: Any, needle: Any) -> None:
    """Charge for a search from the right, or for stripping a set of characters, which may take quadratic time."""
    budget.charge((len(text) * len(needle)) >> 12)


def _number(value: Any) -> int:
    return abs(value) if isinstance(value, int) else 0


_Check = Callable[[Budget, Any, tuple[Any, ...], dict[str, Any]], tuple[Any, ...] | None]


def _padded(budget: Budget, owner: Any, args: tuple[Any, ...], _kwargs: dict[str, Any]) -> None:
    need_width(budget, owner, args[0] if args else 0)


def _replaced(budget: Budget, owner: Any, args: tuple[Any, ...], _kwargs: dict[str, Any]) -> None:
    if len(args) >= 2:
        need_replaced(budget, owner, args[0], args[1])


def _joined(budget: Budget, owner: Any, args: tuple[Any, ...], _kwargs: dict[str, Any]) -> tuple[Any, ...] | None:
    if len(args) != 1 or not isinstance(args[0], Iterable):
        return None
    parts: Sequence[Any] = list(args[0]) if isinstance(args[0], Iterator) else tuple(args[0])
    budget.need_items(len(parts))
    chars = sum(len(part) for part in parts if isinstance(part, str | bytes))
    budget.need_chars(chars + len(owner) * len(parts))
    return (parts,)


def _expanded(budget: Budget, owner: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    size = _number(args[0] if args else kwargs.get("tabsize", 8))
    tab: Any = "\t" if isinstance(owner, str) else b"\t"
    budget.need_chars(len(owner) + owner.count(tab) * size)


def _translated(budget: Budget, owner: Any, args: tuple[Any, ...], _kwargs: dict[str, Any]) -> None:
    table = args[0] if args else None
    if isinstance(table, Mapping):
        longest = max((len(value) for value in table.values() if isinstance(value, str)), default=1)
        budget.need_chars(len(owner) * max(longest, 1))


def _split(budget: Budget, owner: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    separator = args[0] if args else kwargs.get("sep")
    if isinstance(separator, str) is isinstance(owner, str) and isinstance(separator, str | bytes) and len(separator):
        pieces: int = owner.count(separator) + 1
        budget.need_items(pieces)
        _searched(budget, owner, (separator,), kwargs)
    else:
        budget.need_items(len(owner) // 2 + 1 if len(owner) > budget.limits.template_items else 0)


def _lines(budget: Budget, owner: Any, _args: tuple[Any, ...], _kwargs: dict[str, Any]) -> None:
    if len(owner) > budget.limits.template_items:
        breaks: Any = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029" if isinstance(owner, str) else (b"\n", b"\r")
        lines: int = sum(owner.count(char) for char in breaks)
        budget.need_items(lines + 1)


def _searched(budget: Budget, owner: Any, args: tuple[Any, ...], _kwargs: dict[str, Any]) -> None:
    needle = args[0] if args else None
    if isinstance(needle, str | bytes):
        need_search(budget, owner, needle)


def _encoded(_budget: Budget, _owner: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    encoding = args[0] if args else kwargs.get("encoding", "utf-8")
    if not isinstance(encoding, str) or encoding.lower() not in _ENCODINGS:
        raise SecurityError(f"templates may not use the encoding {encoding!r}")


_TEXT_METHODS: Final[dict[str, _Check]] = {
    "ljust": _padded,
    "rjust": _padded,
    "center": _padded,
    "zfill": _padded,
    "replace": _replaced,
    "join": _joined,
    "expandtabs": _expanded,
    "translate": _translated,
    "split": _split,
    "rsplit": _split,
    "splitlines": _lines,
    "rfind": _searched,
    "rindex": _searched,
    "rpartition": _searched,
    "strip": _searched,
    "lstrip": _searched,
    "rstrip": _searched,
    "encode": _encoded,
    "decode": _encoded,
}
