"""Measures the shipped model, free and held by the grammar of each request, and writes `EVALUATION.md`.

    python evaluate.py [--model FOLDER] [--count 50] [--out EVALUATION.md]

Needs the library itself and jsonschema, but no torch. The dialogues come from seeds that training does not use.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jsonschema

from generator import Dialogue, dialogue
from syntagma.codec import ChatCodec, Turn
from syntagma.decoding.sampling import Sampling
from syntagma.embedded import EmbeddedModel, load
from syntagma.generation import GenerationOptions, Generator
from syntagma.messages import Message
from syntagma.templates import ChatTemplate
from tools import ToolSpec

GROUPS: dict[str, tuple[str, bool]] = {
    "tools of the kind seen in training": ("call", False),
    "held-out tools": ("call", True),
    "everyday tools": ("natural", False),
    "two calls": ("parallel", False),
    "JSON by schema": ("json", False),
}
"""what stands in the table: the kind of dialogue, and whether its tools are held out"""

MOST_TOKENS = 200
"""An answer is cut off there; the longest expected ones have about 150."""


@dataclass
class Score:
    """How often each thing was right."""

    total: int = 0
    valid: int = 0
    tool: int = 0
    exact: int = 0
    cut: int = 0
    tokens: int = 0
    seconds: float = 0.0
    misses: list[str] = field(default_factory=list)

    def row(self, *, tools: bool) -> str:
        """The cells of a table: shares in percent."""
        shares = [self.valid, self.cut, self.tool if tools else None, self.exact]
        return " | ".join("–" if share is None else f"{100 * share / self.total:.0f} %" for share in shares)


class Exam:
    """Asks one model, over and over."""

    def __init__(self, model: EmbeddedModel) -> None:
        self.model = model
        self.codec = ChatCodec.from_template(ChatTemplate.from_pretrained(model.path))
        self.generator = Generator(model)

    def turn(self, asked: Dialogue, *, held: bool) -> Turn:
        """The request of a dialogue; held: the answer must satisfy the schemas."""
        last_user = max(index for index, message in enumerate(asked.messages) if message["role"] == "user")
        options: dict[str, Any] = {}
        if held and asked.schema is not None:
            form = {"name": "answer", "schema": _closed(asked.schema), "strict": True}
            options = {"response_format": {"type": "json_schema", "json_schema": form}}
        elif held:
            parallel = len(asked.calls) > 1
            options = {"tool_choice": "required", "enforce": "parameters", "parallel_tool_calls": parallel}
        tools = [_declared(spec) for spec in asked.tools] or None
        return self.codec.prepare(list(asked.messages[: last_user + 1]), tools=tools, **options)

    def ask(self, asked: Dialogue, *, held: bool, temperature: float, seed: int, score: Score) -> Message:
        """What the model answers; its tokens and their time are added to the score."""
        turn = self.turn(asked, held=held)
        options = GenerationOptions(sampling=Sampling(temperature=temperature, seed=seed), max_tokens=MOST_TOKENS)
        generation = self.generator.start(turn.prompt, grammar=turn.grammar if held else None, options=options)
        parser = turn.parser()
        began = time.process_time()
        for step in generation:
            if not step.end:
                parser.feed_tokens([step.token_id], self.model.tokenizer_info)
        score.seconds += time.process_time() - began
        score.tokens += generation.metrics.completion_tokens
        score.cut += generation.finish_reason == "length"
        parser.finish(generation.finish_reason)
        return parser.message


def judge(asked: Dialogue, message: Message, score: Score) -> None:
    """Add one answer to the score."""
    score.total += 1
    valid = tool = exact = False
    if asked.schema is not None:
        value = _json(message.content)
        valid = value != _NOTHING and _satisfies(value, asked.schema)
        exact = valid and _same(value, asked.answer)
    else:
        declared: dict[str, Any] = {spec.name: _declared(spec)["function"] for spec in asked.tools}
        calls = [(call.name, _json(call.arguments)) for call in message.tool_calls or ()]
        tool = [name for name, _ in calls] == [name for name, _ in asked.calls]
        valid = bool(calls) and all(
            name in declared and value != _NOTHING and _satisfies(value, declared[name]["parameters"])
            for name, value in calls
        )
        exact = tool and all(_same(value, given) for (_, value), (_, given) in zip(calls, asked.calls, strict=True))
    score.valid += valid
    score.tool += tool
    score.exact += exact
    if not exact:
        score.misses.append(f"{asked.messages[-2]['content']!r} -> {message.to_openai()}")


_NOTHING = "\0 no JSON"


def _json(text: object) -> object:
    try:
        return json.loads(text if isinstance(text, str) else "")
    except ValueError:
        return _NOTHING


def _closed(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema without room for members that it does not name."""
    return schema | {"additionalProperties": False}


