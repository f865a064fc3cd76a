"""Grammars in the languages of other engines, judged there: verdicts on the same texts, as a page.

Schemas, formats with their requests, and chat templates become grammars; each is exported to each language and loaded
by the engine that reads it, and what our grammar and the engine say of valid and damaged texts is compared.
`make verdicts` runs it in the environment of the engines, and writes the page. With `--show` it prints where the two
differ.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

import syntagma as sg
from syntagma.errors import SyntagmaError
from syntagma.grammars import Export, Grammar
from tests.constraints.tag_draws import CALLING, FORMATS, REQUESTS, accepted, damaged, texts
from tests.engines.peers import Judge
from tests.formats.cases import TOOLS

__all__ = ["KINDS", "LANGUAGES", "PAGE", "Compared", "Subject", "compare", "known_differences", "subjects"]

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "reference" / "export-verdicts.md"
LANGUAGES = {
    "gbnf": "GBNF, llama.cpp",
    "lark": "Lark, llguidance",
    "xgrammar": "text, xgrammar",
    "structural_tag": "tag, xgrammar",
    "text_tag": "tag without schemas, xgrammar",
}
KINDS = ("schema", "format", "template")
_DIFFERENCES = Path(__file__).parent / "differences.toml"
_SHARED = ROOT.parent / "shared" / "data"
_MESSAGES = [{"role": "user", "content": "Hello"}]
_TEXTS = 6
"""drawn texts of a grammar, and as many written ones; each is damaged, too"""
_SECONDS = 8.0
"""for one grammar and its texts in one engine"""
_LONG = 4_000
"""longer texts are not compared: some engines take a second for each thousand characters"""


class Subject(NamedTuple):
    """A grammar, what it is of, and texts that it may accept."""

    kind: str
    name: str
    request: str
    grammar: Grammar
    texts: list[str]


class Compared(msgspec.Struct):
    """What came of the grammars of one kind or name in one language.

    Attributes:
        status: how many grammars the export holds as `exact`, `wider` and `no`.
        refused: why the engine did not judge → how many grammars.
        texts: how many texts were compared, all languages alike.
        less: texts that only our grammar accepts.
        more: texts that only the engine accepts.
        unsaid: of those, texts under a grammar whose export is `exact`.
    """

    status: Counter[str] = msgspec.field(default_factory=Counter)
    refused: Counter[str] = msgspec.field(default_factory=Counter)
    texts: int = 0
    less: int = 0
    more: int = 0
    unsaid: int = 0

    def __add__(self, other: Compared) -> Compared:
        return Compared(*(getattr(self, field) + getattr(other, field) for field in self.__struct_fields__))


def subjects(kind: str, *, every: int = 1) -> Iterator[Subject]:
    """The grammars of a kind; of those only each `every`th."""
    found = {"schema": _schemas, "format": _formats, "template": _templates}[kind]
    yield from found(every)


def compare(subject: Subject, judges: Sequence[Judge], *, show: bool = False) -> dict[str, Compared]:
    """What each engine says about the texts of a grammar, beside what the grammar says."""
    wanted = accepted(subject.grammar, subject.texts)
    exports = {**subject.grammar.exports({}), "text_tag": _text_tag(subject.grammar)}
    asked = [judge for judge in judges if exports[judge.language].status != "no"]
    for judge in asked:
        judge.ask(exports[judge.language].source, subject.texts)
    answers = {judge.language: judge.answer() for judge in asked}
    return {
        judge.language: _compared(subject, exports[judge.language], wanted, answers.get(judge.language, []), show=show)
        for judge in judges
    }


def _text_tag(grammar: Grammar) -> Export:
    """The structural tag in which grammar text stands for schemas."""
    try:
        tag = grammar.to_structural_tag(schemas="text")
    except SyntagmaError as error:
        return Export("no", why=error.message)
    return Export("wider" if tag.wider or grammar.report.pointers else "exact", dict(tag))


def _compared(
    subject: Subject, export: Export, wanted: Sequence[bool], answer: Sequence[bool] | str, *, show: bool
) -> Compared:
    found = Compared(Counter([export.status]))
    name = f"{subject.kind} {subject.name} {subject.request}"
    if export.status == "no":
        if show:
            print(f"{name}: no: {export.why}")
        return found
    if isinstance(answer, str):
        found.refused[answer if answer in ("too slow", "crashed") else "refused"] += 1
        if show:
            print(f"{name}: {answer[:300]!r}")
        return found
    for text, one, other in zip(subject.texts, wanted, answer, strict=True):
        found.texts += 1
        found.less += one > other
        found.more += one < other
        found.unsaid += one != other and (one > other or export.status == "exact")
        if show and one != other:
            print(f"{name}: {export.status}, {'only ours' if one else 'only theirs'}: {text!r}")
    return found


def _schemas(every: int) -> Iterator[Subject]:
    for at, (name, schema, given) in enumerate(_schema_cases()):
        if at % every == 0:
            try:
                grammar = Grammar.from_json_schema(schema)
            except SyntagmaError:
                continue
            rng = random.Random(f"{name} verdicts")
            whole = [json.dumps(value, ensure_ascii=False) for value in given]
            harmed = [damaged(text, rng, ['"', "null", "0", "}", ","]) for text in whole]
            yield Subject("schema", name, "", grammar, _unique([*whole, *harmed]))


def _schema_cases() -> Iterator[tuple[str, Any, list[Any]]]:
    """Names, schemas and instances of them, valid and not."""
    shared = _SHARED / "engine" / "schemas.jsonl"
    if shared.is_file():
        for line in shared.read_text(encoding="utf-8").splitlines():
            case = json.loads(line)
            yield case["id"], case["schema"], [test["data"] for test in case["tests"]]
        return
    for tool in TOOLS:
        function = tool["function"]
        rng = random.Random(function["name"])
        values = [{}, {"place": "Bern", "days": 3}, {"text": "a", "tags": []}, *(rng.randrange(9) for _ in range(2))]
        yield function["name"], function["parameters"], values


def _formats(every: int) -> Iterator[Subject]:
    for at, (name, request) in enumerate((name, request) for name in CALLING for request in REQUESTS):
        if at % every == 0:
            try:
                grammar = FORMATS[name].grammar(TOOLS, **REQUESTS[request])
            except SyntagmaError:
                continue
            rng = random.Random(f"{name} {request} verdicts")
            yield Subject("format", name, request, grammar, _unique(texts(FORMATS[name], grammar, rng, _TEXTS)))


def _templates(every: int) -> Iterator[Subject]:
    folder = _SHARED / "templates"
    if not folder.is_dir():
        folder = ROOT / "conformance" / "templates"
    for at, path in enumerate(sorted(folder.glob("*.jinja"))):
        if at % every:
            continue
        try:
            codec = sg.ChatCodec.from_template(sg.ChatTemplate(path.read_text(encoding="utf-8"), eos_token="</s>"))
            grammar = codec.prepare(_MESSAGES, tools=TOOLS).grammar
        except SyntagmaError:
            continue
        if grammar is not None:
            rng = random.Random(f"{path.stem} verdicts")
            yield Subject("template", path.stem, "auto", grammar, _unique(texts(codec.format, grammar, rng, _TEXTS)))


def _unique(given: Iterable[str]) -> list[str]:
    return [text for text in dict.fromkeys(given) if len(text) <= _LONG and "\ufffd" not in text]


def _table(first: str, rows: dict[str, dict[str, Compared]]) -> str:
    lines = [f"| {first} | {' | '.join(LANGUAGES.values())} |", "|---" * (len(LANGUAGES) + 1) + "|"]
    lines += [f"| {name} | {' | '.join(_cell(found[one]) for one in LANGUAGES)} |" for name, found in rows.items()]
    return "\n".join(lines) + "\n"


def _cell(found: Compared) -> str:
    counts = [f"{status} {found.status[status]}" for status in ("exact", "wider", "no") if found.status[status]]
    said = [f"{', '.join(counts)}: {found.texts:,} texts"] if found.texts else [", ".join(counts)]
    said += [f"{count} less" for count in (found.less,) if count] + [
        f"{count} more" for count in (found.more,) if count
    ]
    said += [f"{why} {count}" for why, count in sorted(found.refused.items())]
    return "; ".join(said)


_HEAD = """<!-- Written by `make verdicts`; change what it describes instead. -->

