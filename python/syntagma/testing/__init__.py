"""Helpers for tests of templates, formats and servers, without a model."""

from __future__ import annotations

from syntagma.decoding.byte_vocabulary import byte_vocabulary
from syntagma.testing.scripted_backend import ScriptedBackend
from syntagma.testing.template_tester import TemplateTester

__all__ = ["ScriptedBackend", "TemplateTester", "byte_vocabulary"]
