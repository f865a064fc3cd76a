"""The files of a model folder."""

from __future__ import annotations

from pathlib import Path

from syntagma.errors import ModelError

__all__ = ["read_file", "unreadable"]


def read_file(path: Path) -> bytes:
    """The bytes of a file.

    Raises:
        ModelError: `E-MODEL-FILE`, it cannot be read.
    """
    try:
        return path.read_bytes()
    except OSError as error:
        raise unreadable(path, error.strerror) from error


def unreadable(path: Path, reason: str | None) -> ModelError:
    """The error of a file that is not there or cannot be read."""
    return ModelError(
        "E-MODEL-FILE",
        f"cannot be read: {reason}",
        source=str(path),
        hint="a model folder holds config.json, tokenizer.json and model.safetensors",
    )
