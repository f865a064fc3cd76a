"""Defects of chat templates: faults in prompts that no reader of the output can repair.

`rules.py` is the table of rules; each family of rules has a file.
"""
