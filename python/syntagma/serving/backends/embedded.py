"""Models that the library runs itself."""

from __future__ import annotations

from syntagma.codec import ChatCodec
from syntagma.embedded import EmbeddedModel, load
from syntagma.serving.model import ServedModel

__all__ = ["load_folder", "load_shipped"]


def load_shipped(_: str, name: str | None) -> ServedModel:
    """The model that comes with the library."""
    return _served(load(), name)


def load_folder(path: str, name: str | None) -> ServedModel:
    """A folder with `config.json`, `tokenizer.json`, `model.safetensors` and a chat template."""
    return _served(load(path), name)


def _served(model: EmbeddedModel, name: str | None) -> ServedModel:
    return ServedModel(model, ChatCodec.from_pretrained(model.path), name=name)
