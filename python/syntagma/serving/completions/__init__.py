"""The dialect of `POST /v1/completions`: a prompt goes on as plain text."""

from __future__ import annotations

from syntagma.serving.completions.reader import CompletionsDialect

__all__ = ["CompletionsDialect"]
