"""Format files: TOML text → `FormatSpec`, and back.

Reading resolves what only files have: `from`, further forms that inherit from the first one, one string in place of a
list, and notations by name. msgspec then converts the tables to the spec, which checks its rules. Errors point to a
key; this module finds the key's line.
"""

from __future__ import annotations

import difflib
import itertools
import json
import re
import tomllib
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import msgspec

from syntagma.errors import FormatError
from syntagma.format_schema.misspelt import check_words
from syntagma.format_schema.parts import ContentSpec, MessagesSpec, Notation, PromptSpec, ReasoningSpec, ToolsSpec
from syntagma.format_schema.pattern import Spelled
from syntagma.format_schema.spec import FormatSpec
from syntagma.format_schema.styles import StyleSpec
from syntagma.format_schema.validation import decode_spelled, format_error, key_names, type_error
from syntagma.json_pointer import pointer_of
from syntagma.typed import ANY_MEMBER, Problem, as_type, problem

__all__ = ["FormatFile", "Tables", "read_tables", "read_toml", "write_toml"]

Tables: TypeAlias = Mapping[str, Any]
"""A format as TOML tables."""

_PARTS: dict[str, type[msgspec.Struct]] = {
    "reasoning": ReasoningSpec,
    "content": ContentSpec,
    "tools": ToolsSpec,
    "messages": MessagesSpec,
    "prompt": PromptSpec,
}
_STRUCTS: dict[str, type[msgspec.Struct]] = {**_PARTS, "also": ToolsSpec, "literals": Notation, "": FormatSpec}
_ONE_OR_MORE = {
    "reasoning": ("block",),
    "content": ("block", "before_calls"),
    "tools": ("section", "call", "envelope", "id", "argument"),
    "messages": ("start", "end", "default"),
    "prompt": ("result",),
}
"""keys of each part whose value may be one string instead of a list"""
_NOTATIONS = {
    "json": Notation(),
    "python": Notation(quotes=("'", '"'), true=("True", "true"), false=("False", "false"), null=("None", "null")),
}
_CAN_BE_UNSET = (*_ONE_OR_MORE["tools"], "item")
_ENVELOPE_REPLACES = ("argument", "argument_separator", "values", "types", "item")
_FORM = re.compile(r"/tools/also/(\d+)/")


class FormatFile(msgspec.Struct, frozen=True):
    """A format file.

    Attributes:
        text: the TOML text.
        source: its name, for errors.
        tables: the text as TOML tables.
    """

    text: str
    source: str
    tables: dict[str, Any]

    @classmethod
    def parse(cls, text: str, source: str = "<string>") -> FormatFile:
        """Read the TOML; the format in it is not checked yet.

        Raises:
            FormatError: `E-FORMAT-TOML`, with line and column.
        """
        try:
            return cls(text, source, tomllib.loads(text))
        except tomllib.TOMLDecodeError as error:
            match = re.search(r"line (\d+), column (\d+)", str(error))
            line, column = (int(match[1]), int(match[2])) if match else (None, None)
            raise FormatError("E-FORMAT-TOML", str(error), source=source, line=line, column=column) from error

    @property
    def aliases(self) -> tuple[str, ...]:
        """The further names in the file, as far as they are strings."""
        return self._words("aliases")

    @property
    def families(self) -> tuple[str, ...]:
        """The words for its models in the file, as far as they are strings."""
        return self._words("families")

    @property
    def styles(self) -> dict[str, StyleSpec]:
        """The styles of structural tags in the file, by name.

        Raises:
            FormatError: `E-FORMAT-KEY`, `-TYPE` or `-PATTERN`.
        """
        return _styles(self.tables)

    def _words(self, key: str) -> tuple[str, ...]:
        listed = self.tables.get(key, [])
        return tuple(word for word in listed if isinstance(word, str)) if isinstance(listed, list) else ()

    def spec(
        self, base: Callable[[str], Tables] | None = None, check: Callable[[FormatSpec], None] | None = None
    ) -> FormatSpec:
        """The format in the file.

        Args:
            base: the tables of another file by its name, for `from`; raises KeyError if there is none.
            check: a further check of the format; raises a FormatError with a pointer.

        Raises:
            FormatError: `E-FORMAT-KEY`, `-TYPE`, `-VALUE`, `-PATTERN`, `-CONFLICT`, `-FROM`, or that of `check`; with
                the line.
        """
        try:
            resolved = _resolved(self.tables, base)
            check_words(resolved)
            spec = _converted(resolved)
            if check is not None:
                check(spec)
            return spec
        except FormatError as error:
            error.source = self.source
            error.line = _line_of(error.pointer or "", self.text.splitlines())
            error.pointer = None
            raise


