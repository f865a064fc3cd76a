"""The dialect of `POST /v1/completions`: the model continues a prompt as plain text."""

from __future__ import annotations

from syntagma.serving.completions.reader import CompletionsDialect

__all__ = ["CompletionsDialect"]
