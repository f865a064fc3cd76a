"""A grammar as llama.cpp reads and follows it."""

from __future__ import annotations

import ctypes
import functools
from pathlib import Path

__all__ = ["LlamaGrammar"]


class LlamaGrammar:
    """A grammar as llama.cpp reads and follows it, through the library that `xllamacpp` brings.

    Its classes do not offer grammars alone; the functions are called by their symbols, and the stacks of its recogniser
    are looked at in memory: none is a dead end, an empty one a whole text.

    Raises:
        ValueError: llama.cpp refuses the source.
    """

    def __init__(self, source: str) -> None:
        self._library = _library()
        self._source = source
        self._free(self._started())

    def accepts(self, text: str) -> bool:
        """Whether the whole text is in the language."""
        accept = self._library["_Z20llama_grammar_acceptP13llama_grammarj"]
        grammar = self._started()
        try:
            for character in text:
                accept(grammar, ctypes.c_uint32(ord(character)))
                if not self._ends(grammar):
                    return False
            return any(self._ends(grammar))
        finally:
            self._free(grammar)

    def _started(self) -> ctypes.c_void_p:
        start = self._library["_Z23llama_grammar_init_implPK11llama_vocabPKcS3_bPS3_mPKim"]
        start.restype = ctypes.c_void_p
        texts = (ctypes.c_char_p(self._source.encode()), ctypes.c_char_p(b"root"))
        grammar = start(None, *texts, False, None, ctypes.c_size_t(0), None, ctypes.c_size_t(0))
        if not grammar:
            raise ValueError(f"llama.cpp refuses {self._source}")
        return ctypes.c_void_p(grammar)

    def _ends(self, grammar: ctypes.c_void_p) -> list[bool]:
        """For each stack whether it is empty."""
        find = self._library["_Z24llama_grammar_get_stacksP13llama_grammar"]
        find.restype = ctypes.c_void_p
        begin, end = (ctypes.c_size_t * 2).from_address(find(grammar))
        size = 3 * ctypes.sizeof(ctypes.c_size_t)
        stacks = ((ctypes.c_size_t * 2).from_address(at) for at in range(begin, end, size))
        return [first == last for first, last in stacks]

    def _free(self, grammar: ctypes.c_void_p) -> None:
        self._library["_Z23llama_grammar_free_implP13llama_grammar"](grammar)


@functools.cache
def _library() -> ctypes.CDLL:
    import xllamacpp

    return ctypes.CDLL(str(next(Path(xllamacpp.__file__).parent.glob("xllamacpp*.so"))))
