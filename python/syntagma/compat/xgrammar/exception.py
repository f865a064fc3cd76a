"""Exceptions by xgrammar's names. Everything else that goes wrong is a plain `RuntimeError`, as there."""

from __future__ import annotations

__all__ = [
    "DeserializeFormatError",
    "DeserializeVersionError",
    "InvalidJSONError",
    "InvalidStructuralTagError",
]


class DeserializeFormatError(RuntimeError):
    """Serialised text that is JSON, but no such object, or one that belongs to something else."""


class DeserializeVersionError(RuntimeError):
    """Serialised text of another version."""


class InvalidStructuralTagError(RuntimeError):
    """A structural tag that cannot be read."""


class InvalidJSONError(RuntimeError):
    """Text that is no JSON."""
