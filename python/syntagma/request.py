"""What is asked of one turn: tools, `tool_choice`, `response_format`, reasoning, budgets; read and checked once.

`resolve_request` makes a `ResolvedRequest` of what the caller wrote. The parser (`StreamParser.from_request`) and the
grammar (`syntagma.constraints.build_grammar`) both take that value, so that they cannot read a request differently.

Two pairs of values look alike and are not.

| `tools=` | what the grammar allows | what the parser reads |
|---|---|---|
| `None` (undeclared) | calls of any name, with any arguments | calls of any name, their arguments untyped |
| `[]` (none) | no calls | no calls: what looks like one is content |
| a list | calls of these tools | calls, their arguments typed by these tools |

An answer with a shape (a `response_format` other than text) beside undeclared tools holds no calls.

| `reasoning=` | at the start of the output | afterwards |
|---|---|---|
| `"auto"` | the prompt's tail decides; else `template_kwargs`; else the format | a block may come, unless one is over |
| `"open"` | inside a block of reasoning | its closer ends it |
| `"closed"` | outside of reasoning | a block may come: the grammar allows one, the parser reads one |
| `"off"` | outside of reasoning | the grammar allows no block; the parser still reads one, should it come |
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias, TypedDict, get_args

import msgspec

from syntagma.errors import ArgumentError, LimitError, RequestError
from syntagma.limits import Limits
from syntagma.messages import Tool, ToolChoice, ToolLike, tools_from

__all__ = [
    "Budgets",
    "Enforce",
    "ReasoningChoice",
    "ReasoningFormat",
    "RequestOptions",
    "ResolvedRequest",
    "ResolvedToolChoice",
    "ResponseFormat",
    "SharedOptions",
    "read_choice",
    "read_response_format",
    "resolve_request",
]

Enforce: TypeAlias = Literal["off", "name", "parameters"]
ReasoningChoice: TypeAlias = Literal["auto", "open", "closed", "off"]
ReasoningFormat: TypeAlias = Literal["auto", "none", "deepseek"]
ResponseKind: TypeAlias = Literal["text", "object", "schema", "grammar", "structural_tag"]

_REASONING_CHOICES: tuple[str, ...] = get_args(ReasoningChoice)
_REASONING_FORMATS: tuple[str, ...] = get_args(ReasoningFormat)
_DEFAULT_LIMITS = Limits()


class Budgets(msgspec.Struct, frozen=True, kw_only=True):
    """Bounds on the parts of a turn; None is no bound.

    Attributes:
        reasoning_tokens: tokens of reasoning, what opens and closes it not counted.
        content_tokens: tokens of content.
        argument_bytes: bytes of the arguments of one call.
        on_reasoning: what happens when the budget of reasoning is spent. `close`: the reasoning is closed, and the
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
        """What is bounded: the label of a part in the grammar, `tokens` or `bytes`, and how many at most."""
        fields = (
            ("reasoning", "tokens", self.reasoning_tokens),
            ("content", "tokens", self.content_tokens),
            ("arguments", "bytes", self.argument_bytes),
        )
        return [(label, unit, min(most, 2**32 - 1)) for label, unit, most in fields if most is not None]


class SharedOptions(TypedDict, total=False):
    """Keyword arguments that the parser and the grammar share.

    Attributes:
        tool_choice: `auto` (the default), `none`, `required`, a tool's name, or one of OpenAI's dictionaries
            (`function`, `allowed_tools`).
        response_format: OpenAI's dictionary, `{"type": "grammar", "grammar": EBNF text}`, or a structural tag. None:
            text.
        reasoning: whether the output begins inside reasoning; see the table in `syntagma.request`. The default,
            `auto`, reads it from the prompt.
        reasoning_format: `none` leaves reasoning in content, with its tags; `deepseek` is `auto`, the default: it
            becomes `reasoning_content`.
        template_kwargs: the variables that the prompt was rendered with; a format may say what they mean for
            reasoning.
        limits: bounds on the request and on what is read. None: the defaults.
    """

    tool_choice: ToolChoice
    response_format: Mapping[str, Any] | None
    reasoning: ReasoningChoice
    reasoning_format: ReasoningFormat
    template_kwargs: Mapping[str, Any] | None
    limits: Limits | None


