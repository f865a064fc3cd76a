"""Model folders, run with mlx-lm on Apple silicon, or on Linux with its CPU or CUDA builds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from syntagma.backends.session import CachedSession
from syntagma.codec import ChatCodec
from syntagma.decoding.backend import Logits
from syntagma.decoding.tokenizer_info import TokenizerInfo
from syntagma.errors import ModelError

__all__ = ["MlxModel", "MlxSession", "load"]


def load(path: str, *, context_length: int | None = None) -> tuple[MlxModel, ChatCodec]:
    """Load a model folder, which may be quantised by mlx-lm.

    Args:
        path: the folder.
        context_length: largest number of tokens of prompt and answer together; None: the model's own.

    Raises:
        ModelError: `E-MODEL-LIBRARY`, mlx-lm cannot load the model; `E-MODEL-CONFIG`, `config.json` lacks the length of
            the context or the size of the vocabulary.
        TemplateError, VocabularyError: the chat template or the vocabulary cannot be used.
    """
    import mlx_lm

    try:
        network, tokenizer, config = mlx_lm.load(path, return_config=True)
    except Exception as error:  # mlx-lm raises errors of many types
        raise ModelError("E-MODEL-LIBRARY", f"mlx-lm cannot load the model: {error}", source=path) from error
    sizes = config | config.get("text_config", {})
    length, width = context_length or sizes.get("max_position_embeddings"), sizes.get("vocab_size")
    if not isinstance(length, int) or not isinstance(width, int):
        raise ModelError(
            "E-MODEL-CONFIG",
            "config.json lacks the length of the context or the size of the vocabulary",
            source=path,
            hint="give context_length, or add vocab_size to config.json",
        )
    info = TokenizerInfo.from_tokenizer_json(
        Path(path) / "tokenizer.json", eos_token_ids=sorted(tokenizer.eos_token_ids), vocab_size=width
    )
    model = MlxModel(network, info, name=Path(path).resolve().name, context_length=length)
    return model, ChatCodec.from_pretrained(path, vocabulary=info)


class MlxModel:
    """A language model of mlx-lm. Safe for several threads.

    Args:
        network: the model.
        info: the vocabulary, with the width of the logits.
        name: the name under which the model is served.
        context_length: largest number of tokens of prompt and answer together.
    """

    def __init__(self, network: Any, info: TokenizerInfo, *, name: str, context_length: int) -> None:
        self.network = network
        self.tokenizer_info = info
        self.model_name = name
        self.context_length = context_length

    def open(self) -> MlxSession:
        """A new, empty sequence."""
        return MlxSession(self.network, self.tokenizer_info.vocab_size, self.context_length)


class MlxSession(CachedSession):
    """One sequence that is being generated, with its cache of keys and values."""

    def __init__(self, network: Any, vocab_size: int, context_length: int) -> None:
        from mlx_lm.models.cache import make_prompt_cache

        super().__init__(vocab_size, context_length)
        self._network = network
        self._cache = make_prompt_cache(network)

    def _read(self, token_ids: list[int]) -> Logits:
        import mlx.core as mx

        logits = self._network(mx.array([token_ids]), cache=self._cache)[0, -1]
        return np.array(logits.astype(mx.float32))
