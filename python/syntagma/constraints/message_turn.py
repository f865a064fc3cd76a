"""The grammar of a turn that is a sequence of messages with headers."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from syntagma.constraints.call_groups import CallGroup
from syntagma.constraints.headers import HeaderWriter
from syntagma.constraints.literals import answer_text, literal, reasoning_text, unterminated_text
from syntagma.constraints.turn_context import TurnContext
from syntagma.errors import FormatError
from syntagma.format_schema import MessagesSpec, Pattern, answer_before_calls, has_required_fields
from syntagma.grammars import Grammar

__all__ = ["begun_message", "message_parts"]


def message_parts(turn: TurnContext, messages: MessagesSpec) -> list[Grammar]:
    """Reasoning, then an answer, or calls, or an answer and calls; the prompt holds the opener of the first message.

    Raises:
        FormatError: `E-FORMAT-UNSUPPORTED`, the request needs an answer, and the format has none.
    """
    return _MessageTurn(turn, messages).parts()


def begun_message(turn: TurnContext, messages: MessagesSpec, going_on: Sequence[CallGroup]) -> list[Grammar]:
    """Each way to continue the header inside which the prompt ends; `going_on`: the calls that continue it."""
    return _MessageTurn(turn, messages).begun(going_on)


class _MessageTurn:
    def __init__(self, turn: TurnContext, messages: MessagesSpec) -> None:
        self._turn = turn
        self._messages = messages
        self._headers = HeaderWriter(messages, turn.spec.cuts)
        self._between = literal(messages.start[0] if messages.start else "")
        """the opener of a message after the first"""

    def parts(self) -> list[Grammar]:
        turn, reasoning = self._turn, self._turn.spec.reasoning
        if turn.start.content_open and turn.start.reasoning != "open":
            return self._after_answer_header()
        rest = self._rest()
        if reasoning is None or turn.start.reasoning == "done":
            return [rest]
        blocks = self._blocks()
        # Messages that end alike have the same body.
        bodies = {block.closer: Grammar.concat(*self._reasoning(block)) for block in blocks}
        message = Grammar.union(
            *(Grammar.concat(*self._headers.opener(block.opener), bodies[block.closer]) for block in blocks)
        )
        further = Grammar.repeat(message)
        if turn.start.reasoning == "open":
            # It is unknown which header the prompt holds.
            return [Grammar.union(*bodies.values()), *([further] if reasoning.repeat else []), rest]
        return [further if reasoning.repeat else Grammar.optional(message), rest]

    def begun(self, going_on: Sequence[CallGroup]) -> list[Grammar]:
        """See `begun_message`."""
        turn, begun = self._turn, self._turn.start.begun
        found = [group.calls for group in going_on]
        later = turn._replace(start=msgspec.structs.replace(turn.start, begun=""))
        for block in self._blocks() if turn.start.reasoning == "possible" else ():
            if block.opener.startswith(begun):
                header = self._headers.opener(block.opener.removeprefix(begun))
                done = turn.spec.reasoning is not None and not turn.spec.reasoning.repeat
                state = msgspec.structs.replace(later.start, reasoning="done") if done else later.start
                after = _MessageTurn(later._replace(start=state), self._messages).parts()
                found.append(Grammar.concat(*header, *self._reasoning(block), *after))
        if not turn.forced:
            found += self._answers(begun)
        return found

    def _blocks(self) -> list[Pattern]:
        return [block for block in self._turn.spec.reasoning_blocks if has_required_fields(self._turn.spec, block)]

    def _reasoning(self, block: Pattern) -> list[Grammar]:
        """The body of a message of reasoning, and the opener of the next message."""
        spec, labels = self._turn.spec, self._turn.labels
        if self._messages.end:
            text = reasoning_text(spec, block)
        else:
            text = unterminated_text(spec, self._messages, followed=True)
        return [labels.reasoning(text), *literal(block.closer.strip()), *self._between]

    def _rest(self) -> Grammar:
        """What follows reasoning."""
        turn, content = self._turn, self._turn.spec.content
        if turn.forced_calls is not None:
            return turn.forced_calls
        if content is None or not content.block:
            if turn.calls is None:
                hint = "content.block, an example of a message that is an answer"
                raise FormatError(
                    "E-FORMAT-UNSUPPORTED", "the format has no answers", hint=hint, pointer="/messages/fields"
                )
            return turn.calls
        return Grammar.union(*self._answers(""), *([turn.calls] if turn.calls is not None else []))

    def _answers(self, begun: str) -> list[Grammar]:
        """An answer, alone and with calls after it; `begun`: the beginning of its header in the prompt."""
        turn, content = self._turn, self._turn.spec.content
        if content is None or not content.block:
            return []
        answer, found = content.block[0], []
        if answer.opener.startswith(begun):
            header = self._headers.opener(answer.opener.removeprefix(begun))
            found.append(Grammar.concat(*header, *self._answer(answer, turn.answer)))
        before = answer_before_calls(content, self._messages)
        if turn.calls is not None and turn.answer is None and before.opener.startswith(begun):
            header = self._headers.opener(before.opener.removeprefix(begun))
            body = self._answer(before, None, followed=True)
            found.append(Grammar.concat(*header, *body, *self._between, turn.calls))
        return found

    def _after_answer_header(self) -> list[Grammar]:
        """What may follow the header of an answer in the prompt."""
        turn, content = self._turn, self._turn.spec.content
        assert content is not None
        block = content.block[0]
        if turn.forced_calls is not None:
            return [*literal(block.closer.strip()), *self._between, turn.forced_calls]
        alone = self._answer(block, turn.answer)
        if turn.calls is None or turn.answer is not None:
            return alone
        calls = Grammar.concat(*self._between, turn.calls)
        ways = [Grammar.concat(*alone, *([Grammar.optional(calls)] if self._messages.end else []))]
        shown = answer_before_calls(content, self._messages)
        if shown.closer != block.closer or not self._messages.end:
            ways.append(Grammar.concat(*self._answer(shown, None, followed=True), calls))
        return [Grammar.union(*ways)]

    def _answer(self, block: Pattern, content: Grammar | None, *, followed: bool = False) -> list[Grammar]:
        """The body of an answer, with the marker that ends it; `followed`: a message comes after it."""
        spec, labels = self._turn.spec, self._turn.labels
        if content is not None:
            return [content, *literal(block.closer.strip())]
        if not self._messages.end:
            return [labels.content(unterminated_text(spec, self._messages, followed=followed))]
        return [labels.content(answer_text(spec, block.closer)), *literal(block.closer.strip())]
