"""Reads the inputs of commands: files, standard input, templates, formats, tokenizers."""

from __future__ import annotations

import sys
from codecs import BOM_UTF8
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any, cast

import msgspec

from syntagma.cli.progress import progress
from syntagma.decoding import TokenizerInfo
from syntagma.errors import RequestError, SyntagmaError, TemplateError
from syntagma.formats import ChatFormat
from syntagma.formats import get as get_format
from syntagma.formats.styles import styled
from syntagma.grammars import Grammar, Order
from syntagma.grammars.dialects import notation_of_file, read_first
from syntagma.messages import tools_from
from syntagma.templates import ChatTemplate

__all__ = [
    "EMBEDDED",
    "GRAMMAR_FILE",
    "START",
    "format_of",
    "grammar_of",
    "load_format",
    "load_grammar",
    "load_messages",
    "load_template",
    "load_tokenizer",
    "load_tools",
    "of_file",
    "read_bytes",
    "read_json",
    "read_text",
]

EMBEDDED = "embedded"
"""the word for the shipped model, in place of a path"""

GRAMMAR_FILE = (
    "Grammar file: .json (JSON Schema or structural tag), .gbnf, .lark, .ebnf, .kbnf, .regex; others by their text."
)
"""help text for the files that `load_grammar` reads"""

_FORMATS = "`syntagma formats` lists the named formats; a template is a file, a model folder or a GGUF file"
"""hint where a command needs a format"""

START = "Start rule; by default 'start', in GBNF 'root'."
"""help text for the start rule of `load_grammar`"""


@contextmanager
def of_file(path: str, *, line: int | None = None) -> Iterator[None]:
    """Add this file and line to errors that are raised in the block and have no source."""
    try:
        yield
    except SyntagmaError as error:
        error.source = error.source or path
        error.line = error.line or line
        raise


def read_bytes(path: str) -> bytes:
    """The bytes of a file; `-` is standard input.

    Raises:
        RequestError: `E-REQUEST-FILE`, the file cannot be read.
    """
    try:
        return sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
    except OSError as error:
        raise RequestError("E-REQUEST-FILE", f"the file cannot be read: {error.strerror}", source=path) from error


def read_text(path: str) -> str:
    """The text of a file; `-` is standard input. Without a byte order mark; bytes that are not UTF-8 become U+FFFD."""
    return read_bytes(path).decode("utf-8-sig", "replace")


def read_json(path: str) -> Any:
    """The JSON value in a file; `-` is standard input.

    Raises:
        RequestError: `E-REQUEST-FILE`, the file cannot be read; `E-REQUEST-JSON`, it is not JSON.
    """
    raw = read_bytes(path).removeprefix(BOM_UTF8)
    try:
        return msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise RequestError("E-REQUEST-JSON", f"not JSON: {error}", source=path) from error


def load_template(source: str) -> ChatTemplate:
    """The chat template of a file, a model folder, a GGUF file, or of the shipped model (`embedded`)."""
    if source == EMBEDDED:
        return ChatTemplate.from_pretrained(_shipped())
    path = Path(source)
    if not path.exists():
        message = "no template can be read: there is no such file or folder"
        hint = f"a template is a file, a model folder, a GGUF file, or '{EMBEDDED}'"
        raise TemplateError("E-TEMPLATE-LOAD", message, hint=hint, source=source)
    if path.is_dir():
        return ChatTemplate.from_pretrained(path)
    return ChatTemplate.from_gguf(path) if path.suffix == ".gguf" else ChatTemplate.from_file(path)


def load_format(source: str) -> ChatFormat:
    """A format by name, or from a TOML file."""
    if source.endswith(".toml"):
        return ChatFormat.from_toml(read_text(source), source=source)
    return get_format(source)


def format_of(name: str | None, template: str | None) -> ChatFormat:
    """The format of `--format` or `--template`; exactly one of them.

    Raises:
        RequestError: `E-REQUEST-ARGUMENT`, both or none are given.
    """
    if (name is None) == (template is None):
        raise RequestError("E-REQUEST-ARGUMENT", "give either --format or --template", hint=_FORMATS)
    if name is not None:
        return load_format(name)
    from syntagma.analysis import analyze

    with of_file(template or ""), progress(template or ""):
        return analyze(load_template(template or "")).format


