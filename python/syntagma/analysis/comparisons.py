"""Pairs of renders that differ in one thing, to make an analysis understandable.

Inference compares all shapes of a turn at once; each pair here shows one of its questions, with its own renders.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from syntagma.analysis.locate.atoms import common_prefix, common_suffix
from syntagma.analysis.render.conversation import Inputs, SampleCall, SampleTurn, Sentinels
from syntagma.analysis.render.turn_renderer import TurnRenderer
from syntagma.analysis.result import Analysis
from syntagma.templates import ChatTemplate

__all__ = ["Comparison", "comparisons"]


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """Two renders that differ in one thing.

    Attributes:
        step: `R` reasoning, `C` content, `T` calls, `A` arguments, with a number.
        question: the question that the pair answers.
        first: the text after the user's message in one render.
        second: the text after it in the other one.
    """

    step: str
    question: str
    first: str
    second: str

    @property
    def parts(self) -> tuple[str, str, str, str]:
        """The common beginning, the parts only in the first and only in the second, and the common end.

        They are cut between markers, words and signs, never inside one.
        """
        before = common_prefix([self.first, self.second])
        one, other = self.first[len(before) :], self.second[len(before) :]
        after = common_suffix([one, other])
        return before, one.removesuffix(after), other.removesuffix(after), after


def comparisons(template: ChatTemplate, analysis: Analysis) -> tuple[Comparison, ...]:
    """The pairs that the template renders, in the order of the questions.

    Args:
        template: the template.
        analysis: its analysis.

    Raises:
        TemplateError: `E-TEMPLATE-ANALYSIS`, the renders went beyond their limits.
    """
    renderer = TurnRenderer(template)
    pairs = (*_of_turns(renderer, analysis, renderer.sentinels), *_of_prompts(renderer, analysis))
    eos, token = renderer.eos, template.eos_token
    return tuple(
        msgspec.structs.replace(one, first=one.first.replace(eos, token), second=one.second.replace(eos, token))
        for one in pairs
    )


def _of_turns(renderer: TurnRenderer, analysis: Analysis, words: Sentinels) -> Iterator[Comparison]:
    found, inputs = analysis.capabilities, analysis.capabilities.inputs
    reasoning, content = words.word("r"), words.word("c")
    name, other_name, key, other_key = (words.word(kind) for kind in "nnkk")
    value, other_value = words.word("v"), words.word("v")

    def call(index: int = 0, name: str = name, arguments: dict[str, Any] | None = None) -> SampleCall:
        identity = found.call_id_form.replace("{word}", f"{index}dbcdfghj").replace("{name}", name)
        return SampleCall(name, arguments or {key: value}, identity.replace("{index}", str(index)))

    plain = SampleTurn(content=content)
    one = SampleTurn(calls=(call(),))
    pairs: list[tuple[str, str, SampleTurn, SampleTurn]] = []
    if found.reasoning is not None:
        thought = SampleTurn(reasoning=reasoning, content=content)
        pairs += [
            ("R1", "how reasoning is written before content", plain, thought),
            ("R3", "how reasoning is written before calls", one, SampleTurn(reasoning=reasoning, calls=one.calls)),
        ]
    pairs.append(("C1", "how content is written", SampleTurn(content=""), plain))
    if found.tool_calls:
        pairs += [
            ("C2", "how content is written beside calls", one, SampleTurn(content=content, calls=one.calls)),
            ("T1", "how a call is written", plain, one),
            ("T2", "what belongs to every call, and what to all", one, SampleTurn(calls=(call(), call(1)))),
            ("T3", "what stands between calls", *_with_calls((call(), call(1)), (call(), call(1), call(2)))),
            ("T4", "what surrounds the name", one, SampleTurn(calls=(call(name=other_name),))),
            (
                "T5",
                "what stands between arguments",
                one,
                SampleTurn(calls=(call(arguments={key: value, other_key: value}),)),
            ),
            ("T6", "what surrounds all arguments", SampleTurn(calls=(SampleCall(name, {}, call().id),)), one),
            ("T7", "what surrounds the id", one, SampleTurn(calls=(msgspec.structs.replace(call(), id=call(9).id),))),
            ("A1", "what surrounds a key", one, SampleTurn(calls=(call(arguments={other_key: value}),))),
            ("A2", "what surrounds a value", one, SampleTurn(calls=(call(arguments={key: other_value}),))),
            ("A3", "how a number is written", one, SampleTurn(calls=(call(arguments={key: 345678}),))),
        ]
    for step, question, first, second in pairs:
        texts = _text(renderer, first, inputs), _text(renderer, second, inputs)
        if texts[0] is not None and texts[1] is not None:
            yield Comparison(step=step, question=question, first=texts[0], second=texts[1])


def _with_calls(first: tuple[SampleCall, ...], second: tuple[SampleCall, ...]) -> tuple[SampleTurn, SampleTurn]:
    return SampleTurn(calls=first), SampleTurn(calls=second)


def _text(renderer: TurnRenderer, turn: SampleTurn, inputs: Inputs) -> str | None:
    rendered = renderer.in_any_context(turn, inputs)
    return None if rendered is None else rendered.text


def _of_prompts(renderer: TurnRenderer, analysis: Analysis) -> Iterator[Comparison]:
    """Pairs of the default generation prompt and each other one."""
    inputs = analysis.capabilities.inputs
    default, bare = renderer.prompt(inputs, {}), renderer.prompt(inputs, {}, generation=False)
    if default is None:
        return
    if bare is not None:
        yield Comparison(step="G1", question="what opens the assistant's turn", first=bare, second=default)
    for one in analysis.prompts[1:]:
        text = renderer.prompt(inputs, one.settings, tools=one.tools)
        if text is not None and one.settings and not one.tools:
            shown = ", ".join(f"{name} = {value}" for name, value in one.settings.items())
            yield Comparison(step="R2", question=f"what {shown} changes", first=default, second=text)
