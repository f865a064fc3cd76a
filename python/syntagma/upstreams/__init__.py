"""Engines that sample by themselves, reached over a connection: one file a kind, and the registry of kinds.

A kind is a word before the address: `llamacpp:http://127.0.0.1:8080`. Packages add kinds through the entry-point group
`syntagma.upstreams`: the name is the word, the value makes an `Upstream` of an address, called as `HttpUpstream`.
"""

from __future__ import annotations

from syntagma.upstreams.loading import disconnect, load
from syntagma.upstreams.registry import connect, is_address, names

__all__ = ["connect", "disconnect", "is_address", "load", "names"]
