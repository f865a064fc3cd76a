"""Certifies a format: the template renders messages of every shape, and the format must read them back.

Four rules keep a certificate from claiming too much:

* `ambiguous` requires equal calls and equal text. Otherwise a parser that returns everything as content would always be
  excused.
* `other context` requires the message that was expected in the first context. Otherwise a context in which the template
  drops the broken field would excuse it.
* A message of which the render shows nothing is `not rendered`, never `works`. Otherwise a template that drops
  everything would certify every format.
* Coverage is reported with the verdicts, and comes first when formats are compared. Otherwise a format that reads fewer
  messages, so that fewer fail, would win.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Sequence
from functools import cached_property
from typing import Any, Literal

import msgspec

from syntagma.analysis.certify.certificate import Certificate, Item, Verdict
from syntagma.analysis.certify.outputs import TemplateOutputs, without_empty_block
from syntagma.analysis.certify.read_back import (
    WANTS_MORE,
    Difference,
    GrammarCheck,
    PromptedOutput,
    chunkings,
    difference,
    first_words,
    grammar_reserves_text,
    markers_of,
    plain_message,
    read_back,
)
from syntagma.analysis.certify.roundtrip_cases import Case, case_tools, roundtrip_cases
from syntagma.analysis.certify.shown import ShownTurn, shown_turn, shows_ids
from syntagma.analysis.infer.blocks import is_empty_tag
from syntagma.analysis.infer.format import Finding
from syntagma.analysis.locate.atoms import visible_atoms
from syntagma.analysis.render.conversation import SampleTurn
from syntagma.analysis.render.turn_renderer import RenderedTurn
from syntagma.errors import SyntagmaError
from syntagma.format_schema import ends_at_next, needs_known_name
from syntagma.format_schema.facts import interrupts
from syntagma.formats import ChatFormat
from syntagma.messages import Message, ToolCall

__all__ = ["Certifier", "Mentions", "Told"]

_WIDE = re.compile(r"[ \t]{3,}")
_WORDS = re.compile(r"\b(?:True|False|None)\b")
_SPELLED = {"True": "true", "False": "false", "None": "null"}
_SWITCHED = {
    "content": "content is",
    "thoughts content": "reasoning is",
    "calls 1": "calls are",
    "calls 2": "calls are",
    "content calls 1": "calls beside content are",
    "thoughts calls 1": "calls beside reasoning are",
}
"""messages that are tried with every setting, and read character by character → the part that may be written
differently, as the start of a sentence"""
_LOST = ("fails", "refused", "ambiguous", "other setting", "not rendered")
_MAX_QUOTED = 80
"""characters of a prompt's end that a finding quotes"""


class Mentions(msgspec.Struct, frozen=True):
    """What the template mentions: a format without it cannot be complete.

    Attributes:
        calls: whether it reads the calls of messages.
        reasoning: whether it has a thinking switch, or reads reasoning.
        tools: whether it lists declared tools in the prompt.
        assumed: named formats whose prompts it renders.
    """

    calls: bool
    reasoning: bool
    tools: bool
    assumed: tuple[str, ...] = ()

    @property
    def assumption(self) -> str:
        """The conclusion from its prompts, as the end of a sentence."""
        if not self.assumed:
            return "; name the format"
        return f"; its prompts are those of {' or '.join(f'`{name}`' for name in self.assumed)}: name it if it is so"


class Told(msgspec.Struct, frozen=True):
    """What evidence beside renders tells of a format, so that no render need show it; empty texts: nothing.

    Attributes:
        calls: the evidence for its calls, as the end of a sentence.
        reasoning: the same for its reasoning.
        around: whether the history writes other text around its calls.
    """

    calls: str = ""
    reasoning: str = ""
    around: bool = False


