"""Translates requests to vLLM into this library's options, and a turn's grammar into vLLM's parameters."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from syntagma.codec.normalise import calls_in
from syntagma.errors import GrammarError
from syntagma.formats import ChatFormat
from syntagma.request import SharedOptions

__all__ = ["asked_of", "declared_tools", "turn_grammar"]


def declared_tools(request: Any) -> list[dict[str, Any]]:
    """The functions that a request of either API declares, without tools that the server itself runs."""
    tools = [_plain(tool) for tool in request.tools or ()]
    return [tool for tool in tools if tool.get("type", "function") == "function"]


def asked_of(request: Any, template_kwargs: Mapping[str, Any] | None) -> SharedOptions:
    """The options of a request for parser and grammar, without the response format."""
    asked: SharedOptions = {"template_kwargs": template_kwargs or getattr(request, "chat_template_kwargs", None)}
    choice = _plain(request.tool_choice)
    if choice is not None:
        # In the Responses API, the name is not nested in an object `function`.
        flat = isinstance(choice, dict) and choice.get("type") == "function" and "function" not in choice
        asked["tool_choice"] = {"type": "function", "function": {"name": choice["name"]}} if flat else choice
    return asked


def turn_grammar(
    fmt: ChatFormat, request: Any, *, prompt: str | None, template_kwargs: Mapping[str, Any] | None
) -> dict[str, str] | None:
    """The grammar of a request's turn, as keyword arguments of `StructuredOutputsParams`; None without constraints.

    It covers reasoning, calls and the answer, including the client's structured output.

    Raises:
        SyntagmaError: the request is invalid, or no language of vLLM can express the grammar.
    """
    tools = declared_tools(request)
    wanted = _response_format(request)
    if not tools and wanted is None:
        return None
    asked = asked_of(request, template_kwargs)
    asked["response_format"] = wanted
    messages = getattr(request, "messages", None)
    if messages is not None:
        asked["history_calls"] = calls_in([one for one in messages if isinstance(one, Mapping)])
    parallel = getattr(request, "parallel_tool_calls", None) is not False
    grammar = fmt.grammar(tools, prompt=prompt, parallel_tool_calls=parallel, **asked)
    try:
        return {"structural_tag": json.dumps(grammar.to_structural_tag())}
    except GrammarError as error:
        if error.code not in ("E-GRAMMAR-UNSUPPORTED", "E-GRAMMAR-UNPRINTABLE"):
            raise
        return {"grammar": grammar.to_gbnf().text}


def _response_format(request: Any) -> dict[str, Any] | None:
    """The client's constraint on the answer, from `response_format`, `text.format` or `structured_outputs`."""
    params = request.extract_structured_outputs()
    if params is None or params.all_constraints_none():
        return None
    if params.json is not None:
        return {"type": "json_schema", "json_schema": {"schema": params.json}}
    if params.json_object:
        return {"type": "json_object"}
    if params.regex is not None:
        return {"type": "regex", "regex": params.regex}
    if params.choice is not None:
        return {"type": "choice", "choice": params.choice}
    if params.grammar is not None:
        return {"type": "grammar", "grammar": params.grammar}
    tag = json.loads(params.structural_tag)
    return {**tag, "type": "structural_tag"}


def _plain(value: Any) -> Any:
    """A pydantic model as plain data; other values unchanged."""
    return value.model_dump(exclude_none=True) if hasattr(value, "model_dump") else value
