"""Renders with the origin of every character of the output.

The template's own text and tokens, and the texts of messages, tools and documents, are traced strings from the start
(`traced_variables`). The operations of the sandbox report their results to the budget of the render, which derives the
origins; the budget of a plain render ignores these reports. Python itself computes every text, so a traced render has
the same output as a plain one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Final

from syntagma.limits import Limits
from syntagma.templates.sandbox.budget import Budget
from syntagma.templates.sandbox.derivations import blame, derived_list, derived_text
from syntagma.templates.sandbox.traced import TEMPLATE, Run, is_traced, only, runs_of, traced, whole

__all__ = ["TracingBudget", "traced_variables"]

_ORIGIN_OF_ROLE: Final = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "model": "assistant",
    "tool": "tool",
    "function": "tool",
    "ipython": "tool",
    "environment": "tool",
    "observation": "tool",
}
"""origins by role; the names of these roles are trusted, because templates build markers from them"""

_STRANGER: Final = "user"
_TAKES_APART: Final = frozenset({"split", "rsplit", "splitlines", "partition", "rpartition"})


class TracingBudget(Budget):
    """The budget of a traced render."""

    __slots__ = ("_literals",)

    def __init__(self, limits: Limits, messages: Any = None) -> None:
        super().__init__(limits, messages)
        self._literals: dict[str, str] = {}

    def literal(self, text: str) -> str:
        """A text of the template itself."""
        found = self._literals.get(text)
        if found is None:
            found = self._literals[text] = whole(text, TEMPLATE)
        return found

    def text(self, value: Any) -> str:
        """Like `Budget.text`, with origins."""
        if isinstance(value, str):
            return value
        return derived_text("text", value, (), super().text(value))

    def joined(self, separator: str, parts: Sequence[str]) -> str:
        """Like `Budget.joined`, with origins."""
        return derived_text("join", separator, (parts,), super().joined(separator, parts))

    def derived(self, result: Any, operation: str, owner: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Like `Budget.derived`: the result of an operation, with origins if it is text."""
        if isinstance(result, str):
            if is_traced(result):
                return result
            if kwargs:
                return whole(result, blame((owner, *args, *kwargs.values()), numbers=True))
            return derived_text(operation, owner, args, result)
        if operation in _TAKES_APART and isinstance(owner, str) and not (kwargs and only(owner) is None):
            pieces = derived_list(operation, owner, args, result)
            return tuple(pieces) if isinstance(result, tuple) else pieces
        return result

    def output(self, pieces: Iterable[str]) -> str:
        """The output of the render as one text, with origins."""
        parts = list(pieces)
        runs: list[Run] = [run for part in parts for run in runs_of(part)]
        return traced("".join(parts), runs)


def traced_variables(variables: Mapping[str, Any], tokens: Collection[str]) -> dict[str, Any]:
    """The variables of a template with the origins of their texts.

    Args:
        variables: plain data and functions.
        tokens: names of the variables that are the template's tokens.
    """
    found: dict[str, Any] = {}
    for name, value in variables.items():
        if name == "messages":
            found[name] = [_message(one) for one in value]
        elif callable(value):
            found[name] = _Reporting(value)
        elif name in ("tools", "documents"):
            found[name] = _copied(value, _by("tool"))
        else:
            found[name] = _copied(value, _by(TEMPLATE if name in tokens else "system"))
    return found


def _message(message: Any) -> Any:
    role = message.get("role") if isinstance(message, dict) else None
    origin = _ORIGIN_OF_ROLE.get(role) if isinstance(role, str) else None
    copy = _copied(message, _by(origin or _STRANGER))
    if origin is not None:
        copy["role"] = whole(str(role), TEMPLATE)
    return copy


class _Reporting:
    """A function whose result has the origin of its arguments."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    def __call__(self, *args: Any) -> Any:
        result = self._function(*args)
        return whole(result, blame(args, numbers=True)) if type(result) is str else result


def _by(origin: str) -> Callable[[str], str]:
    return lambda text: whole(text, origin)


def _copied(value: Any, by: Callable[[str], str]) -> Any:
    """A copy of plain data whose strings have an origin."""
    if isinstance(value, str):
        return by(value)
    if isinstance(value, dict):
        return {_copied(key, by): _copied(item, by) for key, item in value.items()}
    if isinstance(value, list):
        return [_copied(item, by) for item in value]
    if isinstance(value, tuple):
        return tuple(_copied(item, by) for item in value)
    return value