def load_tokenizer(source: str) -> TokenizerInfo:
    """A vocabulary from `tokenizer.json`, a GGUF file, a model folder, or the shipped model (`embedded`)."""
    if source == EMBEDDED:
        source = _shipped()
    path = Path(source)
    if path.is_dir():
        path /= "tokenizer.json"
    return TokenizerInfo.from_gguf(path) if path.suffix == ".gguf" else TokenizerInfo.from_tokenizer_json(path)


def load_messages(path: str) -> tuple[list[Any], Any]:
    """The messages in a JSON file, and its tools. The file is a list of messages or a request; None: it has no tools.

    Raises:
        RequestError: `E-REQUEST-FILE` or `E-REQUEST-JSON`, see `read_json`; `E-REQUEST-FIELD`, the messages are not a
            list of objects.
    """
    given = read_json(path)
    tools = None
    if isinstance(given, dict):  # a whole request
        tools = given.get("tools")
        given = given.get("messages")
    if not isinstance(given, list) or not all(isinstance(one, dict) for one in given):
        message = "the file holds neither a list of messages nor an object with a list `messages`"
        raise RequestError("E-REQUEST-FIELD", message, source=path)
    return given, tools


def load_tools(path: str | None) -> Any:
    """The tools in a JSON file, unchanged; None without a file.

    Raises:
        RequestError: `E-REQUEST-FILE` or `E-REQUEST-JSON`, see `read_json`.
        ArgumentError: `E-TOOL-…`, a tool is malformed.
    """
    if path is None:
        return None
    given = read_json(path)
    with of_file(path):
        tools_from(given)
    return given


def _shipped() -> str:
    return str(files("syntagma.embedded").joinpath("data"))


def load_grammar(
    path: str | None,
    regex: str | None,
    *,
    start: str | None = None,
    order: str = "declared",
    strict: bool = False,
    resources: str | None = None,
) -> Grammar:
    """A grammar from a file or a regular expression; exactly one of them.

    The suffix of the file's name determines its language, see `Grammar.from_file`. `start` is its start rule. `order`
    and `strict` apply to JSON Schemas, see `Grammar.from_json_schema`; so does `resources`, a folder of JSON files.

    Raises:
        ArgumentError: `E-SCHEMA-OPTION`, the order is unknown; `E-GRAMMAR-DIALECT`, the language is not recognised.
        RequestError: `E-REQUEST-ARGUMENT`, both or none are given; `E-REQUEST-FILE`, the file cannot be read.
        GrammarError: the source cannot be read.
    """
    if regex is not None and path is None:
        return Grammar.from_regex(regex)
    if path is None or regex is not None:
        raise RequestError("E-REQUEST-ARGUMENT", "give either a grammar file or --regex")
    return grammar_of(path, read_text(path), start=start, order=order, strict=strict, resources=resources)


def _resources(folder: str) -> dict[str, dict[str, Any] | bool | str]:
    """The JSON files of a folder, by their paths in it."""
    if not Path(folder).is_dir():
        raise RequestError("E-REQUEST-FILE", f"{folder} is no folder")
    files = sorted(Path(folder).rglob("*.json"))
    return {file.relative_to(folder).as_posix(): read_text(str(file)) for file in files}


def grammar_of(
    path: str,
    text: str,
    *,
    start: str | None = None,
    order: str = "declared",
    strict: bool = False,
    resources: str | None = None,
) -> Grammar:
    """The grammar in the text of a file; see `load_grammar`."""
    with of_file(path):
        notations = notation_of_file(path, text)
        if notations == ("json_schema",):
            given = None if resources is None else _resources(resources)
            return Grammar.from_json_schema(text, order=cast("Order", order), allow_widened=not strict, resources=given)
        if notations == ("lark",) and path != "-":
            return Grammar.from_file(path, start=start)
        return read_first(notations, lambda notation: Grammar.from_text(text, notation, start=start, styles=styled))
