"""Writes `docs/reference/analysis-figures.md`: certificates, defects and times of a folder of templates.

`python -m tests.analysis.figures FOLDER`. Times are CPU times, the shortest of three runs.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from syntagma.analysis import Analysis, analyze, lint_template
from syntagma.templates import ChatTemplate
from tests.analysis import rates

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "analysis-figures.md"
_HEAD = """\
# Figures of the analysis

Written by `python -m tests.analysis.figures FOLDER` over {count} collected chat templates, as the vendors ship them.
[Certificates](certificates.md) explains what is said here, [Defects of templates](template-lint.md) the rules.

"""

_RATES = """\
## How often certificates are wrong

Counted by `python -m tests.analysis.rates FOLDER`, which names every template of the last two columns. What is true of
a template is judged without its certificate: it renders fourteen messages of our own after its prompts, which must come
back and be accepted by the grammar of the turn, and the cases that were written for it must come back, where there are
some. *False clean*: the certificate is clean, and something is wrong. *False alarm*: it is not clean, and nothing is
found wrong.

"""


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _milliseconds(call: Callable[[], object]) -> float:
    found = []
    for _ in range(3):
        before = time.process_time()
        call()
        found.append((time.process_time() - before) * 1000)
    return min(found)


def _certificates(analyses: dict[str, Analysis]) -> str:
    summaries = {name: found.certificate.summary for name, found in analyses.items() if found.certificate}
    kinds = Counter(text.partition(":")[0] for text in summaries.values())
    counted = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
    rows = "".join(f"| {name} | {analyses[name].chosen} | {_cell(text)} |\n" for name, text in summaries.items())
    return f"## Certificates\n\n{counted}.\n\n| template | format | certificate |\n|:--|:--|:--|\n{rows}\n"


def _defects(templates: dict[str, ChatTemplate]) -> str:
    rows = []
    counts: Counter[str] = Counter()
    for name, template in templates.items():
        found = lint_template(template)
        counts.update({finding.rule for finding in found})
        said = Counter((finding.rule, finding.fix is not None) for finding in found)
        shown = [f"`{rule}`{' (fix)' if fix else ''}" + (f" ×{n}" if n > 1 else "") for (rule, fix), n in said.items()]
        rows.append(f"| {name} | {', '.join(shown) or 'none'} |\n")
    counted = ", ".join(f"`{rule}` {count}" for rule, count in counts.most_common())
    return f"## Defects\n\nTemplates by rule: {counted}.\n\n| template | rules |\n|:--|:--|\n{''.join(rows)}\n"


def _times(templates: dict[str, ChatTemplate]) -> str:
    kinds: dict[str, Callable[[ChatTemplate], object]] = {
        "`certify=False`": lambda template: analyze(template, certify=False, cache={}),
        "with certificate": lambda template: analyze(template, cache={}),
    }
    rows = []
    for kind, call in kinds.items():
        each = {name: _milliseconds(lambda one=one, call=call: call(one)) for name, one in templates.items()}  # type: ignore[misc]
        slowest = max(each, key=lambda name: each[name])
        rows.append(f"| {kind} | {statistics.median(each.values()):.0f} | {each[slowest]:.0f} | {slowest} |\n")
    head = "## Times\n\nMilliseconds of CPU time for one template, on one core of a shared machine of two.\n\n"
    return head + "| | median | longest | of |\n|:--|--:|--:|:--|\n" + "".join(rows)


def _main(folder: Path) -> None:
    templates = {path.stem: ChatTemplate.from_file(path, eos_token="</s>") for path in sorted(folder.glob("*.jinja"))}
    analyses = {name: analyze(template) for name, template in templates.items()}
    text = _HEAD.format(count=len(templates)) + _certificates(analyses) + _RATES + rates.table(folder)[0] + "\n"
    text += _defects(templates) + _times(templates)
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    _main(Path(sys.argv[1]))
