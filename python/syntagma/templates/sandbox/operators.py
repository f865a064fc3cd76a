"""Binary operators, including `%` formatting, within bounds: the size of a result is checked before it is computed."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from syntagma.templates.sandbox.budget import CONTAINERS, Budget

__all__ = ["OPERATORS", "bounded_operator", "need_percent"]

_PYTHON_OPERATORS: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "**": operator.pow,
    "%": operator.mod,
}
OPERATORS: Final = frozenset(_PYTHON_OPERATORS)
"""all binary operators of templates"""

_SEQUENCES: Final = (str, bytes, list, tuple)
_DIGITS: Final = re.compile(r"[0-9]+")


def bounded_operator(budget: Budget, symbol: str, left: Any, right: Any) -> Any:
    """`left symbol right`, within the bounds.

    Raises:
        LimitError: `E-LIMIT-TEMPLATE-…`, the result would be too large.
        Exception: an exception of the operator.
    """
    budget.tick()
    if symbol == "+":
        if isinstance(left, str) and isinstance(right, str):
            budget.need_chars(len(left) + len(right))
        elif isinstance(left, _SEQUENCES) and isinstance(right, _SEQUENCES):
            _need_length(budget, left, len(left) + len(right))
    elif symbol == "*":
        _need_product(budget, left, right)
    elif symbol == "**":
        _need_power(budget, left, right)
    elif symbol == "%" and isinstance(left, str | bytes):
        need_percent(budget, left, right)
    result = budget.derived(_PYTHON_OPERATORS[symbol](left, right), symbol, left, (right,), {})
    if isinstance(result, int) and result.bit_length() > 64:
        budget.need_bits(result.bit_length())
    return result


def _need_length(budget: Budget, like: Any, length: int) -> None:
    if isinstance(like, str | bytes):
        budget.need_chars(length)
    else:
        budget.need_items(length)


def _need_product(budget: Budget, left: Any, right: Any) -> None:
    if isinstance(left, int) and isinstance(right, int):
        budget.need_bits(left.bit_length() + right.bit_length() - 1)
    elif isinstance(left, _SEQUENCES) and isinstance(right, int):
        _need_length(budget, left, len(left) * max(right, 0))
    elif isinstance(left, int) and isinstance(right, _SEQUENCES):
        _need_length(budget, right, len(right) * max(left, 0))


def _need_power(budget: Budget, left: Any, right: Any) -> None:
    if isinstance(left, int) and isinstance(right, int) and right > 0 and abs(left) > 1:
        # An n-bit number to the power of k has at least (n - 1) * k + 1 bits, and hardly more.
        budget.need_bits((left.bit_length() - 1) * right + 1)


def need_percent(budget: Budget, form: str | bytes, values: Any) -> None:
    """Check the length of `form % values`.

    The check uses an upper bound: the sum of all numbers in the format (widths, precisions and others), and for each
    percent sign the length of the longest value.
    """
    text = form.decode("latin-1") if isinstance(form, bytes) else form
    places = text.count("%")
    if not places:
        return
    if isinstance(values, tuple):
        parts = list(values)
    elif isinstance(values, Mapping):
        parts = [values, *values.values()]
    else:
        parts = [values]
    longest = max((_text_length(budget, part) for part in parts), default=0)
    if "*" in text:
        longest = max(longest, *(abs(part) for part in parts if type(part) is int), 0)
    numbers = (int(digits) if len(digits) < 19 else 10**18 for digits in _DIGITS.findall(text))
    budget.need_chars(len(text) + sum(numbers) + places * longest)


def _text_length(budget: Budget, value: Any) -> int:
    if isinstance(value, str | bytes):
        return len(value) * (1 if len(value) < 1024 else 4) + 8
    if isinstance(value, CONTAINERS):
        return len(budget.text(value))
    if isinstance(value, int):
        return value.bit_length() // 3 + 32
    # A float in fixed notation has up to 309 digits before the point.
    return 512
