"""llama.cpp: the fields of a request to its server that hold a model to a grammar or a turn.

The names and numbers are those of `POST /completion`; `/v1/chat/completions` takes the same fields.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from syntagma.codec import Turn
from syntagma.decoding import TokenizerInfo
from syntagma.entry import entry
from syntagma.errors import ArgumentTypeError, FormatError, GrammarError
from syntagma.grammars import Gbnf, Grammar

__all__ = ["TRIGGER_PATTERN", "TRIGGER_WORD", "request_fields", "special_tokens"]

TRIGGER_WORD = 1
"""the type of a trigger that is a text, or the special token of this text, in `grammar_triggers`"""
TRIGGER_PATTERN = 2
"""the type of a trigger that is a regular expression; the grammar begins at its group"""
_ESCAPED = re.compile(r"[.^$|()*+?\[\]{}\\]")


@entry
def request_fields(
    source: Turn | Grammar, *, lazy: bool = False, vocabulary: TokenizerInfo | None = None
) -> dict[str, Any]:
    """The fields of a request to llama.cpp's server that let a model write only what a turn or grammar allows.

    Without the vocabulary, markers are text in the grammar and are listed in `preserved_tokens`: llama.cpp lets a
    control token match its text, but also lets a model spell the marker in letters. With the vocabulary they are tokens
    by number, which older versions of llama.cpp (before 2026) do not read.

    Args:
        source: what the model may write.
        lazy: hold only calls to the grammar: the model writes freely up to one of the turn's triggers. Reasoning is
            passed over where the format has an opener for it.
        vocabulary: that of the model which the server runs.

    Returns:
        `grammar` with `preserved_tokens`; lazily also `grammar_lazy`, `grammar_triggers` and, where triggers inside of
        reasoning must not count, `reasoning_budget_start_tag` and `reasoning_budget_end_tags`. Only `preserved_tokens`
        where the turn constrains nothing.

    Raises:
        FormatError: `E-FORMAT-UNSUPPORTED`, the request, or a grammar, cannot be enforced lazily.
        GrammarError: `E-GRAMMAR-UNPRINTABLE`, llama.cpp cannot hold it: what GBNF lacks, a bound, or a token at which
            llama.cpp ends the answer; the message names it.
        FormatError, GrammarError, LimitError: as `Turn.grammar`.
    """
    if isinstance(source, Grammar):
        if lazy:
            raise FormatError("E-FORMAT-UNSUPPORTED", "a grammar names no triggers, so it cannot be enforced lazily")
        gbnf = _written(source, vocabulary)
        return {"grammar": gbnf.text, "preserved_tokens": list(gbnf.preserved_tokens)}
    if not isinstance(source, Turn):
        raise ArgumentTypeError("E-GRAMMAR-TYPE", f"a turn or a grammar is wanted, not {type(source).__name__}")
    fields = _lazily(source) if lazy else {}
    grammar = source.call_grammar if lazy else source.grammar
    if grammar is None:
        return {"preserved_tokens": list(source.preserved_tokens)}
    # A trigger that is one token must be among them.
    preserved = dict.fromkeys((*source.preserved_tokens, *(source.triggers if lazy else ())))
    return {"grammar": _written(grammar, vocabulary).text, "preserved_tokens": list(preserved), **fields}


def special_tokens(vocabulary: TokenizerInfo) -> dict[str, int]:
    """The number of each special, added or user-defined token by its text, as `Grammar.to_gbnf` wants them."""
    texts = ((vocabulary.token_bytes(number), number) for number in sorted(vocabulary.added_token_ids, reverse=True))
    return {text.decode(): number for text, number in texts if text and _is_text(text)}


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _lazily(turn: Turn) -> Mapping[str, Any]:
    """What a lazy grammar needs beside itself."""
    if turn.request.choice.forced or not turn.request.response_format.is_text:
        raise FormatError(
            "E-FORMAT-UNSUPPORTED",
            "a call or an answer that must come cannot be enforced lazily",
            hint="leave out lazy: the grammar of the whole turn holds the model to it",
        )
    reasoning = turn.format.spec.reasoning
    blocks = (
        [(block.opener.strip(), block.closer.strip()) for block in reasoning.block] if reasoning is not None else []
    )
    fields: dict[str, Any] = {"grammar_lazy": True, "grammar_triggers": _triggers(turn, blocks)}
    opened = next((opener for opener, _ in blocks if opener), "")
    if opened:
        ends = [closer for opener, closer in blocks if opener == opened]
        fields |= {"reasoning_budget_start_tag": opened, "reasoning_budget_end_tags": ends}
    return fields


def _triggers(turn: Turn, blocks: Sequence[tuple[str, str]]) -> list[dict[str, Any]]:
    """What begins a call; after the end of reasoning, if the prompt has opened it."""
    if turn.start.reasoning != "open":
        # A word that is one ordinary token would be missed inside of a longer token.
        markers = frozenset(turn.preserved_tokens)
        return [
            {"type": TRIGGER_WORD, "value": trigger}
            if trigger in markers
            else {"type": TRIGGER_PATTERN, "value": f"({_escaped(trigger)})"}
            for trigger in turn.triggers
        ]
    ends = dict.fromkeys(closer for opener, closer in blocks if turn.start.opener.strip() in ("", opener))
    closed = "|".join(map(_escaped, ends))
    return [
        {"type": TRIGGER_PATTERN, "value": rf"(?:{closed})[\s\S]*?({_escaped(trigger)})"} for trigger in turn.triggers
    ]


def _escaped(text: str) -> str:
    """A text as a regular expression of ECMAScript."""
    return _ESCAPED.sub(r"\\\g<0>", text)


def _written(grammar: Grammar, vocabulary: TokenizerInfo | None) -> Gbnf:
    bounds = grammar.bounds
    if bounds:
        label, unit, most = bounds[0]
        raise GrammarError(
            "E-GRAMMAR-UNPRINTABLE",
            f"llama.cpp cannot bound {label!r} to {most} {unit}",
            hint="leave out the budget, or bound the answer by n_predict",
        )
    if vocabulary is None:
        return grammar.to_gbnf()
    gbnf = grammar.to_gbnf(special_tokens(vocabulary))
    ends = gbnf.token_ids.intersection(vocabulary.eos_token_ids)
    if ends:
        text = vocabulary.token_bytes(min(ends)).decode()
        raise GrammarError(
            "E-GRAMMAR-UNPRINTABLE",
            f"llama.cpp ends the answer at the token {text}, which stands in the grammar",
            hint="make the TokenizerInfo with those eos_token_ids at which llama.cpp ends",
        )
    return gbnf
