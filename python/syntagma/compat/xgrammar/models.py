"""Names of xgrammar that implement model formats in code; here formats are data, so none of them is supported."""
# The parameters are those of xgrammar; they are not used.
# ruff: noqa: ARG001, PLR0917

from __future__ import annotations

import functools
from typing import Any, NoReturn

from syntagma.compat.xgrammar.support import refuse

__all__ = [
    "get_builtin_structural_tag",
    "get_model_structural_tag",
    "normalize_tool_choice",
    "register_model_structural_tag",
]


def get_builtin_structural_tag(
    model: str,
    tools: Any = None,
    tool_choice: Any = "auto",
    reasoning: Any = "enabled",
    force_reasoning: bool = False,
    any_order: bool = False,
    exclude_special_tokens: bool = True,
    max_whitespace_cnt: int | None = None,
    parallel_tool_calls: bool = True,
) -> NoReturn:
    """Not offered.

    Raises:
        NotImplementedError: always.
    """
    refuse("get_builtin_structural_tag")


@functools.wraps(get_builtin_structural_tag, assigned=())
def get_model_structural_tag(*args: Any, **kwargs: Any) -> NoReturn:
    """Not offered; parameters as of `get_builtin_structural_tag`.

    Raises:
        NotImplementedError: always.
    """
    refuse("get_model_structural_tag")


def normalize_tool_choice(tools: Any = None, tool_choice: Any = "auto") -> NoReturn:
    """Not offered.

    Raises:
        NotImplementedError: always.
    """
    refuse("normalize_tool_choice")


def register_model_structural_tag(name: str) -> NoReturn:
    """Not offered.

    Raises:
        NotImplementedError: always.
    """
    refuse("register_model_structural_tag")
