"""`syntagma mask`: prints the tokens of a vocabulary that may follow a text."""

from __future__ import annotations

from typing import Annotated

import numpy as np
import typer

from syntagma.cli.inputs import GRAMMAR_FILE, START, load_grammar, load_tokenizer
from syntagma.cli.output import JsonOption, reported, write, write_json
from syntagma.decoding import GrammarCompiler, GrammarMatcher, allocate_token_bitmask
from syntagma.errors import RequestError
from syntagma.grammars.checking import accept_text

__all__ = ["mask"]


@reported
def mask(
    source: Annotated[str | None, typer.Argument(help=GRAMMAR_FILE)] = None,
    *,
    regex: Annotated[str | None, typer.Option(help="A regular expression instead of a file.")] = None,
    start: Annotated[str | None, typer.Option(help=START)] = None,
    tokenizer: Annotated[str, typer.Option(help="tokenizer.json, folder, GGUF file, or 'embedded'.")] = "embedded",
    text: Annotated[str, typer.Option(help="The text so far.")] = "",
    first: Annotated[int, typer.Option("--first", "-n", min=0, help="Number of tokens to print.")] = 20,
    as_json: JsonOption = False,
) -> None:
    """Print the tokens that may follow a text."""
    info = load_tokenizer(tokenizer)
    matcher = GrammarMatcher(GrammarCompiler(info).compile(load_grammar(source, regex, start=start)))
    special = [(info.token_bytes(token).decode("utf-8", "replace"), token) for token in info.special_token_ids]
    at = accept_text(matcher, text, special)
    if at < len(text):
        begin = text.rfind("\n", 0, at) + 1
        raise RequestError(
            "E-REQUEST-TEXT",
            "the grammar rejects the text here",
            offset=at,
            line=text.count("\n", 0, at) + 1,
            column=at - begin + 1,
            excerpt=f"{text[begin:].splitlines()[0]}\n{' ' * (at - begin)}^",
        )
    bitmask = allocate_token_bitmask(1, info.vocab_size)
    matcher.fill_next_token_bitmask(bitmask)
    bits = np.unpackbits(bitmask.view(np.uint8), bitorder="little")[: info.vocab_size]
    allowed = np.flatnonzero(bits).tolist()
    shown = [(token, info.token_bytes(token).decode("utf-8", "backslashreplace")) for token in allowed[:first]]
    may_end = matcher.is_accepting()
    if as_json:
        tokens = [{"id": token, "text": spelled} for token, spelled in shown]
        write_json({"allowed": len(allowed), "vocab_size": info.vocab_size, "accepting": may_end, "tokens": tokens})
        return
    write(f"{len(allowed)} of {info.vocab_size} tokens may follow; the text may {'' if may_end else 'not '}end here")
    for token, spelled in shown:
        write(f"{token:>8}  {spelled!r}")
