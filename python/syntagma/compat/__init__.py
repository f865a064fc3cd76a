"""Interfaces of other libraries, for code that was written for them."""

from __future__ import annotations
