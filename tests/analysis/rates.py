"""How often a certificate is wrong: clean where something does not come back, or not clean where everything does.

`python -m tests.analysis.rates [FOLDER]` prints the table and every template that is counted in its last two columns;
FOLDER holds collected chat templates. The truth about a template are messages of our own (`truth`), and the cases that
were written for it, where there are some.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from syntagma.analysis import Analysis, analyze
from syntagma.templates import ChatTemplate
from tests.analysis import derivation, invented, test_shapes, truth
from tests.analysis.generated import STYLES
from tests.external.run import cases, is_there

__all__ = ["table"]

_HEAD = """| templates | | clean | clean, but | not clean | all right | false clean | false alarm |
|:--|--:|--:|--:|--:|--:|--:|--:|
"""


class Judged(NamedTuple):
    """A template, what its certificate says, and what is wrong in truth."""

    name: str
    summary: str
    clean: bool
    problems: tuple[str, ...]


def _judged(name: str, template: ChatTemplate, analysis: Analysis, further: tuple[str, ...] = ()) -> Judged:
    assert analysis.certificate is not None
    certificate = analysis.certificate
    wrong = (*truth.problems(template, analysis), *further)
    return Judged(name, certificate.summary, certificate.clean, wrong)


def collected(folder: Path) -> Iterator[Judged]:
    """The templates of a folder; where the suite of cases is at hand that belongs to it, with its cases."""
    failed: dict[str, list[str]] = {}
    if is_there("autoparser", folder.parent):
        for case, problem in cases("autoparser", folder.parent):
            if problem is not None:
                failed.setdefault(case.split("/")[-2], []).append(f"{case}: {problem}")
    for path in sorted(folder.glob("*.jinja")):
        template = ChatTemplate.from_file(path, eos_token="</s>")
        yield _judged(path.stem, template, analyze(template), tuple(failed.get(path.stem, ())))


def generated() -> Iterator[Judged]:
    """Templates that are generated from formats, in two styles of template code, with the cases of these formats."""
    for source in derivation.sources():
        for style in STYLES:
            template, analysis = derivation.analysis(source.name, style)
            known = derivation.NOT_DERIVED.get(source.name, {}).get("cases", ())
            outcome = derivation.outcome(source.name, style)
            wrong = tuple(one for one in outcome.problems if one.partition(": ")[0] not in known)
            yield _judged(f"{source.name}, {style}", template, analysis, wrong)


def of_invented_families() -> Iterator[Judged]:
    """Templates of invented families, with the cases that were written for them."""
    for name in invented.NAMES:
        template, analysis = invented.template(name), invented.derived(name)
        assert analysis.certificate is not None
        of_cases = [one for one in invented.problems(name) if one != analysis.certificate.summary]
        yield _judged(name, template, analysis, tuple(of_cases))


def of_shapes() -> Iterator[Judged]:
    """Shapes that no shipped format has, those among them that no format can say."""
    bodies = {name: test_shapes.CONTENT + body for name, body in test_shapes.DERIVED.items()}
    bodies |= test_shapes.WRAPPERS | {name: body for name, (body, _) in test_shapes.UNSAYABLE.items()}
    for name, body in bodies.items():
        yield _judged(name, *test_shapes._analysis(body))


def table(folder: Path | None = None) -> tuple[str, list[Judged]]:
    """The table as Markdown, and the templates about which a certificate is wrong.

    Args:
        folder: collected templates; None: they are left out.
    """
    kinds = {} if folder is None else {"collected": list(collected(folder))}
    kinds |= {
        "generated from formats": list(generated()),
        "of invented families": list(of_invented_families()),
        "of further shapes": list(of_shapes()),
    }
    rows, wrong = [], []
    for kind, judged in kinds.items():
        false_clean = [one for one in judged if one.clean and one.problems]
        false_alarm = [one for one in judged if not one.clean and not one.problems]
        wrong += [*false_clean, *false_alarm]
        plain = sum(one.summary == "clean" for one in judged)
        clean = sum(one.clean for one in judged)
        right = sum(not one.problems for one in judged)
        counts = (len(judged), plain, clean - plain, len(judged) - clean, right, len(false_clean), len(false_alarm))
        rows.append(f"| {kind} | {' | '.join(map(str, counts))} |\n")
    return _HEAD + "".join(rows), wrong


def _main() -> None:
    text, wrong = table(Path(sys.argv[1]) if sys.argv[1:] else None)
    print(text)
    for one in wrong:
        print(f"{one.name}: {one.summary[:300]}")
        print(*(f"    {problem[:300]}" for problem in one.problems), sep="\n")


if __name__ == "__main__":
    _main()
