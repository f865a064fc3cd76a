"""Process-wide settings by xgrammar's names."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from syntagma.compat.xgrammar.arguments import integer, wrong_value

__all__ = ["get_max_recursion_depth", "get_serialization_version", "max_recursion_depth", "set_max_recursion_depth"]

_DEPTH_LIMIT = 1_000_000
_VERSION = "syntagma-2"
_depth = 10_000


def get_max_recursion_depth() -> int:
    """What was last set. Nothing here recurses, so nothing depends on it: `syntagma.Limits` bounds nesting."""
    return _depth


def set_max_recursion_depth(max_recursion_depth: int) -> None:
    """Set the number that `get_max_recursion_depth` returns.

    Raises:
        WrongTypeError, WrongValueError: no integer, or out of range.
    """
    global _depth  # noqa: PLW0603  # one number for the process is what the name means
    depth = integer("max_recursion_depth", max_recursion_depth)
    if not 0 < depth <= _DEPTH_LIMIT:
        raise wrong_value("max_recursion_depth", f"max_recursion_depth is within 1 and {_DEPTH_LIMIT}, not {depth}")
    _depth = depth


@contextmanager
def max_recursion_depth(temp_depth: int) -> Iterator[None]:
    """Set it for a block."""
    before = get_max_recursion_depth()
    set_max_recursion_depth(temp_depth)
    try:
        yield
    finally:
        set_max_recursion_depth(before)


def get_serialization_version() -> str:
    """The version in what `serialize_json` writes; xgrammar's own texts are not read."""
    return _VERSION
