"""Adapters: one file for each library that people run models with.

Each is imported by its own name (`from syntagma.integrations.transformers import Constraint`) and imports its library
where it is used, so that importing it needs nothing but the library that it is for.
"""
