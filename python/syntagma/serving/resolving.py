"""From the fields of an endpoint to a resolved request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Unpack

from syntagma.errors import ArgumentError, SyntagmaError
from syntagma.request import Budgets, RequestOptions, ResolvedRequest, ResponseFormat, resolve_request
from syntagma.serving.body import bad_field
from syntagma.serving.pointers import placed
from syntagma.serving.settings import Settings

__all__ = ["budgets_of", "resolved", "thinking_of"]

_NO_REASONING: Final = "none"
"""the effort that switches reasoning off"""
_OF_TOOLS = ("E-TOOL-LIST", "E-TOOL-INVALID", "E-TOOL-DUPLICATE")
"""errors whose pointers are relative to the list of tools"""


def resolved(
    tools: Sequence[Mapping[str, Any]],
    settings: Settings,
    places: Mapping[str, str],
    *,
    shape: ResponseFormat | None,
    **asked: Unpack[RequestOptions],
) -> ResolvedRequest:
    """A request, read and checked.

    Args:
        tools: the declared tools, in the form of chat completions. If there are none, the parser reads no calls.
        settings: the settings of the server.
        shape: the response format; None: any text.
        places: pointers in chat completions → pointers in the request; see `placed`.
        **asked: the options of the request.

    Raises:
        RequestError, ArgumentError, LimitError: as `resolve_request`, with pointers into the request.
    """
    enforce = settings.enforce or "parameters"
    options: dict[str, Any] = {"enforce": enforce, **asked, "response_format": shape, "limits": settings.limits}
    try:
        return resolve_request(tools, **options)
    except SyntagmaError as error:
        if isinstance(error, ArgumentError) and error.code in _OF_TOOLS:
            error.pointer = f"/tools{error.pointer or ''}"
        if error.pointer is not None:
            error.pointer = placed(error.pointer, places)
        raise


def thinking_of(effort: str | None) -> bool | None:
    """Whether an effort asks for reasoning, if the template has a switch for it; None: no effort is given."""
    return None if effort is None else effort != _NO_REASONING


def budgets_of(given: int | None, settings: Settings, pointer: str, least: int = 0) -> Budgets | None:
    """The budgets of a turn: tokens of reasoning, from the request or else from the settings; None: no bound.

    Raises:
        RequestError: `E-REQUEST-FIELD`, it is less than `least`.
    """
    if given is not None and given < least:
        raise bad_field(pointer, f"must be at least {least}, not {given}")
    most = settings.thinking_tokens if given is None else given
    return None if most is None else Budgets(reasoning_tokens=most)
