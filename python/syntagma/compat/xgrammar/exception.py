"""Exceptions by xgrammar's names, and those of arguments. Everything else that goes wrong is a plain `RuntimeError`."""

from __future__ import annotations

from syntagma.errors import ArgumentError, ArgumentTypeError

__all__ = [
    "DeserializeFormatError",
    "DeserializeVersionError",
    "InvalidJSONError",
    "InvalidStructuralTagError",
    "WrongTypeError",
    "WrongValueError",
]


class DeserializeFormatError(RuntimeError):
    """Serialised text that is JSON, but no such object, or one that belongs to something else."""


class DeserializeVersionError(RuntimeError):
    """Serialised text of another version."""


class InvalidStructuralTagError(RuntimeError):
    """A structural tag that cannot be read."""


class InvalidJSONError(RuntimeError):
    """Text that is no JSON."""


class WrongValueError(ArgumentError, RuntimeError):
    """An argument that is never valid, with a code and the argument's name; what xgrammar raises is among its bases."""


class WrongTypeError(WrongValueError, ArgumentTypeError):
    """An argument of another Python type than its parameter has; the message names the type that came."""
