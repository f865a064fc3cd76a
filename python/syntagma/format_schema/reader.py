"""TOML → `FormatSpec`. Unknown or contradictory keys are errors with file and line."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from typing import Any, NoReturn, get_args

from syntagma.errors import FormatError
from syntagma.format_schema.envelope import Envelope
from syntagma.format_schema.header import split_header
from syntagma.format_schema.pattern import Pattern
from syntagma.format_schema.spec import (
    ContentSpec,
    FormatSpec,
    MessagesSpec,
    Notation,
    ReasoningSpec,
    ReasoningState,
    ToolsSpec,
)

__all__ = ["read_toml"]

_PARTS = ("reasoning", "content", "tools", "messages")
_PYTHON = Notation(quotes=("'", '"'), true=("True", "true"), false=("False", "false"), null=("None", "null"))
_KEYS: dict[str, tuple[str, ...]] = {
    "": ("aliases", "anchor", "end_of_turn", *_PARTS),
    "reasoning": ("from", "block", "start", "switch", "interrupt", "repeat", "to"),
    "content": ("from", "block", "when", "drop"),
    "tools": (
        *("from", "section", "separator", "call", "envelope", "id", "argument", "argument_separator"),
        *("values", "types", "item", "escape", "literals", "also"),
    ),
    "messages": ("from", "start", "fields", "body", "end", "otherwise"),
}
_ALLOWED_PLACEHOLDERS = {
    "reasoning.block": ("reasoning",),
    "content.block": ("content",),
    "tools.section": ("calls", "suffix"),
    "tools.call": ("name", "arguments", "envelope", "id", "index", "ordinal", "suffix"),
    "tools.id": ("name", "index", "ordinal"),
    "tools.argument": ("key", "value", "type", "suffix"),
}
_REQUIRED_PLACEHOLDERS = {
    "reasoning.block": ("reasoning",),
    "content.block": ("content",),
    "tools.section": ("calls",),
    "tools.argument": ("key", "value"),
}

Tables = Mapping[str, Any]


def read_toml(text: str, *, source: str = "<string>", base: Callable[[str], Tables] | None = None) -> FormatSpec:
    """Read a format file.

    Args:
        text: the TOML text.
        source: its name, for errors.
        base: gives the raw tables of another file by name, for `from`.

    Raises:
        FormatError: `E-FORMAT-TOML`, `-KEY`, `-TYPE`, `-VALUE`, `-PATTERN`, `-CONFLICT` or `-FROM`, with line.
    """
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        match = re.search(r"line (\d+), column (\d+)", str(error))
        line, column = (int(match[1]), int(match[2])) if match else (None, None)
        raise FormatError("E-FORMAT-TOML", str(error), source=source, line=line, column=column) from error
    return _Reader(text, source, base).format(tables)


class _Reader:
    """One file being read; knows the text, so that errors have a line."""

    def __init__(self, text: str, source: str, base: Callable[[str], Tables] | None) -> None:
        self._lines = text.splitlines()
        self._source = source
        self._base = base

    def fail(self, what: str, path: str, message: str, hint: str | None = None) -> NoReturn:
        part, _, key = path.rpartition(".")
        inside = not part
        found = None
        for number, line in enumerate(self._lines, 1):
            bare = line.strip()
            if bare.startswith("["):
                inside = bare.strip("[] ") in (part, path)
                if bare.strip("[] ") == path:
                    found = number
            elif inside and bare.startswith(key) and bare[len(key) :].lstrip()[:1] in (".", "="):
                found = number
                break
        raise FormatError(f"E-FORMAT-{what}", f"{path}: {message}", hint=hint, source=self._source, line=found)

    def format(self, tables: Tables) -> FormatSpec:
        self._keys("", tables)
        parts = {part: self._inherit(part, tables[part], ()) for part in _PARTS if part in tables}
        spec = FormatSpec(
            aliases=self._texts("aliases", tables.get("aliases", [])),
            anchor=self._text("anchor", tables["anchor"]) if "anchor" in tables else None,
            end_of_turn=self._texts("end_of_turn", tables.get("end_of_turn", [])),
            reasoning=self._reasoning(parts["reasoning"]) if "reasoning" in parts else None,
            content=self._content(parts["content"]) if "content" in parts else None,
            tools=self._tools(parts["tools"], "tools") if "tools" in parts else None,
            messages=self._messages(parts["messages"]) if "messages" in parts else None,
        )
        if spec.messages is not None:
            self._check_headers(spec, spec.messages)
        return spec

    def _check_headers(self, spec: FormatSpec, messages: MessagesSpec) -> None:
        """Every example shows the header that leads to it; keys that headers make meaningless are refused."""
        reasoning, content, tools = spec.reasoning, spec.content, spec.tools
        if not (messages.end or messages.start) and all(field[0].isspace() for field in messages.fields):
            self.fail("CONFLICT", "messages.end", "nothing ends a message, and nothing begins one")
        if reasoning is not None and (reasoning.start != "closed" or reasoning.interrupt):
            key = "interrupt" if reasoning.interrupt else "start"
            self.fail("CONFLICT", f"reasoning.{key}", "has no meaning beside [messages]")
        if tools is not None and any(pattern.text != "{calls}" for form in tools.forms for pattern in form.section):
            self.fail("CONFLICT", "tools.section", "has no meaning beside [messages]; the header stands in `call`")
        shown = [("reasoning.block", pattern) for pattern in (reasoning.block if reasoning is not None else ())]
        shown += [("content.block", pattern) for pattern in (content.block if content is not None else ())]
        shown += [
            ("tools.call", pattern) for form in (tools.forms if tools is not None else ()) for pattern in form.call
        ]
        for path, pattern in shown:
            try:
                split_header(pattern, messages)
            except ValueError as error:
                self.fail("PATTERN", path, f"{pattern.text!r} {error}")

    def _inherit(self, part: str, table: Any, seen: tuple[str, ...]) -> dict[str, Any]:
        if not isinstance(table, dict):
            self.fail("TYPE", part, "must be a table")
        self._keys(part, table)
        if "from" not in table:
            return dict(table)
        name = self._text(f"{part}.from", table["from"])
        if name in seen:
            self.fail("FROM", f"{part}.from", f"inherits in a circle: {' → '.join((*seen, name))}")
        if self._base is None:
            self.fail("FROM", f"{part}.from", "only registered formats can inherit")
        try:
            other = self._base(name)
        except KeyError:
            self.fail("FROM", f"{part}.from", f"there is no format {name!r}")
        if part not in other:
            self.fail("FROM", f"{part}.from", f"{name!r} has no part [{part}]")
        own = {key: value for key, value in table.items() if key != "from"}
        return self._inherit(part, other[part], (*seen, name)) | own

    def _keys(self, part: str, table: Tables) -> None:
        for key in table:
            if key not in _KEYS[part]:
                path = f"{part}.{key}" if part else key
                self.fail("KEY", path, "unknown key", hint="known here: " + ", ".join(_KEYS[part]))

    def _reasoning(self, table: Tables) -> ReasoningSpec:
        start = table.get("start", "closed")
        if start not in get_args(ReasoningState):
            self.fail("VALUE", "reasoning.start", 'must be "closed", "open" or "off"')
        switch = table.get("switch", {})
        if not isinstance(switch, dict) or not all(
            isinstance(values, dict) and all(isinstance(state, str) for state in values.values())
            for values in switch.values()
        ):
            self.fail("TYPE", "reasoning.switch", "maps a variable to a table of value = state")
        to = table.get("to", "reasoning")
        if to not in ("reasoning", "content"):
            self.fail("VALUE", "reasoning.to", 'must be "reasoning" or "content"')
        return ReasoningSpec(
            block=self._patterns("reasoning.block", table, required=True),
            start=start,
            switch=switch,
            interrupt=self._texts("reasoning.interrupt", table.get("interrupt", [])),
            repeat=self._flag("reasoning.repeat", table.get("repeat", False)),
            to=to,
        )

    def _content(self, table: Tables) -> ContentSpec:
        when = table.get("when", "always")
        if when not in ("always", "reasoning"):
            self.fail("VALUE", "content.when", 'must be "always" or "reasoning"')
        return ContentSpec(
            block=self._patterns("content.block", table),
            when=when,
            drop=self._texts("content.drop", table.get("drop", [])),
        )

    def _tools(self, table: Tables, path: str) -> ToolsSpec:
        values = table.get("values", "text")
        if values not in ("text", "json", "literal"):
            self.fail("VALUE", f"{path}.values", 'must be "text", "json" or "literal"')
        types = table.get("types", {})
        if not isinstance(types, dict) or not set(types.values()) <= {"string", "json"}:
            self.fail("VALUE", f"{path}.types", 'maps a wire type to "string" or "json"')
        escape = frozenset(self._texts(f"{path}.escape", table.get("escape", [])))
        if not escape <= {"attributes", "values"}:
            self.fail("VALUE", f"{path}.escape", 'may hold "attributes" and "values"')
        call = self._patterns(f"{path}.call", table, required=True)
        argument = self._patterns(f"{path}.argument", table)
        envelope = self._envelopes(f"{path}.envelope", table.get("envelope", []))
        needs_envelope = any("envelope" in pattern.placeholders for pattern in call)
        if needs_envelope != bool(envelope):
            self.fail("CONFLICT", f"{path}.envelope", "{envelope} in `call` and the key `envelope` need each other")
        for pattern in call:
            placeholders = pattern.placeholders
            if ("arguments" in placeholders) == ("envelope" in placeholders) and "envelope" in placeholders:
                self.fail("CONFLICT", f"{path}.call", "has both {arguments} and {envelope}")
        if bool(types) != any("type" in pattern.placeholders for pattern in argument):
            self.fail("CONFLICT", f"{path}.types", "{type} in `argument` and the key `types` need each other")
        if "item" in table and not argument:
            self.fail("CONFLICT", f"{path}.item", "means nothing without `argument`")
        if "item" in table and (escape or types or values == "literal"):
            self.fail("CONFLICT", f"{path}.item", "has no meaning beside `escape`, `types` or literal values")
        literals = self._notation(f"{path}.literals", table.get("literals", "json"))
        if not literals.is_json and any('"{arguments}"' in one.pattern.text for one in envelope):
            self.fail("CONFLICT", f"{path}.literals", "an object that is spelled as a string is JSON")
        also = table.get("also", [])
        if not isinstance(also, list):
            self.fail("TYPE", f"{path}.also", "is an array of tables")
        plain = {key: value for key, value in table.items() if key != "also"}
        for further in also:
            self._keys("tools", further)
        spec = ToolsSpec(
            section=self._patterns(f"{path}.section", table) or (Pattern.of("{calls}"),),
            separator=self._text(f"{path}.separator", table.get("separator", "")),
            call=call,
            envelope=envelope,
            id=self._patterns(f"{path}.id", table),
            argument=argument,
            argument_separator=self._text(f"{path}.argument_separator", table.get("argument_separator", "")),
            values=values,
            types=types,
            item=self._text(f"{path}.item", table["item"]) if "item" in table else None,
            escape=escape,  # type: ignore[arg-type]  # checked above
            literals=literals,
            also=tuple(self._tools(self._further(plain, more), f"{path}.also") for more in also),
        )
        if spec.item is not None and spec.element is None:
            hint = "an element shows {key} a second time, where it closes"
            self.fail("CONFLICT", f"{path}.item", "only elements that are named after their keys nest", hint)
        if spec.element is not None and spec.argument_separator.strip():
            self.fail("CONFLICT", f"{path}.argument_separator", "only blanks stand between elements")
        return spec

    @staticmethod
    def _further(plain: dict[str, Any], more: Tables) -> dict[str, Any]:
        """The keys of `[tools]` with those of one `[[tools.also]]` in their place."""
        merged = {key: value for key, value in plain.items() if key != "literals"} | dict(more)
        if not any("{envelope}" in call for call in _as_list(merged.get("call", []))):
            merged.pop("envelope", None)
        elif "call" in more:
            # A further form by envelope writes its arguments as one object, whatever the first form does.
            for key in ("argument", "argument_separator", "values", "types", "item"):
                if key not in more:
                    merged.pop(key, None)
        return merged

    def _messages(self, table: Tables) -> MessagesSpec:
        fields = self._texts("messages.fields", table.get("fields", []))
        if not fields:
            self.fail("KEY", "messages.fields", "is required")
        body = self._text("messages.body", table.get("body", ""))
        if not body:
            self.fail("KEY", "messages.body", "is required")
        otherwise = table.get("otherwise", "content")
        if otherwise not in ("content", "reasoning"):
            self.fail("VALUE", "messages.otherwise", 'must be "content" or "reasoning"')
        return MessagesSpec(
            start=self._texts("messages.start", _as_list(table.get("start", []))),
            fields=fields,
            body=body,
            end=self._texts("messages.end", _as_list(table.get("end", []))),
            otherwise=otherwise,
        )

    def _patterns(self, path: str, table: Tables, *, required: bool = False) -> tuple[Pattern, ...]:
        key = path.rpartition(".")[2]
        if key not in table:
            if required:
                self.fail("KEY", path, "is required")
            return ()
        patterns = tuple(Pattern.of(text) for text in self._texts(path, _as_list(table[key])))
        for pattern in patterns:
            self._check(path, pattern)
        return patterns

    def _check(self, path: str, pattern: Pattern) -> None:
        if "\\" in pattern.text:
            self.fail(
                "PATTERN", path, "holds a backslash", hint="TOML reads \\n in \"…\" only; '…' keeps it as it stands"
            )
        kind = path.replace(".also.", ".")
        placeholders = pattern.placeholders
        for placeholder in placeholders:
            if placeholder not in _ALLOWED_PLACEHOLDERS[kind]:
                self.fail("PATTERN", path, f"{{{placeholder}}} has no meaning here")
        for placeholder in _REQUIRED_PLACEHOLDERS.get(kind, ()):
            if placeholder not in placeholders:
                self.fail("PATTERN", path, f"lacks {{{placeholder}}}")
        for first, second in zip(pattern.items, pattern.items[1:], strict=False):
            if type(first) is type(second) and "suffix" not in (
                getattr(first, "name", ""),
                getattr(second, "name", ""),
            ):
                names = {getattr(first, "name", ""), getattr(second, "name", "")}
                if "arguments" not in names or "name" not in names:
                    self.fail("PATTERN", path, f"nothing separates two placeholders in {pattern.text!r}")

    def _envelopes(self, path: str, value: Any) -> tuple[Envelope, ...]:
        found = []
        for text in self._texts(path, _as_list(value)):
            try:
                found.append(Envelope.of(text))
            except ValueError as error:
                self.fail("PATTERN", path, str(error))
        return tuple(found)

    def _notation(self, path: str, value: Any) -> Notation:
        if value == "json":
            return Notation()
        if value == "python":
            return _PYTHON
        if not isinstance(value, dict):
            self.fail("VALUE", path, 'must be "json", "python" or a table')
        known = ("quotes", "bare_keys", "true", "false", "null")
        for key in value:
            if key not in known:
                self.fail("KEY", f"{path}.{key}", "unknown key", hint="known here: " + ", ".join(known))
        spelled = {key: self._texts(f"{path}.{key}", words) for key, words in value.items() if key != "bare_keys"}
        return Notation(bare_keys=self._flag(f"{path}.bare_keys", value.get("bare_keys", False)), **spelled)

    def _text(self, path: str, value: Any) -> str:
        if not isinstance(value, str):
            self.fail("TYPE", path, "must be text")
        return value

    def _texts(self, path: str, value: Any) -> tuple[str, ...]:
        if not isinstance(value, list) or not all(isinstance(text, str) and text for text in value):
            self.fail("TYPE", path, "must be a list of texts, none empty")
        return tuple(value)

    def _flag(self, path: str, value: Any) -> bool:
        if not isinstance(value, bool):
            self.fail("TYPE", path, "must be true or false")
        return value


def _as_list(value: Any) -> Any:
    return [value] if isinstance(value, str) else value
