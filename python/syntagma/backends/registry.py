"""The registry of backends, which chooses the backend for a source."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

from syntagma.codec import ChatCodec
from syntagma.decoding.backend import Backend
from syntagma.entry import entry
from syntagma.errors import ArgumentTypeError, ModelError

__all__ = ["GROUP", "Loader", "load", "names"]

GROUP = "syntagma.backends"
"""the entry-point group in which packages add backends"""

Loader: TypeAlias = Callable[..., tuple[Backend, ChatCodec]]
"""`load(rest, **options)`: `rest` is the part of the source after `name:`, or `""`; options are keyword-only"""


class _Row(NamedTuple):
    """A backend of this library."""

    loader: str
    """`module:function`"""
    install: str
    """the argument of `pip install` that installs the libraries"""
    needs: tuple[str, ...]
    """import names of the required libraries"""
    reads: Literal["folder", "file", "nothing"]
    """what the part after the colon must name; with `nothing`, a folder is allowed as well"""


_ROWS = {
    "embedded": _Row("syntagma.backends.embedded:load", "tokenizers", ("tokenizers",), "nothing"),
    "llama_cpp": _Row("syntagma.backends.llama_cpp:load", "syntagma[llama-cpp]", ("llama_cpp",), "file"),
    "mlx": _Row("syntagma.backends.mlx:load", "syntagma[mlx]", ("mlx_lm",), "folder"),
    "transformers": _Row(
        "syntagma.backends.transformers:load", "syntagma[transformers]", ("torch", "transformers"), "folder"
    ),
}
_FOLDER = ("transformers", "mlx", "embedded")
"""the backends for a folder: the first whose libraries are installed is used, else the last"""
_SUFFIXES = {".gguf": "llama_cpp"}
"""the backends for a file, by suffix"""


def names() -> tuple[str, ...]:
    """The names of all backends, sorted: those of this library and of installed packages."""
    return tuple(sorted({*_ROWS, *(one.name for one in entry_points(group=GROUP))}))


@entry
def load(source: str | os.PathLike[str], **options: Any) -> tuple[Backend, ChatCodec]:
    """Load a model.

    Args:
        source: a backend's name; `name:rest`, where the backend `name` loads `rest`; a folder; or a GGUF file.
        **options: the backend's options, see its `load`.

    Returns:
        The backend, and the codec of its chat template.

    Raises:
        ModelError: `E-MODEL-SOURCE`, the source is unknown; `E-MODEL-DEPENDENCY`, a library is missing;
            `E-MODEL-FILE`, the folder or file does not exist; or an error of the backend.
        ArgumentTypeError: `E-ARGUMENT-TYPE`, the backend does not have an option.
        TemplateError, VocabularyError: the model's chat template or vocabulary cannot be used.
    """
    name, rest = _resolve(os.fspath(source))
    loader = _loader(name, rest)
    known = [one.name for one in inspect.signature(loader).parameters.values() if one.kind is one.KEYWORD_ONLY]
    for option in options:
        if option not in known:
            raise ArgumentTypeError(
                "E-ARGUMENT-TYPE",
                f"the backend {name!r} has no option {option!r}",
                hint=f"its options: {', '.join(known)}" if known else "it has no options",
                pointer=f"/{option}",
            )
    return loader(rest, **options)


def _resolve(source: str) -> tuple[str, str]:
    """The name of the backend for a source, and the argument of its loader.

    Raises:
        ModelError: `E-MODEL-SOURCE`, the source is unknown.
    """
    name, colon, rest = source.partition(":")
    if name in names() and (rest or not colon):
        return name, rest
    if source and Path(source).is_dir():
        found = (one for one in _FOLDER if all(find_spec(library) for library in _ROWS[one].needs))
        return next(found, _FOLDER[-1]), source
    if Path(source).is_file() and (suffix := Path(source).suffix.lower()) in _SUFFIXES:
        return _SUFFIXES[suffix], source
    if Path(source).exists():
        why = f"it is neither a folder nor a {' or '.join(_SUFFIXES)} file"
    elif rest.startswith(("http://", "https://")):
        why = f"{name!r} is neither a backend nor a kind of engine"
    elif colon:
        why = f"no backend has the name {name!r}"
    else:
        why = "there is no such folder or file"
    raise ModelError(
        "E-MODEL-SOURCE",
        f"{source!r} cannot be loaded: {why}",
        hint='load("embedded") loads the shipped model; NAME:PATH chooses a backend, with NAME one of '
        + ", ".join(names()),
    )


def _loader(name: str, rest: str) -> Loader:
    """The loader of a backend, after a check that its libraries and its file or folder exist.

    Raises:
        ModelError: `E-MODEL-DEPENDENCY`, a library is missing; `E-MODEL-FILE`, the file or folder does not exist.
    """
    row = _ROWS.get(name)
    if row is None:
        (installed, *_) = entry_points(group=GROUP, name=name)
        added: Loader = installed.load()
        return added
    missing = next((library for library in row.needs if find_spec(library) is None), None)
    if missing is not None:
        raise ModelError("E-MODEL-DEPENDENCY", f"the library {missing} is missing", hint=f"pip install '{row.install}'")
    path = Path(rest)
    there = path.is_file() if row.reads == "file" else path.is_dir()
    if not (rest and there) and (rest or row.reads != "nothing"):
        wanted = "file" if row.reads == "file" else "folder"
        raise ModelError(
            "E-MODEL-FILE",
            f"the {wanted} does not exist",
            source=rest,
            hint=f"{name}:{wanted.upper()} loads a local {wanted}",
        )
    module, _, function = row.loader.partition(":")
    own: Loader = getattr(import_module(module), function)
    return own
