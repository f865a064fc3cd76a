"""What a request to vLLM asks of a turn, in the words of our requests; and the turn's grammar as vLLM takes it."""

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
    """The functions that a request declares, of either API; what the server itself runs is none of them."""
    tools = [_plain(tool) for tool in request.tools or ()]
    return [tool for tool in tools if tool.get("type", "function") == "function"]


def asked_of(request: Any, template_kwargs: Mapping[str, Any] | None) -> SharedOptions:
    """What parser and grammar take from a request, but its response format."""
    asked: SharedOptions = {"template_kwargs": template_kwargs or getattr(request, "chat_template_kwargs", None)}
    choice = _plain(request.tool_choice)
    if choice is not None:
        # The API for responses names a function without a level of its own for it.
        flat = isinstance(choice, dict) and choice.get("type") == "function" and "function" not in choice
        asked["tool_choice"] = {"type": "function", "function": {"name": choice["name"]}} if flat else choice
    return asked


def turn_grammar(
    fmt: ChatFormat, request: Any, *, prompt: str | None, template_kwargs: Mapping[str, Any] | None
) -> dict[str, str] | None:
    """The grammar of the turn that a request asks for, as keyword of `StructuredOutputsParams`.

    It holds reasoning, calls and the answer, and in it what the client asked of the answer. None: nothing is asked.

    Raises:
        SyntagmaError: the request is wrong, or no dialect of vLLM's can say the grammar.
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
    """What the client asked of the answer, by `response_format`, `text.format` or `structured_outputs`."""
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
    """A value of pydantic's as plain data."""
    return value.model_dump(exclude_none=True) if hasattr(value, "model_dump") else value
