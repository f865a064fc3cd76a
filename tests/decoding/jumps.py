"""Tokens predicted by jump-forward, against what the tokenizer makes of every text that may follow."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

from syntagma.decoding import GrammarCompiler, GrammarMatcher, TokenizerInfo
from syntagma.grammars import Grammar

# Where tokenizers split and merge: quotes and brackets, contractions, digits, runs of spaces, letters of several bytes.
FRAGMENTS = (
    *('{"', '"}', '":', '": ', '", "', ", ", "[", "]", "[[", "}}", "},\n", "(", ")", "\\n", "=>", "://", "</", ">"),
    *(
        "name",
        "id",
        "location",
        "don't",
        "we'll",
        "it's",
        "I'd",
        "HTTPServer",
        "snake_case",
        "x",
        "A",
        "é",
        "Łódź",
        "中文",
    ),
    *("1", "12", "123", "1234567", "3.14", "-5e10", "2024-05-06", "٣"),
    *(" ", "  ", "    ", "\n", "\n\n", "\t", " \n  ", "\r\n", "'", "'l", "'r", '"', "_", "🙂", "é́"),
)

# What a grammar lets follow: one of these characters, then anything; or any text.
FIRST = (None, None, "0123456789", "abcxyz", "AZ", '",}', " \t", "\n", "é中", '-"7')


def wrong_jumps(
    info: TokenizerInfo, encode: Callable[[str], list[int]], *, texts: int, seed: int
) -> Iterator[tuple[int, str | None]]:
    """For random texts that must come next: how many tokens were predicted, and what is wrong with them or None."""
    compiler = GrammarCompiler(info, cache=False)
    rng = random.Random(seed)
    for _ in range(texts):
        text = "".join(rng.choices(FRAGMENTS, k=rng.randint(1, 9)))
        # A character of several must follow: then the text is certain, and nothing after it is.
        first = rng.choice(FIRST)
        rest = r"(?s).+" if first is None else f"[{first}](?s:.*)"
        grammar = Grammar.concat(Grammar.literal(text), Grammar.from_regex(rest))
        matcher = GrammarMatcher(compiler.compile(grammar))
        ids = matcher.jump_forward_tokens(encode)
        problem = None
        for _ in range(25):
            whole = text + (rng.choice(first) if first else "") + "".join(rng.choices(FRAGMENTS, k=rng.randint(1, 4)))
            if encode(whole)[: len(ids)] != ids:
                problem = f"{text!r} predicts {info.decode(ids)!r} in {ids}, but {whole!r} is {encode(whole)}"
        yield len(ids), problem