class RequestOptions(SharedOptions, total=False):
    """Keyword arguments of a request; those of `SharedOptions`, and what only a grammar needs.

    Attributes:
        parallel_tool_calls: False: one call at most. The default is True.
        enforce: how much of a call the grammar constrains where `tool_choice` is `auto`: nothing but its form
            (`off`), its name, or its name and its parameters by their schema. A required call, and a call of a tool
            with `strict: true`, always keeps to the schema.
        budgets: bounds on the parts of the turn. None: no bounds.
    """

    parallel_tool_calls: bool
    enforce: Enforce
    budgets: Budgets | None


class ResolvedToolChoice(msgspec.Struct, frozen=True, kw_only=True):
    """A tool choice, resolved against the declared tools.

    Attributes:
        mode: `none`: no call; `auto`: calls may come; `required`: one or more must come; `named`: exactly one must.
        tools: the tools that may be called, each with its index in the request; None: undeclared, any name.
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
        strict: refuse a schema that a grammar can only approximate.
        pointer: where the schema or grammar stands in the request.
    """

    kind: ResponseKind = "text"
    schema: Any = None
    grammar: str = ""
    tag: Mapping[str, Any] | None = None
    strict: bool = False
    pointer: str = ""

    @property
    def is_text(self) -> bool:
        """Whether the content may be any text."""
        return self.kind == "text"

    @property
    def is_json(self) -> bool:
        """Whether the content is one JSON value."""
        return self.kind in ("object", "schema")


_TEXT = ResponseFormat()


class ResolvedRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One request, read and checked.

    Attributes:
        tools: the declared tools; None: undeclared; empty: none.
        choice: which of them may or must be called.
        response_format: what the content must be.
        parallel_tool_calls: whether more than one call may come.
        enforce: how much of a call that is not required the grammar constrains.
        budgets: bounds on the parts of the turn, or None.
        reasoning: whether the output begins inside reasoning.
        reasoning_format: `none`: reasoning stays in content.
        template_kwargs: the variables that the prompt was rendered with.
        limits: bounds on the request and on what is read.
    """

    tools: tuple[Tool, ...] | None
    choice: ResolvedToolChoice
    response_format: ResponseFormat
    parallel_tool_calls: bool
    enforce: Enforce
    budgets: Budgets | None
    reasoning: ReasoningChoice
    reasoning_format: ReasoningFormat
    template_kwargs: Mapping[str, Any] | None
    limits: Limits

    @property
    def allows_calls(self) -> bool:
        """Whether calls may come. Beside an answer with a shape, only calls of declared tools are calls."""
        return self.choice.mode != "none" and (self.tools is not None or self.response_format.is_text)

    @property
    def reasoning_in_content(self) -> bool:
        """Whether reasoning is left in content, with its tags."""
        return self.reasoning_format == "none"

    @property
    def constrains(self) -> bool:
        """Whether the request constrains the model at all; where not, no grammar is needed."""
        if self.choice.forced or not self.response_format.is_text:
            return True
        if self.budgets is not None and self.budgets.bounds():
            return True
        declared, callable_tools = self.tools or (), self.choice.tools or ()
        if self.choice.mode == "none":
            return bool(declared)
        return bool(callable_tools) and (
            self.enforce != "off"
            or not self.parallel_tool_calls
            or len(callable_tools) < len(declared)
            or any(tool.strict for _, tool in callable_tools)
        )


def resolve_request(
    tools: Sequence[ToolLike] | None = None,
    *,
    tool_choice: ToolChoice = "auto",
    response_format: Mapping[str, Any] | None = None,
    reasoning: ReasoningChoice = "auto",
    reasoning_format: ReasoningFormat = "auto",
    template_kwargs: Mapping[str, Any] | None = None,
    limits: Limits | None = None,
    parallel_tool_calls: bool = True,
    enforce: Enforce = "off",
    budgets: Budgets | None = None,
    for_reading: bool = False,
) -> ResolvedRequest:
    """Read and check one request.

    Args:
        tools: the declared tools; None: undeclared; empty: none.
        tool_choice: see `SharedOptions`, as all up to `limits`.
        response_format: the same.
        reasoning: the same.
        reasoning_format: the same.
        template_kwargs: the same.
        limits: the same.
        parallel_tool_calls: see `RequestOptions`, as those after it.
        enforce: the same.
        budgets: the same.
        for_reading: the output exists already and is only read. A tool choice or response format that no model could
            follow is then no error, and the number of tools is not limited.

    Raises:
        RequestError: `E-REQUEST-TOOL-CHOICE`, `E-REQUEST-RESPONSE-FORMAT`, with the pointer of what is wrong.
        ArgumentError: `E-TOOL-…`, see `syntagma.messages.tools_from`; `E-ARGUMENT-REASONING`,
            `E-ARGUMENT-REASONING-FORMAT`: an unknown word.
        LimitError: `E-LIMIT-TOOLS`, too many tools.
    """
    _check_word("E-ARGUMENT-REASONING", "reasoning", reasoning, _REASONING_CHOICES)
    _check_word("E-ARGUMENT-REASONING-FORMAT", "reasoning_format", reasoning_format, _REASONING_FORMATS)
    bounds = limits or _DEFAULT_LIMITS
    if not for_reading:
        _check_number(tools, bounds)
    declared = tools_from(tools)
    return ResolvedRequest(
        tools=declared,
        choice=_lenient_choice(tool_choice, declared) if for_reading else read_choice(tool_choice, declared),
        response_format=_lenient_format(response_format) if for_reading else read_response_format(response_format),
        parallel_tool_calls=parallel_tool_calls,
        enforce=enforce,
        budgets=budgets,
        reasoning=reasoning,
        reasoning_format=reasoning_format,
        template_kwargs=template_kwargs,
        limits=bounds,
    )


def _check_word(code: str, name: str, given: object, known: tuple[str, ...]) -> None:
    if given not in known:
        raise ArgumentError(code, f"{name}={given!r}", hint="one of " + ", ".join(f'"{word}"' for word in known))


def _check_number(tools: Sequence[ToolLike] | None, limits: Limits) -> None:
    if tools is not None and len(tools) > limits.tools:
        raise LimitError(
            "E-LIMIT-TOOLS",
            f"{len(tools)} tools, {limits.tools} are allowed",
            limit="tools",
            given=len(tools),
            allowed=limits.tools,
            pointer="/tools",
        )


def _lenient_choice(choice: ToolChoice, tools: tuple[Tool, ...] | None) -> ResolvedToolChoice:
    """The tool choice, or `auto` where it cannot be resolved."""
    try:
        return read_choice(choice, tools)
    except RequestError:
        return read_choice("auto", tools)


def _lenient_format(value: Mapping[str, Any] | None) -> ResponseFormat:
    """The response format; where something in it is missing or unknown, its type alone says what the answer is."""
    try:
        return read_response_format(value)
    except RequestError:
        kind = value.get("type", "text") if isinstance(value, Mapping) else "text"
        kinds: dict[object, ResponseKind] = {"text": "text", "json_object": "object", "json_schema": "schema"}
        return ResponseFormat(kind=kinds.get(kind, "grammar"))


def read_choice(choice: ToolChoice, tools: tuple[Tool, ...] | None) -> ResolvedToolChoice:
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


def _mode(mode: str, declared: tuple[tuple[int, Tool], ...] | None, pointer: str) -> ResolvedToolChoice:
    if mode == "required":
        if not declared:
            raise _refused("a call is required, but no tools are declared", pointer)
        return ResolvedToolChoice(mode="required", tools=declared)
    if mode == "none" or declared == ():
        return ResolvedToolChoice(mode="none", tools=())
    return ResolvedToolChoice(mode="auto", tools=declared)


def _named(name: Any, declared: tuple[tuple[int, Tool], ...] | None, pointer: str) -> ResolvedToolChoice:
    if not isinstance(name, str) or not name:
        raise _refused("a tool's name is missing", pointer)
    found = tuple(entry for entry in declared or () if entry[1].name == name)
    if not found:
        hint = None if not declared else "declared: " + ", ".join(tool.name for _, tool in declared[:10])
        raise _refused(f"the tool {name!r} is not declared", pointer, hint=hint)
    return ResolvedToolChoice(mode="named", tools=found)


def _allowed(
    choice: Mapping[str, Any], declared: tuple[tuple[int, Tool], ...] | None, pointer: str
) -> ResolvedToolChoice:
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
        return _TEXT
    if not isinstance(value, Mapping):
        raise _bad_format("a response format is an object", "")
    kind = value.get("type")
    if kind == "text":
        return _TEXT
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
