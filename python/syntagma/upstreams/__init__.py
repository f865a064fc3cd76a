"""Upstreams: engines that sample by themselves, reached over HTTP, with one file per kind, and a registry of kinds.

The kind is a word before the address: `llamacpp:http://127.0.0.1:8080`. Packages can add kinds through the entry-point
group `syntagma.upstreams`: the name is the word, the value a callable with the arguments of `HttpUpstream`.
"""

from __future__ import annotations

from syntagma.upstreams.loading import disconnect, load
from syntagma.upstreams.registry import connect, is_address, names

__all__ = ["connect", "disconnect", "is_address", "load", "names"]
