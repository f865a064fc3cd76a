"""Reads the files of a model folder."""

from __future__ import annotations

from pathlib import Path

from syntagma.errors import ModelError

__all__ = ["read_file", "unreadable"]


def read_file(path: Path) -> bytes:
    """The bytes of a file.

    Raises:
        ModelError: `E-MODEL-FILE`, the file cannot be read.
    """
    try:
        return path.read_bytes()
    except OSError as error:
        raise unreadable(path, error.strerror) from error


def unreadable(path: Path, reason: str | None) -> ModelError:
    """The error for a file that does not exist or cannot be read."""
    return ModelError(
        "E-MODEL-FILE",
        f"the file cannot be read: {reason}",
        source=str(path),
        hint="a model folder contains config.json, tokenizer.json and model.safetensors",
    )
