"""The certificate: messages of every shape go through the template and the format, and must come back.

Four ways in which a certificate could deceive itself are closed: 'ambiguous' demands equal calls and equal text, 'other
context' demands the expectation of the first context, an item of which nothing is shown never *works*, and coverage
stands beside the verdicts.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, TypeAlias

import msgspec

from syntagma.analysis.atoms import atoms, skip_prefix
from syntagma.analysis.battery import Trial, battery, tools_of
from syntagma.analysis.conversations import Inputs, Turn
from syntagma.analysis.expectations import (
    covers,
    is_unsayable,
    markers_of,
    rendered_state,
    shown_turn,
    shows_ids,
)
from syntagma.analysis.extents import read_view
from syntagma.analysis.frame import Frame, clean_tail
from syntagma.analysis.inference import Finding
from syntagma.analysis.read_back import Start, chunkings, difference, plain_message, read_back
from syntagma.analysis.scene import Context, Scene, View
from syntagma.analysis.verdict_grammar import GrammarVerdicts
from syntagma.formats import ChatFormat

__all__ = ["Certificate", "Certifier", "Item", "Mentions", "Verdict"]

Verdict: TypeAlias = Literal["works", "dropped", "refused", "ambiguous", "other context", "not rendered", "fails"]
"""`refused`: it comes back, but the format's grammar does not let a model write it"""
_SEED = 20


