"""Exceptions under xgrammar's names, and those for arguments. Every other failure is a plain `RuntimeError`."""

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
    """Serialised text is JSON, but not the expected object, or it belongs to another vocabulary."""


class DeserializeVersionError(RuntimeError):
    """Serialised text was written by another version."""


class InvalidStructuralTagError(RuntimeError):
    """A structural tag is not valid."""


class InvalidJSONError(RuntimeError):
    """Text is not JSON."""


class WrongValueError(ArgumentError, RuntimeError):
    """An argument is never valid. It has a code and the argument's name, and is the `RuntimeError` xgrammar raises."""


class WrongTypeError(WrongValueError, ArgumentTypeError):
    """An argument has the wrong Python type; the message names the type that was given."""
