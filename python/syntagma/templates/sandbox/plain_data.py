"""Copies the arguments of a template as plain data, without cycles and without objects of callers."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Mapping, Sequence
from typing import Any, Final

from syntagma.errors import ArgumentTypeError, LimitError, SyntagmaError
from syntagma.json_pointer import pointer_of
from syntagma.limits import Limits
from syntagma.messages import Message, Tool, ToolCall
from syntagma.templates.sandbox.budget import limit_error

__all__ = ["plain_data"]

_MAX_DEPTH: Final = 256
_MAX_POINTER_CHARS: Final = 200
_SIMPLE: Final = frozenset({str, float, bool, type(None)})


def plain_data(value: Any, limits: Limits) -> Any:
    """A copy of `value` of only dict, list, tuple, str, int, float, bool and None.

    Messages, calls and tools become their OpenAI dictionaries. Mappings, sequences, enum members, dataclasses and
    objects with `model_dump` become the corresponding plain values. A dictionary keeps its keys and their order.

    Args:
        value: the value of a caller.
        limits: `template_items` bounds the total number of values.

    Raises:
        ArgumentTypeError: `E-TEMPLATE-VALUE`, a value is not plain data; `pointer` names it.
        LimitError: `E-LIMIT-TEMPLATE-INPUT`, there are too many values, or they are nested too deeply or endlessly.
    """
    try:
        return _Copier(limits).copy(value, 0)
    except RecursionError:
        raise LimitError("E-LIMIT-TEMPLATE-INPUT", "the data is nested too deeply for the remaining stack") from None


class _Copier:
    def __init__(self, limits: Limits) -> None:
        self._left = limits.template_items
        self._limits = limits

    def copy(self, value: Any, depth: int) -> Any:
        kind = type(value)
        if kind in _SIMPLE:
            return value
        if kind is int:
            self._check_integer(value)
            return value
        if depth > _MAX_DEPTH:
            raise LimitError(
                "E-LIMIT-TEMPLATE-INPUT",
                f"the data is nested more than {_MAX_DEPTH} deep",
                hint="the data may contain itself",
                pointer="",
                allowed=_MAX_DEPTH,
            )
        if kind is dict or isinstance(value, Mapping):
            return self._mapping(value, depth + 1)
        if kind is list:
            return self._items(value, depth + 1)
        if isinstance(value, enum.Enum):
            return self.copy(value.value, depth + 1)
        if isinstance(value, str):
            return str.__str__(value)
        if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray | memoryview):
            items = self._items(value, depth + 1)
            return tuple(items) if isinstance(value, tuple) else items
        return self.copy(_as_data(value), depth + 1)

    def _mapping(self, value: Mapping[Any, Any], depth: int) -> dict[Any, Any]:
        self._count(len(value))
        found = {}
        for key, item in value.items():
            if type(item) in _SIMPLE and type(key) is str:
                found[key] = item
                continue
            try:
                found[_key(key)] = self.copy(item, depth)
            except SyntagmaError as error:
                _prefix(error, key)
                raise
        return found

    def _items(self, value: Sequence[Any], depth: int) -> list[Any]:
        self._count(len(value))
        found = []
        for index, item in enumerate(value):
            try:
                found.append(self.copy(item, depth))
            except SyntagmaError as error:
                _prefix(error, index)
                raise
        return found

    def _check_integer(self, value: int) -> None:
        allowed = self._limits.template_integer_bits
        if value.bit_length() > allowed:
            message = f"an integer has more than {allowed:,} bits"
            raise limit_error(self._limits, "template_integer_bits", message, given=value.bit_length(), pointer="")

    def _count(self, items: int) -> None:
        self._left -= items
        if self._left < 0:
            raise LimitError(
                "E-LIMIT-TEMPLATE-INPUT",
                f"the data has more than {self._limits.template_items:,} values",
                pointer="",
                limit="template_items",
                allowed=self._limits.template_items,
            )


def _prefix(error: SyntagmaError, key: Any) -> None:
    error.pointer = (pointer_of(key) + (error.pointer or ""))[:_MAX_POINTER_CHARS]


def _key(key: Any) -> Any:
    if isinstance(key, str):
        return str.__str__(key)
    if key is None or type(key) in (int, float, bool):
        return key
    raise ArgumentTypeError(
        "E-TEMPLATE-VALUE", f"a key of type {type(key).__name__} cannot be passed to a template", pointer=""
    )


def _as_data(value: Any) -> Any:
    if isinstance(value, Message | ToolCall | Tool):
        return value.to_openai()
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    dump = getattr(value, "model_dump", None)
    if callable(dump) and not isinstance(value, type):
        return dump(mode="json", exclude_none=True)
    raise ArgumentTypeError(
        "E-TEMPLATE-VALUE",
        f"a value of type {type(value).__name__} cannot be passed to a template",
        hint="use dictionaries, lists, strings, numbers, booleans and None",
        pointer="",
    )
