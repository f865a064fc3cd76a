"""The tools of a request that the model is offered; those that it cannot call are left out and named."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final, NamedTuple

from syntagma.conversion.responses import each_tool, name_in
from syntagma.serving.conversation import LeftOut, RequestNotes

__all__ = ["OfferedTools", "offered", "with_moved"]

_EACH: Final = "/tools/*"


class OfferedTools(NamedTuple):
    """The tools that the model is offered.

    Attributes:
        tools: in the form of chat completions.
        moved: the place of each in this list → in the request; empty where all are the same.
        left_out: tools that the server would have to run itself, or of a type that it does not write calls of.
        names: of those in namespaces, the name by which the model knows it → its namespace and its own name.
    """

    tools: list[dict[str, Any]]
    moved: Mapping[str, str]
    left_out: tuple[LeftOut, ...]
    names: Mapping[str, tuple[str, str]]


def offered(
    given: Sequence[Any],
    kinds: Collection[str | None],
    read: Callable[[Any, str, RequestNotes, str | None], dict[str, Any]] | None = None,
) -> OfferedTools:
    """Read the tools of a request.

    Args:
        given: the tools of the request.
        kinds: the types of tools that the model can call; None: no type is given.
        read: makes a tool in the form of chat completions of one, its place, notes and its namespace; None: it has
            this form.

    Raises:
        RequestError: `E-REQUEST-FIELD`, a tool is malformed.
    """
    notes = RequestNotes()
    tools: list[dict[str, Any]] = []
    places: list[str] = []
    left_out: list[LeftOut] = []
    names: dict[str, tuple[str, str]] = {}
    for tool, place, namespace in each_tool(given, "/tools", notes):
        kind = tool.get("type")
        if kind not in kinds and isinstance(kind, str):
            left_out.append(LeftOut(place, "tool", kind))
            continue
        made = dict(tool) if read is None else read(tool, place, notes, namespace)
        if namespace is not None and isinstance(name := tool.get("name"), str):
            names[name_in(namespace, name)] = (namespace, name)
        tools.append(made)
        places.append(place)
    own = [f"/tools/{index}" for index in range(len(tools))]
    moved = {} if places == own else dict(zip(own, places, strict=True))
    return OfferedTools(tools, moved, tuple(left_out), names)


def with_moved(places: Mapping[str, str], moved: Mapping[str, str]) -> Mapping[str, str]:
    """Places for `placed`, of which those of tools lead to where the tools stand in the request."""
    if not moved:
        return places
    made: dict[str, str] = {}
    for before, after in moved.items():
        of_tools = {begins: place for begins, place in places.items() if begins.startswith(_EACH)}
        made |= {begins.replace(_EACH, before): place.replace(_EACH, after) for begins, place in of_tools.items()}
        made[before] = after
    return {**made, **places}
