"""Refuses to pickle compiled grammars and matchers, with a hint at what to pickle instead."""

from __future__ import annotations

import copyreg
from collections.abc import Callable
from typing import NoReturn

from syntagma import _engine
from syntagma.errors import ArgumentTypeError

__all__ = ["refusal"]


def refusal(name: str, hint: str) -> Callable[[object], NoReturn]:
    """A reducer for `copyreg` that always raises `E-STATE-PICKLE`.

    Args:
        name: the class, with its article.
        hint: what to pickle instead.
    """

    def refuse(_: object) -> NoReturn:
        """Raise.

        Raises:
            ArgumentTypeError: `E-STATE-PICKLE`, always.
        """
        message = f"{name} cannot be pickled: its state is in the memory of this process"
        raise ArgumentTypeError("E-STATE-PICKLE", message, hint=hint)

    return refuse


copyreg.pickle(
    _engine.CompiledGrammar,
    refusal("a CompiledGrammar", "pickle the Grammar and the TokenizerInfo, and compile it where it is used"),
)
copyreg.pickle(
    _engine.GrammarMatcher,
    refusal(
        "a GrammarMatcher",
        "pickle the Grammar, the TokenizerInfo and state_bytes(), and use GrammarMatcher.from_state_bytes there",
    ),
)