# Exported grammars, judged by the engines

Grammars are [exported](exports.md), loaded by the engine that reads the language, and asked about texts: {schemas}
schemas with instances, valid and not; {formats} formats with {requests} requests, and {templates} chat templates, with
texts drawn from the grammar and written from drawn calls. Half of the texts are damaged. {texts:,} verdicts of the
engines stand beside those of our own grammar. llama.cpp by xllamacpp {llama}, llguidance {llguidance}, xgrammar
{xgrammar}; a vocabulary of the 256 bytes, so markers are text.

* *tag without schemas*: `to_structural_tag(schemas="text")`, with grammar text in place of JSON Schemas
* *exact*, *wider*, *no*: for how many grammars the export says so
* *less*, *more*: texts that only our grammar accepts, and that only the engine accepts
* *refused*, *too slow*, *crashed*: grammars that the engine did not read, or not with all texts within {seconds:g}
  seconds

"""
_REASONS = """
## Where they differ

* *no*: GBNF, Lark and xgrammar's text have neither intersection nor complement; what needs too many rules without them
  is refused by name
* *more* under a tag that is *wider*: whitespace in JSON, and text before a closer that repeats itself
  ([structural tags](structural-tag.md))
* *refused*: schemas of which xgrammar says that no value fits a part
* all others are schemas in tags, which xgrammar reads in its own way; grammar text in their place is read as meant. The
  smallest examples:

