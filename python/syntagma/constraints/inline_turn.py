"""The grammar of a turn whose reasoning, answer and calls stand in one text, marked off by literals."""

from __future__ import annotations

from syntagma.constraints.calls import ends_in_marker
from syntagma.constraints.literals import answer_text, has_bare_calls, literal, reasoning_text
from syntagma.constraints.turn_context import TurnContext
from syntagma.format_schema import Pattern
from syntagma.grammars import Grammar

__all__ = ["calls_and_rest", "inline_parts"]


def inline_parts(turn: TurnContext) -> list[Grammar]:
    """Reasoning, then what follows it; without what the prompt has already written."""
    spec, start = turn.spec, turn.start
    reasoning = spec.reasoning
    over = start.reasoning == "done" or (start.content_open and start.reasoning != "open")
    if reasoning is None or over:
        return [_rest(turn, after_reasoning=False)]
    if start.reasoning == "open":
        # Where it is not known which block is open, each closer ends its own.
        opened = [block for block in reasoning.block if start.opener in ("", block.opener.strip())]
        ends = {block.closer: _block_text(turn, block) for block in opened}
        text = Grammar.union(*ends.values())
        if reasoning.to == "content":
            # Reasoning is a part of the answer, and may be all of it: whoever reads it does not part them.
            text = Grammar.optional(text)
        further = [Grammar.repeat(_blocks(turn))] if reasoning.repeat and _openers(turn) else []
        return [text, *further, _rest(turn, after_reasoning=True)]
    if not _openers(turn):
        # Reasoning that nothing opens comes at the start or not at all.
        return [_rest(turn, after_reasoning=False)]
    whole = Grammar.repeat(_blocks(turn), min=1) if reasoning.repeat else _blocks(turn)
    if _wrapper(turn, after_reasoning=True) == _wrapper(turn, after_reasoning=False):
        return [Grammar.optional(whole), _rest(turn, after_reasoning=False)]
    with_reasoning = Grammar.concat(whole, _rest(turn, after_reasoning=True))
    return [Grammar.union(with_reasoning, _rest(turn, after_reasoning=False))]


def _openers(turn: TurnContext) -> dict[str, Pattern]:
    """The ways to write a block of reasoning, by what opens it; of those that open alike, a reader takes the first."""
    reasoning = turn.spec.reasoning
    found: dict[str, Pattern] = {}
    for block in reasoning.block if reasoning is not None else ():
        if block.opener.strip():
            found.setdefault(block.opener.strip(), block)
    return found


def _blocks(turn: TurnContext) -> Grammar:
    """One block of reasoning, in any of the ways to write one."""
    blocks = _openers(turn).values()
    return Grammar.union(*(Grammar.concat(*literal(block.opener), _block_text(turn, block)) for block in blocks))


def _block_text(turn: TurnContext, block: Pattern) -> Grammar:
    """The text of a block of reasoning that is open, with its closer."""
    return Grammar.concat(turn.labels.reasoning(reasoning_text(turn.spec, block)), *literal(block.closer))


def _wrapper(turn: TurnContext, *, after_reasoning: bool) -> Pattern | None:
    """What stands around the answer, if anything does."""
    content = turn.spec.content
    if content is None or not content.block:
        return None
    if content.when == "reasoning" and not (after_reasoning or turn.start.content_open):
        return None
    return content.block[0]


def _rest(turn: TurnContext, *, after_reasoning: bool) -> Grammar:
    """What follows the reasoning: answer and calls."""
    wrapper = _wrapper(turn, after_reasoning=after_reasoning)
    begun = turn.start.content_open
    if turn.forced_calls is not None:
        closed = literal(wrapper.closer) if wrapper is not None and begun else []
        return Grammar.concat(*closed, turn.forced_calls)
    if turn.answer is not None:
        content = _wrapped(turn.answer, wrapper, begun=begun)
        return content if turn.calls is None or begun else Grammar.union(content, turn.calls)
    return _text_and_calls(turn, wrapper)


def _text_and_calls(turn: TurnContext, wrapper: Pattern | None) -> Grammar:
    begun, tools, calls = turn.start.content_open, turn.spec.tools, turn.calls
    closer = "" if wrapper is None else wrapper.closer
    if calls is not None and tools is not None and wrapper is None:
        closer = tools.section[0].opener or tools.call[0].opener
    content = _wrapped(_free_answer(turn, closer, wrapper), wrapper, begun=begun)
    if calls is None or tools is None:
        return content
    if not (tools.section[0].opener.strip() or tools.call[0].opener.strip()):
        # A call without opener is one only where the answer begins.
        return content if begun else Grammar.union(content, calls)
    first = content if wrapper is None or begun else Grammar.optional(content)
    return Grammar.concat(first, Grammar.optional(_with_text_after(turn, calls, wrapper)))


def _free_answer(turn: TurnContext, closer: str, wrapper: Pattern | None) -> Grammar:
    """Text of the answer before `closer`; where further blocks are reasoning too, they may stand in it."""
    reasoning = turn.spec.reasoning
    if reasoning is None or not reasoning.repeat or wrapper is not None or turn.start.reasoning == "done":
        return turn.labels.content(answer_text(turn.spec, closer))
    openers = [block.opener for block in _openers(turn).values()]
    text = turn.labels.content(answer_text(turn.spec, closer, *openers))
    return Grammar.repeat(text, min=1, separator=_blocks(turn)) if openers else text


def calls_and_rest(turn: TurnContext, calls: Grammar) -> Grammar:
    """The calls of a turn and what may follow them, whatever stood before."""
    if turn.forced or turn.answer is not None:
        return calls
    return _with_text_after(turn, calls, _wrapper(turn, after_reasoning=False))


def _with_text_after(turn: TurnContext, calls: Grammar, wrapper: Pattern | None) -> Grammar:
    """The calls, and text of the answer after them where it cannot be taken for a part of the last one."""
    spec = turn.spec
    if spec.tools is None or wrapper is not None or not ends_in_marker(spec, spec.tools) or has_bare_calls(spec):
        return calls
    return Grammar.concat(calls, Grammar.optional(turn.labels.content(answer_text(spec))))


def _wrapped(content: Grammar, wrapper: Pattern | None, *, begun: bool) -> Grammar:
    if wrapper is None:
        return content
    opener = [] if begun else literal(wrapper.opener)
    return Grammar.concat(*opener, content, *literal(wrapper.closer))
