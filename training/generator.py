"""Dialogues for training and evaluation, drawn from a seeded random source: the same seed gives the same dialogues."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from extraction import facts
from natural_tools import natural_request
from phrasing import Given, clauses, plain, request, written
from smalltalk import small_talk
from tools import ToolSpec, Value, distractor, integer, parameter, parameters, tool
from words import person, phrase, syllables, word

Message = dict[str, object]

KINDS: dict[str, float] = {
    "call": 0.47,
    "natural": 0.19,
    "parallel": 0.05,
    "json": 0.13,
    "talk": 0.08,
    "result": 0.06,
    "refuse": 0.02,
}
"""The kinds of dialogue, with their shares; `drill` stands beside them with a share of its own."""


@dataclass(frozen=True)
class Dialogue:
    """A whole conversation; the assistant's turns behind the last user's are what is to be learned.

    `calls` are the expected calls of the first of these turns, in order. `schema` is what an answer in JSON must
    satisfy.
    """

    kind: str
    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    thinking: bool = False
    calls: tuple[tuple[str, dict[str, Value]], ...] = ()
    schema: dict[str, object] | None = None
    answer: dict[str, Value] = field(default_factory=dict)

    def declarations(self) -> list[dict[str, object]] | None:
        """The tools as a request declares them; None without tools."""
        return [spec.declaration() for spec in self.tools] or None


def _arguments(rng: random.Random, spec: ToolSpec) -> Given:
    return [(item, item.value(rng)) for item in spec.parameters if item.required or rng.random() < 0.5]


def _call(calls: list[tuple[str, dict[str, Value]]], thinking: bool) -> Message:
    message: Message = {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"type": "function", "function": {"name": name, "arguments": given}} for name, given in calls],
    }
    if thinking:
        parts = []
        for name, given in calls:
            values = ", ".join(f"{key} = {plain(value)}" for key, value in given.items())
            parts.append(f"Call {name}: {values}." if values else f"Call {name}.")
        message["reasoning_content"] = " ".join(parts)
    return message


def _said(content: str, thinking: bool, thought: str = "No tool is needed.") -> Message:
    message: Message = {"role": "assistant", "content": content}
    if thinking:
        message["reasoning_content"] = thought
    return message


def _system(rng: random.Random) -> list[Message]:
    if rng.random() < 0.7:
        return []
    texts = (
        "You are a helpful assistant.",
        "You are a helpful assistant with access to tools.",
        "Be brief.",
        "You call tools.",
        "Answer in one sentence.",
        f"You work for {person(rng)}.",
        f"Today is {rng.randint(2020, 2030)}-{rng.randint(1, 12):02d}-{rng.randint(1, 28):02d}.",
    )
    return [{"role": "system", "content": rng.choice(texts)}]


def _earlier(rng: random.Random) -> list[Message]:
    draw = rng.random()
    if draw < 0.9:
        return []
    if draw < 0.96:
        asked, answer = small_talk(rng)
        return [{"role": "user", "content": asked}, {"role": "assistant", "content": answer}]
    return [{**message} for message in _dialogue_result(rng, held_out=False, thinking=False, first=True).messages]


def _start(rng: random.Random, first: bool) -> list[Message]:
    """What comes before the request; nothing where the request itself stands in an earlier turn."""
    return [] if first else _system(rng) + _earlier(rng)


def _shelf(rng: random.Random, wanted: list[ToolSpec], held_out: bool) -> tuple[ToolSpec, ...]:
    most = 8 if rng.random() < 0.06 else 4
    everyday = any(not spec.noun for spec in wanted)
    shelf = list(wanted)
    names = {spec.name for spec in shelf}
    for _ in range(rng.randint(0, most - len(wanted))):
        other = distractor(rng, rng.choice(wanted), held_out=held_out)
        if rng.random() < (0.45 if everyday else 0.12):
            other = natural_request(rng)[0]
        # Two tools with the same verb and noun could not be told apart by the request.
        if other.name not in names and not any(
            other.verb and (other.verb, other.noun) == (s.verb, s.noun) for s in shelf
        ):
            shelf.append(other)
            names.add(other.name)
    rng.shuffle(shelf)
    return tuple(shelf)


def _dialogue_call(rng: random.Random, held_out: bool, thinking: bool, *, first: bool = False) -> Dialogue:
    spec = tool(rng, held_out=held_out)
    given = _arguments(rng, spec)
    calls = [(spec.name, {item.name: value for item, value in given})]
    user: Message = {"role": "user", "content": request(rng, spec, given)}
    messages: tuple[Message, ...] = (*_start(rng, first), user, _call(calls, thinking))
    return Dialogue("call", messages, _shelf(rng, [spec], held_out), thinking, tuple(calls))


def _dialogue_natural(rng: random.Random, held_out: bool, thinking: bool, *, first: bool = False) -> Dialogue:
    spec, text, given = natural_request(rng)
    calls = [(spec.name, given)]
    messages: tuple[Message, ...] = (*_start(rng, first), {"role": "user", "content": text}, _call(calls, thinking))
    return Dialogue("natural", messages, _shelf(rng, [spec], held_out), thinking, tuple(calls))


def _dialogue_parallel(rng: random.Random, held_out: bool, thinking: bool) -> Dialogue:
    first = tool(rng, held_out=held_out)
    second = first if rng.random() < 0.4 else distractor(rng, first, held_out=held_out)
    if second.name == first.name or (second.verb, second.noun) == (first.verb, first.noun):
        second = first
    wanted = [first, second]
    given = [_arguments(rng, spec) for spec in wanted]
    calls = [(spec.name, {item.name: value for item, value in said}) for spec, said in zip(wanted, given, strict=True)]
    requests = [request(rng, spec, said) for spec, said in zip(wanted, given, strict=True)]
    text = rng.choice((" and ", " Then ", " Also ", "\n", ". ")).join(requests)
    messages: tuple[Message, ...] = (*_system(rng), {"role": "user", "content": text}, _call(calls, thinking))
    return Dialogue(
        "parallel", messages, _shelf(rng, list({s.name: s for s in wanted}.values()), held_out), thinking, tuple(calls)
    )


def _dialogue_json(rng: random.Random, held_out: bool, thinking: bool) -> Dialogue:  # noqa: ARG001  (no tools in it)
    natural = rng.random() < 0.45
    if natural:
        items, answer, text = facts(rng)
    else:
        items = list(parameters(rng)) or [parameter(rng, set())]
        answer = {item.name: item.value(rng) for item in items}
        text = clauses(rng, [(item, answer[item.name]) for item in items])
        text = f"{text[0].upper()}{text[1:]}."
    kinds = [f"{item.name} ({'|'.join(item.choices) if item.choices else item.kind})" for item in items]
    names = [item.name for item in items]
    schema: dict[str, object] = {
        "type": "object",
        "properties": {item.name: item.schema() for item in items},
        "required": names,
    }
    keys = ", ".join(kinds if rng.random() < 0.5 else names)
    asks = (
        f"Answer as JSON with the keys {keys}.",
        f"Give me JSON with {keys}.",
        f"As JSON: {keys}.",
        f"Extract {keys} as JSON.",
        f"Extract the {keys}.",
        "Write this as JSON.",
        "As JSON please.",
    )
    # Sentences leave open what the fields are called, so they are always asked for by name.
    ask = rng.choice(asks[:5] if natural else asks)
    messages: list[Message] = _system(rng)
    if rng.random() < 0.3:
        rule = rng.choice(
            ("Answer with JSON of this schema: ", "Answer in JSON that matches this schema:\n", "JSON schema: ")
        )
        messages, ask = [{"role": "system", "content": rule + written(schema)}], ""
    text = f"{text} {ask}" if rng.random() < 0.6 else f"{ask} {text}"
    messages += [
        {"role": "user", "content": text.strip()},
        _said(written(answer), thinking, f"Write JSON: {', '.join(names)}."),
    ]
    return Dialogue("json", tuple(messages), (), thinking, schema=schema, answer=answer)


def _dialogue_talk(rng: random.Random, held_out: bool, thinking: bool) -> Dialogue:
    asked, answer = small_talk(rng)
    messages: tuple[Message, ...] = (
        *_system(rng),
        *_earlier(rng),
        {"role": "user", "content": asked},
        _said(answer, thinking),
    )
    # A tool that adds numbers would fit a sum, so the tools beside a sum are never the natural ones.
    shelf = tuple(tool(rng, held_out=held_out) for _ in range(rng.randint(1, 3))) if rng.random() < 0.5 else ()
    return Dialogue("talk", messages, shelf, thinking)


def _dialogue_refuse(rng: random.Random, held_out: bool, thinking: bool) -> Dialogue:
    wanted = tool(rng, held_out=held_out)
    shelf = [
        spec for spec in (tool(rng, held_out=held_out) for _ in range(rng.randint(1, 3))) if spec.noun != wanted.noun
    ]
    user: Message = {"role": "user", "content": request(rng, wanted, _arguments(rng, wanted))}
    return Dialogue(
        "refuse",
        (*_system(rng), user, _said("I have no tool for that.", thinking, "No tool fits.")),
        tuple(shelf),
        thinking,
    )


def _dialogue_result(rng: random.Random, held_out: bool, thinking: bool, *, first: bool = False) -> Dialogue:
    make = _dialogue_natural if rng.random() < 0.5 else _dialogue_call
    asked = make(rng, held_out, thinking, first=first)
    draw = rng.random()
    if draw < 0.1:
        problem = phrase(rng)
        result, answer = written({"error": problem}), f"That did not work: {problem}."
    elif draw < 0.35:
        result = rng.choice((phrase(rng), str(integer(rng)), word(rng)))
        answer = f"The result: {result}."
    else:
        taken: set[str] = set()
        items = [parameter(rng, taken) for _ in range(rng.randint(1, 3))]
        values = {item.name: item.value(rng) for item in items}
        result = written(values)
        told = [f"{name} {plain(value)}" for name, value in values.items()]
        answer = f"The result: {', '.join(told)}."
    messages: tuple[Message, ...] = (
        *asked.messages,
        {"role": "tool", "content": result},
        _said(answer, thinking, "Tell the result."),
    )
    return Dialogue("result", messages, asked.tools, thinking, asked.calls)


def _dialogue_drill(rng: random.Random) -> Dialogue:
    make = rng.choice((word, syllables, person, phrase, lambda source: str(integer(source))))
    text = rng.choice((" ", " ", ", ")).join(make(rng) for _ in range(rng.randint(2, 12)))
    order = rng.choice(("Repeat: {}", "Say {}", "Echo: {}", "Copy this: {}", 'Say "{}"'))
    return Dialogue("drill", ({"role": "user", "content": order.format(text)}, _said(text, False)))


def dialogue(
    rng: random.Random,
    *,
    kind: str | None = None,
    held_out: bool = False,
    drills: float = 0.04,
    thinking: bool | None = None,
) -> Dialogue:
    """One dialogue.

    kind: one of `KINDS` or `drill`; drawn when None. held_out: tools from the pairs kept for evaluation. drills:
    share of plain copying among drawn kinds. thinking: whether the answer is thought about first; drawn when None.
    """
    if kind is None:
        kind = "drill" if rng.random() < drills else rng.choices(tuple(KINDS), tuple(KINDS.values()))[0]
    if thinking is None:
        thinking = rng.random() < 0.15
    if kind == "drill":
        return _dialogue_drill(rng)
    makers = {
        "call": _dialogue_call,
        "natural": _dialogue_natural,
        "parallel": _dialogue_parallel,
        "json": _dialogue_json,
        "talk": _dialogue_talk,
        "refuse": _dialogue_refuse,
        "result": _dialogue_result,
    }
    return makers[kind](rng, held_out, thinking)
