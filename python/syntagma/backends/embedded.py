"""The shipped model, and model folders with the same kind of network, computed with NumPy."""

from __future__ import annotations

from syntagma.codec import ChatCodec
from syntagma.embedded import EmbeddedModel
from syntagma.embedded import load as load_folder

__all__ = ["load"]


def load(path: str) -> tuple[EmbeddedModel, ChatCodec]:
    """Load a folder with `config.json`, `tokenizer.json`, `model.safetensors` and a chat template.

    Args:
        path: the folder; `""`: the shipped model.

    Raises:
        ModelError, TemplateError, VocabularyError: the folder is broken, or its network is of another kind.
    """
    model = load_folder(path or None)
    return model, ChatCodec.from_pretrained(model.path)
