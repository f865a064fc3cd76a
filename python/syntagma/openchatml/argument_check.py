"""Checks the arguments of a call against the tool's JSON Schema; see `syntagma.parsing.arguments.argument_check`."""

from __future__ import annotations

from syntagma.parsing.arguments.argument_check import mismatch

__all__ = ["mismatch"]
