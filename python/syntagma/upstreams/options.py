"""Translates sampling options to an engine's names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

import msgspec

from syntagma.decoding.sampling import Sampling
from syntagma.decoding.upstream import Completion
from syntagma.errors import UpstreamError

__all__ = ["Forms", "spelled"]

Forms: TypeAlias = Mapping[str, Callable[[Any], Any]]
"""our name of an option → conversion of our value to the engine's, if they differ"""


_FIELDS = (
    *((Sampling, field) for field in msgspec.structs.fields(Sampling)),
    *(
        (Completion, field)
        for field in msgspec.structs.fields(Completion)
        if field.name in ("min_tokens", "ignore_eos", "stop_token_ids", "excluded")
    ),
)


def spelled(asked: Completion, names: Mapping[str, str], forms: Forms | None = None) -> dict[str, Any]:
    """The options by an engine's names. Defaults are sent, too, because the engine's may differ.

    Args:
        asked: the request.
        names: our names → the engine's names.
        forms: conversions of values that differ.

    Raises:
        UpstreamError: `E-UPSTREAM-OPTION`, an option that the engine lacks is not at its default.
    """
    body: dict[str, Any] = {}
    for name, value, default in _options(asked):
        if name in names:
            if value is not None and value not in ((), {}):
                body[names[name]] = value if forms is None or name not in forms else forms[name](value)
        elif value != default:
            raise UpstreamError(
                "E-UPSTREAM-OPTION", f"the engine has no option for {name}", status=400, pointer=f"/{name}"
            )
    return body


def _options(asked: Completion) -> Iterator[tuple[str, Any, Any]]:
    for holder, field in _FIELDS:
        default = field.default_factory() if field.default is msgspec.NODEFAULT else field.default
        yield field.name, getattr(asked.sampling if holder is Sampling else asked, field.name), default