| schema | text | |
|---|---|---|
"""


def main() -> None:
    """Write the page, or show where verdicts differ."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--show", action="store_true", help="print differences instead of writing the page")
    parser.add_argument("--only", choices=KINDS, help="one kind of grammars")
    parser.add_argument("--languages", nargs="+", choices=LANGUAGES, default=list(LANGUAGES))
    parser.add_argument("--every", type=int, default=1, help="only each so-manieth grammar")
    given = parser.parse_args()
    judges = [Judge(language, _SECONDS) for language in given.languages]
    rows: dict[str, dict[str, dict[str, Compared]]] = {kind: {} for kind in KINDS}
    for kind in [given.only] if given.only else KINDS:
        begun = time.monotonic()
        for subject in subjects(kind, every=given.every):
            found = compare(subject, judges, show=given.show)
            known = rows[kind].get(subject.name)
            rows[kind][subject.name] = (
                found if known is None else {language: known[language] + found[language] for language in found}
            )
        print(f"{kind}: {len(rows[kind])} in {time.monotonic() - begun:.0f} s", file=sys.stderr)
    for judge in judges:
        judge.close()
    totals = {f"{kind}s": _total(rows[kind].values(), given.languages) for kind in KINDS if rows[kind]}
    if given.show or given.only or given.every > 1 or len(judges) < len(LANGUAGES):
        for kind, total in totals.items():
            for language, counts in total.items():
                print(f"{kind} {language}: {_cell(counts)}; unsaid {counts.unsaid}")
        return
    PAGE.write_text(_page(rows, totals))


def _page(rows: dict[str, dict[str, dict[str, Compared]]], totals: dict[str, dict[str, Compared]]) -> str:
    head = _HEAD.format(
        **{f"{kind}s": len(rows[kind]) for kind in KINDS},
        requests=len(REQUESTS),
        texts=sum(found.texts for total in totals.values() for found in total.values()),
        llama=version("xllamacpp"),
        llguidance=version("llguidance"),
        xgrammar=version("xgrammar"),
        seconds=_SECONDS,
    )
    shown = "".join(
        f"| `{json.dumps(one['schema'])}` | `{one.get('more', one.get('less'))}` "
        f"| {'more' if 'more' in one else 'less'}: {one['reason']} |\n"
        for one in known_differences()
    )
    tables = f"## Formats\n\n{_table('format', rows['format'])}\n## Templates\n\n{_table('template', rows['template'])}"
    return f"{head}{_table('all', totals)}{_REASONS}{shown}\n{tables}"


def known_differences() -> list[dict[str, Any]]:
    """Schemas, each with a `reason` and a text of which xgrammar says `more` or `less` than ours."""
    found: list[dict[str, Any]] = tomllib.loads(_DIFFERENCES.read_text(encoding="utf-8"))["difference"]
    return found


def _total(found: Iterable[dict[str, Compared]], languages: Iterable[str]) -> dict[str, Compared]:
    total = {language: Compared() for language in languages}
    for one in found:
        total = {language: total[language] + one[language] for language in total}
    return total


if __name__ == "__main__":
    main()
