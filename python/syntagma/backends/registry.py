"""Which backend loads which source."""

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
"""the entry-point group by which packages add backends"""

Loader: TypeAlias = Callable[..., tuple[Backend, ChatCodec]]
"""`load(rest, **options)`: `rest` is what stands after `name:` in the source, or `""`; options are keyword-only"""


class _Row(NamedTuple):
    """A backend that comes with the library."""

    loader: str
    """`module:function`"""
    install: str
    """what pip installs to have the libraries"""
    needs: tuple[str, ...]
    """the libraries, by the name under which they are imported"""
    reads: Literal["folder", "file", "nothing"]
    """what must stand after the colon; a backend that needs nothing takes a folder as well"""


_ROWS = {
    "embedded": _Row("syntagma.backends.embedded:load", "tokenizers", ("tokenizers",), "nothing"),
    "llama_cpp": _Row("syntagma.backends.llama_cpp:load", "syntagma[llama-cpp]", ("llama_cpp",), "file"),
    "mlx": _Row("syntagma.backends.mlx:load", "syntagma[mlx]", ("mlx_lm",), "folder"),
    "transformers": _Row(
        "syntagma.backends.transformers:load", "syntagma[transformers]", ("torch", "transformers"), "folder"
    ),
}
_FOLDER = ("transformers", "mlx", "embedded")
"""what loads a folder: the first whose libraries are installed, else the last"""
_SUFFIXES = {".gguf": "llama_cpp"}
"""what loads a file, by the end of its name"""


def names() -> tuple[str, ...]:
    """The names of all backends, sorted: those of the library, and those that installed packages add."""
    return tuple(sorted({*_ROWS, *(one.name for one in entry_points(group=GROUP))}))


@entry
def load(source: str | os.PathLike[str], **options: Any) -> tuple[Backend, ChatCodec]:
    """Load a model.

    Args:
        source: a backend's name; `name:rest`, where the backend called so reads the rest; a folder; or a GGUF
            file.
        **options: passed on to the backend; its `load` lists them.

    Returns:
        The backend, and the codec of its chat template.

    Raises:
        ModelError: `E-MODEL-SOURCE`, there is no such source; `E-MODEL-DEPENDENCY`, a library is missing;
            `E-MODEL-FILE`, the folder or file is; or what the backend raises.
        ArgumentTypeError: `E-ARGUMENT-TYPE`, an option that the backend does not have.
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
                hint=f"it has {', '.join(known)}" if known else "it has none",
                pointer=f"/{option}",
            )
    return loader(rest, **options)


def _resolve(source: str) -> tuple[str, str]:
    """The name of the backend, and what it is to load.

    Raises:
        ModelError: `E-MODEL-SOURCE`.
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
        hint='"embedded" is the model that comes with the library; a backend is chosen by NAME:PATH, with NAME one of '
        + ", ".join(names()),
    )


def _loader(name: str, rest: str) -> Loader:
    """The function that loads the models of a backend; its libraries are there, and what it is to read.

    Raises:
        ModelError: `E-MODEL-DEPENDENCY` or `E-MODEL-FILE`.
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
            f"there is no such {wanted}",
            source=rest,
            hint=f"{name}:{wanted.upper()} loads a {wanted} of this machine",
        )
    module, _, function = row.loader.partition(":")
    own: Loader = getattr(import_module(module), function)
    return own
