"""Certifying a format: messages of every shape go through the template and the format, and must come back.

A certificate must not deceive itself. Four rules keep it from that:

* `ambiguous` demands equal calls and equal text. Otherwise every render would excuse a parser that returns everything
  as content.
* `other context` demands what was expected in the first context. Otherwise a context in which the template drops the
  broken field would excuse it.
* A message of which nothing is shown is `not rendered`, never `works`. Otherwise a template that drops everything would
  prove every format.
* Coverage is reported with the verdicts, and comes first when formats are compared. Otherwise a format with which fewer
  messages come back, and therefore fewer fail, would win.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from syntagma.analysis.certify.certificate import Certificate, Item, Verdict
from syntagma.analysis.certify.outputs import TemplateOutputs, without_empty_block
from syntagma.analysis.certify.read_back import (
    INCOMPLETE,
    GrammarCheck,
    PromptedOutput,
    chunkings,
    difference,
    grammar_reserves_text,
    markers_of,
    plain_message,
    read_back,
    reasoning_at_header,
    shown_turn,
    shows_ids,
)
from syntagma.analysis.certify.roundtrip_cases import Case, case_tools, roundtrip_cases
from syntagma.analysis.infer.format import Finding
from syntagma.analysis.infer.frame import clean_tail
from syntagma.analysis.locate.atoms import atoms
from syntagma.analysis.locate.located_turn import locate_turn
from syntagma.analysis.render.conversation import SampleTurn
from syntagma.analysis.render.turn_renderer import Context, RenderedTurn
from syntagma.formats import ChatFormat

__all__ = ["Certifier", "Mentions"]

_CHUNKING_SEED = 20
_MAX_QUOTED = 80
"""characters of a prompt's end that a finding quotes"""


class Mentions(msgspec.Struct, frozen=True):
    """What the template speaks of: a format that knows nothing of it cannot be the whole truth."""

    calls: bool
    reasoning: bool


class Certifier:
    """Certifies formats for one template.

    Args:
        outputs: what the template writes.
        id_form: how call ids are made, as `Capabilities.call_id_form` says.
        mentions: what the template speaks of.
    """

    def __init__(self, outputs: TemplateOutputs, id_form: str, mentions: Mentions) -> None:
        self._outputs = outputs
        self._id_form = id_form
        self._mentions = mentions

    def certify(
        self, fmt: ChatFormat, findings: tuple[Finding, ...], *, give_up_after: int | None = None
    ) -> Certificate:
        """Try every message.

        Args:
            fmt: the format.
            findings: what is known against it already.
            give_up_after: stop at that many failing items; None tries all.
        """
        checks = _FormatChecks(self._outputs, fmt)
        items: list[Item] = []
        for case in roundtrip_cases(self._id_form, markers_of(fmt)):
            items.append(checks.case(case))
            if give_up_after is not None and sum(item.verdict == "fails" for item in items) >= give_up_after:
                break
        else:
            items += checks.reasoning_format_none()
            items += checks.prompted_reasoning()
            items += checks.interrupted_reasoning(self._id_form)
        unsupported = checks.grammar.unsupported
        if unsupported is not None:
            findings = (*findings, Finding("grammar-unsupported", unsupported))
        found = Certificate(items=tuple(items), findings=findings, grammar_checked=unsupported is None)
        return msgspec.structs.replace(found, findings=(*findings, *self._unaccounted(fmt, found)))

    def reads_calls(self, fmt: ChatFormat) -> bool:
        """Whether the plainest call that the template shows comes back: one quick question before all of them."""
        checks = _FormatChecks(self._outputs, fmt)
        answers = (checks.reads(case.turn) for case in roundtrip_cases(self._id_form, markers_of(fmt)))
        return next((answer for answer in answers if answer is not None), True)

    def _unaccounted(self, fmt: ChatFormat, certificate: Certificate) -> Iterator[Finding]:
        """What the template speaks of, or its prompts end with, and the format does not account for."""
        spec = fmt.spec
        known = {finding.code for finding in certificate.findings}
        extras = [self._outputs.after_header(prompt).strip() for prompt in self._outputs.prompts]
        blocks = spec.reasoning.block if spec.reasoning is not None else ()
        markers = [text.strip() for block in blocks for text in (block.opener, block.closer) if text.strip()]
        delimited = any(not block.opener.strip() for block in blocks)
        openers = [block.opener.strip() for block in (spec.content.block if spec.content is not None else ())]
        openers += [call.opener.strip() for call in (spec.tools.call if spec.tools is not None else ())]
        prompted = [extra for extra in extras if extra and any(extra.startswith(text) for text in markers)]
        if "prompt-unexplained" not in known:
            for extra in dict.fromkeys(extras):
                begun = delimited or any(text.startswith(extra) for text in openers)
                if extra and extra not in prompted and not begun:
                    yield Finding("prompt-unexplained", f"a generation prompt ends with {extra[-_MAX_QUOTED:]!r}")
        if self._mentions.calls and "calls-unsupported" not in known and not certificate.covers("T"):
            yield Finding("mention-calls", "the template speaks of `tool_calls`, and no call came back")
        prose = "reasoning-prose" in known
        if self._mentions.reasoning and not prose and not prompted and not certificate.covers("R"):
            yield Finding("mention-thinking", "the template has a thinking switch, and no reasoning came back")