def read_toml(
    text: str,
    *,
    source: str = "<string>",
    base: Callable[[str], Tables] | None = None,
    check: Callable[[FormatSpec], None] | None = None,
) -> FormatSpec:
    """Read the text of a format file.

    Args:
        text: the TOML text.
        source: its name, for errors.
        base: see `FormatFile.spec`.
        check: see `FormatFile.spec`.

    Raises:
        FormatError: as `FormatFile.parse` and `FormatFile.spec`.
    """
    return FormatFile.parse(text, source).spec(base, check)


def read_tables(tables: Tables) -> FormatSpec:
    """Read a format from TOML tables.

    Raises:
        FormatError: as `FormatFile.spec`, with the JSON pointer of the key in place of a line.
    """
    return _converted(_resolved(tables, None))


def _resolved(tables: Tables, base: Callable[[str], Tables] | None) -> dict[str, Any]:
    """The tables as the spec has them, with what only files have resolved."""
    resolved = {key: value for key, value in tables.items() if key != "styles"}
    _styles(tables)
    for part in _PARTS:
        if part in tables:
            resolved[part] = _spelled_out(part, _inherited(part, tables[part], base, ()), f"/{part}")
    reasoning = tables.get("reasoning", {})
    if (
        "tools" in tables
        and "from" in reasoning
        and "interrupt" not in reasoning
        and resolved["reasoning"].get("interrupt")
    ):
        del resolved["reasoning"]["interrupt"]  # the openers of calls of another format
    return resolved


def _converted(resolved: dict[str, Any]) -> FormatSpec:
    try:
        return as_type(resolved, FormatSpec, dec_hook=decode_spelled)
    except msgspec.ValidationError as error:
        raise _reading_error(problem(error)) from error


# -- what only files have


def _styles(tables: Tables) -> dict[str, StyleSpec]:
    """The styles of a file, checked."""
    try:
        styles = as_type(tables.get("styles", {}), dict[str, StyleSpec], dec_hook=decode_spelled)
    except msgspec.ValidationError as error:
        raise format_error("E-FORMAT-TYPE", "/styles", f"is no table of styles: {error}") from error
    for name, style in styles.items():
        for pattern in (style.argument, *([] if style.item is None else [style.item])):
            wanted = {"key", "value"} if pattern is style.argument else {"value"}
            if not wanted <= set(pattern.placeholders) or ("type" in pattern.placeholders) != bool(style.types):
                message = "needs {value}, in `argument` {key}, and {type} where it has `types`"
                raise format_error("E-FORMAT-PATTERN", f"/styles/{name}", message)
    return styles


def _inherited(part: str, table: Any, base: Callable[[str], Tables] | None, seen: tuple[str, ...]) -> dict[str, Any]:
    """The keys of a part, with those of the format that `from` names."""
    if not isinstance(table, dict):
        raise format_error("E-FORMAT-TYPE", f"/{part}", "must be a table")
    own = dict(table)
    name = own.pop("from", None)
    if name is None:
        return own
    pointer = f"/{part}/from"
    if not isinstance(name, str):
        raise format_error("E-FORMAT-TYPE", pointer, "must be a string")
    if name in seen:
        raise format_error("E-FORMAT-FROM", pointer, f"inherits in a circle: {' → '.join((*seen, name))}")
    if base is None:
        raise format_error("E-FORMAT-FROM", pointer, "only registered formats can inherit")
    try:
        other = base(name)
    except KeyError:
        raise format_error("E-FORMAT-FROM", pointer, f"there is no format {name!r}") from None
    if part not in other:
        raise format_error("E-FORMAT-FROM", pointer, f"{name!r} has no part [{part}]")
    return _inherited(part, other[part], base, (*seen, name)) | own


def _spelled_out(part: str, table: dict[str, Any], pointer: str) -> dict[str, Any]:
    """The table as the spec has it: lists in place of single strings, notations, complete further forms.

    Patterns that are an empty list are left out, as if the key were not there.
    """
    made = {key: value for key, value in table.items() if value != [] or key not in _ONE_OR_MORE[part]}
    for key in _ONE_OR_MORE[part]:
        if isinstance(made.get(key), str):
            made[key] = [made[key]]
    if part == "tools":
        if "literals" in made:
            made["literals"] = _notation(made["literals"], f"{pointer}/literals")
        if isinstance(made.get("also"), list):
            forms = enumerate(made["also"])
            made["also"] = [_further_form(made, form, f"{pointer}/also/{index}") for index, form in forms]
    return made


def _notation(value: Any, pointer: str) -> Any:
    if isinstance(value, str) and value in _NOTATIONS:
        return _NOTATIONS[value]
    if not isinstance(value, dict):
        raise format_error("E-FORMAT-VALUE", pointer, 'must be "json", "python" or a table')
    return value


