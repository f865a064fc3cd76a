"""What forced tokens save: answers by schema of the shipped model, with jumps, without, and free text as long.

Each answer is written at temperature 0 and 1, by the grammar of a turn, in which a model may write whitespace as it was
trained to, and by a compact one. `÷ free` compares the tokens per second with those of text without a grammar and of
the same length, token for token. Times are CPU seconds of one thread behind the prompt: masks, sampling and the model.
"""

from __future__ import annotations

import os

# One core, whatever the machine has; must be set before NumPy is imported.
os.environ["OPENBLAS_NUM_THREADS"] = "1"

import time
from typing import Any, NamedTuple

from support.arguments import arguments
from support.tables import Table, number

import syntagma as sg

ANSWERS = 200
TEXT, NAME = {"type": "string", "maxLength": 24}, {"type": "string", "maxLength": 12}
SCHEMAS: list[dict[str, Any]] = [
    {"minutes": {"type": "integer", "minimum": 1, "maximum": 90}, "label": TEXT, "loud": {"type": "boolean"}},
    {"city": NAME, "country": NAME, "units": {"enum": ["celsius", "fahrenheit"]}},
    {"title": TEXT, "priority": {"enum": ["low", "normal", "high"]}, "due_date": {"type": "string", "format": "date"}},
    {"first_name": NAME, "last_name": NAME, "age": {"type": "integer", "minimum": 0, "maximum": 120}},
    {"is_spam": {"type": "boolean"}, "confidence": {"type": "number", "minimum": 0, "maximum": 1}, "reason": TEXT},
    {"sentiment": {"enum": ["positive", "neutral", "negative"]}, "summary": TEXT},
    {"items": {"type": "array", "items": NAME, "minItems": 1, "maxItems": 3}, "total": {"type": "number"}},
    {"from_account": NAME, "to_account": NAME, "amount": {"type": "number"}, "currency": {"enum": ["EUR", "USD"]}},
    {"query": TEXT, "max_results": {"type": "integer", "maximum": 50}, "include_archived": {"type": "boolean"}},
    {"step": {"type": "integer"}, "explanation": TEXT, "next_step": {"anyOf": [NAME, {"type": "null"}]}},
]


class Measured(NamedTuple):
    """One answer."""

    text: str
    tokens: int
    forced: int
    passes: int
    seconds: float


def grammars(schema: dict[str, Any], model: sg.Model) -> dict[str, sg.Grammar]:
    whole = {"type": "object", "properties": schema, "required": list(schema), "additionalProperties": False}
    turn = model.codec.prepare(
        [{"role": "user", "content": "Answer."}],
        response_format={"type": "json_schema", "json_schema": {"name": "answer", "schema": whole}},
    )
    assert turn.grammar is not None
    return {"turn": turn.grammar, "compact": sg.Grammar.from_json_schema(whole, whitespace="compact")}


def write(model: sg.Model, prompt: list[int], grammar: sg.Grammar | None, options: sg.GenerationOptions) -> Measured:
    generation = model.generator.start(prompt, grammar=grammar, options=options)
    began = time.thread_time()
    data = b"".join([step.data for step in generation if not step.end])
    seconds = time.thread_time() - began
    of = generation.metrics
    return Measured(data.decode("utf-8", "replace"), of.completion_tokens, of.forced_tokens, of.forward_passes, seconds)


def main() -> None:
    options = arguments(__doc__)
    count = ANSWERS // 10 if options.quick else ANSWERS
    model = sg.load("embedded")
    prompts = [
        model.backend.tokenizer_info.encode(
            f"<|im_start|>user\nPlease fill in: {', '.join(schema)}<|im_end|>\n<|im_start|>assistant\n"
        )
        for schema in SCHEMAS
    ]
    made = [grammars(schema, model) for schema in SCHEMAS]
    table = Table(
        [
            "grammar",
            "temperature",
            "answers",
            "legal",
            "tokens",
            "forced",
            "passes",
            "saved",
            "tokens/s",
            "no jumps",
            "free",
            "÷ no jumps",
            "÷ free",
        ],
        texts=1,
    )
    for kind in ("turn", "compact"):
        for temperature in (0.0, 1.0):
            jumps, plain, free, legal = [], [], [], 0
            for number_ in range(count):
                at = number_ % len(SCHEMAS)
                grammar = made[at][kind]
                sampling = sg.Sampling(temperature=temperature, seed=number_)
                prompt = [*prompts[at], *[300 + number_ // len(SCHEMAS)] * (temperature == 0)]
                for jump, found in ((True, jumps), (False, plain)):
                    asked = sg.GenerationOptions(sampling=sampling, max_tokens=400, jump_forward=jump)
                    found.append(write(model, prompt, grammar, asked))
                legal += grammar.accepts(jumps[-1].text)
                length = jumps[-1].tokens
                asked = sg.GenerationOptions(sampling=sampling, max_tokens=length, min_tokens=length, ignore_eos=True)
                free.append(write(model, prompt, None, asked))
            rate = [sum(one.tokens for one in of) / sum(one.seconds for one in of) for of in (jumps, plain, free)]
            tokens, forced, passes = (
                sum(getattr(one, name) for one in jumps) for name in ("tokens", "forced", "passes")
            )
            table.row(
                kind,
                number(temperature),
                str(count),
                str(legal),
                f"{tokens:,}",
                f"{forced / tokens:.0%}",
                f"{passes:,}",
                f"{1 - passes / tokens:.0%}",
                *(f"{one:,.0f}" for one in rate),
                f"{rate[0] / rate[1]:.2f}",
                f"{rate[0] / rate[2]:.2f}",
            )


if __name__ == "__main__":
    main()
