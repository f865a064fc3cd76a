"""Other libraries' names over ours, for code that was written for them."""

from __future__ import annotations
