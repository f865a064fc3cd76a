"""GBNF written and read again is the same language; llama.cpp's own reader agrees, where it is installed."""

from __future__ import annotations

import ctypes
import random
from pathlib import Path

import pytest

import syntagma as sg
from tests.grammars.walks import accepts, byte_compiler, random_text

_COMPILER = byte_compiler()

GRAMMARS = {
    "words": sg.Grammar.from_gbnf('root ::= ("yes" | "no") (", " [a-z]+){0,3}'),
    "arithmetic": sg.Grammar.from_gbnf('root ::= term ("+" term)*\nterm ::= [0-9]+ | "(" root ")"'),
    "characters": sg.Grammar.from_gbnf('root ::= [^"\\\\\\x00-\\x1F]{1,4} "é"? [α-ω]*'),
    "schema": sg.Grammar.from_json_schema(
        {
            "type": "object",
            "properties": {
                "name": {"type": "string", "maxLength": 5},
                "size": {"type": "integer", "minimum": -3, "maximum": 120},
                "tags": {"type": "array", "items": {"enum": ["a", "b"]}, "maxItems": 3},
                "any": {},
            },
            "required": ["name"],
            "additionalProperties": False,
        },
        whitespace="compact",
    ),
    "multiples": sg.Grammar.from_json_schema({"type": "integer", "multipleOf": 7}),
    "choice": sg.Grammar.from_choices(["left", "right", "leftover"]),
}


def _damaged(text: str, rng: random.Random) -> str:
    at = rng.randrange(len(text) + 1)
    return rng.choice([text[:at] + text[at + 1 :], text[:at] + rng.choice('x"0,}') + text[at:], text + text[:1]])


def _texts(name: str) -> list[str]:
    rng = random.Random(name)
    compiled = _COMPILER.compile(GRAMMARS[name])
    written = [random_text(compiled, rng, 25) for _ in range(12)]
    return written + [_damaged(text, rng) for text in written for _ in range(3)]


@pytest.mark.parametrize("name", GRAMMARS)
def test_what_is_written_reads_back_as_the_same_language(name: str) -> None:
    first = GRAMMARS[name]
    again = sg.Grammar.from_gbnf(first.to_gbnf().text)
    twice = sg.Grammar.from_gbnf(again.to_gbnf().text)
    compiled = [_COMPILER.compile(grammar) for grammar in (first, again, twice)]
    verdicts = set()
    for text in _texts(name):
        one, other, third = (accepts(grammar, text) for grammar in compiled)
        assert one == other == third, text
        verdicts.add(one)
    assert verdicts == {True, False}


class _LlamaGrammar:
    """A grammar as llama.cpp reads and follows it, through the library that `xllamacpp` brings.

    Its classes do not offer grammars alone; the functions are called by their symbols, and the stacks of its recogniser
    are looked at in memory: none is a dead end, an empty one a whole text.
    """

    def __init__(self, library: ctypes.CDLL, source: str) -> None:
        self._library = library
        start = library["_Z23llama_grammar_init_implPK11llama_vocabPKcS3_bPS3_mPKim"]
        start.restype = ctypes.c_void_p
        texts = (ctypes.c_char_p(source.encode()), ctypes.c_char_p(b"root"))
        self._grammar = start(None, *texts, False, None, ctypes.c_size_t(0), None, ctypes.c_size_t(0))
        assert self._grammar, source

    def _stacks(self) -> list[bool]:
        find = self._library["_Z24llama_grammar_get_stacksP13llama_grammar"]
        find.restype = ctypes.c_void_p
        begin, end = (ctypes.c_size_t * 2).from_address(find(ctypes.c_void_p(self._grammar)))
        size = 3 * ctypes.sizeof(ctypes.c_size_t)
        stacks = ((ctypes.c_size_t * 2).from_address(at) for at in range(begin, end, size))
        return [first == last for first, last in stacks]

    def accepts(self, text: str) -> bool:
        """Whether the whole text is in the language; once."""
        accept = self._library["_Z20llama_grammar_acceptP13llama_grammarj"]
        for character in text:
            accept(ctypes.c_void_p(self._grammar), ctypes.c_uint32(ord(character)))
            if not self._stacks():
                return False
        return any(self._stacks())


@pytest.mark.parametrize("name", GRAMMARS)
def test_llama_cpp_accepts_and_rejects_alike(name: str) -> None:
    llama = pytest.importorskip("xllamacpp", reason="xllamacpp is not installed")
    library = ctypes.CDLL(str(next(Path(llama.__file__).parent.glob("xllamacpp*.so"))))
    source = GRAMMARS[name].to_gbnf().text
    compiled = _COMPILER.compile(GRAMMARS[name])
    for text in _texts(name):
        assert _LlamaGrammar(library, source).accepts(text) == accepts(compiled, text), text
