"""The grammar of a turn that is a sequence of messages with headers."""

from __future__ import annotations

from syntagma.constraints.headers import HeaderWriter
from syntagma.constraints.literals import answer_text, literal, reasoning_text, unterminated_text
from syntagma.constraints.turn_context import TurnContext
from syntagma.errors import FormatError
from syntagma.format_schema import Markers, MessagesSpec, Pattern, answer_before_calls, has_required_fields
from syntagma.grammars import Grammar

__all__ = ["message_parts"]


def message_parts(turn: TurnContext, messages: MessagesSpec) -> list[Grammar]:
    """Reasoning, then an answer, or calls, or an answer and calls; the prompt holds what opens the first message.

    Raises:
        FormatError: `E-FORMAT-UNSUPPORTED`, an answer is wanted of a format that has none.
    """
    return _MessageTurn(turn, messages).parts()


class _MessageTurn:
    def __init__(self, turn: TurnContext, messages: MessagesSpec) -> None:
        self._turn = turn
        self._messages = messages
        self._headers = HeaderWriter(messages, Markers(turn.spec.markers))
        self._between = literal(messages.start[0] if messages.start else "")
        """what opens a message after the first"""

    def parts(self) -> list[Grammar]:
        turn, reasoning = self._turn, self._turn.spec.reasoning
        if turn.start.content_open and turn.start.reasoning != "open":
            return self._after_answer_header()
        rest = self._rest()
        if reasoning is None or turn.start.reasoning == "done":
            return [rest]
        blocks = [block for block in reasoning.block if has_required_fields(turn.spec, block)]
        # Messages that end alike have the same body.
        bodies = {block.closer: Grammar.concat(*self._reasoning(block)) for block in blocks}
        message = Grammar.union(
            *(Grammar.concat(*self._headers.opener(block.opener), bodies[block.closer]) for block in blocks)
        )
        further = Grammar.repeat(message)
        if turn.start.reasoning == "open":
            # Which header the prompt holds is not known.
            return [Grammar.union(*bodies.values()), *([further] if reasoning.repeat else []), rest]
        return [further if reasoning.repeat else Grammar.optional(message), rest]

    def _reasoning(self, block: Pattern) -> list[Grammar]:
        """The body of a message of reasoning, and what opens the message after it."""
        spec, labels = self._turn.spec, self._turn.labels
        if self._messages.end:
            text = reasoning_text(spec, block)
        else:
            text = unterminated_text(spec, self._messages, followed=True)
        return [labels.reasoning(text), *literal(block.closer.strip()), *self._between]

    def _rest(self) -> Grammar:
        """What follows the reasoning."""
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
        answer = content.block[0]
        alternatives = [Grammar.concat(*self._headers.opener(answer.opener), *self._answer(answer, turn.answer))]
        if turn.calls is not None:
            alternatives.append(turn.calls)
            if turn.answer is None:
                before = answer_before_calls(content, self._messages)
                body = self._answer(before, None, followed=True)
                alternatives.append(
                    Grammar.concat(*self._headers.opener(before.opener), *body, *self._between, turn.calls)
                )
        return Grammar.union(*alternatives)

    def _after_answer_header(self) -> list[Grammar]:
        """The prompt holds the header of an answer."""
        turn, content = self._turn, self._turn.spec.content
        assert content is not None
        block = content.block[0]
        if turn.forced_calls is not None:
            return [*literal(block.closer.strip()), *self._between, turn.forced_calls]
        alone = self._answer(block, turn.answer)
        if turn.calls is None or turn.answer is not None:
            return alone
        if self._messages.end:
            return [*alone, Grammar.optional(Grammar.concat(*self._between, turn.calls))]
        before = self._answer(block, None, followed=True)
        return [Grammar.union(Grammar.concat(*alone), Grammar.concat(*before, *self._between, turn.calls))]

    def _answer(self, block: Pattern, content: Grammar | None, *, followed: bool = False) -> list[Grammar]:
        """The body of an answer, with the marker that ends it; `followed`: a message comes after it."""
        spec, labels = self._turn.spec, self._turn.labels
        if content is not None:
            return [content, *literal(block.closer.strip())]
        if not self._messages.end:
            return [labels.content(unterminated_text(spec, self._messages, followed=followed))]
        return [labels.content(answer_text(spec, block.closer)), *literal(block.closer.strip())]
