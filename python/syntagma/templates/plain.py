"""What users hand in, as plain data: a fresh copy without cycles, without methods, without surprises."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Mapping, Sequence
from typing import Any, Final

from syntagma.errors import ArgumentTypeError, LimitError
from syntagma.limits import Limits
from syntagma.messages import Message, Tool, ToolCall

__all__ = ["plain"]

_DEEPEST: Final = 256


def plain(value: Any, limits: Limits, pointer: str = "") -> Any:
    """A copy of `value` that consists of dict, list, tuple, str, int, float, bool and None.

    Messages, calls and tools become their OpenAI dictionaries; mappings, sequences, enum members, dataclasses and objects
    with `model_dump` what they stand for. A dictionary from a caller keeps its keys and their order.

    Args:
        value: what a caller gave.
        limits: `template_items` bounds the number of values in all.
        pointer: JSON pointer of `value`, for errors.

    Raises:
        ArgumentTypeError: `E-TEMPLATE-VALUE`, something that is no data, with its pointer.
        LimitError: `E-LIMIT-TEMPLATE-INPUT`, too many values or too deep; something that holds itself is too deep.
    """
    return _Copier(limits).copy(value, pointer, 0)


class _Copier:
    def __init__(self, limits: Limits) -> None:
        self._left = limits.template_items
        self._limits = limits

    def copy(self, value: Any, pointer: str, depth: int) -> Any:
        kind = type(value)
        if kind is str or value is None or kind is bool or kind is float:
            return value
        if kind is int:
            if value.bit_length() > self._limits.template_integer_bits:
                raise LimitError(
                    "E-LIMIT-TEMPLATE-INTEGER", "an integer is too big", pointer=pointer, limit="template_integer_bits"
                )
            return value
        if depth > _DEEPEST:
            raise LimitError(
                "E-LIMIT-TEMPLATE-INPUT",
                f"the data is nested more than {_DEEPEST} deep",
                hint="does it hold itself?",
                pointer=pointer[:200],
                allowed=_DEEPEST,
            )
        if isinstance(value, dict | Mapping):
            self._pay(len(value), pointer)
            return {
                self._key(key, pointer): self.copy(item, f"{pointer}/{key}", depth + 1) for key, item in value.items()
            }
        if isinstance(value, str):
            return str.__str__(value.value if isinstance(value, enum.Enum) else value)
        if isinstance(value, list | tuple) or (isinstance(value, Sequence) and not isinstance(value, bytes | bytearray)):
            self._pay(len(value), pointer)
            items = (self.copy(item, f"{pointer}/{index}", depth + 1) for index, item in enumerate(value))
            return tuple(items) if isinstance(value, tuple) else list(items)
        return self.copy(self._opened(value, pointer), pointer, depth + 1)

    def _opened(self, value: Any, pointer: str) -> Any:
        if isinstance(value, Message | ToolCall | Tool):
            return value.to_openai()
        if isinstance(value, enum.Enum):
            return value.value
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
            f"{type(value).__name__} is no data that a template can be given",
            hint="dictionaries, lists, text, numbers, booleans and None are",
            pointer=pointer,
        )

    def _key(self, key: Any, pointer: str) -> Any:
        if isinstance(key, str):
            return str(key)
        if key is None or isinstance(key, int | float):
            return key
        raise ArgumentTypeError(
            "E-TEMPLATE-VALUE", f"{type(key).__name__} is no key that a template can be given", pointer=pointer
        )

    def _pay(self, items: int, pointer: str) -> None:
        self._left -= items
        if self._left < 0:
            raise LimitError(
                "E-LIMIT-TEMPLATE-INPUT",
                f"the data has more than {self._limits.template_items:,} values",
                pointer=pointer[:200],
                limit="template_items",
                allowed=self._limits.template_items,
            )
