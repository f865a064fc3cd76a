"""Backends: models that run in this process, with one file per library, and a registry of them.

Each file implements `syntagma.decoding.backend.Backend` and has a function `load`, which `registry` names. Packages can
add backends through the entry-point group `syntagma.backends`.
"""

from __future__ import annotations

from syntagma.backends.registry import Loader, load, names

__all__ = ["Loader", "load", "names"]
