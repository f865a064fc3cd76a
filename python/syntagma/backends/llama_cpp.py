"""GGUF files by llama.cpp, through the functions of its C interface that llama-cpp-python has."""

from __future__ import annotations

import logging
import os
import weakref
from pathlib import Path
from typing import Any

import numpy as np

from syntagma.backends.session import CachedSession
from syntagma.codec import ChatCodec
from syntagma.decoding.backend import Logits
from syntagma.decoding.tokenizer_info import TokenizerInfo
from syntagma.errors import ModelError
from syntagma.templates import ChatTemplate

__all__ = ["LlamaCppModel", "LlamaCppSession", "load"]

_LONGEST = 8192
_IDLE = 2


def load(
    path: str, *, context_length: int | None = None, gpu_layers: int | None = None, threads: int | None = None
) -> tuple[LlamaCppModel, ChatCodec]:
    """Load a GGUF file.

    Args:
        path: the file.
        context_length: tokens of prompt and answer together; each sequence has a cache of that length. None: as many as
            the model was made for, at most 8,192.
        gpu_layers: how many layers an accelerator computes; None: llama.cpp's default.
        threads: threads of one sequence; None: half of the processors.

    Raises:
        ModelError: `E-MODEL-LIBRARY`, llama.cpp refuses the file; `E-MODEL-GGUF`, it is damaged.
        TemplateError, VocabularyError: its chat template or its vocabulary cannot be used.
    """
    import llama_cpp

    log = logging.getLogger("llama-cpp-python")
    if log.level == logging.NOTSET:  # by default it prints every detail of the file
        log.setLevel(logging.ERROR)
    llama_cpp.llama_backend_init()
    options = llama_cpp.llama_model_default_params()
    if gpu_layers is not None:
        options.n_gpu_layers = gpu_layers
    model = llama_cpp.llama_model_load_from_file(path.encode(), options)
    if model is None:
        raise ModelError("E-MODEL-LIBRARY", "llama.cpp cannot load it", source=path)
    options = llama_cpp.llama_context_default_params()
    options.n_ctx = context_length or min(llama_cpp.llama_model_n_ctx_train(model), _LONGEST)
    options.n_threads = options.n_threads_batch = threads or max(1, (os.cpu_count() or 2) // 2)
    backend = LlamaCppModel(_Native(llama_cpp, model, options), Path(path))
    return backend, ChatCodec.from_template(ChatTemplate.from_gguf(path), vocabulary=backend.tokenizer_info)


class _Native:
    """A model of llama.cpp with its idle contexts; it is freed when nothing refers to this any more."""

    def __init__(self, library: Any, model: Any, options: Any) -> None:
        self.library = library
        self.model = model
        self.vocabulary = library.llama_model_get_vocab(model)
        self.options = options
        self.idle: list[Any] = []
        weakref.finalize(self, _free, library, model, self.idle)

    def encode(self, text: str) -> list[int]:
        """Token ids of plain text."""
        data = text.encode()
        room = len(data) + 8
        while True:
            ids = (self.library.llama_token * room)()
            count = self.library.llama_tokenize(self.vocabulary, data, len(data), ids, room, False, False)
            if count >= 0:
                return list(ids[:count])
            room = -count


def _free(library: Any, model: Any, idle: list[Any]) -> None:
    for context in idle:
        library.llama_free(context)
    library.llama_model_free(model)


def _give_back(library: Any, context: Any, idle: list[Any]) -> None:
    if len(idle) < _IDLE:
        idle.append(context)
    else:
        library.llama_free(context)


class LlamaCppModel:
    """A model in a GGUF file. Threads may share it.

    Attributes:
        model_name: the name under which it is served.
        tokenizer_info: the vocabulary, as wide as the logits.
        context_length: tokens of prompt and answer together.
    """

    def __init__(self, native: _Native, path: Path) -> None:
        self._native = native
        self.model_name = path.stem
        self.context_length = int(native.options.n_ctx)
        library = native.library
        info = TokenizerInfo.from_gguf(path, vocab_size=library.llama_vocab_n_tokens(native.vocabulary))
        ends = [token for token in info.special_token_ids if library.llama_vocab_is_eog(native.vocabulary, token)]
        if not set(ends) <= {*info.eos_token_ids}:
            info = TokenizerInfo.from_gguf(path, vocab_size=info.vocab_size, eos_token_ids=sorted(ends))
        self.tokenizer_info = info.with_encoder(native.encode)

    def open(self) -> LlamaCppSession:
        """A new, empty sequence.

        Raises:
            ModelError: `E-MODEL-LIBRARY`, there is no memory for its cache.
        """
        return LlamaCppSession(self._native, self.tokenizer_info.vocab_size, self.context_length)


class LlamaCppSession(CachedSession):
    """One sequence being generated, with a context of its own."""

    def __init__(self, native: _Native, vocab_size: int, context_length: int) -> None:
        super().__init__(vocab_size, context_length)
        self._native = native  # the model lives as long as its sequences
        library, idle = native.library, native.idle
        try:
            self._context = idle.pop()
        except IndexError:
            self._context = library.llama_init_from_model(native.model, native.options)
        if self._context is None:
            raise ModelError("E-MODEL-LIBRARY", "llama.cpp has no memory for a context", hint="give context_length")
        library.llama_memory_clear(library.llama_get_memory(self._context), True)
        weakref.finalize(self, _give_back, library, self._context, idle)

    def _read(self, token_ids: list[int]) -> Logits:
        library, context = self._native.library, self._context
        for start in range(0, len(token_ids), size := library.llama_n_batch(context)):
            part = token_ids[start : start + size]
            ids = (library.llama_token * len(part))(*part)  # the batch only points to them
            if status := library.llama_decode(context, library.llama_batch_get_one(ids, len(part))):
                raise ModelError("E-MODEL-LIBRARY", f"llama.cpp cannot read the tokens: llama_decode gave {status}")
        logits = library.llama_get_logits_ith(context, -1)
        return np.array(np.ctypeslib.as_array(logits, shape=(self._vocab_size,)))