class Certifier:
    """Certifies formats for one template.

    Args:
        outputs: the outputs of the template.
        id_form: the form of call ids, see `Capabilities.call_id_form`.
        mentions: what the template mentions.
        switched: its outputs for each setting of a template variable that changes how it writes turns.
    """

    def __init__(
        self, outputs: TemplateOutputs, id_form: str, mentions: Mentions, switched: Sequence[TemplateOutputs] = ()
    ) -> None:
        self._outputs = outputs
        self._id_form = id_form
        self._mentions = mentions
        self._switched = switched

    def certify(self, fmt: ChatFormat, findings: tuple[Finding, ...] = (), *, told: Told | None = None) -> Certificate:
        """Try every message.

        Args:
            fmt: the format.
            findings: objections that are known already.
            told: of a named format in the frame of the template: what evidence beside renders tells of it.
        """
        found = self._certified(fmt, findings, told, None)
        assert found is not None  # nothing stops it
        return found

    def rival(
        self,
        fmt: ChatFormat,
        known: Certificate | None,
        give_up_after: int,
        *,
        findings: tuple[Finding, ...] = (),
        told: Told | None = None,
    ) -> Certificate | None:
        """The certificate of a format that must beat a known certificate, if given; None as soon as it cannot.

        It cannot once it loses a message that the known format reads, or `give_up_after` messages fail.
        """
        bar = _Bar(frozenset() if known is None else known.read_back, give_up_after)
        return self._certified(fmt, findings, told, bar)

    def reads_any(self, fmt: ChatFormat, names: Collection[str]) -> bool:
        """Whether some of the messages with these names come back."""
        checks = _FormatChecks(self._outputs, fmt)
        cases = roundtrip_cases(self._id_form, markers_of(fmt), first_words(fmt)) if names else ()
        return any(checks.case(case).verdict not in _LOST for case in cases if case.name in names)

    def looks_alike(self, fmt: ChatFormat) -> bool:
        """Whether the plainest call that the template shows begins like one in the format, apart from whitespace.

        True for formats without calls; False for all others if the template shows no call.
        """
        text = "".join(self._plainest_text.split())
        if fmt.spec.tools is None or not text:
            return fmt.spec.tools is None
        openers = {
            section.opener + call.opener + "{" * bool(form.envelope)
            for form in fmt.spec.forms
            for section in form.section
            for call in form.call
        }
        if fmt.spec.messages is not None:  # the fields of a header may change their places
            openers = {"".join(visible_atoms(opener)[:1]) for opener in openers}
        return any("".join(opener.split()) in text for opener in openers)

    def _certified(
        self, fmt: ChatFormat, findings: tuple[Finding, ...], told: Told | None, bar: _Bar | None
    ) -> Certificate | None:
        outputs, told = (self._outputs, Told()) if told is None else (self._outputs.fitted(fmt), told)
        checks = _FormatChecks(outputs, fmt, around=told.around, fine=bar is None)
        items: list[Item] = []
        for case in roundtrip_cases(self._id_form, markers_of(fmt), first_words(fmt)):
            items.append(checks.case(case))
            if bar is not None and bar.is_missed_by(items):
                return None
        items += checks.prompted_reasoning()
        items += checks.interrupted_reasoning(self._id_form)
        for other in self._switched:
            items += _FormatChecks(other, fmt).switched(outputs, self._id_form, {item.why for item in items})
        items += [
            Item(name=part, verdict="not rendered", why=f"no render shows {part}: {why}")
            for part, why in (("calls", told.calls), ("reasoning", told.reasoning))
            if why
        ]
        if bar is not None and bar.is_missed_by(items):
            return None
        unsupported = checks.grammar.unsupported
        if unsupported is not None:
            findings = (*findings, Finding("grammar-unsupported", unsupported))
        found = Certificate(items=tuple(items), findings=findings, grammar_checked=unsupported is None)
        return msgspec.structs.replace(found, findings=(*findings, *self._unaccounted(outputs, fmt, found, told)))

    def reads_calls(self, fmt: ChatFormat) -> Literal["whole", "around", "no"]:
        """Whether the plainest call that the template shows comes back: a quick test before all cases.

        `around`: it comes back, and the history writes other text around it. `no` if the template shows none.
        """
        checks = _FormatChecks(self._outputs.fitted(fmt), fmt, around=True)
        if any(map(checks.reads, self._plain_calls)):
            return "whole"
        return "around" if any(checks.reads_around(turn, case_tools()) for turn in self._plain_calls) else "no"

    def shown_in_calls(self, texts: Collection[str]) -> int:
        """How many of these texts stand in the plainest turn of calls that the template shows."""
        return sum(text in self._plainest_text for text in texts)

    def writes_calls(self, fmt: ChatFormat) -> bool:
        """Whether the template writes the plainest call exactly as the format does."""
        shown = self._plain_calls[0].calls
        calls = tuple(ToolCall(id=one.id, name=one.name, arguments=json.dumps(one.arguments)) for one in shown)
        try:
            written = fmt.write(Message(role="assistant", tool_calls=calls), case_tools())
        except SyntagmaError:
            return False
        return written.strip() in self._plainest_text

    @property
    def expects_calls(self) -> bool:
        """Whether the template lists tools, or reads calls."""
        return self._mentions.tools or self._mentions.calls

    @property
    def expects_reasoning(self) -> bool:
        """Whether the template has a thinking switch, or reads reasoning."""
        return self._mentions.reasoning

    @property
    def shows_calls(self) -> bool:
        """Whether the template shows any call."""
        return bool(self._plain_calls)

    @cached_property
    def _plainest_text(self) -> str:
        """The text of the first turn of calls that the template shows; empty if there is none."""
        rendered = self._outputs.shown(self._plain_calls[0], case_tools()) if self._plain_calls else None
        return "" if rendered is None else self._outputs.text(rendered)

    @cached_property
    def _plain_calls(self) -> tuple[SampleTurn, ...]:
        """The first turns of calls that the template shows: any, and one of a text only."""
        found: list[SampleTurn] = []
        for case in roundtrip_cases(self._id_form):
            wanted = case.turn.calls and (not found or case.name == "string single blank")
            rendered = self._outputs.shown(case.turn, case_tools()) if wanted else None
            if rendered is not None and shown_turn(rendered).turn.calls:
                found.append(case.turn)
        return tuple(found)

    def _unaccounted(
        self, outputs: TemplateOutputs, fmt: ChatFormat, certificate: Certificate, told: Told
    ) -> Iterator[Finding]:
        """Findings for what the template mentions, or its prompts end with, but the format does not explain."""
        spec = fmt.spec
        known = {finding.code for finding in certificate.findings}
        extras = [outputs.after_header(prompt).strip() for prompt in outputs.prompts]
        blocks = spec.reasoning_blocks
        markers = [text.strip() for block in blocks for text in (block.opener, block.closer) if text.strip()]
        delimited = any(not block.opener.strip() for block in blocks)
        openers = [block.opener.strip() for block in spec.wrappers]
        openers += [call.opener.strip() for call in (spec.tools.call if spec.tools is not None else ())]
        prompted = [extra for extra in extras if extra and any(extra.startswith(text) for text in markers)]
        switches = spec.reasoning.switch.values() if spec.reasoning is not None else ()
        turns_off = any("off" in states.values() for states in switches)
        if spec.anchor and any(spec.anchor not in prompt for prompt in outputs.prompts):
            yield Finding("anchor-absent", f"a generation prompt does not hold the anchor {spec.anchor!r}")
        if "prompt-unexplained" not in known and not told.around:
            for extra in dict.fromkeys(extras):
                begun = delimited or any(text.startswith(extra) for text in openers)
                begun = begun or (turns_off and any(is_empty_tag(extra, block.opener) for block in blocks))
                if extra and extra not in prompted and not begun:
                    yield Finding("prompt-unexplained", f"a generation prompt ends with {extra[-_MAX_QUOTED:]!r}")
        calls_lost = not certificate.covers("T") and not known & {"calls-unsupported", "leak"}
        if told.calls:
            pass
        elif self._mentions.calls and calls_lost:
            yield Finding("mention-calls", "the template speaks of `tool_calls`, and no call came back")
        elif self._mentions.tools and calls_lost:
            yield Finding(
                "calls-not-written",
                "the prompt lists the declared tools, and the template writes no call: it does not say how the model "
                "writes them" + self._mentions.assumption,
            )
        if not certificate.covers("C"):
            yield Finding("content-lost", "no content came back")
        explained = bool(told.reasoning or known & {"reasoning-prose", "reasoning-untold"})
        if self._mentions.reasoning and not explained and not prompted and not certificate.covers("R"):
            yield Finding("mention-thinking", "the template has a thinking switch, and no reasoning came back")