def _further_form(first: dict[str, Any], form: Any, pointer: str) -> Any:
    """The keys of a further form. It inherits those of the first form, except its notation; `[]` unsets a key."""
    if not isinstance(form, dict):
        return form
    unset = {key for key, value in form.items() if value == [] and key in _CAN_BE_UNSET}
    own = _spelled_out("tools", {key: value for key, value in form.items() if key not in unset}, pointer)
    merged = {key: value for key, value in first.items() if key not in ("literals", "also", *unset)} | own
    calls = merged.get("call")
    if not isinstance(calls, list) or not any("{envelope}" in str(call) for call in calls):
        merged.pop("envelope", None)
    elif "call" in own:
        # A further form with an envelope has its arguments as one object, whatever the first form has.
        for key in _ENVELOPE_REPLACES:
            if key not in own:
                merged.pop(key, None)
    return merged


# -- errors


def _reading_error(found: Problem) -> FormatError:
    steps = list(itertools.takewhile(lambda step: step != ANY_MEMBER, found.path))
    # A list is one value of its key; only further forms are tables with keys of their own.
    while steps and steps[-1].isdigit() and steps[-2] != "also":
        steps.pop()
    pointer = pointer_of(*steps)
    names = ["", *key_names(pointer)]
    if found.kind == "missing":
        return format_error("E-FORMAT-KEY", pointer + pointer_of(found.field), "is required")
    if found.kind == "unknown":
        known = [field.name for field in msgspec.structs.fields(_STRUCTS[names[-1]])]
        if names[-1] in _PARTS:
            known.insert(0, "from")
        near = difflib.get_close_matches(found.field, known, n=1)
        hint = "".join(f"did you mean {name}? " for name in near) + f"known here: {', '.join(known)}"
        return format_error("E-FORMAT-KEY", pointer + pointer_of(found.field), "unknown key", hint)
    owner = next((_STRUCTS[name] for name in reversed(names[:-1]) if name in _STRUCTS), FormatSpec)
    return type_error(found, owner, pointer)


def _line_of(pointer: str, lines: list[str]) -> int | None:
    """The 1-based line of the key at a pointer; if the file does not have it, that of its table."""
    *tables, key = key_names(pointer) or [""]
    table = ".".join(tables)
    form = _FORM.match(pointer)
    ordinal = int(form[1]) if form is not None else 0
    heading, inside, count = None, not table, -1
    for number, line in enumerate(lines, 1):
        bare = line.strip()
        if bare.startswith("["):
            name = bare.partition("#")[0].strip("[] ")
            count += name == table and bool(table)
            inside = name == table and (count == ordinal or not bare.startswith("[["))
            if inside or name == (f"{table}.{key}" if table else key):
                heading = number
        elif inside and bare.startswith(key) and bare[len(key) :].lstrip()[:1] in (".", "="):
            return number
    if heading is None and tables:
        return _line_of(pointer.rpartition("/")[0], lines)
    return heading


# -- writing


def write_toml(spec: FormatSpec) -> str:
    """The format as a file, without default values; reading it gives an equal spec."""
    lines = _keys(spec)
    for part in _PARTS:
        value = getattr(spec, part)
        if value is not None:
            lines += ["", f"[{part}]", *_keys(value)]
        if isinstance(value, ToolsSpec):
            for form in value.also:
                lines += ["", "[[tools.also]]", *_keys(form, value)]
    return "\n".join(lines).lstrip("\n") + "\n"


def _keys(part: msgspec.Struct, first: ToolsSpec | None = None) -> list[str]:
    """The lines of a part's keys.

    A further form inherits from the `first` one, so its default values are written if the first form has others.
    """
    lines = []
    for field in msgspec.structs.fields(part):
        value = getattr(part, field.name)
        if field.name in _PARTS or field.name == "also":
            continue
        default = field.default_factory() if field.default_factory is not msgspec.NODEFAULT else field.default
        inherits = first is not None and field.name != "literals" and getattr(first, field.name) != value
        if value != default or inherits:
            lines.append(f"{field.name} = {_value([] if value is None else value)}")
    return lines


def _value(value: Any) -> str:
    if isinstance(value, Notation):
        fields = [field for field in msgspec.structs.fields(value) if getattr(value, field.name) != field.default]
        return _value({field.name: getattr(value, field.name) for field in fields})
    if isinstance(value, Spelled):
        return _value(value.text)
    if isinstance(value, tuple) and len(value) == 1 and isinstance(value[0], Spelled):
        return _value(value[0])
    if isinstance(value, tuple | list):
        return "[" + ", ".join(map(_value, value)) + "]"
    if isinstance(value, frozenset):
        return _value(sorted(value))
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_key(key)} = {_value(item)}" for key, item in value.items()) + " }"
    # TOML's basic strings are JSON strings, except for the delete character.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _key(key: str) -> str:
    plain = key.replace("_", "").replace("-", "")
    return key if plain.isascii() and plain.isalnum() else _value(key)
