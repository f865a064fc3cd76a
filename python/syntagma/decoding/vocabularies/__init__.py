"""Reads vocabularies, the bytes of every token, from files and from tokenizer objects of other libraries."""