class Item(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one message.

    `shape` is what the render shows of it (letters of `RCT`), `why` says what is wrong, `example` is the raw text.
    """

    name: str
    verdict: Verdict
    shape: str = ""
    kinds: tuple[str, ...] = ()
    why: str = ""
    example: str = ""


class _Problem(msgspec.Struct, frozen=True):
    """What is wrong with a turn: why, its raw text, and whether only the grammar objects."""

    why: str
    example: str
    refused: bool = False


class Certificate(msgspec.Struct, frozen=True, kw_only=True):
    """What is proved about a format and a template."""

    items: tuple[Item, ...]
    findings: tuple[Finding, ...]
    coverage: dict[str, int]
    """messages that work, by what they show: letters of `RCT`, and JSON types of arguments"""
    grammar_checked: bool
    """whether the strict reading was asked, too"""

    @property
    def clean(self) -> bool:
        """No item fails, and nothing was found that speaks against the format."""
        return not self.findings and all(item.verdict not in ("fails", "refused") for item in self.items)

    @property
    def failing(self) -> tuple[Item, ...]:
        """The items that fail."""
        return tuple(item for item in self.items if item.verdict == "fails")

    @property
    def rank(self) -> tuple[int, int, int]:
        """For comparisons, greater is better: coverage first, then failures, then what the grammar refuses."""
        refused = sum(item.verdict == "refused" for item in self.items)
        return (sum(self.coverage.values()), -len(self.failing), -refused)

    def to_dict(self) -> dict[str, Any]:
        """The certificate as plain JSON data."""
        return {
            "clean": self.clean,
            "coverage": self.coverage,
            "grammar_checked": self.grammar_checked,
            "findings": [msgspec.to_builtins(finding) for finding in self.findings],
            "items": [
                {name: value for name, value in msgspec.to_builtins(item).items() if value} for item in self.items
            ],
        }


class Mentions(msgspec.Struct, frozen=True):
    """What the template speaks of: calls, thoughts."""

    calls: bool
    thoughts: bool


class Certifier:
    """Certifies formats for one template; renders are shared between the formats that are tried."""

    def __init__(
        self,
        scene: Scene,
        inputs: Inputs,
        frame: Frame,
        prompts: dict[tuple[str, Any] | None, str],
        *,
        id_form: str,
        eos_token: str,
        mentions: Mentions,
    ) -> None:
        self._mentions = mentions
        self._scene = scene
        self._inputs = inputs
        self._sentinel = frame.whole
        self._eos_token = eos_token
        self._frame = frame.with_eos(eos_token)
        self._prompts = {key: self._real(prompt) for key, prompt in prompts.items()}
        self._id_form = id_form
        self._tools = tools_of()

    def certify(
        self, fmt: ChatFormat, findings: tuple[Finding, ...], *, give_up_after: int | None = None
    ) -> Certificate:
        """Try every message.

        Args:
            fmt: the format.
            findings: what is known against it already.
            give_up_after: stop at that many failing items; None tries all.
        """
        grammars = GrammarVerdicts(fmt, self._tools)
        items: list[Item] = []
        for trial in battery(self._id_form, markers_of(fmt)):
            items.append(self._item(fmt, trial, grammars))
            if give_up_after is not None and sum(item.verdict == "fails" for item in items) >= give_up_after:
                break
        else:
            items += self._none_mode(fmt)
            items += self._prompted_thoughts(fmt, grammars)
            items += self._interrupted_thoughts(fmt)
        coverage: dict[str, int] = {}
        for item in items:
            if item.verdict in ("works", "dropped", "refused", "other context"):
                for key in (item.shape, *item.kinds) if item.shape else ():
                    coverage[key] = coverage.get(key, 0) + 1
        if grammars.unsupported is not None:
            findings = (*findings, Finding("grammar-unsupported", grammars.unsupported))
        return Certificate(
            items=tuple(items),
            findings=(*findings, *self._missing(fmt, coverage, {finding.code for finding in findings})),
            coverage=coverage,
            grammar_checked=grammars.available and grammars.unsupported is None,
        )

    def reads_calls(self, fmt: ChatFormat) -> bool:
        """Whether the plainest call that the template shows comes back: one quick question before all of them."""
        for trial in battery(self._id_form, markers_of(fmt)):
            view = self._view(trial.turn, "last") if trial.turn.calls else None
            shown = shown_turn(view) if view is not None else None
            if view is None or shown is None or not shown.calls:
                continue
            for start in self._starts(fmt, view, shown)[:1]:
                back = read_back(fmt, start, [start.output], self._tools)
                return difference(back, shown, ids=shows_ids(view, shown)) is None
        return True

    def _missing(self, fmt: ChatFormat, coverage: dict[str, int], known: set[str]) -> Iterator[Finding]:
        """What the template speaks of, or its prompts end with, and the format does not account for."""
        spec = fmt.spec
        extras = [
            (prompt[len(self._frame.lead) :] if prompt.startswith(self._frame.lead) else "").strip()
            for prompt in self._prompts.values()
        ]
        blocks = spec.reasoning.block if spec.reasoning is not None else ()
        thoughts = [text.strip() for block in blocks for text in (block.opener, block.closer) if text.strip()]
        delimited = any(not block.opener.strip() for block in blocks)
        others = [block.opener.strip() for block in (spec.content.block if spec.content is not None else ())]
        others += [call.opener.strip() for call in (spec.tools.call if spec.tools is not None else ())]
        prompted = [extra for extra in extras if extra and any(extra.startswith(text) for text in thoughts)]
        if "prompt-unexplained" not in known:
            for extra in dict.fromkeys(extras):
                begun = delimited or any(text.startswith(extra) for text in others)
                if extra and extra not in prompted and not begun:
                    yield Finding("prompt-unexplained", f"a generation prompt ends with {extra[-80:]!r}")
        if self._mentions.calls and "calls-unsupported" not in known and not covers(coverage, "T"):
            yield Finding("mention-calls", "the template speaks of `tool_calls`, and no call came back")
        if self._mentions.thoughts and "reasoning-prose" not in known and not prompted and not covers(coverage, "R"):
            yield Finding("mention-thinking", "the template has a thinking switch, and no thought came back")

    # -- one message

    def _item(self, fmt: ChatFormat, trial: Trial, grammars: GrammarVerdicts) -> Item:
        first = self._view(trial.turn, "last") or self._view(trial.turn, "middle")
        if first is None:
            return Item(name=trial.name, verdict="not rendered")
        shown = shown_turn(first)
        if not shown.shape:
            return Item(name=trial.name, verdict="not rendered", why="nothing of it is shown")
        problem = self._wrong(fmt, first, shown)
        if problem is None and trial.basic:
            problem = self._tail_cuts(fmt, first, shown)
        problem = problem or self._refused(fmt, first, shown, grammars)

        def item(verdict: Verdict, why: str = "", example: str = "") -> Item:
            return Item(
                name=trial.name, verdict=verdict, shape=shown.shape, kinds=trial.kinds, why=why, example=example
            )

        if problem is None:
            return item("works" if shown == trial.turn else "dropped")
        view = self._view(trial.turn, "middle")
        if view is not None and view != first and shown_turn(view) == shown:
            again = self._wrong(fmt, view, shown) or self._refused(fmt, view, shown, grammars)
            if again is None:
                return item("other context", problem.why)
            if again.refused:
                problem = again
        if not problem.refused and self._ambiguous(fmt, first, shown):
            return item("ambiguous", problem.why, problem.example)
        return item("refused" if problem.refused else "fails", problem.why, problem.example)

    def _view(self, turn: Turn, context: Context) -> View | None:
        view = self._scene.view(turn, self._inputs, context, tools=self._tools if turn.calls else None)
        return None if view is None else msgspec.structs.replace(view, text=self._real(view.text))

    def _real(self, text: str) -> str:
        """A rendered text with the template's own end-of-sequence token."""
        return text.replace(self._sentinel, self._eos_token)

    def _wrong(self, fmt: ChatFormat, view: View, shown: Turn) -> _Problem | None:
        """What does not come back; None if everything does."""
        ids, tools = shows_ids(view, shown), self._tools if shown.calls else None
        for start in self._starts(fmt, view, shown):
            for chunks in chunkings(start.output, _SEED) if start.name == "turn" else [[start.output]]:
                why = difference(read_back(fmt, start, chunks, tools), shown, ids=ids)
                if why is not None:
                    return _Problem(f"behind the {start.name}: {why}", start.output)
        return None

    def _refused(self, fmt: ChatFormat, view: View, shown: Turn, grammars: GrammarVerdicts) -> _Problem | None:
        """What the strict reading does not accept; None if it accepts everything."""
        for start in self._starts(fmt, view, shown) if not is_unsayable(fmt, shown) else ():
            outputs = self._without_end(fmt, start.output, shown)
            whys = [grammars.refuses(start, output, has_calls=bool(shown.calls)) for output in outputs]
            if None not in whys:
                return _Problem(f"behind the {start.name}: {whys[0]}", start.output, refused=True)
        return None

    def _text(self, view: View) -> str:
        extra = self._frame.epilogue if view.context == "last" else self._frame.user_open
        return view.text.removesuffix(extra)

    def _without_end(self, fmt: ChatFormat, output: str, shown: Turn) -> list[str]:
        """The output as engines may give it back: without the end of the turn, behind calls with blanks or without."""
        drop = fmt.spec.content.drop if fmt.spec.content is not None else ()
        text = next((output.removesuffix(end) for end in drop if output.endswith(end)), self._frame.without_end(output))
        if not shown.calls or fmt.spec.tools is None:
            return [text]
        closer = fmt.spec.tools.section[0].closer or fmt.spec.tools.call[0].closer
        return list(dict.fromkeys((text.rstrip() + closer[len(closer.rstrip()) :], text.rstrip())))

    def _starts(self, fmt: ChatFormat, view: View, shown: Turn) -> list[Start]:
        """The whole turn, and what stands behind every generation prompt that fits."""
        text, lead = self._text(view), self._frame.lead
        starts = []
        if text.startswith(lead):
            starts.append(Start("turn", lead, text[len(lead) :], rendered_state(fmt, shown)))
        seen = {lead}
        for prompt in self._prompts.values():
            if prompt in seen:
                continue
            seen.add(prompt)
            if text.startswith(prompt):
                starts.append(Start("prompt", prompt, text[len(prompt) :]))
            elif text.startswith(lead) and shown.reasoning is None and fmt.spec.reasoning is not None:
                closed = self._closed(fmt, prompt, text[len(lead) :])
                starts += [] if closed is None else [Start("prompt with closed thoughts", prompt, closed)]
        return starts

    def _closed(self, fmt: ChatFormat, prompt: str, body: str) -> str | None:
        """A turn without thoughts behind a prompt that opens or has closed them; None if the prompt is neither."""
        if fmt.spec.reasoning is None or not prompt.startswith(self._frame.lead):
            return None
        extra = prompt[len(self._frame.lead) :]
        block = fmt.spec.reasoning.block[0]
        rest = skip_prefix(extra, block.opener)
        if rest is None or not block.opener.strip():
            return None
        bare = skip_prefix(body, block.opener + block.closer) or skip_prefix(body, block.closer)
        body = body if bare is None else bare.lstrip()
        if not rest.strip():
            return block.closer + body
        return body if rest.strip() == block.closer.strip() else None

    def _tail_cuts(self, fmt: ChatFormat, view: View, shown: Turn) -> _Problem | None:
        """Behind the last complete call or content, the output may stop at any later atom."""
        ids, tools = shows_ids(view, shown), self._tools if shown.calls else None
        text, lead = self._text(view), self._frame.lead
        reading = read_view(msgspec.structs.replace(view, turn=shown))
        if not text.startswith(lead) or reading.shape != shown.shape or len(reading.calls) != len(shown.calls):
            return None
        if any(extent.tagged for extent in reading.calls):
            return None
        tail = clean_tail(reading, self._frame.epilogue, self._frame.user_open)
        at = len(text) - len(tail)
        end = fmt.spec.end_of_turn if tail.endswith("".join(fmt.spec.end_of_turn)) else ()
        for piece in (*atoms(tail.removesuffix("".join(end)), self._frame.whole), *end):
            output = text[len(lead) : at]
            at += len(piece)
            if output.strip():
                start = Start("turn", lead, output, rendered_state(fmt, shown))
                why = difference(read_back(fmt, start, [output], tools), shown, ids=ids)
                if why is not None and why != "the message is marked incomplete":
                    return _Problem(f"cut in its tail: {why}", output)
        return None

    def _ambiguous(self, fmt: ChatFormat, view: View, shown: Turn) -> bool:
        """Whether what was read is another message with the same render, the same calls and the same text."""
        starts = self._starts(fmt, view, shown)
        if not starts:
            return False
        message = read_back(fmt, starts[0], [starts[0].output], self._tools if shown.calls else None)
        if isinstance(message, str):
            return False
        found = plain_message(message)
        wanted = "".join(((shown.reasoning or "") + (shown.content or "")).split())
        if "".join((found["reasoning"] + found["content"]).split()) != wanted:
            return False
        if [call[:2] for call in found["calls"]] != [[call.name, call.arguments] for call in shown.calls]:
            return False
        other = Turn(reasoning=found["reasoning"] or None, content=found["content"] or None, calls=shown.calls)
        again = self._view(other, view.context)
        return other != shown and again is not None and again.text == view.text

    # -- further checks

    def _none_mode(self, fmt: ChatFormat) -> list[Item]:
        """With `reasoning_format="none"` plain content comes back as it is."""
        text = "Tea < coffee.\n\nBoth: [hot] {x}."
        for prompt in self._prompts.values():
            if fmt.spec.reasoning is not None and self._opens_thoughts(fmt, prompt):
                continue
            wrapper = fmt.spec.content.block[:1] if fmt.spec.content is not None else ()
            routed = fmt.spec.messages is not None or (wrapper and fmt.spec.content.when == "always")  # type: ignore[union-attr]
            if routed:
                continue
            message = read_back(fmt, Start("prompt", prompt, text), [text], None, reasoning_format="none")
            why = difference(message, Turn(content=text), ids=False)
            if why is not None:
                return [Item(name="none mode", verdict="fails", shape="C", why=why, example=text)]
        return []

    def _prompted_thoughts(self, fmt: ChatFormat, grammars: GrammarVerdicts) -> list[Item]:
        """Behind a prompt that opens thoughts, they end at their closer; whether or not the template ever shows any."""
        items = []
        thought, text = "One.\nTwo: a < b.", "Tea at noon."
        for prompt in dict.fromkeys(self._prompts.values()):
            if fmt.spec.reasoning is None or self._closed(fmt, prompt, "x") != fmt.spec.reasoning.block[0].closer + "x":
                continue
            wrapper = fmt.spec.content.block[:1] if fmt.spec.content is not None else ()
            answer = wrapper[0].opener + text + wrapper[0].closer if wrapper else text
            start = Start("prompt", prompt, thought + fmt.spec.reasoning.block[0].closer + answer)
            expected = Turn(reasoning=thought, content=text)
            ways = chunkings(start.output, _SEED)
            wrong = [difference(read_back(fmt, start, way, None), expected, ids=False) for way in ways]
            why = next((one for one in wrong if one), None) or grammars.refuses(start, start.output, has_calls=False)
            items.append(
                Item(name="prompted thoughts", verdict="fails" if why else "works", why=why or "", example=start.output)
            )
        return items

    def _interrupted_thoughts(self, fmt: ChatFormat) -> list[Item]:
        """A call in thoughts that never close is a call; in thoughts that close it was quoted."""
        reasoning = fmt.spec.reasoning
        turn = next(trial.turn for trial in battery(self._id_form) if trial.turn.shape == "T")
        view = self._view(turn, "last")
        routed = fmt.spec.messages is not None  # there a call inside thoughts is text
        if routed or reasoning is None or fmt.spec.tools is None or view is None or shown_turn(view) != turn:
            return []
        block, lead = reasoning.block[0], self._frame.lead
        body = self._frame.without_end(self._text(view))[len(lead) :]
        bare = skip_prefix(body, block.opener + block.closer) or skip_prefix(body, block.closer)
        body = (body if bare is None else bare).lstrip()
        thought = "One.\n"
        items = []
        for name, output, expected in (
            ("call in open thoughts", thought + body, Turn(reasoning=thought, calls=turn.calls)),
            ("quoted call", thought + body + block.closer + "Two.", Turn(reasoning=thought + body, content="Two.")),
        ):
            start = Start("turn", lead, output, "open")
            why = difference(read_back(fmt, start, [output], self._tools), expected, ids=False)
            items.append(Item(name=name, verdict="fails" if why else "works", why=why or "", example=output))
        return items

    def _opens_thoughts(self, fmt: ChatFormat, prompt: str) -> bool:
        extra = prompt[len(self._frame.lead) :] if prompt.startswith(self._frame.lead) else ""
        opener = fmt.spec.reasoning.block[0].opener if fmt.spec.reasoning is not None else ""
        return not opener.strip() or skip_prefix(extra, opener) is not None
