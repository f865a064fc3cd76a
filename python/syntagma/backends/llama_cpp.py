"""GGUF files, run with llama.cpp through the C functions that llama-cpp-python exposes."""

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
        context_length: largest number of tokens of prompt and answer together. Each sequence has a cache of that
            length. None: the model's trained length, at most 8,192.
        gpu_layers: number of layers that an accelerator computes; None: llama.cpp's default.
        threads: number of threads per sequence; None: half of the processors.

    Raises:
        ModelError: `E-MODEL-LIBRARY`, llama.cpp cannot load the file; `E-MODEL-GGUF`, the file is damaged.
        TemplateError, VocabularyError: the chat template or the vocabulary cannot be used.
    """
    import llama_cpp

    log = logging.getLogger("llama-cpp-python")
    if log.level == logging.NOTSET:  # the default prints every detail of the file
        log.setLevel(logging.ERROR)
    llama_cpp.llama_backend_init()
    options = llama_cpp.llama_model_default_params()
    if gpu_layers is not None:
        options.n_gpu_layers = gpu_layers
    model = llama_cpp.llama_model_load_from_file(path.encode(), options)
    if model is None:
        raise ModelError("E-MODEL-LIBRARY", "llama.cpp cannot load the file", source=path)
    options = llama_cpp.llama_context_default_params()
    options.n_ctx = context_length or min(llama_cpp.llama_model_n_ctx_train(model), _LONGEST)
    options.n_threads = options.n_threads_batch = threads or max(1, (os.cpu_count() or 2) // 2)
    backend = LlamaCppModel(_Native(llama_cpp, model, options), Path(path))
    return backend, ChatCodec.from_template(ChatTemplate.from_gguf(path), vocabulary=backend.tokenizer_info)


class _Native:
    """A model of llama.cpp with its idle contexts. Both are freed with this object."""

    def __init__(self, library: Any, model: Any, options: Any) -> None:
        self.library = library
        self.model = model
        self.vocabulary = library.llama_model_get_vocab(model)
        self.options = options
        self.idle: list[Any] = []
        weakref.finalize(self, _free, library, model, self.idle)

    def encode(self, text: str) -> list[int]:
        """The token ids of plain text."""
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
    """A model in a GGUF file. Safe for several threads.

    Attributes:
        model_name: the name under which the model is served.
        tokenizer_info: the vocabulary, with the width of the logits.
        context_length: largest number of tokens of prompt and answer together.
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
            ModelError: `E-MODEL-LIBRARY`, there is not enough memory for its cache.
        """
        return LlamaCppSession(self._native, self.tokenizer_info.vocab_size, self.context_length)


class LlamaCppSession(CachedSession):
    """One sequence that is being generated, with its own context."""

    def __init__(self, native: _Native, vocab_size: int, context_length: int) -> None:
        super().__init__(vocab_size, context_length)
        self._native = native  # keeps the model alive
        library, idle = native.library, native.idle
        try:
            self._context = idle.pop()
        except IndexError:
            self._context = library.llama_init_from_model(native.model, native.options)
        if self._context is None:
            hint = "give a smaller context_length"
            raise ModelError("E-MODEL-LIBRARY", "llama.cpp has not enough memory for a context", hint=hint)
        library.llama_memory_clear(library.llama_get_memory(self._context), True)
        weakref.finalize(self, _give_back, library, self._context, idle)

    def _read(self, token_ids: list[int]) -> Logits:
        library, context = self._native.library, self._context
        for start in range(0, len(token_ids), size := library.llama_n_batch(context)):
            part = token_ids[start : start + size]
            ids = (library.llama_token * len(part))(*part)  # kept alive: the batch only points to it
            if status := library.llama_decode(context, library.llama_batch_get_one(ids, len(part))):
                raise ModelError("E-MODEL-LIBRARY", f"llama.cpp cannot read the tokens: llama_decode returned {status}")
        logits = library.llama_get_logits_ith(context, -1)
        return np.array(np.ctypeslib.as_array(logits, shape=(self._vocab_size,)))
