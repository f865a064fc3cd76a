"""Maps a pointer into a resolved request to the place in the request that the client sent."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["placed"]


def placed(pointer: str, places: Mapping[str, str]) -> str:
    """The pointer into the request that the client sent.

    Args:
        pointer: a pointer into a request of chat completions, as the codec gives it.
        places: beginnings of such pointers → what replaces them; the first that fits counts. `*` matches one step, and
            stands for the same step in the replacement.
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
