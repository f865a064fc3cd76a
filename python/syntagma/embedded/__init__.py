"""The shipped model, and other models whose folder has the same layout.

The shipped model has two million parameters. It demonstrates the whole path from a request to a typed message; it is
not an assistant. Its card, `data/MODEL_CARD.md`, says what it can do.
"""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from syntagma.embedded.backend import EmbeddedModel, EmbeddedSession
from syntagma.embedded.tokenizer import Detokenizer, ModelTokenizer

__all__ = [
    "SHIPPED_NAME",
    "Detokenizer",
    "EmbeddedModel",
    "EmbeddedSession",
    "ModelTokenizer",
    "load",
]

SHIPPED_NAME = "syntagma-2m"
"""the name of the shipped model"""

_SHIPPED = Path(__file__).parent / "data"


def load(path: str | PathLike[str] | None = None) -> EmbeddedModel:
    """Load a model folder: `config.json`, `tokenizer.json`, `model.safetensors` of a Llama architecture.

    Args:
        path: the folder. Its name becomes the model's name. None: the shipped model.

    Raises:
        ModelError: the folder cannot be used: `E-MODEL-FILE` (a file is missing), `E-MODEL-CONFIG`,
            `E-MODEL-ARCHITECTURE`, `E-MODEL-WEIGHTS`, `E-MODEL-SHAPE`, `E-MODEL-DTYPE`, `E-MODEL-TOKENIZER`, or
            `E-MODEL-DEPENDENCY` (the `tokenizers` library is missing). Each names the file.
        VocabularyError: the spelling of the tokens is not supported.
    """
    if path is None:
        return EmbeddedModel(_SHIPPED, name=SHIPPED_NAME)
    folder = Path(path)
    return EmbeddedModel(folder, name=folder.resolve().name)
