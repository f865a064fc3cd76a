"""The check of a new format: the parser must be able to read its calls, and a grammar to express them."""

from __future__ import annotations

from syntagma.constraints import build_grammar
from syntagma.errors import FormatError, GrammarError
from syntagma.format_schema import FormatSpec, StartState
from syntagma.json_types import JSON_TYPES
from syntagma.parsing import compiled_format
from syntagma.request import resolve_request

__all__ = ["check_usable"]


def check_usable(spec: FormatSpec) -> None:
    """Refuse a format that the parser or the grammar does not support, whatever the request.

    Raises:
        FormatError: `E-FORMAT-UNSUPPORTED`, with the JSON pointer of the key, and a hint.
    """
    compiled_format(spec)
    try:
        for choice in ("none", "auto"):
            build_grammar(spec, resolve_request(None, tool_choice=choice), StartState())
    except GrammarError as error:
        message = f"no grammar can hold it: {error.message}"
        raise FormatError("E-FORMAT-UNSUPPORTED", message, hint=error.hint, pointer="/tools") from error
    if spec.tools is not None and spec.tools.types and not all(map(spec.tools.type_words, JSON_TYPES)):
        raise FormatError(
            "E-FORMAT-UNSUPPORTED",
            "values of some types have no word, so that no grammar can hold them",
            hint='one word for strings and one for all else: types = { text = "string", "*" = "json" }',
            pointer="/tools/types",
        )
