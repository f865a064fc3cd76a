"""Model folders, run with Hugging Face transformers on the CPU or an accelerator."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

from syntagma.backends.causal_network import CausalNetwork
from syntagma.backends.session import CachedSession
from syntagma.backends.transformers_batch import TransformersBatch, can_batch
from syntagma.codec import ChatCodec
from syntagma.decoding.backend import Logits
from syntagma.decoding.tokenizer_info import TokenizerInfo
from syntagma.errors import ModelError

__all__ = ["TransformersModel", "TransformersSession", "load"]


def load(
    path: str, *, device: str | None = None, dtype: str = "auto", context_length: int | None = None
) -> tuple[TransformersModel, ChatCodec]:
    """Load a model folder. Code in the folder is not run.

    Args:
        path: the folder.
        device: torch's name of the device (`cpu`, `cuda:1`); None: the accelerator if there is one, else the CPU.
        dtype: torch's name of the weights' type (`float32`, `bfloat16`); `auto`: the stored type.
        context_length: largest number of tokens of prompt and answer together; None: the model's own.

    Raises:
        ModelError: `E-MODEL-LIBRARY`, transformers or torch reject the model, the device or the dtype;
            `E-MODEL-ARCHITECTURE`, the network has no cache; `E-MODEL-CONFIG`, `config.json` lacks the length of the
            context.
        TemplateError, VocabularyError: the chat template or the vocabulary cannot be used.
    """
    import transformers

    import torch

    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(path)
        network = transformers.AutoModelForCausalLM.from_pretrained(path, dtype=dtype)
        network = network.to(_accelerator(torch) if device is None else device).eval()
    except Exception as error:  # transformers raises errors of many types
        raise ModelError("E-MODEL-LIBRARY", f"transformers cannot load the model: {error}", source=path) from error
    length = context_length or _context_length(network.config)
    if length is None:
        raise ModelError(
            "E-MODEL-CONFIG",
            "config.json lacks the length of the context",
            source=path,
            hint="give context_length",
        )
    if "past_key_values" not in inspect.signature(network.forward).parameters:
        raise ModelError("E-MODEL-ARCHITECTURE", "the network has no cache of keys and values", source=path)
    model = TransformersModel(network, tokenizer, name=Path(path).resolve().name, context_length=length)
    return model, ChatCodec.from_pretrained(path, vocabulary=model.tokenizer_info)


def _accelerator(torch: Any) -> str:
    return str(torch.accelerator.current_accelerator() or "cpu") if torch.accelerator.is_available() else "cpu"


def _context_length(config: Any) -> int | None:
    length = getattr(config.get_text_config(), "max_position_embeddings", None)
    return length if isinstance(length, int) and length > 0 else None


class TransformersModel:
    """A causal language model of transformers with its fast tokenizer. Safe for several threads.

    Args:
        network: the model, in evaluation mode.
        tokenizer: the tokenizer.
        name: the name under which the model is served.
        context_length: largest number of tokens of prompt and answer together.

    Raises:
        ArgumentTypeError, VocabularyError: see `TokenizerInfo.from_huggingface`.
    """

    def __init__(self, network: Any, tokenizer: Any, *, name: str, context_length: int) -> None:
        self.network = network
        self.tokenizer = tokenizer
        self.model_name = name
        self.context_length = context_length
        ends = network.generation_config.eos_token_id if network.generation_config is not None else None
        self.tokenizer_info = TokenizerInfo.from_huggingface(
            tokenizer,
            eos_token_ids=[ends] if isinstance(ends, int) else ends,
            vocab_size=network.get_output_embeddings().weight.shape[0],
        )
        self._causal = CausalNetwork(network)

    def open(self) -> TransformersSession:
        """A new, empty sequence."""
        return TransformersSession(self._causal, self.tokenizer_info.vocab_size, self.context_length)

    def open_batch(self) -> TransformersBatch | None:
        """A new batch without sequences; None if `can_batch` is false for the network."""
        if not can_batch(self.network):
            return None
        return TransformersBatch(self._causal, self.tokenizer_info.vocab_size, self.context_length)


class TransformersSession(CachedSession):
    """One sequence that is being generated, with its cache of keys and values."""

    def __init__(self, network: CausalNetwork, vocab_size: int, context_length: int) -> None:
        super().__init__(vocab_size, context_length)
        self._network = network
        self._cache: Any = None

    def _read(self, token_ids: list[int]) -> Logits:
        logits, self._cache = self._network.read([token_ids], self._cache)
        return logits[0]
