"""The whole-turn grammar: reasoning, then the answer, then calls, each by the request."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from syntagma.constraints.budgets import BudgetLabels
from syntagma.constraints.call_groups import CallGroup, call_groups
from syntagma.constraints.inline_turn import begun_parts, calls_and_rest, inline_parts
from syntagma.constraints.literals import literal
from syntagma.constraints.message_turn import begun_message, message_parts
from syntagma.constraints.schemas import shaped_answer
from syntagma.constraints.turn_context import TurnContext
from syntagma.errors import FormatError
from syntagma.format_schema import FormatSpec, StartState
from syntagma.format_schema.facts import triggers
from syntagma.grammars import Grammar
from syntagma.grammars.lru_cache import LruCache
from syntagma.grammars.structural_tag import Styles
from syntagma.request import ResolvedRequest
from syntagma.stopping import within_seconds

__all__ = ["build_call_grammar", "build_grammar"]

_BYTES_PER_BYTE = 64
"""bytes that the grammar of a turn takes for each byte of its request, about"""
_GRAMMARS: LruCache[tuple[FormatSpec, Grammar]] = LruCache(64 << 20)
"""Grammars of turns: an agent sends the same tools again and again."""


def build_grammar(
    spec: FormatSpec, request: ResolvedRequest, start: StartState, styles: Styles[Grammar] | None = None
) -> Grammar:
    """The whole-turn grammar: what the model may write from the start state on.

    The turn is `[reasoning] [content] [calls] [content]`. With `tool_choice`

    * `none`: no calls;
    * `auto`: text, then calls if the model chooses to; names are declared ones, arguments are JSON objects, which
      satisfy the schema unless `enforce` says otherwise, and always for tools that are `strict`;
    * `required`: calls and no content, arguments by schema;
    * a tool: exactly one call of it, arguments by schema.

    A response format other than text replaces the free text; in `auto` the model then writes either that or calls of
    declared tools. The parser reads every text of the grammar without diagnostics, unless a response format allows a
    marker inside a JSON string. All alternatives of a pattern for which this holds may be written, and whitespace
    wherever the parser accepts it. The end of the turn is not part of the grammar: a matcher allows end tokens where
    the grammar accepts.

    Args:
        spec: the format.
        request: the resolved request.
        start: the start state.
        styles: writes schemas of structural tags in styles other than JSON.

    Raises:
        FormatError: `E-FORMAT-UNSUPPORTED`, the format has no strict reading; `E-FORMAT-NAME`, a tool's name cannot be
            written in the format.
        GrammarError: a schema or grammar of the request is refused; with its pointer.
        LimitError: `E-LIMIT-…`.
    """
    content = _content(spec, request)

    def build() -> tuple[FormatSpec, Grammar]:
        with within_seconds(request.limits.grammar_seconds):
            return spec, _built(spec, request, start, styles)

    if content is None:
        return build()[1]
    # An entry keeps its format, so that its identity is not given to another one.
    return _GRAMMARS.get((id(spec), content, start, styles), _BYTES_PER_BYTE * len(content), build)[1]


def _content(spec: FormatSpec, request: ResolvedRequest) -> bytes | None:
    """What of a request its grammar depends on; None if it holds values that have no bytes."""
    goes_on = any(form.numbers == "conversation" for form in spec.forms)
    plain = msgspec.structs.replace(
        request,
        template_kwargs=None,
        history_calls=request.history_calls if goes_on else None,
        response_format=msgspec.structs.replace(request.response_format, answer_type=None),
    )
    try:
        return msgspec.msgpack.encode(plain)
    except (TypeError, OverflowError, RecursionError):
        return None


def _built(spec: FormatSpec, request: ResolvedRequest, start: StartState, styles: Styles[Grammar] | None) -> Grammar:
    context = _context(spec, request, start, styles)
    parts = inline_parts(context) if spec.messages is None else message_parts(context, spec.messages)
    grammar = Grammar.concat(*literal(start.pending), *parts)
    if start.begun:
        going_on = _context(spec, request, start, styles, begun=start.begun).groups
        if spec.messages is None:
            # The end of the prompt may be the beginning of an opener, or text before it.
            grammar = Grammar.union(grammar, *begun_parts(context, going_on))
        else:
            begun = begun_message(context, spec.messages, going_on)
            grammar = Grammar.union(*begun) if begun else grammar
    return context.labels.bounded(grammar)


def build_call_grammar(
    spec: FormatSpec, request: ResolvedRequest, styles: Styles[Grammar] | None = None
) -> Grammar | None:
    """The grammar from a trigger on: calls, and what may follow them; None if no call may come.

    It does not depend on the text before the trigger, such as reasoning that the prompt has opened. Engines that
    constrain lazily let a model write freely until a trigger appears; the grammar begins with the trigger.

    Raises:
        FormatError, GrammarError, LimitError: as `build_grammar`.
    """
    with within_seconds(request.limits.grammar_seconds):
        context = _context(spec, request, StartState(), styles, triggered=True)
    if context.calls is None or not triggers(spec):
        return None
    return context.labels.bounded(calls_and_rest(context) if spec.messages is None else context.calls)


def _context(
    spec: FormatSpec,
    request: ResolvedRequest,
    start: StartState,
    styles: Styles[Grammar] | None,
    *,
    triggered: bool = False,
    begun: str = "",
) -> TurnContext:
    """The parts of a turn that depend on the request.

    Args:
        spec: the format.
        request: the resolved request.
        start: the start state.
        styles: writes schemas in styles other than JSON.
        triggered: whether its calls begin with their trigger.
        begun: the beginning of its calls in the prompt.
    """
    labels = BudgetLabels(request.budgets)
    limits = request.limits
    forced = request.choice.forced
    if spec.tools is None and forced:
        raise FormatError("E-FORMAT-UNSUPPORTED", "a call is required, but the format has no [tools]")
    groups: Sequence[CallGroup] = ()
    if spec.tools is not None and request.allows_calls:
        groups = call_groups(spec, request, limits=limits, labels=labels, triggered=triggered, begun=begun)
    answer = None
    if not request.response_format.is_text and not (forced and groups):
        answer = labels.content(shaped_answer(request.response_format, limits, styles))
    whitespace_counts = answer is not None and not request.response_format.is_json
    names = None if request.tools is None else tuple(tool.name for tool in request.tools)
    return TurnContext(spec, start, tuple(groups), forced, answer, labels, names, whitespace_counts)
