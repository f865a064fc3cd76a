"""The files that a grammar in Lark imports, from the folder of its own file."""

from __future__ import annotations

from pathlib import Path

from syntagma import _engine
from syntagma.errors import GrammarError
from syntagma.limits import Limits

__all__ = ["imported_texts"]


def imported_texts(text: str, folder: Path, limits: Limits) -> dict[str, str]:
    """The texts that a source imports, and those that these import, by name with points between folders.

    Nothing outside of the folder is read. Where the texts are larger than `limits` allow, or one cannot be split into
    words, the rest is left out: reading the whole fails there.

    Raises:
        GrammarError: `E-GRAMMAR-READ`, a file cannot be read, or leads out of the folder.
    """
    found: dict[str, str] = {}
    left = limits.grammar_bytes
    open_texts = [("", text)]
    while open_texts:
        name, source = open_texts.pop()
        left -= len(source)
        if left < 0:
            break
        try:
            names = _engine.Grammar.lark_imports(source, name)
        except GrammarError:
            break
        for imported in names:
            if imported not in found:
                found[imported] = _read(folder, imported)
                open_texts.append((imported, found[imported]))
    return found


def _read(folder: Path, name: str) -> str:
    path = folder.joinpath(*name.split(".")).with_suffix(".lark")
    try:
        if not path.resolve().is_relative_to(folder.resolve()):
            raise GrammarError("E-GRAMMAR-READ", f"leads out of {folder}", source=str(path))
        return path.read_bytes().decode("utf-8-sig", "replace")
    except OSError as error:
        message = f"cannot be read: {error.strerror or error}"
        raise GrammarError("E-GRAMMAR-READ", message, source=str(path)) from None
