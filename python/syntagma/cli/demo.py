"""`syntagma demo`: the same requests without and with a grammar, side by side, answered by the shipped model."""

from __future__ import annotations

import textwrap
from typing import Any

import msgspec

from syntagma.cli.output import JsonOption, reported, write, write_json
from syntagma.codec import ChatCodec, Turn
from syntagma.decoding.sampling import Sampling
from syntagma.generation import GenerationOptions, Generator
from syntagma.grammars import Grammar
from syntagma.messages import Message

__all__ = ["demo"]

_WIDTH = 58
_OPTIONS = GenerationOptions(sampling=Sampling(temperature=0.8, seed=7), max_tokens=160)

_PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 16},
        "age": {"type": "integer", "minimum": 0, "maximum": 120},
        "role": {"enum": ["captain", "pilot", "engineer"]},
    },
    "required": ["name", "age", "role"],
    "additionalProperties": False,
}
_WEATHER = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "maxLength": 24},
        "unit": {"enum": ["celsius", "fahrenheit"]},
        "days": {"type": "integer", "minimum": 1, "maximum": 7},
    },
    "required": ["city", "unit", "days"],
    "additionalProperties": False,
}


class _Case(msgspec.Struct, frozen=True, kw_only=True):
    title: str
    ask: str
    schema: dict[str, Any]
    tool: str | None = None
    """the tool whose arguments the schema describes; None: the answer itself is the JSON"""

    def prepare(self, codec: ChatCodec, *, constrained: bool) -> Turn:
        """The turn. `constrained`: as a client would request it; else the same prompt without a constraint."""
        messages = [{"role": "user", "content": self.ask}]
        if self.tool is None:
            wanted = {"type": "json_schema", "json_schema": {"name": "answer", "schema": self.schema}}
            return codec.prepare(messages, tools=[], response_format=wanted if constrained else None)
        tool = {"type": "function", "function": {"name": self.tool, "parameters": self.schema}}
        return codec.prepare(messages, tools=[tool], tool_choice="required" if constrained else "auto")

    def verdict(self, message: Message, finish_reason: str | None) -> str:
        """`valid`, or the reason why not."""
        if finish_reason != "stop":
            return "cut off"
        if self.tool is None:
            text = message.content if isinstance(message.content, str) else ""
        elif not message.tool_calls:
            return "no call"
        elif message.tool_calls[0].name != self.tool or not message.tool_calls[0].complete:
            return "a broken call"
        else:
            text = message.tool_calls[0].arguments
        check = Grammar.from_json_schema(self.schema).check(text)
        return "valid" if check.accepted else f"not in the schema, at character {check.offset}"


_CASES = (
    _Case(title="an answer by JSON Schema", ask="Describe a member of a ship's crew as JSON.", schema=_PERSON),
    _Case(
        title="a required tool call",
        ask="What will the weather be like in Lisbon for the next three days?",
        schema=_WEATHER,
        tool="get_forecast",
    ),
)


class _Answer(msgspec.Struct, frozen=True):
    text: str
    verdict: str
    tokens: int
    grammar_init_s: float
    grammar_per_token_s: float


@reported
def demo(as_json: JsonOption = False) -> None:
    """Ask the shipped model the same without and with a grammar."""
    from syntagma import embedded

    model = embedded.load()
    codec = ChatCodec.from_pretrained(model.path)
    generator = Generator(model)
    answers = []
    for case in _CASES:
        free, constrained = (_ask(generator, codec, case, constrained=constrained) for constrained in (False, True))
        answers.append({"title": case.title, "ask": case.ask, "unconstrained": free, "constrained": constrained})
        if not as_json:
            write(f"{case.title}: {case.ask}\n")
            _side_by_side("without a grammar", free, "with a grammar", constrained)
    generator.close()
    if as_json:
        write_json(answers)


def _ask(generator: Generator, codec: ChatCodec, case: _Case, *, constrained: bool) -> _Answer:
    turn = case.prepare(codec, constrained=constrained)
    generation = generator.start(turn.prompt, grammar=turn.grammar if constrained else None, options=_OPTIONS)
    parser = turn.parser()
    for _ in generation.read(parser, markers=turn.preserved_tokens):
        pass
    metrics = generation.metrics
    return _Answer(
        text=parser.raw,
        verdict=case.verdict(parser.message, generation.finish_reason),
        tokens=metrics.completion_tokens,
        grammar_init_s=metrics.grammar_init_s,
        grammar_per_token_s=metrics.grammar_per_token_s,
    )


def _side_by_side(left_title: str, left: _Answer, right_title: str, right: _Answer) -> None:
    columns = [
        [title, "-" * len(title), *_wrapped(answer.text), "", f"=> {answer.verdict} ({answer.tokens} tokens)"]
        for title, answer in ((left_title, left), (right_title, right))
    ]
    for column in columns:
        # Pad the columns, so that both verdicts are on the same line.
        column[-2:-2] = [""] * (max(map(len, columns)) - len(column))
    for first, second in zip(*columns, strict=True):
        write(f"{first:<{_WIDTH}}  {second}".rstrip())
    write(
        f"\n{'':<{_WIDTH}}  grammar: {right.grammar_init_s * 1e3:.1f} ms to compile, "
        f"{right.grammar_per_token_s * 1e6:.0f} µs per token for masks that are new\n"
    )


def _wrapped(text: str) -> list[str]:
    return [part for line in text.splitlines() for part in textwrap.wrap(line, _WIDTH) or [""]]
