"""What it costs that every answer has a valid ending: the generation loop with `complete=True` and without, in turns.

The answer is an object of 20 required fields; the logits are drawn, so that it is as long as it may be. The time is
that of everything but the logits: masks, sampling, acceptance, and the shortest way to an end.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Sequence

import numpy as np
from support.tables import Table
from support.vocabularies import SHIPPED, Vocabulary, present

from syntagma import Grammar
from syntagma.decoding import Logits, Session, TokenizerInfo
from syntagma.decoding.sampling import Sampling
from syntagma.generation import GenerationOptions, Generator

FIELDS = 20
ROUNDS = 5


class Drawn:
    """A backend whose logits are the same random numbers, moved on by one token with each step."""

    context_length = 1 << 16
    model_name = "drawn"

    def __init__(self, info: TokenizerInfo) -> None:
        self.tokenizer_info = info.with_encoder(lambda text: [1] * len(text))
        self._logits = np.random.default_rng(0).normal(size=info.vocab_size).astype(np.float32)

    def open(self) -> Session:
        return _Session(self._logits)


class _Session:
    def __init__(self, logits: Logits) -> None:
        self._logits = logits
        self._at = 0

    def prefill(self, _: Sequence[int]) -> Logits:
        return self._logits.copy()

    def step(self, _: int) -> Logits:
        self._at += 1
        return np.roll(self._logits, self._at)


def schema(fields: int) -> Grammar:
    """An object of required strings and numbers."""
    kinds = ({"type": "string"}, {"type": "integer"}, {"type": "array", "items": {"type": "string"}})
    names = [f"field_number_{index}" for index in range(fields)]
    return Grammar.from_json_schema(
        {
            "type": "object",
            "properties": {name: kinds[at % 3] for at, name in enumerate(names)},
            "required": names,
            "additionalProperties": False,
        },
        whitespace="compact",
    )


def seconds(generator: Generator, grammar: Grammar, tokens: int, *, complete: bool) -> tuple[float, str | None]:
    """CPU seconds of one answer, and why it ended."""
    asked = GenerationOptions(sampling=Sampling(temperature=0), max_tokens=tokens, complete=complete)
    generation = generator.start("ask", grammar=grammar, options=asked)
    began = time.process_time()
    for _ in generation:
        pass
    return time.process_time() - began, generation.finish_reason


def main() -> None:
    """Print the table."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--quick", action="store_true", help="fewer rounds")
    rounds = 2 if arguments.parse_args().quick else ROUNDS
    vocabulary = Vocabulary(next(iter(present(["llama3"])), SHIPPED))
    info = TokenizerInfo.from_tokens(
        vocabulary.tokens, eos_token_ids=vocabulary.eos, special_token_ids=vocabulary.special
    )
    generator = Generator(Drawn(info))
    grammar = schema(FIELDS)
    seconds(generator, grammar, 50, complete=True)
    shown = Table(["tokens at most", "valid endings, s", "cut anywhere, s", "ratio"], title=vocabulary.name)
    for tokens in (200, 400, 800):
        times: dict[bool, list[float]] = {True: [], False: []}
        for _ in range(rounds):
            for complete in (True, False):
                times[complete].append(seconds(generator, grammar, tokens, complete=complete)[0])
        with_ends, without = statistics.median(times[True]), statistics.median(times[False])
        shown.row(str(tokens), f"{with_ends:.3f}", f"{without:.3f}", f"{with_ends / without:.2f}")


if __name__ == "__main__":
    main()
