"""Warnings about names that a later version removes; docs/policy.md says when."""

from __future__ import annotations

import warnings

__all__ = ["deprecated"]


def deprecated(name: str, instead: str, *, calls: int) -> None:
    """Warn whoever called so many calls above.

    Args:
        name: what was used, in code.
        instead: what to use.
        calls: 1 for the caller of the function that calls this; one more for each wrapper.
    """
    message = f"{name} is deprecated: use {instead}; 0.5 may remove it"
    warnings.warn(message, DeprecationWarning, stacklevel=calls + 2)
