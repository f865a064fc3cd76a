"""Process-wide settings under xgrammar's names."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from syntagma.compat.xgrammar.arguments import integer, wrong_value

__all__ = ["get_max_recursion_depth", "get_serialization_version", "max_recursion_depth", "set_max_recursion_depth"]

_DEPTH_LIMIT = 1_000_000
_VERSION = "syntagma-3"
_depth = 10_000


def get_max_recursion_depth() -> int:
    """The number last set. It has no effect, since nothing here recurses; `syntagma.Limits` bounds nesting."""
    return _depth


def set_max_recursion_depth(max_recursion_depth: int) -> None:
    """Set the number that `get_max_recursion_depth` returns.

    Raises:
        WrongTypeError, WrongValueError: not an integer, or out of range.
    """
    global _depth  # noqa: PLW0603  # the setting applies to the whole process
    depth = integer("max_recursion_depth", max_recursion_depth)
    if not 0 < depth <= _DEPTH_LIMIT:
        raise wrong_value(
            "max_recursion_depth", f"max_recursion_depth must be between 1 and {_DEPTH_LIMIT}, not {depth}"
        )
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
    """The version that `serialize_json` writes; text that xgrammar itself wrote cannot be read."""
    return _VERSION
