"""Converts conversations from one form to another, with a list of losses.

Every form is read into `syntagma.Message` and `syntagma.Tool` values, and written from them.
"""

from __future__ import annotations

from syntagma.conversion.converting import FORMS, Converted, Reading, Written, convert, detect, read, write
from syntagma.conversion.notes import Loss

__all__ = ["FORMS", "Converted", "Loss", "Reading", "Written", "convert", "detect", "read", "write"]
