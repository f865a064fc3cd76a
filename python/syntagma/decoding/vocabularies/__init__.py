"""Readers of vocabularies: files and tokenizer objects of other libraries, each read into the bytes of every token."""
