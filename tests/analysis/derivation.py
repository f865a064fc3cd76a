"""What analysis derives from templates that are generated from formats: does it read the cases of those formats?

`python -m tests.analysis.derivation` writes docs/reference/derivation.md; with names of formats, it prints what is
wrong with these.
"""

from __future__ import annotations

import functools
import json
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from syntagma import formats
from syntagma.analysis import Analysis, analyze
from syntagma.decoding import GrammarCompiler, GrammarMatcher
from syntagma.errors import SyntagmaError
from syntagma.formats import ChatFormat
from syntagma.templates import ChatTemplate
from syntagma.testing import byte_vocabulary
from tests.analysis.generated import STYLES, template_of
from tests.formats.cases import FOLDER, SHAPES, TOOLS, Case, CaseFile, shape_of

NOT_DERIVED: dict[str, dict[str, Any]] = tomllib.loads(
    (Path(__file__).parent / "not_derived.toml").read_text(encoding="utf-8")
)
"""format → `cases` that what is derived does not read as the format does, in which `styles` if not in all, and `why`"""
PAGE = Path(__file__).parents[2] / "docs/reference/derivation.md"
USER = [{"role": "user", "content": "Hello."}]


INTRODUCTION = """# What can be derived

<!-- Written by `python -m tests.analysis.derivation`. -->

For each format with calls, a chat template that writes it is generated, in two styles of template code: *loop* joins
strings in one loop, with a namespace that counts; *macros* has macros, set blocks and filters. What
`analyze(template, candidates="derived")` makes of it reads the cases of that format (`conformance/formats`,
`conformance/shapes`), whole and in pieces, and its grammar accepts what the grammar of the format accepts.

A cell counts the cases that the format writes. *Read* are the others: dialects and slips that the format reads and
never writes; a template shows none of them, so what is derived owes them nothing.
"""


class Source(NamedTuple):
    """A format whose templates are generated, and its cases."""

    name: str
    is_shape: bool
    fmt: ChatFormat
    cases: tuple[Case, ...]


class Outcome(NamedTuple):
    """What came of one template: the cases that the format writes, and those that it only reads."""

    summary: str
    written: int
    read: int
    """of those that are written"""
    others: int
    others_read: int
    problems: tuple[str, ...]
    """of the cases that are written"""

    @property
    def derived(self) -> bool:
        """Whether every case that the format writes comes back, and the grammar accepts it."""
        return not self.problems


@functools.cache
def sources() -> tuple[Source, ...]:
    """Every format with calls: the shipped ones, and the shapes of our own."""
    found = []
    for path in (*sorted(FOLDER.glob("*.toml")), *sorted(SHAPES.glob("*.toml"))):
        file = msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), CaseFile)
        fmt = shape_of(path) if file.shape else formats.get(file.format or path.stem, file.reasoning)
        # Prompts of cases begin turns in the middle, with the header of another template.
        cases = tuple(case for case in file.case if case.prompt is None)
        if fmt.spec.tools is not None and any(case.write for case in cases):
            found.append(Source(path.stem, file.shape is not None, fmt, cases))
    return tuple(found)


@functools.cache
def analysis(name: str, style: str) -> tuple[ChatTemplate, Analysis]:
    """The generated template, and what is derived from it."""
    source = next(one for one in sources() if one.name == name)
    template = ChatTemplate(template_of(source.fmt.spec, style))
    return template, analyze(template, candidates="derived")


@functools.cache
def outcome(name: str, style: str) -> Outcome:
    """Read the cases of a format with what is derived from a template that writes it."""
    source = next(one for one in sources() if one.name == name)
    template, found = analysis(name, style)
    wrong = {case.name: next(_problems(template, found.derived, source.fmt, case), None) for case in source.cases}
    written = [case for case in source.cases if case.write]
    others = [case for case in source.cases if not case.write]
    assert found.certificate is not None
    return Outcome(
        summary=found.certificate.summary,
        written=len(written),
        read=sum(wrong[case.name] is None for case in written),
        others=len(others),
        others_read=sum(wrong[case.name] is None for case in others),
        problems=tuple(f"{case.name}: {wrong[case.name]}" for case in written if wrong[case.name] is not None),
    )


