"""What a request may ask of a turn: `tool_choice`, `response_format`, budgets; read and checked once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

import msgspec

from syntagma.errors import ArgumentError, LimitError, RequestError
from syntagma.grammars import Grammar
from syntagma.limits import Limits
from syntagma.messages import Tool, ToolChoice, ToolLike, tools_from

__all__ = ["Budgets", "Choice", "Enforce", "ResponseFormat", "read_choice", "read_response_format", "read_tools"]

Enforce: TypeAlias = Literal["off", "name", "parameters"]
ResponseKind: TypeAlias = Literal["text", "object", "schema", "grammar", "structural_tag"]


class Budgets(msgspec.Struct, frozen=True, kw_only=True):
    """Bounds on the parts of a turn; None is no bound.

    Attributes:
        reasoning_tokens: tokens of reasoning, what opens and closes it not counted.
        content_tokens: tokens of content.
        argument_bytes: bytes of the arguments of one call.
        on_reasoning: what happens where the budget of reasoning is spent. `close`: the thoughts are closed, and the
            model goes on with its answer.

    Raises:
        ArgumentError: `E-BUDGET-VALUE`, a budget is below 0; the pointer names it.
    """

    reasoning_tokens: int | None = None
    content_tokens: int | None = None
    argument_bytes: int | None = None
    on_reasoning: Literal["close"] = "close"

    def __post_init__(self) -> None:
        for field in ("reasoning_tokens", "content_tokens", "argument_bytes"):
            given = getattr(self, field)
            if given is not None and given < 0:
                raise ArgumentError(
                    "E-BUDGET-VALUE", f"{field} is at least 0, not {given}", pointer=f"/budgets/{field}"
                )

    def bounds(self) -> list[tuple[str, str, int]]:
        """What is bounded: the label of a part, `tokens` or `bytes`, and how many."""
        fields = (
            ("reasoning", "tokens", self.reasoning_tokens),
            ("content", "tokens", self.content_tokens),
            ("arguments", "bytes", self.argument_bytes),
        )
        return [(label, unit, min(most, 2**32 - 1)) for label, unit, most in fields if most is not None]

    def applied(self, grammar: Grammar) -> Grammar:
        """A grammar with labelled parts whose matchers keep to the bounds."""
        for label, unit, most in self.bounds():
            grammar = grammar.bounded(label, **{unit: most})
        return grammar


class Choice(msgspec.Struct, frozen=True, kw_only=True):
    """A tool choice, resolved against the declared tools.

    Attributes:
        mode: `none`: no call; `auto`: calls may come; `required`: one or more must come; `named`: exactly one must.
        tools: the tools that may be called, with their place in the request; None: undeclared, any name.
    """

    mode: Literal["none", "auto", "required", "named"]
    tools: tuple[tuple[int, Tool], ...] | None

    @property
    def forced(self) -> bool:
        """Whether a call must come."""
        return self.mode in ("required", "named")


class ResponseFormat(msgspec.Struct, frozen=True, kw_only=True):
    """What the content must be.

    Attributes:
        kind: `text`: anything; `object`: a JSON object; `schema`: JSON by `schema`; `grammar`: by `grammar`;
            `structural_tag`: by `tag`.
        schema: JSON Schema, for kind `schema`.
        tag: the structural tag, for kind `structural_tag`.
        grammar: EBNF text, for kind `grammar`.
        strict: a schema that can only be held approximately is refused.
        pointer: place of the schema or grammar in the request.
    """

    kind: ResponseKind = "text"
    schema: Any = None
    grammar: str = ""
    tag: Mapping[str, Any] | None = None
    strict: bool = False
    pointer: str = ""


def read_tools(tools: Sequence[ToolLike] | None, limits: Limits) -> tuple[Tool, ...] | None:
    """The tools of a request.

    Raises:
        ArgumentError: `E-TOOL-…`, see `syntagma.messages.tools_from`.
        LimitError: `E-LIMIT-TOOLS`, too many.
    """
    if tools is not None and len(tools) > limits.tools:
        raise LimitError(
            "E-LIMIT-TOOLS",
            f"{len(tools)} tools, {limits.tools} are allowed",
            limit="tools",
            given=len(tools),
            allowed=limits.tools,
            pointer="/tools",
        )
    return tools_from(tools)


def read_choice(choice: ToolChoice, tools: tuple[Tool, ...] | None) -> Choice:
    """Resolve a tool choice: `auto`, `none`, `required`, a tool's name, or one of OpenAI's dictionaries.

    Raises:
        RequestError: `E-REQUEST-TOOL-CHOICE`, with the pointer of what is wrong.
    """
    declared = None if tools is None else tuple(enumerate(tools))
    if isinstance(choice, str):
        if choice in ("auto", "none", "required"):
            return _mode(choice, declared, "/tool_choice")
        return _named(choice, declared, "/tool_choice")
    if not isinstance(choice, Mapping):
        raise _refused("a tool choice is a word, a tool's name or an object", "/tool_choice")
    kind = choice.get("type")
    if kind == "function":
        inner = choice.get("function")
        if isinstance(inner, Mapping):
            return _named(inner.get("name"), declared, "/tool_choice/function/name")
        return _named(choice.get("name"), declared, "/tool_choice/name")
    if kind == "allowed_tools":
        inner = choice.get("allowed_tools")
        if isinstance(inner, Mapping):
            return _allowed(inner, declared, "/tool_choice/allowed_tools")
        return _allowed(choice, declared, "/tool_choice")
    raise _refused(f"unknown type {kind!r}", "/tool_choice/type", hint='known: "function", "allowed_tools"')


def _mode(mode: str, declared: tuple[tuple[int, Tool], ...] | None, pointer: str) -> Choice:
    if mode == "required":
        if not declared:
            raise _refused("a call is required, but no tools are declared", pointer)
        return Choice(mode="required", tools=declared)
    if mode == "none" or declared == ():
        return Choice(mode="none", tools=())
    return Choice(mode="auto", tools=declared)


def _named(name: Any, declared: tuple[tuple[int, Tool], ...] | None, pointer: str) -> Choice:
    if not isinstance(name, str) or not name:
        raise _refused("a tool's name is missing", pointer)
    found = tuple(entry for entry in declared or () if entry[1].name == name)
    if not found:
        hint = None if not declared else "declared: " + ", ".join(tool.name for _, tool in declared[:10])
        raise _refused(f"the tool {name!r} is not declared", pointer, hint=hint)
    return Choice(mode="named", tools=found)


def _allowed(choice: Mapping[str, Any], declared: tuple[tuple[int, Tool], ...] | None, pointer: str) -> Choice:
    mode = choice.get("mode", "auto")
    if mode not in ("auto", "required"):
        raise _refused(f"unknown mode {mode!r}", f"{pointer}/mode", hint='known: "auto", "required"')
    listed = choice.get("tools")
    if not isinstance(listed, Sequence) or isinstance(listed, str) or not listed:
        raise _refused("the allowed tools are a list of at least one", f"{pointer}/tools")
    names = set()
    for index, entry in enumerate(listed):
        place = f"{pointer}/tools/{index}"
        if not isinstance(entry, Mapping):
            raise _refused("an allowed tool is an object", place)
        inner = entry.get("function")
        name = inner.get("name") if isinstance(inner, Mapping) else entry.get("name")
        names.add(_named(name, declared, place).tools[0][1].name)  # type: ignore[index]  # a named choice has one
    kept = tuple(entry for entry in declared or () if entry[1].name in names)
    return _mode(mode, kept, pointer)


def _refused(message: str, pointer: str, hint: str | None = None) -> RequestError:
    return RequestError("E-REQUEST-TOOL-CHOICE", message, pointer=pointer, hint=hint)


def read_response_format(value: Mapping[str, Any] | None) -> ResponseFormat:
    """Read OpenAI's `response_format`, `{"type": "grammar", "grammar": EBNF text}`, and structural tags.

    Raises:
        RequestError: `E-REQUEST-RESPONSE-FORMAT`, with the pointer of what is wrong.
    """
    if value is None:
        return ResponseFormat()
    if not isinstance(value, Mapping):
        raise _bad_format("a response format is an object", "")
    kind = value.get("type")
    if kind == "text":
        return ResponseFormat()
    if kind == "json_object":
        if value.get("schema") is None:
            return ResponseFormat(kind="object")
        return _schema(value, "/schema")
    if kind == "json_schema":
        inner = value.get("json_schema")
        if isinstance(inner, Mapping):
            return _schema(inner, "/json_schema/schema")
        return _schema(value, "/schema")
    if kind == "grammar":
        grammar = value.get("grammar")
        if not isinstance(grammar, str):
            raise _bad_format("a grammar is EBNF text", "/grammar")
        return ResponseFormat(kind="grammar", grammar=grammar, pointer="/response_format/grammar")
    if kind == "structural_tag":
        if not {"format", "structures", "structural_tag"} & value.keys():
            raise _bad_format("a structural tag has a format", "/format")
        return ResponseFormat(kind="structural_tag", tag=value, pointer="/response_format")
    raise _bad_format(f"unknown type {kind!r}", "/type")


def _schema(holder: Mapping[str, Any], pointer: str) -> ResponseFormat:
    schema = holder.get("schema")
    if not isinstance(schema, Mapping | bool):
        raise _bad_format("a schema is an object, true or false", pointer)
    return ResponseFormat(
        kind="schema", schema=schema, strict=holder.get("strict") is True, pointer=f"/response_format{pointer}"
    )


def _bad_format(message: str, pointer: str) -> RequestError:
    return RequestError("E-REQUEST-RESPONSE-FORMAT", message, pointer=f"/response_format{pointer}")
