"""The grammar of a whole turn: reasoning, then the answer, then calls, each as the request says."""

from __future__ import annotations

from syntagma.constraints.budgets import BudgetLabels
from syntagma.constraints.calls import calls_grammar, ends_in_marker
from syntagma.constraints.messages import message_parts
from syntagma.constraints.schemas import model_limits, shaped_answer
from syntagma.constraints.text import answer_text, has_bare_calls, literal, reasoning_text
from syntagma.errors import FormatError
from syntagma.format_schema import FormatSpec, Pattern, StartState
from syntagma.grammars import Grammar
from syntagma.request import ResolvedRequest

__all__ = ["build_grammar"]


def build_grammar(spec: FormatSpec, request: ResolvedRequest, start: StartState) -> Grammar:
    """What the model may write next, as far as the request and the start state constrain it.

    The turn is `[reasoning] [content] [calls] [content]`. With `tool_choice`

    * `none`: no calls;
    * `auto`: text, then calls if the model wants them; names are declared ones, arguments are JSON objects, which
      keep to the schema with `enforce="parameters"` and for tools that are `strict`;
    * `required`: calls and no content, arguments by schema;
    * a tool: exactly one call of it, arguments by schema.

    A response format other than text replaces the free text; in `auto` the model then writes either that or calls of
    declared tools.
    Every string of the grammar is read by `syntagma.parsing` without anything malformed, unless a response format lets
    a marker stand inside a JSON string. Only the first alternative of every pattern is written. The end of the turn is
    not part of it: a matcher allows the end tokens where the grammar accepts.

    Args:
        spec: the format.
        request: what is asked of the turn.
        start: what the prompt has already begun.

    Raises:
        FormatError: `E-FORMAT-UNSUPPORTED`, the format has no strict reading (yet); `E-FORMAT-NAME`.
        GrammarError: a schema or grammar of the request that is refused, with its pointer.
        LimitError: `E-LIMIT-…`.
    """
    labels = BudgetLabels(request.budgets)
    limits = model_limits(request.limits)
    forced = request.choice.forced
    if spec.tools is None and forced:
        raise FormatError("E-FORMAT-UNSUPPORTED", "a call is required, but the format has no [tools]")
    calls = None
    if spec.tools is not None and request.allows_calls:
        calls = calls_grammar(spec, request, limits=limits, labels=labels)
    answer = None
    if not request.response_format.is_text and not (forced and calls is not None):
        answer = labels.content(shaped_answer(request.response_format, limits))
    if spec.messages is not None:
        parts = message_parts(spec, spec.messages, start, forced=forced, shaped=answer, calls=calls, labels=labels)
    else:
        parts = _Turn(spec, start, forced=forced, shaped=answer, calls=calls, labels=labels).parts()
    return labels.bounded(Grammar.concat(*literal(start.pending), *parts))


class _Turn:
    """One turn being put together."""

    def __init__(
        self,
        spec: FormatSpec,
        start: StartState,
        *,
        forced: bool,
        shaped: Grammar | None,
        calls: Grammar | None,
        labels: BudgetLabels,
    ) -> None:
        self._spec = spec
        self._start = start
        self._forced = forced
        self._shaped = shaped
        self._calls = calls
        self._labels = labels

    def parts(self) -> list[Grammar]:
        """Everything behind the pending literal."""
        reasoning = self._spec.reasoning
        over = self._start.reasoning == "done" or (self._start.content_open and self._start.reasoning != "open")
        if reasoning is None or over:
            return [self._rest(thought=False)]
        if self._start.reasoning == "open":
            # Which block the prompt has opened is not known; each closer ends its own.
            ends = {block.closer: self._thoughts(block) for block in reasoning.block}
            thoughts = Grammar.union(*ends.values())
            if reasoning.to == "content":
                # They are a part of the answer, and may be all of it: whoever reads it does not part them.
                thoughts = Grammar.optional(thoughts)
            return [thoughts, self._rest(thought=True)]
        block = reasoning.block[0]
        whole = [*literal(block.opener), self._thoughts(block)]
        if self._wrapper(thought=True) == self._wrapper(thought=False):
            return [Grammar.optional(Grammar.concat(*whole)), self._rest(thought=False)]
        return [Grammar.union(Grammar.concat(*whole, self._rest(thought=True)), self._rest(thought=False))]

    def _thoughts(self, block: Pattern) -> Grammar:
        """The text of a block that is open, with its closer."""
        return Grammar.concat(self._labels.reasoning(reasoning_text(self._spec, block)), *literal(block.closer))

    def _wrapper(self, *, thought: bool) -> Pattern | None:
        content = self._spec.content
        if content is None or not content.block:
            return None
        if content.when == "reasoning" and not (thought or self._start.content_open):
            return None
        return content.block[0]

    def _rest(self, *, thought: bool) -> Grammar:
        """What follows the reasoning: answer and calls."""
        wrapper = self._wrapper(thought=thought)
        begun = self._start.content_open
        if self._forced and self._calls is not None:
            closed = literal(wrapper.closer) if wrapper is not None and begun else []
            return Grammar.concat(*closed, self._calls)
        if self._shaped is not None:
            content = self._wrapped(self._shaped, wrapper, begun=begun)
            return content if self._calls is None or begun else Grammar.union(content, self._calls)
        return self._text_and_calls(wrapper, begun=begun)

    def _text_and_calls(self, wrapper: Pattern | None, *, begun: bool) -> Grammar:
        tools = self._spec.tools
        behind = ""
        if self._calls is not None and tools is not None and wrapper is None:
            behind = tools.section[0].opener or tools.call[0].opener
        text = answer_text(self._spec, closer=wrapper.closer if wrapper is not None else behind)
        content = self._wrapped(self._labels.content(text), wrapper, begun=begun)
        if self._calls is None or tools is None:
            return content
        if not (tools.section[0].opener.strip() or tools.call[0].opener.strip()):
            # A call without opener is one only where the answer begins.
            return content if begun else Grammar.union(content, self._calls)
        tail = [self._calls]
        if ends_in_marker(tools) and wrapper is None and not has_bare_calls(self._spec):
            tail.append(Grammar.optional(self._labels.content(answer_text(self._spec))))
        first = content if wrapper is None or begun else Grammar.optional(content)
        return Grammar.concat(first, Grammar.optional(Grammar.concat(*tail)))

    @staticmethod
    def _wrapped(content: Grammar, wrapper: Pattern | None, *, begun: bool) -> Grammar:
        if wrapper is None:
            return content
        opener = [] if begun else literal(wrapper.opener)
        return Grammar.concat(*opener, content, *literal(wrapper.closer))
