"""Jinja's filters and tests within bounds: each checks the size of its result and charges for its input.

Most filters are Jinja's, with checks before them and charges after them. `join` and `sum` are implemented here, because
Jinja's create intermediate values of any size; `tojson`, because chat templates need one that does not escape for HTML.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, TypeAlias

from jinja2.filters import FILTERS, make_attrgetter
from jinja2.runtime import Context, Undefined
from jinja2.tests import TESTS
from jinja2.utils import pass_context
from markupsafe import Markup

from syntagma.templates.sandbox.budget import CONTAINERS, Budget, output_error
from syntagma.templates.sandbox.methods import need_replaced, need_search, need_width
from syntagma.templates.sandbox.operators import bounded_operator, need_percent

__all__ = ["bounded_filters", "bounded_tests"]

_Function: TypeAlias = Callable[..., Any]
_Check: TypeAlias = Callable[[Budget, Any, tuple[Any, ...], dict[str, Any]], None]

_FILTERS: Final[dict[str, Any]] = dict(FILTERS)
_TESTS: Final[dict[str, Any]] = dict(TESTS)

_TO_TEXT: Final = frozenset(
    {
        *("capitalize", "center", "e", "escape", "forceescape", "format", "lower", "replace", "safe", "string"),
        *("striptags", "title", "trim", "truncate", "upper", "urlencode", "wordcount"),
    }
)
"""filters that convert their input to text"""

_LAZY: Final = frozenset({"map", "reject", "rejectattr", "select", "selectattr"})
"""filters that run a test or filter for each item, and may yield no items"""

_SORTS: Final = frozenset({"dictsort", "groupby", "max", "min", "sort", "unique"})
"""filters that compare or hash the items"""

_SLOW: Final = frozenset({"pprint", "striptags", "title", "urlize", "wordcount", "wordwrap", "xmlattr"})
"""filters that take about a microsecond per character"""

_CONSTANT_TIME: Final = frozenset({"attr", "count", "d", "default", "first", "items", "last", "length"})
"""filters that take constant time and create no new value"""

_MAX_PRECISION: Final = 400


def bounded_filters(*, lenient: bool) -> dict[str, _Function]:
    """All filters of a chat template.

    Args:
        lenient: `tojson` writes a generator as the list of its items instead of raising.
    """
    filters = {name: _bounded(name, function) for name, function in _FILTERS.items() if name not in _CONSTANT_TIME}
    filters |= {name: _FILTERS[name] for name in _CONSTANT_TIME}
    filters |= {"join": _join, "sum": _sum, "tojson": _tojson(lenient=lenient)}
    return filters


def bounded_tests() -> dict[str, _Function]:
    """All tests of a chat template."""
    tests: dict[str, _Function] = dict(_TESTS)
    compares = ("==", "!=", "<", "<=", ">", ">=", "eq", "equalto", "ne", "lt", "le", "gt", "ge")
    for name in (*compares, "lessthan", "greaterthan", "in"):
        tests[name] = _comparing(_TESTS[name])
    for name in ("divisibleby", "even", "odd"):
        tests[name] = _dividing(_TESTS[name])
    for name in ("lower", "upper"):
        tests[name] = _of_text(_TESTS[name])
    return tests


def _budget(context: Context) -> Budget:
    budget: Budget = context.budget  # type: ignore[attr-defined]
    return budget


def _bounded(name: str, function: _Function) -> _Function:
    passed = getattr(getattr(function, "jinja_pass_arg", None), "name", None)
    check = _CHECKS.get(name)
    operation = "%" if name == "format" else name
    to_text, lazy, sorts, slow = (name in group for group in (_TO_TEXT, _LAZY, _SORTS, _SLOW))

    @pass_context
    def run(context: Context, value: Any, *args: Any, **kwargs: Any) -> Any:
        budget = _budget(context)
        budget.tick()
        if isinstance(value, str):
            budget.charge(len(value) if slow else len(value) >> 10)
        elif lazy and value:
            value = budget.iterate(value)
        elif to_text and not isinstance(value, Undefined):
            value = budget.text(value)
        elif isinstance(value, CONTAINERS):
            nodes = budget.measure(value).nodes
            budget.charge(nodes * 32 if slow else nodes if sorts else 0)
        elif isinstance(value, range):
            budget.charge(len(value) >> (0 if sorts else 3))
        for given in (*args, *kwargs.values()):
            if isinstance(given, CONTAINERS):
                budget.measure(given)
        if check is not None:
            check(budget, value, args, kwargs)
        if passed == "context":
            result = function(context, value, *args, **kwargs)
        elif passed == "eval_context":
            result = function(context.eval_ctx, value, *args, **kwargs)
        elif passed == "environment":
            result = function(context.environment, value, *args, **kwargs)
        else:
            result = function(value, *args, **kwargs)
        return budget.derived(budget.made(result), operation, value, args, kwargs)

    return run


def _argument(args: tuple[Any, ...], kwargs: dict[str, Any], place: int, name: str, default: Any) -> Any:
    return args[place] if len(args) > place else kwargs.get(name, default)


def _number(value: Any) -> int:
    return abs(value) if isinstance(value, int) else 0


def _check_center(budget: Budget, value: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    need_width(budget, value, _argument(args, kwargs, 0, "width", 80))


def _check_replace(budget: Budget, value: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    old, new = _argument(args, kwargs, 0, "old", ""), _argument(args, kwargs, 1, "new", "")
    need_replaced(budget, str(value), budget.text(old), budget.text(new))


def _check_format(budget: Budget, value: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    need_percent(budget, str(value), kwargs or args)


def _check_indent(budget: Budget, value: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    if isinstance(value, str):
        width = _argument(args, kwargs, 0, "width", 4)
        size = len(width) if isinstance(width, str) else _number(width)
        _count_lines(budget, value)
        budget.need_chars(len(value) + (len(value.splitlines()) + 1) * size)


def _check_wordwrap(budget: Budget, value: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    if isinstance(value, str):
        width = max(_number(_argument(args, kwargs, 0, "width", 79)), 1)
        joiner = _argument(args, kwargs, 2, "wrapstring", None)
        size = len(joiner) if isinstance(joiner, str) else 1
        _count_lines(budget, value)
        # A line has at least one character, and there may be a break after every word.
        lines = len(value) if width < 16 else len(value.split(None, budget.limits.template_items)) + len(value) // width
        budget.need_chars(len(value) + (lines + 1) * size)


def _count_lines(budget: Budget, value: str) -> None:
    if len(value) > budget.limits.template_items:
        budget.need_items(value.count("\n") + value.count("\r"))


def _check_batch(budget: Budget, _value: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    if _argument(args, kwargs, 1, "fill_with", None) is not None:
        budget.need_items(_number(_argument(args, kwargs, 0, "linecount", 0)))


def _check_round(budget: Budget, _value: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    precision = _number(_argument(args, kwargs, 0, "precision", 0))
    if precision > _MAX_PRECISION:
        budget.need_bits(budget.limits.template_integer_bits + precision)


def _check_trim(budget: Budget, value: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    chars = _argument(args, kwargs, 0, "chars", None)
    if isinstance(chars, str):
        need_search(budget, value, chars)


def _check_urlencode(budget: Budget, value: Any, _args: tuple[Any, ...], _kwargs: dict[str, Any]) -> None:
    if isinstance(value, str):
        budget.need_chars(3 * (len(value) if value.isascii() else len(value.encode("utf-8", "replace"))))


def _check_list(budget: Budget, value: Any, _args: tuple[Any, ...], _kwargs: dict[str, Any]) -> None:
    if hasattr(value, "__len__"):
        budget.need_items(len(value))


_CHECKS: Final[dict[str, _Check]] = {
    "batch": _check_batch,
    "center": _check_center,
    "format": _check_format,
    "indent": _check_indent,
    "list": _check_list,
    "replace": _check_replace,
    "round": _check_round,
    "slice": _check_list,
    "sort": _check_list,
    "groupby": _check_list,
    "trim": _check_trim,
    "unique": _check_list,
    "urlencode": _check_urlencode,
    "wordwrap": _check_wordwrap,
}


@pass_context
def _join(context: Context, value: Iterable[Any], d: Any = "", attribute: Any = None) -> str:
    budget = _budget(context)
    items: Iterable[Any] = budget.iterate(value)
    if attribute is not None:
        items = map(make_attrgetter(context.environment, attribute), items)
    escaping = context.eval_ctx.autoescape
    parts: list[str] = []
    chars = 0
    for item in items:
        part = budget.text(item)
        parts.append(part)
        chars += len(part)
        if chars > budget.limits.template_output_bytes:
            raise output_error(budget.limits, chars)
    separator = budget.text(d)
    budget.need_chars((chars + len(separator) * len(parts)) * (5 if escaping else 1))
    if escaping:
        return Markup(separator).join(parts) if isinstance(separator, Markup) else Markup.escape(separator).join(parts)
    return budget.joined(separator, parts)


@pass_context
def _sum(context: Context, iterable: Iterable[Any], attribute: Any = None, start: Any = 0) -> Any:
    budget = _budget(context)
    items: Iterable[Any] = budget.iterate(iterable)
    if attribute is not None:
        items = map(make_attrgetter(context.environment, attribute), items)
    if isinstance(start, str):
        raise TypeError("sum() can't sum strings")
    total = start
    for item in items:
        total = bounded_operator(budget, "+", total, item)
    return total


def _json_text(context: Context, value: Any, keywords: dict[str, Any], default: _Function | None) -> str:
    budget = _budget(context)
    budget.tick()
    max_chars = budget.limits.template_output_bytes
    indent = keywords["indent"]
    if isinstance(value, Iterator) and default is not None:
        value = default(value)
    measure = budget.measure(value)
    if not isinstance(value, CONTAINERS):
        budget.need_chars(measure.chars)
    step = len(indent) if isinstance(indent, str) else _number(indent)
    separators = keywords["separators"] or ()
    separator_chars = sum(len(part) for part in separators if isinstance(part, str))
    budget.charge(measure.nodes if indent is not None else measure.nodes >> 2)
    per_node = 32 + separator_chars + step * (measure.depth + 1)
    if measure.nodes * per_node + measure.chars * 6 <= max_chars:
        return json.dumps(value, default=default, **keywords)
    # The estimate is above the limit, but the text may be below it: write it in pieces and stop at the limit.
    if step * (measure.depth + 1) + separator_chars > max_chars:
        raise output_error(budget.limits, step * (measure.depth + 1) + separator_chars)
    chars = 0
    pieces: list[str] = []
    for piece in json.JSONEncoder(default=default, **keywords).iterencode(value):
        budget.tick()
        chars += len(piece)
        pieces.append(piece)
        budget.need_chars(chars)
    return "".join(pieces)


def _tojson(*, lenient: bool) -> _Function:
    def generator_items(item: Any) -> Any:
        if isinstance(item, Iterator):
            return list(item)
        raise TypeError(f"Object of type {type(item).__name__} is not JSON serializable")

    @pass_context
    def tojson(  # noqa: PLR0917 - the order is transformers'
        context: Context,
        value: Any,
        ensure_ascii: bool = False,
        indent: int | str | None = None,
        separators: tuple[str, str] | None = None,
        sort_keys: bool = False,
    ) -> str:
        keywords = {
            "ensure_ascii": ensure_ascii,
            "indent": indent,
            "separators": separators,
            "sort_keys": sort_keys,
        }
        text = _json_text(context, value, keywords, generator_items if lenient else None)
        written: str = _budget(context).derived(text, "tojson", value, (), {})
        return written

    return tojson


def _comparing(test: _Function) -> _Function:
    @pass_context
    def run(context: Context, value: Any, *others: Any) -> Any:
        budget = _budget(context)
        budget.visit(value)
        for other in others:
            budget.search(other)
        return test(value, *others)

    return run


def _dividing(test: _Function) -> _Function:
    @pass_context
    def run(context: Context, value: Any, *others: Any) -> Any:
        if isinstance(value, str | bytes):
            # `%` on text is formatting, also inside a test.
            need_percent(_budget(context), value, others[0] if others else 2)
        return test(value, *others)

    return run


def _of_text(test: _Function) -> _Function:
    @pass_context
    def run(context: Context, value: Any) -> Any:
        return test(_budget(context).text(value))

    return run