def _problems(template: ChatTemplate, derived: ChatFormat, named: ChatFormat, case: Case) -> Iterator[str]:
    settings = case.template_kwargs or {}
    try:
        prompt = template.render(USER, tools=TOOLS, add_generation_prompt=True, template_kwargs=settings)
        expected = _expected(case)
        for chunks in ([case.raw], list(case.raw), [case.raw[: len(case.raw) // 2], case.raw[len(case.raw) // 2 :]]):
            found = _read(derived, case, chunks, prompt, settings)
            if found != expected:
                yield f"{found} instead of {expected}"
                return
        # Texts that fit no schema are read, and never written: no grammar accepts them.
        if case.write and _accepted(named, case, None, settings) and not _accepted(derived, case, prompt, settings):
            yield "the grammar refuses it"
    except SyntagmaError as error:
        yield str(error)


def _expected(case: Case) -> tuple[Any, ...]:
    calls = [
        (one.name, json.loads(one.arguments) if one.complete else one.arguments, one.complete, one.id)
        for one in case.calls
    ]
    return case.content, case.reasoning, calls


def _read(fmt: ChatFormat, case: Case, chunks: list[str], prompt: str, settings: dict[str, Any]) -> tuple[Any, ...]:
    parser = fmt.parser(TOOLS, prompt=prompt, template_kwargs=settings, id_seed="cases")
    for chunk in chunks:
        parser.feed(chunk)
    parser.finish()
    message = parser.message
    ids = [one.id for one in case.calls] + [None] * len(message.tool_calls)
    calls = [
        (
            call.name,
            json.loads(call.arguments) if call.complete else call.arguments,
            call.complete,
            None if wanted is None else call.id,
        )
        for call, wanted in zip(message.tool_calls, ids, strict=False)
    ]
    return message.content or "", message.reasoning_content or "", calls


@functools.cache
def _compiler() -> GrammarCompiler:
    return GrammarCompiler(byte_vocabulary())


def _accepted(fmt: ChatFormat, case: Case, prompt: str | None, settings: dict[str, Any]) -> bool:
    """Whether the grammar lets a model write the case, the end of the turn left aside."""
    grammar = _compiler().compile(fmt.grammar(TOOLS, prompt=prompt, template_kwargs=settings))
    end = "".join(ends[0] for ends in fmt.spec.turn_ends)
    for text in (case.raw, case.raw.removesuffix(end)):
        matcher = GrammarMatcher(grammar)
        if matcher.accept_bytes(text.encode()) and matcher.is_accepting():
            return True
    return False


def page() -> str:
    """The page of what can be derived, as Markdown."""
    lines = [INTRODUCTION]
    for is_shape, title in ((False, "Shipped formats"), (True, "Shapes that no shipped format has")):
        lines.append(f"\n## {title}\n\n| format | {' | '.join(STYLES)} | read | certificate |\n|:--|:-:|:-:|:--|:--|\n")
        lines += [_row(source) for source in sources() if source.is_shape == is_shape]
    lines.append("\n## What no render shows\n\n")
    lines += [f"* `{name}`: {one['why']}\n" for name, one in sorted(NOT_DERIVED.items())]
    return "".join(lines)


def _row(source: Source) -> str:
    came = [outcome(source.name, style) for style in STYLES]
    cells = [f"{one.written - len(one.problems)} of {one.written}" for one in came]
    summary = came[0].summary.replace("|", "\\|")
    if "not clean: " in summary:
        summary = summary[:100].rpartition(" ")[0] + " …" if len(summary) > 100 else summary
    else:
        summary = summary.partition(":")[0]
    return f"| `{source.name}` | {' | '.join(cells)} | {came[0].others_read} of {came[0].others} | {summary} |\n"


def _print(names: list[str]) -> None:
    for name in names:
        for style in STYLES:
            came = outcome(name, style)
            print(name, style, f"{came.read} of {came.written}, {came.others_read} of {came.others}", came.summary)
            print(*(f"    {problem}" for problem in came.problems), sep="\n")
            print(analysis(name, style)[1].derived.to_toml())


if __name__ == "__main__":
    if sys.argv[1:]:
        _print(sys.argv[1:])
    else:
        PAGE.write_text(page(), encoding="utf-8")
