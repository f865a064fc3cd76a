"""Where what is wrong with a resolved request stands in the request that a client sent."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["placed"]


def placed(pointer: str, places: Mapping[str, str]) -> str:
    """A pointer into the request as the client wrote it.

    Args:
        pointer: into a request of chat completions, which is what the codec knows.
        places: what stands elsewhere, by the beginning of its pointer; the first that fits counts. `*` stands for one
            step, and for the same one in the new place.
    """
    steps = pointer.split("/")
    for begins, place in places.items():
        wanted = begins.split("/")
        if len(wanted) > len(steps) or any(one not in ("*", step) for one, step in zip(wanted, steps, strict=False)):
            continue
        taken = iter(step for one, step in zip(wanted, steps, strict=False) if one == "*")
        new = [next(taken, "*") if one == "*" else one for one in place.split("/")]
        return "/".join((*new, *steps[len(wanted) :]))
    return pointer
