"""Shared by the modules of this package: names that are not supported, errors as xgrammar raises them, and tensors."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from functools import cache
from importlib import resources
from importlib.util import find_spec
from typing import Any, NoReturn

import numpy as np

from syntagma.compat.xgrammar.exception import InvalidStructuralTagError, WrongValueError
from syntagma.errors import SyntagmaError
from syntagma.json_pointer import follow

__all__ = ["bitmask_dtype_of", "data", "errors", "has_torch", "refuse", "tag_errors"]


@cache
def data() -> dict[str, Any]:
    """The package's data file."""
    return tomllib.loads(resources.files(__package__).joinpath("xgrammar.toml").read_text(encoding="utf-8"))


def refuse(name: str) -> NoReturn:
    """Raise for a name that is not supported.

    Raises:
        NotImplementedError: always, with the reason from the data file.
    """
    raise NotImplementedError(f"{name}: {data()['unsupported'][name]}")


@cache
def has_torch() -> bool:
    """Whether torch is installed. If so, bitmasks are torch tensors, else NumPy arrays."""
    return find_spec("torch") is not None


def bitmask_dtype_of(module: str) -> Callable[[str], Any]:
    """The `__getattr__` of a module with the name `bitmask_dtype`: torch is imported when that name is used."""

    def get(name: str) -> Any:
        if name != "bitmask_dtype":
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        if not has_torch():
            return np.dtype(np.int32)
        import torch

        return torch.int32

    return get


@contextmanager
def errors() -> Iterator[None]:
    """Turn the library's errors into `RuntimeError`, as xgrammar raises it; the original error is the cause."""
    try:
        yield
    except WrongValueError:
        raise
    except SyntagmaError as error:
        raise RuntimeError(str(error)) from error


@contextmanager
def tag_errors(tag: Any, known: Collection[str]) -> Iterator[None]:
    """As `errors`, for a structural tag; `known` are the format types that have a name here, supported or not."""
    try:
        yield
    except SyntagmaError as error:
        try:
            kind = follow(tag, error.pointer or "")
        except LookupError:
            kind = None
        unheard = (error.pointer or "").endswith("/type") and kind not in known
        if error.code == "E-GRAMMAR-UNSUPPORTED" and not unheard:
            try:
                refuse("structural_tag(format)")
            except NotImplementedError as refusal:
                raise NotImplementedError(f"{refusal} ({error.message}, {error.place})") from error
        raise InvalidStructuralTagError(str(error)) from error
