"""Other engines as judges of texts under a grammar, each in a process that is given up when it takes too long."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import multiprocessing
import warnings
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from typing import Any

__all__ = ["NEEDS", "Judge"]

NEEDS = {
    "gbnf": "xllamacpp",
    "lark": "llguidance",
    "xgrammar": "xgrammar",
    "structural_tag": "xgrammar",
    "text_tag": "xgrammar",
}
"""language → the library of the engine that reads it"""
_Verdicts = Callable[[Any, Sequence[str]], list[bool]]
_START_SECONDS = 60
_BYTES = [bytes([byte]) for byte in range(256)]
_END = 256


class Judge:
    """An engine that says which texts a grammar in its language accepts.

    Args:
        language: a key of `NEEDS`; a vocabulary of the 256 bytes is used.
        seconds: how long a grammar with its texts may take.
    """

    def __init__(self, language: str, seconds: float) -> None:
        self.language = language
        self._seconds = seconds
        self._process: multiprocessing.process.BaseProcess | None = None
        self._ours: Connection | None = None

    @property
    def is_there(self) -> bool:
        """Whether its library is installed."""
        return importlib.util.find_spec(NEEDS[self.language]) is not None

    def ask(self, source: Any, texts: Sequence[str]) -> None:
        """Begin to judge; `answer` waits for the end."""
        if self._process is None:
            context = multiprocessing.get_context("spawn")
            self._ours, theirs = context.Pipe()
            self._process = context.Process(target=_serve, args=(self.language, theirs), daemon=True)
            self._process.start()
            if not self._ours.poll(_START_SECONDS):
                raise TimeoutError(f"{NEEDS[self.language]} does not start")
            self._ours.recv()
        assert self._ours is not None
        self._ours.send((source, list(texts)))

    def answer(self) -> list[bool] | str:
        """A verdict for each text; why there are none: what the engine says, `too slow`, or `crashed`."""
        assert self._ours is not None
        why = "too slow"
        with contextlib.suppress(EOFError, ConnectionError):
            if self._ours.poll(self._seconds):
                why = "crashed"
                found: list[bool] | str = self._ours.recv()
                return found
        self.close()
        return why

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._process = None


def _serve(language: str, theirs: Connection) -> None:
    verdicts = _READERS[language]()
    theirs.send("ready")
    while True:
        source, texts = theirs.recv()
        try:
            answer: list[bool] | str = verdicts(source, texts)
        except Exception as error:  # whatever an engine raises is its answer
            answer = (str(error).strip() or type(error).__name__)[:300]
        theirs.send(answer)


def _llama_cpp() -> _Verdicts:
    from tests.grammars.llama_grammar import LlamaGrammar

    def verdicts(source: Any, texts: Sequence[str]) -> list[bool]:
        grammar = LlamaGrammar(source)
        return [grammar.accepts(text) for text in texts]

    return verdicts


def _llguidance() -> _Verdicts:
    import llguidance

    class Vocabulary:
        eos_token_id, bos_token_id, special_token_ids = _END, None, (_END,)
        tokens = (*_BYTES, b"<end>")

        def __call__(self, text: str | bytes) -> list[int]:
            return list(text if isinstance(text, bytes) else text.encode())

    tokenizer = llguidance.LLTokenizer(llguidance.TokenizerWrapper(Vocabulary()))

    def verdicts(source: Any, texts: Sequence[str]) -> list[bool]:
        matcher = llguidance.LLMatcher(tokenizer, source)
        if matcher.get_error():
            raise ValueError(matcher.get_error())
        found = []
        for text in texts:
            written = list(text.encode())
            fresh = matcher.deep_copy()
            taken = fresh.try_consume_tokens(written) == len(written)
            if fresh.get_error() and "doesn't satisfy" not in fresh.get_error():
                raise ValueError(fresh.get_error())
            found.append(taken and fresh.is_accepting())
        return found

    return verdicts


def _xgrammar(compiled: Callable[[Any, Any], Any]) -> _Verdicts:
    import xgrammar

    info = xgrammar.TokenizerInfo([*_BYTES, b"</s>"], xgrammar.VocabType.RAW, stop_token_ids=[_END])
    compiler = xgrammar.GrammarCompiler(info, max_threads=1, cache_enabled=False)

    def verdicts(source: Any, texts: Sequence[str]) -> list[bool]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            grammar = compiled(compiler, source)
        found = []
        for text in texts:
            matcher = xgrammar.GrammarMatcher(grammar)
            found.append(bool(matcher.accept_string(text) and matcher.is_completed()))
        return found

    return verdicts


def _tag(compiler: Any, source: Any) -> Any:
    return compiler.compile_structural_tag(json.dumps(source))


_READERS: dict[str, Callable[[], _Verdicts]] = {
    "gbnf": _llama_cpp,
    "lark": _llguidance,
    "xgrammar": lambda: _xgrammar(lambda compiler, source: compiler.compile_grammar(source)),
    "structural_tag": lambda: _xgrammar(_tag),
    "text_tag": lambda: _xgrammar(_tag),
}