class _Bar(msgspec.Struct, frozen=True):
    """What a format needs to beat another one: the messages that it must read back, and the failures to stay below."""

    read_back: frozenset[str]
    failures: int

    def is_missed_by(self, items: list[Item]) -> bool:
        """Whether a message is lost, or too many fail; only the last item is new."""
        last = items[-1]
        if last.name in self.read_back and last.verdict in _LOST:
            return True
        return sum(one.verdict in ("fails", "refused") for one in items) >= self.failures


class _Problem(msgspec.Struct, frozen=True):
    """A failure of a turn: the reason, its detail, its raw text, and whether only the grammar refuses it."""

    why: str
    detail: str
    example: str
    refused: bool = False


class _FormatChecks:
    """The checks of one format."""

    def __init__(self, outputs: TemplateOutputs, fmt: ChatFormat, *, around: bool = False, fine: bool = True) -> None:
        self._outputs = outputs
        self._around = around
        self._fine = fine
        self._fmt = fmt
        self._common, self._unions = case_tools(), case_tools(unions=True)
        calls = [call for form in (fmt.spec.tools.forms if fmt.spec.tools else ()) for call in form.call]
        # If only a sign stands before a name, only the declared tools distinguish calls from text.
        self._beside_text = self._common if any(map(needs_known_name, calls)) else None
        self.grammar = GrammarCheck(fmt)

    # -- one message

    def case(self, case: Case) -> Item:
        """A message with its verdict."""
        tools = self._tools_of(case)
        first = self._outputs.shown(case.turn, tools)
        if first is None:
            why = self._outputs.refusal or "the turn is not found in the render"
            return Item(name=case.name, verdict="not rendered", why=f"the template refuses it: {why}")
        shown = shown_turn(first)
        if not shown.turn.shape and shown.readable:
            return Item(name=case.name, verdict="not rendered", why=shown.why or "nothing of it is shown")

        def item(verdict: Verdict, why: str = "", detail: str = "", example: str = "") -> Item:
            shape, kinds = (shown.turn.shape, case.kinds) if shown.readable else ("", ())
            return Item(
                name=case.name, verdict=verdict, shape=shape, kinds=kinds, why=why, detail=detail, example=example
            )

        if not shown.readable:
            return item(shown.verdict, shown.why, example=first.text)
        problem = self._problem(first, shown, tools, everywhere=case.basic, fine=case.name in _SWITCHED)
        if problem is None:
            return item(shown.verdict, shown.why, example=first.text)
        if shown.losses and self._problem(first, ShownTurn(first.turn), tools) is None:
            # The format itself spells the text as the template changes it, so nothing is lost.
            return item("works")
        if self._around and self.reads_around(shown.turn, tools):
            return item("altered", "the history writes other text around it", problem.detail, problem.example)
        middle = self._outputs.turn(case.turn, "middle", tools)
        if middle is not None and middle != first and shown_turn(middle).turn == shown.turn:
            there = self._problem(middle, shown, tools)
            if there is None:
                why = "it comes back from the middle of a conversation only"
                return item("other context", why, f"{problem.why} {problem.detail}".rstrip(), problem.example)
            if there.refused:
                problem = there
        if problem.refused and self._is_spelled_otherwise(first, shown.turn, tools):
            return item("altered", "the history spells calls otherwise than the grammar", problem.why, problem.example)
        other = self._holds_its_end(shown.turn, first.text)
        if other is None and not problem.refused:
            other = self._same_render(first, shown, tools)
        if other is not None:
            return item("ambiguous", other, f"{problem.why} {problem.detail}".rstrip(), problem.example)
        return item("refused" if problem.refused else "fails", problem.why, problem.detail, problem.example)

    def switched(self, default: TemplateOutputs, id_form: str, known: Collection[str]) -> Iterator[Item]:
        """The verdicts on the plainest messages that the template writes differently with a setting.

        The history counts too: a difference in the last turn only is in the text after it.

        Args:
            default: the outputs of the template without the setting.
            id_form: the form of call ids.
            known: the reasons of the verdicts without it.
        """
        shown = ", ".join(f"{name}={json.dumps(value)}" for name, value in self._outputs.settings.items())
        for case in roundtrip_cases(id_form):
            if case.name not in _SWITCHED or (case.turn.reasoning and self._reasoning_is_off):
                continue
            tools = self._tools_of(case)
            here, there = (
                outputs.turn(case.turn, "middle", tools) or outputs.turn(case.turn, "last", tools)
                for outputs in (self._outputs, default)
            )
            if here is None or there is None or here.text == there.text:
                continue
            item = self.case(case)
            name = f"{case.name}, {shown}"
            if item.verdict in ("fails", "refused", "ambiguous") or not self._outputs.of(self._fmt, here, case.turn):
                why = f"with `{shown}` {_SWITCHED[case.name]} written otherwise, and this format does not read that"
                detail = f"{item.why} {item.detail}".strip()
                yield Item(name=name, verdict="other setting", why=why, detail=detail, example=item.example)
            elif item.verdict in ("altered", "dropped", "not rendered"):
                why = item.why if item.why in known else f"with `{shown}`, {item.why}"
                yield msgspec.structs.replace(item, name=name, why=why)
            elif item.verdict != "other context":
                yield msgspec.structs.replace(item, name=name)

    @property
    def _reasoning_is_off(self) -> bool:
        """Whether no generation prompt allows reasoning."""
        outputs = self._outputs
        states = {self._fmt.start_state(one, template_kwargs=outputs.settings).reasoning for one in outputs.prompts}
        return states == {"done"}

    def reads(self, turn: SampleTurn) -> bool:
        """Whether a turn of calls comes back in one piece; False if no call of it is shown."""
        rendered = self._outputs.shown(turn, self._common)
        shown = shown_turn(rendered) if rendered is not None else None
        if rendered is None or shown is None or not shown.turn.calls:
            return False
        for run in self._outputs.of(self._fmt, rendered, shown.turn)[:1]:
            back = read_back(self._fmt, run, [run.output], self._common)
            return difference(back, shown.turn, ids=shows_ids(rendered, shown.turn)) is None
        return False

    def reads_around(self, turn: SampleTurn, tools: list[dict[str, Any]] | None) -> bool:
        """Whether the calls of a turn, or its content, stand in its render with other text around them."""
        rendered = self._outputs.shown(turn, tools)
        if rendered is None or turn.reasoning:
            return False
        if not turn.calls or self._fmt.spec.tools is None:
            return not turn.calls and turn.content is not None and turn.content.strip() in rendered.text
        text = rendered.text
        openers = [pattern.opener.strip() for form in self._fmt.spec.forms for pattern in (*form.section, *form.call)]
        openers += [envelope.pattern.opener.strip()[:1] for form in self._fmt.spec.forms for envelope in form.envelope]
        wanted = [[call.name, call.arguments] for call in turn.calls]
        for at in sorted({text.find(opener) for opener in openers if opener} - {-1}):
            message = read_back(self._fmt, PromptedOutput("call", "", "", "closed"), [text[at:]], tools)
            found = plain_message(message) if not isinstance(message, str) else {"content": "refused"}
            if not found["content"] and [one[:2] for one in found["calls"]] == wanted:
                return True
        return False

    def _tools_of(self, case: Case) -> list[dict[str, Any]] | None:
        return (self._unions if case.unions else self._common) if case.turn.calls else None

    def _problem(
        self,
        rendered: RenderedTurn,
        shown: ShownTurn,
        tools: list[dict[str, Any]] | None,
        *,
        everywhere: bool = True,
        fine: bool = False,
    ) -> _Problem | None:
        """The failure of the parser or of the grammar; None if there is none.

        `everywhere`: whether it is read after every prompt that it fits; `fine`: whether it is also read character by
        character.
        """
        declared = tools if shown.turn.calls else self._beside_text
        runs = self._outputs.of(self._fmt, rendered, shown.turn)
        prompted = [run for run in runs if not run.history] or runs
        runs, prompted = (runs, prompted) if everywhere else (prompted[:1], prompted[:1])
        problem = self._parser_problem(runs, rendered, shown.turn, declared, fine=fine and self._fine)
        if problem is None and not shown.renamed:
            problem = self._grammar_problem(prompted, shown.turn, declared)
        return problem

    def _parser_problem(
        self,
        runs: list[PromptedOutput],
        rendered: RenderedTurn,
        shown: SampleTurn,
        tools: list[dict[str, Any]] | None,
        *,
        fine: bool,
    ) -> _Problem | None:
        """The failure of the parser; None if all comes back. `fine`: the output is also read character by character."""
        ids = shows_ids(rendered, shown)
        for run in runs:
            for chunks in chunkings(run.output, fine=fine and run is runs[0]):
                found = difference(read_back(self._fmt, run, chunks, tools), shown, ids=ids)
                if found is not None:
                    return _Problem(f"after the {run.name}, {found.what}", found.detail, run.output)
        return None

    def _grammar_problem(
        self, runs: list[PromptedOutput], shown: SampleTurn, tools: list[dict[str, Any]] | None
    ) -> _Problem | None:
        """The failure of the grammar; None if it accepts everything that may follow a generation prompt."""
        if grammar_reserves_text(self._fmt, shown):
            return None
        for run in runs:
            outputs = self._outputs.without_end(self._fmt, run.output)
            refusals = [self.grammar.refusal(run, output, tools) for output in outputs]
            if None not in refusals:
                return _Problem(f"after the {run.name}, {refusals[0]}", "", run.output, refused=True)
        return None

    def _same_render(self, rendered: RenderedTurn, shown: ShownTurn, tools: list[dict[str, Any]] | None) -> str | None:
        """The reason if the message read has the same render, the same calls and the same text; else None.

        Reasoning that comes back as content is never excused: the two cannot be distinguished, but one was lost.
        """
        turn = shown.turn
        runs = self._outputs.of(self._fmt, rendered, turn)
        message = read_back(self._fmt, runs[0], [runs[0].output], tools if turn.calls else None) if runs else ""
        if isinstance(message, str):
            return None
        found = plain_message(message)
        if turn.reasoning and not found["reasoning"]:
            return None
        wanted = "".join(((turn.reasoning or "") + (turn.content or "")).split())
        if "".join((found["reasoning"] + found["content"]).split()) != wanted:
            return None
        if [call[0] for call in found["calls"]] != [call.name for call in turn.calls]:
            return None
        calls = []
        for (_, arguments, _), call in zip(found["calls"], turn.calls, strict=True):
            if not _read_alike(arguments, call.arguments):
                return None
            calls.append(msgspec.structs.replace(call, arguments=arguments))
        other = SampleTurn(reasoning=found["reasoning"] or None, content=found["content"] or None, calls=tuple(calls))
        again = self._outputs.turn(other, rendered.context, tools)
        if other == turn or again is None or again.text != rendered.text:
            return None
        if other.calls != turn.calls:
            return "a number, boolean or null beside a string is written like text"
        return "content is written like reasoning"

    def _is_spelled_otherwise(
        self, rendered: RenderedTurn, shown: SampleTurn, tools: list[dict[str, Any]] | None
    ) -> bool:
        """Whether the grammar refuses only words, whitespace or a missing end that models need not write so."""
        if not shown.calls:
            return False
        runs = self._outputs.of(self._fmt, rendered, shown)
        notations = [form.literals for form in self._fmt.spec.forms]
        words = {(one.true[0], one.false[0], one.null[0]) for one in notations}
        for run in [run for run in runs if not run.history] or runs:
            output = self._outputs.without_end(self._fmt, run.output)[0]
            plain = _WIDE.sub("", output)
            if words == {("true", "false", "null")}:
                plain = _WORDS.sub(lambda found: _SPELLED[found[0]], plain)
            if self.grammar.refusal(run, plain, tools) not in (None, WANTS_MORE):
                return False
        return bool(runs)

    def _holds_its_end(self, turn: SampleTurn, text: str) -> str | None:
        """The reason if a text contains the text that ends it; None if no text does."""
        reasoning = self._fmt.spec.reasoning
        closer = reasoning.block[0].closer if reasoning is not None else ""
        if self._ends_early(turn, text):
            return "the history ends the turn before its last call"
        if closer.isspace() and closer in (turn.reasoning or ""):
            return "reasoning holds the whitespace that ends it"
        spec = self._fmt.spec.tools
        if spec is None:
            return None
        if not spec.argument or spec.values == "literal":
            escaped = [one for call in turn.calls for one in call.arguments.values() if isinstance(one, str)]
            bare = [one for one in escaped if one in text and json.dumps(one, ensure_ascii=False)[1:-1] != one]
            same = any(json.dumps(one, ensure_ascii=False)[1:-1] in text or repr(one)[1:-1] in text for one in bare)
            return "a text among the arguments is written without escapes" if bare and not same else None
        end = spec.argument[0].around("value")[1] or spec.argument_separator
        texts = [value for call in turn.calls for value in call.arguments.values() if isinstance(value, str)]
        if end and any(end in text for text in texts):
            return "a text among the arguments holds what ends it"
        return None

    def _ends_early(self, turn: SampleTurn, text: str) -> bool:
        """Whether the section of calls closes, and the turn ends, before the last call."""
        spec = self._fmt.spec
        closers = [section.closer.strip() for form in spec.forms for section in form.section if section.closer.strip()]
        ends = [end for texts in spec.turn_ends for end in texts if end.strip()]
        first, last = (text.find(turn.calls[0].name), text.rfind(turn.calls[-1].name)) if turn.calls else (0, 0)
        closed = min((at for closer in closers if (at := text.find(closer, first, last)) >= 0), default=last)
        return any(text.find(end, closed, last) >= 0 for end in ends)

    # -- further checks

    def prompted_reasoning(self) -> Iterator[Item]:
        """Check that reasoning which a prompt opens ends at its closer, even if the template never shows any."""
        spec = self._fmt.spec
        if spec.reasoning is None:
            return
        closer = spec.reasoning.block[0].closer
        wrapper = spec.content.block[:1] if spec.content is not None else ()
        lines = ["One.", "Two: a < b."]
        # Reasoning cannot contain the whitespace that ends it.
        reasoning = (" " if closer.isspace() and not ends_at_next(spec, spec.reasoning.block[0]) else "\n").join(lines)
        content = "Tea at noon."
        answer = wrapper[0].opener + content + wrapper[0].closer if wrapper else content
        expected = SampleTurn(reasoning=reasoning, content=content)
        # Without an opener, no prompt shows that reasoning is open: the format must say so.
        unopened = not spec.reasoning.block[0].opener.strip() and spec.messages is None
        for prompt in dict.fromkeys(self._outputs.prompts):
            if not unopened and self._outputs.after_closed_reasoning(self._fmt, prompt, "x") != closer + "x":
                continue
            run = PromptedOutput("prompt", prompt, reasoning + closer + answer)
            differences = [
                difference(read_back(self._fmt, run, chunks, None), expected, ids=False)
                for chunks in chunkings(run.output, fine=self._fine)
            ]
            found = next((one for one in differences if one), None)
            refusal = self.grammar.refusal(run, run.output, None)
            if found is None and refusal is not None:
                yield Item(name="prompted thoughts", verdict="refused", why=refusal, example=run.output)
            else:
                yield _outcome("prompted thoughts", found, run.output)

    def interrupted_reasoning(self, id_form: str) -> Iterator[Item]:
        """Check that a call in reasoning counts if reasoning never closes, and was quoted if it does.

        Only for formats in which a call may interrupt reasoning, and calls do not contain its closer.
        """
        reasoning = self._fmt.spec.reasoning
        markers = interrupts(self._fmt.spec)
        if self._around or reasoning is None or not markers:
            return
        turn = next(case.turn for case in roundtrip_cases(id_form) if case.turn.shape == "T")
        rendered = self._outputs.turn(turn, "last", self._common)
        reads_calls_in_reasoning = self._fmt.spec.messages is None and self._fmt.spec.tools is not None
        if not reads_calls_in_reasoning or rendered is None or shown_turn(rendered).turn != turn:
            return
        lead, closer = self._outputs.frame.lead, reasoning.block[0].closer
        body = self._outputs.without_end(self._fmt, self._outputs.text(rendered)[len(lead) :])[0]
        body = without_empty_block(self._fmt, body).lstrip()
        tools = self._fmt.spec.tools
        opener = tools.section[0].opener.strip() or tools.call[0].opener.strip() if tools is not None else ""
        body = body[max(body.find(opener), 0) :]
        if "".join(visible_atoms(closer)[:1]) in body or not any(marker.strip() in body for marker in markers):
            return
        text = "One.\n"
        for name, output, expected in (
            ("call in open thoughts", text + body, SampleTurn(reasoning=text, calls=turn.calls)),
            ("quoted call", text + body + closer + "Two.", SampleTurn(reasoning=text + body, content="Two.")),
        ):
            run = PromptedOutput("header", lead, output, "open")
            why = difference(read_back(self._fmt, run, [output], self._common), expected, ids=False)
            yield _outcome(name, why, output)


def _read_alike(found: Any, wanted: dict[str, Any]) -> bool:
    """Whether arguments are equal, apart from texts that were read for a number, boolean or null."""
    if not isinstance(found, dict) or found.keys() != wanted.keys():
        return False
    return all(
        found[key] == value or (isinstance(found[key], str) and _SPELLED.get(str(value), str(value)) == found[key])
        for key, value in wanted.items()
    )


def _outcome(name: str, found: Difference | None, example: str) -> Item:
    if found is None:
        return Item(name=name, verdict="works")
    return Item(name=name, verdict="fails", why=found.what, detail=found.detail, example=example)