class _Problem(msgspec.Struct, frozen=True):
    """What is wrong with a turn: why, its raw text, and whether only the grammar objects."""

    why: str
    example: str
    refused: bool = False


class _FormatChecks:
    """The checks of one format."""

    def __init__(self, outputs: TemplateOutputs, fmt: ChatFormat) -> None:
        self._outputs = outputs
        self._fmt = fmt
        self._tools = case_tools()
        self.grammar = GrammarCheck(fmt, self._tools)

    # -- one message

    def case(self, case: Case) -> Item:
        """What becomes of a message."""
        first = self._render(case.turn, "last") or self._render(case.turn, "middle")
        if first is None:
            return Item(name=case.name, verdict="not rendered")
        shown = shown_turn(first)
        if not shown.shape:
            return Item(name=case.name, verdict="not rendered", why="nothing of it is shown")
        problem = self._parser_problem(first, shown)
        if problem is None and case.basic:
            problem = self._truncation_problem(first, shown)
        problem = problem or self._grammar_problem(first, shown)

        def item(verdict: Verdict, why: str = "", example: str = "") -> Item:
            return Item(name=case.name, verdict=verdict, shape=shown.shape, kinds=case.kinds, why=why, example=example)

        if problem is None:
            return item("works" if shown == case.turn else "dropped")
        middle = self._render(case.turn, "middle")
        if middle is not None and middle != first and shown_turn(middle) == shown:
            there = self._parser_problem(middle, shown) or self._grammar_problem(middle, shown)
            if there is None:
                return item("other context", problem.why)
            if there.refused:
                problem = there
        if not problem.refused and self._ambiguous(first, shown):
            return item("ambiguous", problem.why, problem.example)
        return item("refused" if problem.refused else "fails", problem.why, problem.example)

    def reads(self, turn: SampleTurn) -> bool | None:
        """Whether a turn of calls comes back in one piece; None if it has no calls, or they are not shown."""
        rendered = self._render(turn, "last") if turn.calls else None
        shown = shown_turn(rendered) if rendered is not None else None
        if rendered is None or shown is None or not shown.calls:
            return None
        for run in self._outputs.of(self._fmt, rendered, shown)[:1]:
            back = read_back(self._fmt, run, [run.output], self._tools)
            return difference(back, shown, ids=shows_ids(rendered, shown)) is None
        return None

    def _render(self, turn: SampleTurn, context: Context) -> RenderedTurn | None:
        return self._outputs.turn(turn, context, self._tools if turn.calls else None)

    def _parser_problem(self, rendered: RenderedTurn, shown: SampleTurn) -> _Problem | None:
        """What does not come back; None if everything does."""
        ids, tools = shows_ids(rendered, shown), self._tools if shown.calls else None
        for run in self._outputs.of(self._fmt, rendered, shown):
            for chunks in chunkings(run.output, _CHUNKING_SEED) if run.name == "header" else [[run.output]]:
                why = difference(read_back(self._fmt, run, chunks, tools), shown, ids=ids)
                if why is not None:
                    return _Problem(f"after the {run.name}: {why}", run.output)
        return None

    def _grammar_problem(self, rendered: RenderedTurn, shown: SampleTurn) -> _Problem | None:
        """What the grammar does not accept; None if it accepts everything."""
        if grammar_reserves_text(self._fmt, shown):
            return None
        for run in self._outputs.of(self._fmt, rendered, shown):
            outputs = self._outputs.without_end(self._fmt, run.output, shown)
            refusals = [self.grammar.refusal(run, output, has_calls=bool(shown.calls)) for output in outputs]
            if None not in refusals:
                return _Problem(f"after the {run.name}: {refusals[0]}", run.output, refused=True)
        return None

    def _truncation_problem(self, rendered: RenderedTurn, shown: SampleTurn) -> _Problem | None:
        """What changes if the output stops at an atom after the last complete call or content; None if nothing does."""
        ids, tools = shows_ids(rendered, shown), self._tools if shown.calls else None
        text, frame = self._outputs.text(rendered), self._outputs.frame
        located = locate_turn(msgspec.structs.replace(rendered, turn=shown))
        if not text.startswith(frame.lead) or located.shape != shown.shape or len(located.calls) != len(shown.calls):
            return None
        if any(call.tagged for call in located.calls):
            return None
        tail = clean_tail(located, frame.epilogue, frame.user_open)
        at = len(text) - len(tail)
        spec = self._fmt.spec
        end = [texts[0] for texts in spec.turn_ends] if tail.endswith(spec.written_end) else []
        for piece in (*atoms(tail.removesuffix("".join(end)), frame.eos), *end):
            output = text[len(frame.lead) : at]
            at += len(piece)
            if output.strip():
                run = PromptedOutput("header", frame.lead, output, reasoning_at_header(self._fmt, shown))
                why = difference(read_back(self._fmt, run, [output], tools), shown, ids=ids)
                if why is not None and why != INCOMPLETE:
                    return _Problem(f"cut in its tail: {why}", output)
        return None

    def _ambiguous(self, rendered: RenderedTurn, shown: SampleTurn) -> bool:
        """Whether what was read is another message with the same render, the same calls and the same text."""
        runs = self._outputs.of(self._fmt, rendered, shown)
        if not runs:
            return False
        message = read_back(self._fmt, runs[0], [runs[0].output], self._tools if shown.calls else None)
        if isinstance(message, str):
            return False
        found = plain_message(message)
        wanted = "".join(((shown.reasoning or "") + (shown.content or "")).split())
        if "".join((found["reasoning"] + found["content"]).split()) != wanted:
            return False
        if [call[:2] for call in found["calls"]] != [[call.name, call.arguments] for call in shown.calls]:
            return False
        other = SampleTurn(reasoning=found["reasoning"] or None, content=found["content"] or None, calls=shown.calls)
        again = self._render(other, rendered.context)
        return other != shown and again is not None and again.text == rendered.text

    # -- further checks

    def reasoning_format_none(self) -> Iterator[Item]:
        """With `reasoning_format="none"`, plain content comes back as it is; an item only if it does not."""
        spec, text = self._fmt.spec, "Tea < coffee.\n\nBoth: [hot] {x}."
        wrapped = spec.content is not None and spec.content.block and spec.content.when == "always"
        if wrapped or spec.messages is not None:
            return
        for prompt in self._outputs.prompts:
            if spec.reasoning is not None and self._outputs.opens_reasoning(self._fmt, prompt):
                continue
            run = PromptedOutput("prompt", prompt, text)
            message = read_back(self._fmt, run, [text], None, reasoning_format="none")
            why = difference(message, SampleTurn(content=text), ids=False)
            if why is not None:
                yield Item(name="none mode", verdict="fails", shape="C", why=why, example=text)
                return

    def prompted_reasoning(self) -> Iterator[Item]:
        """Reasoning that a prompt opens ends at its closer, whether or not the template ever shows any."""
        spec = self._fmt.spec
        if spec.reasoning is None:
            return
        closer = spec.reasoning.block[0].closer
        wrapper = spec.content.block[:1] if spec.content is not None else ()
        reasoning, content = "One.\nTwo: a < b.", "Tea at noon."
        answer = wrapper[0].opener + content + wrapper[0].closer if wrapper else content
        expected = SampleTurn(reasoning=reasoning, content=content)
        for prompt in dict.fromkeys(self._outputs.prompts):
            if self._outputs.after_closed_reasoning(self._fmt, prompt, "x") != closer + "x":
                continue
            run = PromptedOutput("prompt", prompt, reasoning + closer + answer)
            differences = [
                difference(read_back(self._fmt, run, chunks, None), expected, ids=False)
                for chunks in chunkings(run.output, _CHUNKING_SEED)
            ]
            why = next((one for one in differences if one), None)
            why = why or self.grammar.refusal(run, run.output, has_calls=False)
            yield _outcome("prompted thoughts", why, run.output)

    def interrupted_reasoning(self, id_form: str) -> Iterator[Item]:
        """A call in reasoning that never closes is a call; in reasoning that closes it was quoted."""
        reasoning = self._fmt.spec.reasoning
        turn = next(case.turn for case in roundtrip_cases(id_form) if case.turn.shape == "T")
        rendered = self._render(turn, "last")
        reads_calls_in_reasoning = self._fmt.spec.messages is None and self._fmt.spec.tools is not None
        if reasoning is None or not reads_calls_in_reasoning or rendered is None or shown_turn(rendered) != turn:
            return
        lead, closer = self._outputs.frame.lead, reasoning.block[0].closer
        body = self._outputs.frame.without_end(self._outputs.text(rendered))[len(lead) :]
        body = without_empty_block(self._fmt, body).lstrip()
        text = "One.\n"
        for name, output, expected in (
            ("call in open thoughts", text + body, SampleTurn(reasoning=text, calls=turn.calls)),
            ("quoted call", text + body + closer + "Two.", SampleTurn(reasoning=text + body, content="Two.")),
        ):
            run = PromptedOutput("header", lead, output, "open")
            why = difference(read_back(self._fmt, run, [output], self._tools), expected, ids=False)
            yield _outcome(name, why, output)


def _outcome(name: str, why: str | None, example: str) -> Item:
    return Item(name=name, verdict="fails" if why else "works", why=why or "", example=example)
