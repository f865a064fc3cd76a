"""xgrammar's structural tags of models, made from the library's formats, and its reading of tools and tool choices."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, Literal, NoReturn, TypeAlias

from syntagma import formats
from syntagma.compat.xgrammar.openai_tool_call_schema import BuiltinToolParam, FunctionToolParam, tool_of
from syntagma.compat.xgrammar.structural_tag import StructuralTag
from syntagma.compat.xgrammar.support import data, errors
from syntagma.errors import FormatError
from syntagma.limits import Limits

__all__ = [
    "get_builtin_structural_tag",
    "get_model_structural_tag",
    "normalize_tool_choice",
    "register_model_structural_tag",
]

Choice: TypeAlias = Literal["auto", "required", "forced"]
_Builder: TypeAlias = Callable[..., StructuralTag]
_REASONING = {"enabled": "open", "disabled": "off", "auto": "auto"}
_registered: dict[str, _Builder] = {}


def get_model_structural_tag(  # noqa: PLR0917  # as in xgrammar
    model: str,
    tools: Any = None,
    tool_choice: Any = "auto",
    reasoning: bool | Literal["enabled", "disabled", "auto"] = "enabled",
    force_reasoning: bool = False,  # noqa: ARG001  # deprecated there, without effect
    any_order: bool = False,
    exclude_special_tokens: bool = True,
    max_whitespace_cnt: int | None = None,
    parallel_tool_calls: bool = True,
) -> StructuralTag:
    """The structural tag of what a model may write: reasoning, text and calls of tools.

    Args:
        model: one of xgrammar's names, or the name of any of the library's formats.
        tools: declared tools, as the Chat Completions API has them; others by `type`, `name` and `parameters`.
        tool_choice: `auto`, `none`, `required`, a tool, or allowed tools.
        reasoning: `enabled`: the prompt has opened it; `disabled`: there is none; `auto`: either.
        force_reasoning: no effect.
        any_order: whether arguments may come in any order.
        exclude_special_tokens: no effect for the library's formats: text never matches special tokens.
        max_whitespace_cnt: the most whitespace characters in a row in arguments.
        parallel_tool_calls: whether more than one call may come.

    Raises:
        ValueError: an unknown model, or tools, a choice or an option that is not valid.
        RuntimeError: the format cannot be written as a structural tag.
    """
    chosen, builtin, choice = normalize_tool_choice(tools, tool_choice)
    if isinstance(reasoning, bool):
        reasoning = "enabled" if reasoning else "disabled"
    if reasoning not in _REASONING:
        raise ValueError("reasoning is a bool, 'enabled', 'disabled' or 'auto'")
    if not isinstance(parallel_tool_calls, bool):
        raise ValueError("parallel_tool_calls is a bool")
    if model in _registered:
        return _registered[model](
            chosen,
            builtin,
            choice,
            reasoning,
            any_order=any_order,
            exclude_special_tokens=exclude_special_tokens,
            max_whitespace_cnt=max_whitespace_cnt,
            parallel_tool_calls=parallel_tool_calls,
        )
    try:
        names = data()["models"].get(model, model)
        fmt = formats.get(names) if isinstance(names, str) else formats.get(*names)
    except FormatError as error:
        known = ", ".join([*data()["models"], *_registered])
        raise ValueError(f"there is no model {model!r}; known are {known}, and every format's name") from error
    declared = [*(tool.declared() for tool in chosen), *(tool.declared() for tool in builtin)]
    wanted: Any = {"auto": "auto" if declared else "none", "required": "required"}.get(choice, "required")
    with errors():
        tag = fmt.structural_tag(
            declared,
            tool_choice=wanted,
            reasoning=_REASONING[reasoning],  # type: ignore[arg-type]
            parallel_tool_calls=parallel_tool_calls and choice != "forced",
            limits=Limits() if max_whitespace_cnt is None else Limits(json_whitespace=max_whitespace_cnt),
        )
    return StructuralTag.model_validate(_with_options(dict(tag), any_order, max_whitespace_cnt))


def _with_options(value: Any, any_order: bool, most: int | None) -> Any:
    """A tag with the options of a call in each of its schemas."""
    if isinstance(value, list):
        return [_with_options(one, any_order, most) for one in value]
    if not isinstance(value, Mapping):
        return value
    if value.get("type") == "json_schema":
        given = {"any_order": True} if any_order else {}
        return {**value, **given, **({} if most is None else {"max_whitespace_cnt": most})}
    return {key: _with_options(one, any_order, most) for key, one in value.items()}


@functools.wraps(get_model_structural_tag, assigned=("__annotations__",))
def get_builtin_structural_tag(*args: Any, **kwargs: Any) -> StructuralTag:
    """The older name of `get_model_structural_tag`."""
    return get_model_structural_tag(*args, **kwargs)


def normalize_tool_choice(
    tools: Any = None, tool_choice: Any = "auto"
) -> tuple[list[FunctionToolParam], list[BuiltinToolParam], Choice]:
    """The tools that a choice leaves, functions and others, and `auto`, `required` or `forced`.

    Raises:
        ValueError: tools or a choice that are not valid, or a choice that leaves no tool where one must be called.
    """
    if tools is not None and not isinstance(tools, list):
        raise ValueError("tools are a list")
    read = [tool_of(tool) for tool in tools or ()]
    functions = [tool for tool in read if isinstance(tool, FunctionToolParam)]
    builtin = [tool for tool in read if isinstance(tool, BuiltinToolParam)]
    mode: Choice = "auto"
    if tool_choice == "none":
        functions, builtin = [], []
    elif tool_choice == "required":
        mode = "required"
    elif isinstance(tool_choice, Mapping) or hasattr(tool_choice, "model_dump"):
        given = tool_choice if isinstance(tool_choice, Mapping) else tool_choice.model_dump()
        functions, builtin, mode = _chosen(given, functions, builtin)
    elif tool_choice not in (None, "auto"):
        raise ValueError(f"there is no tool choice {tool_choice!r}")
    left = len(functions) + len(builtin)
    if mode == "required" and not left:
        raise ValueError("a call is required, but there are no tools")
    if mode == "forced" and left != 1:
        raise ValueError(f"one tool must be called, but the choice leaves {left}")
    return functions, builtin, mode


def _chosen(
    choice: Mapping[str, Any], functions: list[FunctionToolParam], builtin: list[BuiltinToolParam]
) -> tuple[list[FunctionToolParam], list[BuiltinToolParam], Choice]:
    kind = choice.get("type")
    if kind == "allowed_tools":
        allowed = choice.get("allowed_tools")
        if not isinstance(allowed, Mapping) or allowed.get("mode") not in ("auto", "required"):
            raise ValueError("allowed_tools have a mode, 'auto' or 'required', and tools")
        names: set[str] = set()
        types: set[str] = set()
        for tool in allowed.get("tools", ()):
            if tool.get("type") == "function":
                names.add(_name_of(tool))
            else:
                types.add(str(tool.get("type")))
        functions = [tool for tool in functions if tool.function.name in names]
        builtin = [tool for tool in builtin if tool.type in types]
        missing = names - {tool.function.name for tool in functions} | types - {tool.type for tool in builtin}
        if missing:
            raise ValueError(f"allowed tools that are not declared: {', '.join(sorted(missing))}")
        return functions, builtin, allowed["mode"]
    if kind == "function":
        name = _name_of(choice)
        functions = [tool for tool in functions if tool.function.name == name]
        if not functions:
            raise ValueError(f"there is no tool {name!r}")
        return functions, [], "forced"
    if not isinstance(kind, str):
        raise ValueError("a tool choice has a type")
    return [], [tool for tool in builtin if tool.type == kind], "forced"


def _name_of(choice: Mapping[str, Any]) -> str:
    function = choice.get("function")
    name = function.get("name") if isinstance(function, Mapping) else None
    if not isinstance(name, str):
        _wrong_choice()
    return name


def _wrong_choice() -> NoReturn:
    raise ValueError("the choice of a function has its name: {'type': 'function', 'function': {'name': …}}")


def register_model_structural_tag(name: str) -> Callable[[_Builder], _Builder]:
    """A decorator for a function that makes the tag of a model; `get_model_structural_tag` finds it by this name.

    It is called with functions, other tools, the choice, the reasoning mode, and the other options by name.
    """

    def decorator(builder: _Builder) -> _Builder:
        _registered[name] = builder
        return builder

    return decorator
