"""Warnings about names that a later version removes; docs/policy.md says when."""

from __future__ import annotations

import warnings

__all__ = ["deprecated"]


def deprecated(name: str, instead: str) -> None:
    """Warn the caller of the function that calls this.

    Args:
        name: what was used, in code.
        instead: what to use.
    """
    message = f"{name} is deprecated: use {instead}; 0.5 may remove it"
    warnings.warn(message, DeprecationWarning, stacklevel=3)
