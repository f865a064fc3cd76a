"""The base class of this package's values, with the common methods of pydantic models."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

__all__ = ["Model"]

_Model = TypeVar("_Model", bound="Model")


class Model(msgspec.Struct):
    """A value with the methods of a pydantic model that callers use on results."""

    def model_dump(
        self,
        *,
        mode: str = "python",  # noqa: ARG002  # both modes are the same here
        by_alias: bool = False,  # noqa: ARG002  # fields have their wire names
        exclude_none: bool = False,
        exclude_defaults: bool = False,
    ) -> dict[str, Any]:
        """The value as dictionaries and lists.

        Args:
            mode: `python` or `json`; both give the same result.
            by_alias: has no effect: fields have the names they have on the wire.
            exclude_none: leave out fields that are None, at any depth.
            exclude_defaults: leave out fields of this value that have their default value.
        """
        dumped: dict[str, Any] = {}
        for field in msgspec.structs.fields(self):
            value = getattr(self, field.name)
            if exclude_none and value is None:
                continue
            if exclude_defaults and value == _default(field):
                continue
            dumped[field.name] = _dumped(value, exclude_none)
        return dumped

    def model_dump_json(self, **options: Any) -> str:
        """As `model_dump`, as JSON text; with the same options."""
        return msgspec.json.encode(self.model_dump(**options)).decode()

    def model_copy(self: _Model, *, update: dict[str, Any] | None = None) -> _Model:
        """A copy with some fields replaced."""
        return msgspec.structs.replace(self, **(update or {}))


def _default(field: msgspec.structs.FieldInfo) -> Any:
    if field.default_factory is not msgspec.NODEFAULT:
        return field.default_factory()
    return field.default


def _dumped(value: Any, exclude_none: bool) -> Any:
    if isinstance(value, Model):
        return value.model_dump(exclude_none=exclude_none)
    if isinstance(value, list):
        return [_dumped(one, exclude_none) for one in value]
    return value
