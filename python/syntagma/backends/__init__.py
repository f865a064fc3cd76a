"""Backends: models that run in this process, each by one library, and the registry that finds them.

One file each implements `syntagma.decoding.backend.Backend` and has a function `load`, which `registry` names. Packages
add their own through the entry-point group `syntagma.backends`.
"""

from __future__ import annotations

from syntagma.backends.registry import Loader, load, names

__all__ = ["Loader", "load", "names"]
