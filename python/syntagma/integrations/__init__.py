"""Adapters to libraries that run models: one file for each library.

Each is imported by its own name (`from syntagma.integrations.transformers import Constraint`), so that only the library
in use must be installed.
"""
