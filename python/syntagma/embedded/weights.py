"""Reads `model.safetensors`: eight bytes with the header's length, a JSON header, and the tensors."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from syntagma.embedded.files import unreadable
from syntagma.errors import ModelError

__all__ = ["Tensor", "TensorFile"]

Tensor: TypeAlias = NDArray[np.float32]

_HEADER_BYTES = 64 * 1024 * 1024
_STORED: dict[str, np.dtype[Any]] = {"F32": np.dtype("<f4"), "F16": np.dtype("<f2"), "BF16": np.dtype("<u2")}


class TensorFile:
    """The tensors of one file, read on demand.

    Raises:
        ModelError: `E-MODEL-FILE`, the file cannot be read; `E-MODEL-WEIGHTS`, the file is damaged.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._bytes = np.memmap(path, dtype=np.uint8, mode="r")
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else "the file is empty"
            raise unreadable(path, reason) from error
        size = int.from_bytes(self._bytes[:8].tobytes(), "little")
        if len(self._bytes) < 8 or size > min(_HEADER_BYTES, len(self._bytes) - 8):
            raise self._damaged("the header is longer than the file or the limit")
        self._start = 8 + size
        try:
            header = msgspec.json.decode(self._bytes[8 : self._start].tobytes())
        except msgspec.DecodeError as error:
            raise self._damaged(f"the header is not JSON: {error}") from error
        if not isinstance(header, dict):
            raise self._damaged("the header is not a JSON object")
        self._entries: dict[str, Any] = {name: entry for name, entry in header.items() if name != "__metadata__"}

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def read(self, name: str, shape: tuple[int, ...]) -> Tensor:
        """A tensor as float32, in memory.

        Raises:
            ModelError: `E-MODEL-WEIGHTS`, the tensor is missing or damaged; `E-MODEL-SHAPE`, it has another shape;
                `E-MODEL-DTYPE`, it is not stored as F32, F16 or BF16.
        """
        entry = self._entries.get(name)
        if entry is None:
            raise ModelError(
                "E-MODEL-WEIGHTS",
                f"there is no tensor {name!r}",
                source=str(self._path),
                hint="the names must be those of a Hugging Face Llama folder",
            )
        try:
            stored, given = entry["dtype"], tuple(int(size) for size in entry["shape"])
            first, last = (int(offset) for offset in entry["data_offsets"])
        except (KeyError, TypeError, ValueError) as error:
            raise self._damaged(f"the entry of tensor {name!r} cannot be read") from error
        if stored not in _STORED:
            raise ModelError(
                "E-MODEL-DTYPE",
                f"tensor {name!r} is stored as {stored}",
                source=str(self._path),
                hint="store it as " + ", ".join(_STORED),
            )
        if given != shape:
            raise ModelError(
                "E-MODEL-SHAPE",
                f"tensor {name!r} has the shape {list(given)}, but config.json requires {list(shape)}",
                source=str(self._path),
            )
        kind = _STORED[stored]
        data = self._bytes[self._start :]
        if not 0 <= first <= last <= len(data) or last - first != kind.itemsize * int(np.prod(shape, dtype=np.int64)):
            raise self._damaged(f"the data of tensor {name!r} have a wrong length or are cut off")
        raw = np.frombuffer(data[first:last].tobytes(), kind).reshape(shape)
        if stored == "BF16":
            # bfloat16 is the upper half of a float32.
            return np.asarray((raw.astype(np.uint32) << 16).view(np.float32))
        return np.asarray(raw, np.float32)

    def _damaged(self, reason: str) -> ModelError:
        return ModelError(
            "E-MODEL-WEIGHTS", reason, source=str(self._path), hint="the file is damaged or not a safetensors file"
        )
