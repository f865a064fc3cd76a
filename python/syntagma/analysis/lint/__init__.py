"""Defects of chat templates: what a template does to conversations that no reader of its output can mend.

`rules.py` is the table of rules; each family of rules has a file.
"""
