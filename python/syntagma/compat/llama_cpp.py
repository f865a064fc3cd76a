"""llama.cpp: the fields of a request to its server that constrain a model to a grammar or a turn.

The names and numbers are those of `POST /completion`. `/v1/chat/completions` takes the same fields.
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
"""type of a trigger in `grammar_triggers` that is a text, or the special token with this text"""
TRIGGER_PATTERN = 2
"""type of a trigger in `grammar_triggers` that is a regular expression; the grammar begins at its group"""
_ESCAPED = re.compile(r"[.^$|()*+?\[\]{}\\]")


@entry
def request_fields(
    source: Turn | Grammar, *, lazy: bool = False, vocabulary: TokenizerInfo | None = None
) -> dict[str, Any]:
    """The fields of a request to llama.cpp's server that constrain the answer to a turn or grammar.

    Without the vocabulary, markers are text in the grammar and are listed in `preserved_tokens`. llama.cpp then accepts
    a marker as its control token, but also spelled with other tokens. With the vocabulary, markers are token numbers,
    which versions of llama.cpp before 2026 cannot read.

    Args:
        source: the turn or grammar.
        lazy: constrain only calls: the model writes freely up to one of the turn's triggers. Triggers inside of
            reasoning are ignored if the format has an opener for reasoning.
        vocabulary: the vocabulary of the server's model.

    Returns:
        `grammar` and `preserved_tokens`. With `lazy` also `grammar_lazy`, `grammar_triggers` and, if triggers inside of
        reasoning must be ignored, `reasoning_budget_start_tag` and `reasoning_budget_end_tags`. Only `preserved_tokens`
        if the turn constrains nothing.

    Raises:
        FormatError: `E-FORMAT-UNSUPPORTED`, `lazy` is not possible for this request, or for a grammar.
        GrammarError: `E-GRAMMAR-UNPRINTABLE`, llama.cpp cannot enforce the grammar: GBNF cannot express it, it has a
            budget, or it contains a token that ends the answer in llama.cpp.
        FormatError, GrammarError, LimitError: see `Turn.grammar`.
    """
    if isinstance(source, Grammar):
        if lazy:
            raise FormatError("E-FORMAT-UNSUPPORTED", "a grammar has no triggers, so it cannot be enforced lazily")
        gbnf = _written(source, vocabulary)
        return {"grammar": gbnf.text, "preserved_tokens": list(gbnf.preserved_tokens)}
    if not isinstance(source, Turn):
        raise ArgumentTypeError("E-GRAMMAR-TYPE", f"source must be a turn or a grammar, not {type(source).__name__}")
    fields = _lazily(source) if lazy else {}
    grammar = source.call_grammar if lazy else source.grammar
    if grammar is None:
        return {"preserved_tokens": list(source.preserved_tokens)}
    # Triggers that are one token must be preserved, too.
    preserved = dict.fromkeys((*source.preserved_tokens, *(source.triggers if lazy else ())))
    return {"grammar": _written(grammar, vocabulary).text, "preserved_tokens": list(preserved), **fields}


def special_tokens(vocabulary: TokenizerInfo) -> dict[str, int]:
    """The ids of special, added and user-defined tokens by text, as an argument for `Grammar.to_gbnf`."""
    texts = ((vocabulary.token_bytes(number), number) for number in sorted(vocabulary.added_token_ids, reverse=True))
    return {text.decode(): number for text, number in texts if text and _is_text(text)}


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _lazily(turn: Turn) -> Mapping[str, Any]:
    """The further fields of a request with a lazy grammar."""
    if turn.request.choice.forced or not turn.request.response_format.is_text:
        raise FormatError(
            "E-FORMAT-UNSUPPORTED",
            "a required call or response format cannot be enforced lazily",
            hint="use lazy=False: the grammar of the whole turn enforces it",
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
    """The triggers of calls; only after the end of reasoning if the prompt has opened it."""
    if turn.start.reasoning != "open":
        # As a word, a trigger that is not a control token would be missed inside of a longer token.
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
            hint="leave out the budget, or bound the answer with n_predict",
        )
    if vocabulary is None:
        return grammar.to_gbnf()
    gbnf = grammar.to_gbnf(special_tokens(vocabulary))
    ends = gbnf.token_ids.intersection(vocabulary.eos_token_ids)
    if ends:
        text = vocabulary.token_bytes(min(ends)).decode()
        raise GrammarError(
            "E-GRAMMAR-UNPRINTABLE",
            f"the grammar contains the token {text}, at which llama.cpp ends the answer",
            hint="create the TokenizerInfo with the eos_token_ids at which llama.cpp ends an answer",
        )
    return gbnf
