"""The grammar of a turn whose reasoning, answer and calls stand in one text, separated by literals."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from syntagma.constraints.call_groups import CallGroup
from syntagma.constraints.literals import answer_text, literal, reasoning_text
from syntagma.constraints.turn_context import TurnContext
from syntagma.constraints.whitespace import WHITESPACE, joined
from syntagma.format_schema import Pattern, ends_at_next, is_weak, leading, trailing
from syntagma.format_schema.facts import closing, has_bare_calls
from syntagma.grammars import Grammar

__all__ = ["begun_parts", "calls_and_rest", "inline_parts"]


def inline_parts(turn: TurnContext) -> list[Grammar]:
    """Reasoning and what follows it, without the part that the prompt already has."""
    spec, start = turn.spec, turn.start
    reasoning = spec.reasoning
    over = start.reasoning == "done" or (start.content_open and start.reasoning != "open")
    if reasoning is None or over:
        return [_rest(turn, reasoned=False)]
    further = Grammar.repeat(_blocks(turn)) if reasoning.repeat and _openers(turn) else Grammar.literal("")
    if start.reasoning == "open":
        # If it is unknown which block is open, each closer ends its own.
        opened = [block for block in reasoning.block if start.opener in ("", block.opener.strip())]
        text = _block_text(turn, opened)
        if reasoning.to == "content":
            # Reasoning is a part of the answer, and may be all of it: the parser does not separate them.
            text = Grammar.optional(text)
        return [text, further, _rest_of_open(turn)]
    if not _openers(turn):
        # Reasoning without an opener comes at the start or not at all.
        return [_rest(turn, reasoned=False)]
    with_reasoning = Grammar.concat(_blocks(turn), further, _rest(turn, reasoned=True))
    return [Grammar.union(with_reasoning, _rest(turn, reasoned=False))]


def begun_parts(turn: TurnContext, going_on: Iterable[CallGroup]) -> list[Grammar]:
    """Each way to continue the opener inside which the prompt ends.

    Args:
        turn: the turn.
        going_on: the calls that continue it.
    """
    begun, start = turn.start.begun, turn.start
    found = []
    for opener, blocks in _openers(turn).items() if start.reasoning == "possible" else ():
        if opener.startswith(begun):
            rest = (*literal(opener.removeprefix(begun)), _block_text(turn, blocks), _rest(turn, reasoned=True))
            found.append(Grammar.concat(*rest))
    wrapper = _wrapper(turn, reasoned=False)
    if wrapper is not None and wrapper.opener.strip().startswith(begun) and not turn.forced:
        inside = turn._replace(start=msgspec.structs.replace(start, content_open=True))
        found.append(
            Grammar.concat(*literal(wrapper.opener.strip().removeprefix(begun)), _rest(inside, reasoned=False))
        )
    found += [_with_text_after(turn, group, wrapper) for group in going_on]
    return found


def _openers(turn: TurnContext) -> dict[str, list[Pattern]]:
    """The patterns of a reasoning block, by their opener."""
    found: dict[str, list[Pattern]] = {}
    for block in turn.spec.reasoning_blocks:
        if block.opener.strip():
            found.setdefault(block.opener.strip(), []).append(block)
    return found


def _blocks(turn: TurnContext, openers: Iterable[str] | None = None) -> Grammar:
    """One block of reasoning, in any of the ways to write one that begin with these openers; None: with any."""
    known = _openers(turn)
    alike = [known[opener] for opener in (known if openers is None else openers)]
    return Grammar.union(*(Grammar.concat(*_opener(blocks[0]), _block_text(turn, blocks)) for blocks in alike))


def calls_and_rest(turn: TurnContext) -> Grammar:
    """The calls of a turn and what may follow them, whatever precedes them."""
    if turn.forced or turn.answer is not None:
        return _calls(turn.groups)
    wrapper = _wrapper(turn, reasoned=False)
    return Grammar.union(*(_with_text_after(turn, group, wrapper) for group in turn.groups))


def _opener(block: Pattern, *, exact: bool = False) -> list[Grammar]:
    """The opener of a text; whitespace before it may be missing unless `exact`, that after it is like the text."""
    return [*_before(leading(block.opener), exact=exact), *literal(block.opener.strip())]


def _block_text(turn: TurnContext, blocks: Iterable[Pattern]) -> Grammar:
    """The text of an open block of reasoning that may be any of these, with its closer and the whitespace after it."""
    return Grammar.union(*{block.closer.strip(): _text_of(turn, block) for block in blocks}.values())


def _text_of(turn: TurnContext, block: Pattern) -> Grammar:
    text = turn.labels.reasoning(reasoning_text(turn.spec, block))
    if not block.closer.strip():
        return Grammar.concat(text, Grammar.literal(block.closer))
    return Grammar.concat(text, *literal(closing(block.closer)), *_optional(trailing(block.closer)))


def _wrapper(turn: TurnContext, *, reasoned: bool) -> Pattern | None:
    """The wrapper of the answer, if there is one; `reasoned`: reasoning came before it."""
    content = turn.spec.content
    if content is None or not content.block:
        return None
    if content.when == "reasoning" and not (reasoned or turn.start.content_open):
        return None
    return content.block[0]


def _rest(turn: TurnContext, *, reasoned: bool) -> Grammar:
    """What follows reasoning: answer and calls. `reasoned`: there was reasoning, after which whitespace is optional."""
    wrapper = _wrapper(turn, reasoned=reasoned)
    begun = turn.start.content_open
    is_closed = all(block.closer.strip() for block in turn.spec.reasoning_blocks)
    space = [WHITESPACE] if reasoned and is_closed else []
    exact = _is_exact(turn, reasoned=reasoned)
    opens = wrapper if exact else None
    if turn.forced and turn.groups:
        closed = literal(closing(wrapper.closer)) if wrapper is not None and begun else space
        return joined((*closed, _calls(turn.groups, opens)))
    if turn.answer is not None:
        content = _wrapped((turn.answer,), wrapper, begun=begun, exact=exact)
        content_at = content if turn.whitespace_counts else joined((*space, content))
        if begun or not turn.groups:
            return content_at
        return Grammar.union(content_at, joined((*space, _calls(turn.groups, opens))))
    text = _text_and_calls(turn, wrapper, exact=exact)
    # A call without opener is one only where the answer begins.
    bare = [] if begun else [joined((*space, _spaced(group, opens))) for group in turn.groups if not group.begins]
    return Grammar.union(joined((*space, text)) if wrapper is not None else text, *bare)


def _rest_of_open(turn: TurnContext) -> Grammar:
    """What follows reasoning that the prompt has opened; it may be empty, and then counts as no reasoning."""
    content = turn.spec.content
    ways = [_rest(turn, reasoned=True)]
    if content is not None and content.when == "reasoning":
        ways.append(_rest(turn, reasoned=False))
    return Grammar.union(*ways)


def _text_and_calls(turn: TurnContext, wrapper: Pattern | None, *, exact: bool) -> Grammar:
    """The answer, and calls with an opener; `exact`: reasoning came before it, and one of them must open to end it."""
    begun = turn.start.content_open
    marked = [group for group in turn.groups if group.begins]
    content = _wrapped((_free_answer(turn, wrapper),), wrapper, begun=begun, exact=exact)
    calls = Grammar.union(*(_with_text_after(turn, group, wrapper) for group in marked)) if marked else None
    later = None if calls is None else joined((*([] if wrapper is None else [WHITESPACE]), calls))
    may_lack_answer = wrapper is not None and not begun
    text = _before_calls(turn, content, begun=begun, exact=exact)
    if text is None and may_lack_answer and not exact:
        # The calls occur once in the grammar, since exports write out each occurrence of a part.
        return _followed(Grammar.optional(content), later)
    if text is None:
        text = _followed(content, later)
    if not may_lack_answer:
        return text
    if exact:
        at_once = (joined((*literal(group.before), _with_text_after(turn, group, wrapper))) for group in marked)
        return Grammar.union(text, *at_once)
    return Grammar.union(text, Grammar.literal("") if later is None else Grammar.optional(later))


def _is_exact(turn: TurnContext, *, reasoned: bool) -> bool:
    """Whether what follows must be opened as it is shown, whitespace included, since that alone ends the reasoning."""
    return reasoned and any(ends_at_next(turn.spec, block) for block in turn.spec.reasoning_blocks)


def _followed(answer: Grammar, later: Grammar | None) -> Grammar:
    return answer if later is None else joined((answer, Grammar.optional(later)))


def _before_calls(turn: TurnContext, alone: Grammar, *, begun: bool, exact: bool) -> Grammar | None:
    """An answer alone, or one with calls after it, where the format writes these otherwise; None where it does not."""
    content, marked = turn.spec.content, [group for group in turn.groups if group.begins]
    if content is None or not content.before_calls or not marked or begun:
        return None
    ways = []
    for shown in content.before_calls:
        wrapper = shown if shown.opener.strip() or shown.closer.strip() else None
        answer = _wrapped((_free_answer(turn, wrapper),), wrapper, begun=False, exact=exact)
        calls = Grammar.union(*(_with_text_after(turn, group, wrapper) for group in marked))
        ways.append(joined((answer, *([] if wrapper is None else [WHITESPACE]), calls)))
    bare = [] if exact else [_with_text_after(turn, group, None) for group in marked]
    return Grammar.union(alone, *bare, *ways)


def _free_answer(turn: TurnContext, wrapper: Pattern | None) -> Grammar:
    """Text of the answer in its wrapper, or before calls; further blocks of reasoning may stand in it."""
    reasoning = turn.spec.reasoning
    closers = () if wrapper is None else (wrapper.closer,)
    calls = [one for group in turn.groups if group.begins for one in group.beginnings] if wrapper is None else []
    openers = [*_openers(turn), *(block.opener.strip() for block in turn.spec.wrappers)]
    weak = [opener for opener in openers if is_weak(opener)] if wrapper is None else []
    if reasoning is None or not reasoning.repeat or wrapper is not None or turn.start.reasoning == "done":
        return turn.labels.content(answer_text(turn.spec, *closers, calls=calls, names=turn.names, not_first=weak))
    strong = [opener for opener in _openers(turn) if not is_weak(opener)]
    text = turn.labels.content(answer_text(turn.spec, *strong, calls=calls, names=turn.names, not_first=weak))
    return Grammar.repeat(text, min=1, separator=_blocks(turn, strong)) if strong else text


def _with_text_after(turn: TurnContext, group: CallGroup, wrapper: Pattern | None) -> Grammar:
    """Calls, and text of the answer after them if it cannot be read as a part of the last call."""
    if wrapper is not None or not group.may_be_followed or has_bare_calls(turn.spec):
        return joined((group.calls, WHITESPACE))
    return Grammar.concat(group.calls, Grammar.optional(turn.labels.content(answer_text(turn.spec, names=turn.names))))


def _calls(groups: Iterable[CallGroup], opens: Pattern | None = None) -> Grammar:
    """Calls of any group and nothing else; `opens`: as of `_spaced`."""
    return Grammar.union(*(_spaced(group, opens) for group in groups))


def _spaced(group: CallGroup, opens: Pattern | None = None) -> Grammar:
    """Calls with the whitespace that is shown before them, which may be missing, and any after them.

    `opens`: the wrapper of the answer, where reasoning goes on until something opens: what opens nothing needs it.
    """
    if opens is not None and not group.begins:
        return joined((*_opener(opens, exact=True), group.calls, WHITESPACE))
    return joined((*_before(group.before, exact=opens is not None), group.calls, WHITESPACE))


def _wrapped(content: Iterable[Grammar], wrapper: Pattern | None, *, begun: bool, exact: bool = False) -> Grammar:
    if wrapper is None:
        return joined(content)
    closer = (*literal(closing(wrapper.closer)), *_optional(trailing(wrapper.closer)))
    return joined((*([] if begun else _opener(wrapper, exact=exact)), *content, *closer))


def _before(whitespace: str, *, exact: bool) -> Iterator[Grammar]:
    yield from literal(whitespace) if exact else _optional(whitespace)


def _optional(whitespace: str) -> Iterator[Grammar]:
    if whitespace:
        yield Grammar.optional(Grammar.literal(whitespace))
