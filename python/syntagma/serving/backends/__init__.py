"""How a model to serve is found: one file for each kind of source, and one row here."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from syntagma.serving.model import ServedModel

__all__ = ["load"]

# A word that stands for a model → where its loader is; every other source is a folder.
_NAMED = {"embedded": "syntagma.serving.backends.embedded:load_shipped"}
_FOLDER = "syntagma.serving.backends.embedded:load_folder"


def load(source: str, *, name: str | None = None) -> ServedModel:
    """Load a model to serve.

    Args:
        source: `embedded`, or a model folder.
        name: the name under which requests ask for it; None: the model's own.

    Raises:
        ModelError, TemplateError, VocabularyError: the model does not load.
    """
    module, _, function = _NAMED.get(source, _FOLDER).partition(":")
    loader: Callable[[str, str | None], ServedModel] = getattr(import_module(module), function)
    return loader(source, name)
