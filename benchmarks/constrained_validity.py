"""How often the shipped model's answers are valid, without and with a grammar.

200 requests: half ask for JSON by a schema, half for a tool call. Every schema bounds what it allows, and at most one
blank stands between two JSON tokens, so that every answer that the grammar allows fits into the token limit; an answer
that is cut off counts as invalid. Validity is judged by the `jsonschema` library, not by the grammar engine that made
the answer. One BLAS thread is fastest for so small a model: set OPENBLAS_NUM_THREADS=1.

    python -m benchmarks.constrained_validity [COUNT]
"""

from __future__ import annotations

import itertools
import json
import sys
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import jsonschema

from syntagma import embedded
from syntagma.codec import ChatCodec, Turn
from syntagma.decoding.sampling import Sampling
from syntagma.generation import GenerationOptions, Generator
from syntagma.limits import Limits
from syntagma.messages import Message

MAX_TOKENS = 512
TEMPERATURE = 0.8
LIMITS = Limits(json_whitespace=1)

NAMES = ("lamp", "orders", "river", "ticket", "garden", "engine", "parcel", "window", "ledger", "camera")
WORDS = ("red", "slow", "north", "open", "warm", "plain", "late", "quiet", "round", "new")
# A schema, and a value as a user would say it.
FIELDS: tuple[tuple[dict[str, Any], str], ...] = (
    ({"enum": ["low", "medium", "high"]}, "high"),
    ({"type": "boolean"}, "true"),
    ({"type": "integer", "minimum": 0, "maximum": 99}, "42"),
    ({"type": "string", "maxLength": 12}, "maple"),
    ({"type": "array", "items": {"enum": ["a", "b", "c"]}, "minItems": 1, "maxItems": 3}, "a and c"),
    ({"type": ["integer", "null"], "minimum": -5, "maximum": 5}, "3"),
    ({"const": "fixed"}, "fixed"),
    (
        {
            "type": "object",
            "properties": {"x": {"type": "integer", "minimum": 1, "maximum": 9}, "y": {"type": "boolean"}},
            "required": ["x", "y"],
            "additionalProperties": False,
        },
        "x 4 and y false",
    ),
    ({"anyOf": [{"type": "null"}, {"enum": ["yes", "no"]}]}, "no"),
    ({"type": "string", "pattern": "^[A-Z]{2}-[0-9]{3}$"}, "AB-123"),
)


class Request(NamedTuple):
    """One prompt and the schema that its answer, or the arguments of its call, must fit."""

    text: str
    schema: dict[str, Any]
    tool: str | None

    def prepare(self, codec: ChatCodec, *, constrained: bool) -> Turn:
        messages = [{"role": "user", "content": self.text}]
        if self.tool is None:
            wanted = {"type": "json_schema", "json_schema": {"name": "answer", "schema": self.schema, "strict": True}}
            return codec.prepare(messages, tools=[], response_format=wanted if constrained else None, limits=LIMITS)
        tool = {"type": "function", "function": {"name": self.tool, "parameters": self.schema}}
        choice = "required" if constrained else "auto"
        return codec.prepare(messages, tools=[tool], tool_choice=choice, parallel_tool_calls=False, limits=LIMITS)

    def fits(self, message: Message, finish_reason: str | None) -> bool:
        if finish_reason != "stop":
            return False
        if self.tool is None:
            text = message.content
        elif len(message.tool_calls) == 1 and message.tool_calls[0].name == self.tool:
            text = message.tool_calls[0].arguments
        else:
            return False
        try:
            jsonschema.Draft202012Validator(self.schema).validate(json.loads(str(text)))
        except (ValueError, jsonschema.ValidationError):
            return False
        return True


class Share(NamedTuple):
    """Valid answers of one kind, and what they took."""

    requests: int
    valid: int
    tokens: int
    seconds: float


def requests(count: int) -> Iterator[Request]:
    """The requests, the same ones in every run."""
    for number in range(count):
        name, word = NAMES[number % 10], WORDS[number // 10 % 10]
        picked = list(itertools.islice(itertools.cycle(FIELDS), number % 7, number % 7 + 1 + number % 3))
        properties = {f"{word}_{name[:3]}{index}": schema for index, (schema, _) in enumerate(picked)}
        values = ", ".join(f"{key} {value}" for key, (_, value) in zip(properties, picked, strict=True))
        schema = {
            "type": "object",
            "properties": properties,
            "required": list(properties),
            "additionalProperties": False,
        }
        if number % 2:
            yield Request(f"Please set the {word} {name} to {values}.", schema, f"set_{name}")
        else:
            yield Request(f"Describe the {word} {name} as JSON with {values}.", schema, None)


def measure(count: int = 200) -> dict[str, Share]:
    """Ask every request without and with its grammar."""
    model = embedded.load()
    codec = ChatCodec.from_pretrained(model.path)
    generator = Generator(model)
    shares = {}
    for constrained in (False, True):
        valid = tokens = 0
        began = time.perf_counter()
        for number, request in enumerate(requests(count)):
            turn = request.prepare(codec, constrained=constrained)
            options = GenerationOptions(
                sampling=Sampling(temperature=TEMPERATURE, seed=number),
                max_tokens=MAX_TOKENS,
            )
            generation = generator.start(turn.prompt, grammar=turn.grammar if constrained else None, options=options)
            parser = turn.parser()
            for _ in generation.read(parser, markers=turn.preserved_tokens):
                pass
            valid += request.fits(parser.message, generation.finish_reason)
            tokens += generation.metrics.completion_tokens
        name = "with a grammar" if constrained else "without"
        shares[name] = Share(count, valid, tokens, time.perf_counter() - began)
    generator.close()
    return shares


def main() -> None:
    for name, share in measure(int(sys.argv[1]) if len(sys.argv) > 1 else 200).items():
        print(
            f"{name:>15}: {share.valid:>4} of {share.requests} valid ({share.valid / share.requests:.1%}), "
            f"{share.tokens} tokens in {share.seconds:.1f} s"
        )


if __name__ == "__main__":
    main()