def _declared(spec: ToolSpec) -> dict[str, Any]:
    function: dict[str, Any] = dict(spec.declaration()["function"])  # type: ignore[call-overload]
    return {"type": "function", "function": function | {"parameters": _closed(function["parameters"])}}


def _satisfies(value: object, schema: Any) -> bool:
    return bool(jsonschema.Draft202012Validator(_closed(schema)).is_valid(value))


def _same(first: object, second: object) -> bool:
    return json.dumps(first, sort_keys=True) == json.dumps(second, sort_keys=True)


def examine(exam: Exam, count: int, seed: int) -> Iterator[tuple[str, float, bool, Score]]:
    """The score of every group, at both temperatures, free and held."""
    for group, (kind, held_out) in GROUPS.items():
        rng = random.Random(f"evaluation {seed} {group}")
        asked = [dialogue(rng, kind=kind, held_out=held_out, thinking=False) for _ in range(count)]
        for temperature in (0.0, 0.8):
            for held in (False, True):
                score = Score()
                for index, one in enumerate(asked):
                    message = exam.ask(one, held=held, temperature=temperature, seed=index, score=score)
                    judge(one, message, score)
                yield group, temperature, held, score


def report(exam: Exam, count: int, seed: int, *, misses: int) -> str:
    """The measured table as Markdown."""
    lines = [
        "# What the shipped model can do",
        "",
        f"Written by `training/evaluate.py` with {count} dialogues a group (seed {seed}). *Free* is the model alone;",
        "*held* is the same model under the grammar of the request (`tool_choice` required, parameters enforced; or",
        "the response format). *Valid*: every call names a declared tool and its arguments satisfy the tool's schema,",
        "or the answer satisfies the schema. *Right tool*: exactly the expected calls, by name. *Exact*: every",
        "argument or value is the expected one. *Cut off*: not finished after "
        f"{MOST_TOKENS} tokens, and counted as not valid.",
        "",
        "| dialogues | temperature | | valid | cut off | right tool | exact |",
        "|---|---|---|---|---|---|---|",
    ]
    speeds: dict[bool, list[float]] = {False: [], True: []}
    for group, temperature, held, score in examine(exam, count, seed):
        state = "held" if held else "free"
        lines.append(f"| {group} | {temperature} | {state} | {score.row(tools=GROUPS[group][0] != 'json')} |")
        print(lines[-1], flush=True)
        for miss in score.misses[:misses]:
            print("   ", miss)
        speeds[held].append(score.tokens / max(score.seconds, 1e-9))
    free, held_speed = (sorted(values)[len(values) // 2] for values in speeds.values())
    lines += [
        "",
        f"Decoding with parser and sampler: {free:.0f} tokens a CPU second free, {held_speed:.0f} held (medians of the",
        "rows above; one core that other work shared).",
        "",
    ]
    return "\n".join(lines)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, help="a model folder; the shipped one by default")
    parser.add_argument("--count", type=int, default=50, help="dialogues in a group")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--misses", type=int, default=0, help="print so many wrong answers of every row")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "EVALUATION.md")
    arguments = parser.parse_args()
    text = report(Exam(load(arguments.model)), arguments.count, arguments.seed, misses=arguments.misses)
    arguments.out.write_text(text)


if __name__ == "__main__":
    main()
