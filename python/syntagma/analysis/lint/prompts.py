"""Rules about generation prompts: there is one, and it begins as the assistant's turns do."""

from __future__ import annotations

from collections.abc import Iterator

from syntagma.analysis.lint.report import Edit, Slip
from syntagma.analysis.lint.subject import ANSWER, QUESTION, REASONING, Subject, message_of, user
from syntagma.analysis.locate.atoms import common_prefix
from syntagma.analysis.render.conversation import SampleTurn

__all__ = ["differing_prompt", "missing_prompt"]


def missing_prompt(subject: Subject) -> Iterator[Slip]:
    """`add_generation_prompt` changes nothing, and the assistant's turns begin with a header."""
    found = _openings(subject)
    if found is None:
        return
    bare, prompt, header = found
    if prompt == bare and _visible(header) not in _visible(prompt):
        source = subject.template.source
        added = f"{{%- if add_generation_prompt %}}{{{{- {header.removeprefix(bare)!r} }}}}{{%- endif %}}"
        yield Slip(
            message=f"there is no generation prompt; turns begin with {header!r}",
            request=subject.request([user()]),
            shown=prompt,
            edits=(Edit(len(source), len(source), added),) if header.startswith(bare) else (),
        )


def differing_prompt(subject: Subject) -> Iterator[Slip]:
    """The generation prompt does not hold the header of the assistant's turns."""
    found = _openings(subject)
    if found is None:
        return
    bare, prompt, header = found
    one, other = _visible(prompt), _visible(header)
    # A prompt may end before a text with which every turn continues, such as the opener of reasoning.
    if prompt != bare and other not in one and not other.startswith(one):
        yield Slip(
            message=f"the generation prompt is {prompt!r}, and turns begin with {header!r}",
            request=subject.request([user()]),
            shown=prompt,
        )


def _openings(subject: Subject) -> tuple[str, str, str] | None:
    """The text after a user's message without and with a generation prompt, and before turns; None if one fails."""
    bare, prompt = subject.render([user()]), subject.render([user()], prompt=True)
    turns = [SampleTurn(content=ANSWER)]
    if subject.analysis.capabilities.reasoning is not None:
        turns.append(SampleTurn(reasoning=REASONING, content=ANSWER))
    if subject.shows_calls:
        turns.append(SampleTurn(calls=(subject.call(),)))
    heads = []
    for turn in turns:
        text = subject.render([user(), message_of(subject, turn)], tools=bool(turn.calls))
        first = turn.calls[0].name if turn.calls else ANSWER
        after = text.rpartition(QUESTION)[2] if isinstance(text, str) and QUESTION in text else ""
        if first in after:
            heads.append(after.partition(first)[0].partition(REASONING)[0])
    if not isinstance(bare, str) or not isinstance(prompt, str) or not heads or QUESTION not in bare:
        return None
    return bare.rpartition(QUESTION)[2], prompt.rpartition(QUESTION)[2], common_prefix(heads)


def _visible(text: str) -> str:
    return "".join(text.split())
