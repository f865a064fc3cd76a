"""Writes the generated pages of docs/; `--check` only says whether they are up to date."""

from __future__ import annotations

import argparse
import ast
import functools
import inspect
import itertools
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from clients_page import clients_page
from doctor_page import doctor_page
from engines_page import engines_page
from figures import insert_figures, pages_with_figures
from lark_table import insert_lark_table
from peers_table import insert_peers_table
from pictures import PICTURES
from server_fields_page import server_fields_page
from typer.main import get_command

import syntagma as sg
from syntagma.cli.app import app
from syntagma.format_schema import FormatSpec, ReasoningSpec, ToolsSpec, is_open
from syntagma.parsing import INLINE, MEANING, MESSAGES, Transitions

DOCS = Path(__file__).parent
NOTE = "<!-- Written by `make docs`; change what it describes instead. -->\n\n"
FIRST_COMMANDS = """\
```sh
syntagma formats hermes | grep call                                  # how a model writes, by a named format
syntagma analyze examples/templates/bracket_calls.jinja | head -1    # the same, derived from a chat template
echo '<tool_call>{"name": "clock", "arguments": {}}</tool_call>' | syntagma parse - --format hermes --events
syntagma generate "Hello there" --model embedded --temperature 0     # the model that ships with the package
```

```text output
call = "<tool_call>{envelope}</tool_call>"
section = "<tool_call>[{calls}]</tool_call>"
call = "{envelope}"
# format: derived, proved
{"type":"tool_call_start","index":0,"id":"call_…","name":"clock","span":[0,43]}
{"type":"tool_call_delta","index":0,"arguments":"{}","span":[42,44]}
{"type":"tool_call_end","index":0,"complete":true,"span":[44,44],"id":null}
{"type":"message_end","finish_reason":"tool_calls","span":[58,58]}
Hello! How can I help you?
```
"""


def command_line() -> str:
    """Every command with its arguments and options, from the definitions that parse them."""
    group = get_command(app)
    pages = [NOTE + "# Command line\n\n" + (group.help or "") + "\n\n" + FIRST_COMMANDS]
    for name, command in _commands(group):
        pages.append(f"\n## `syntagma {name}`\n\n{(command.help or '').strip()}\n\n| | |\n|---|---|\n")
        for parameter in command.params:
            spelled = ", ".join(getattr(parameter, "opts", [])) if parameter.param_type_name == "option" else ""
            spelled = spelled or (parameter.name or "").upper()
            described = " ".join((getattr(parameter, "help", None) or "").split())
            pages.append(f"| `{spelled}` | {described.replace('|', chr(92) + '|')} |\n")
    return "".join(pages)


def _commands(group: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Every command below a group with its whole name."""
    for name, command in sorted(getattr(group, "commands", {}).items()):
        if hasattr(command, "commands"):
            yield from _commands(command, f"{prefix}{name} ")
        else:
            yield prefix + name, command


TOOL = {"name": "tool", "parameters": {"type": "object", "properties": {"text": {"type": "string"}}}}


def _arguments(spec: FormatSpec) -> str:
    """How the arguments of calls are spelled, which says what of a schema a grammar can hold."""
    tools = spec.tools
    if tools is None:
        return ""
    try:
        sg.ChatFormat(spec).grammar([TOOL], enforce="parameters")
    except sg.FormatError as error:
        return f"not enforced: {error}"
    if not tools.argument or "arguments" not in tools.call[0].placeholders:
        return "JSON" if tools.literals.writes_json else "a literal of its notation"
    if tools.element is not None:
        return "elements"
    return "literals with keys" if tools.values == "literal" else "text with types" if tools.types else "text"


HELD = """What `grammar(tools, enforce="parameters")` holds of a schema depends on how a format spells arguments:

* **JSON** and **literals** (an object of them, or one after each key): all that `docs/reference/json-schema.md` lists.
* **text with types**: every value is text or JSON, as the wire says; text is constrained by `enum`, `const`, lengths
  and `pattern`, JSON by its schema.
* **text**: the same; where a value may be text, its numbers and booleans are not written, nor text that
  a reader may take for an object or array that the value may be, too.
* **elements**: the same for what elements hold, as deep as the schema nests; keys are those that are declared.

"""


def _shapes(spec: FormatSpec) -> Iterator[str]:
    """The shapes that a format has, each in the words of the table in `format-file.md`."""
    reasoning, content, tools = spec.reasoning, spec.content, spec.tools
    if spec.messages is not None:
        yield "messages with headers"
    if reasoning is not None:
        yield from (f"reasoning: {word}" for word, has in _reasoning_shapes(spec, reasoning) if has)
    if content is not None and content.block and spec.messages is None:
        yield "a wrapper around the answer"
    if tools is None:
        return
    first = tools.call[0]
    yield "calls: a section around them" if tools.section[0].text != "{calls}" else "calls: no section"
    yield "calls: an object with name and arguments" if "envelope" in first.placeholders else "calls: the name outside"
    shown = {*first.placeholders, *(word for one in tools.envelope[:1] for word in one.pattern.placeholders)}
    if "id" in shown:
        yield "calls: an id"
    if {"index", "ordinal"} & shown.union(*(one.placeholders for one in tools.id[:1])):
        yield "calls: running numbers"
    yield f"arguments: {_argument_shape(tools)}"
    if tools.also:
        yield "further forms that are read"


def _reasoning_shapes(spec: FormatSpec, reasoning: ReasoningSpec) -> list[tuple[str, bool]]:
    return [
        ("only a closer", spec.messages is None and not reasoning.block[0].opener),
        ("open from the start", reasoning.start == "open"),
        ("several ways to write a block", len(reasoning.block) > 1),
        ("several blocks", reasoning.repeat),
        ("switched by template variables", bool(reasoning.switch)),
    ]


def _argument_shape(tools: ToolsSpec) -> str:
    """How arguments are written, in the words of the table in `format-file.md`."""
    if not tools.argument or "arguments" not in tools.call[0].placeholders:
        return "one object of JSON" if tools.literals.writes_json else "one object in a notation"
    if tools.element is not None:
        return "elements"
    if tools.values == "literal":
        return "keywords"
    if not is_open(tools):
        return "tagged, with types" if tools.types else "tagged"
    return "lines or separated" if tools.argument[0].closer or tools.argument_separator else "next key"


def _by_shape() -> Iterator[str]:
    """An index of the formats: each shape, and the formats that have it."""
    index: dict[str, list[str]] = {}
    for name in sg.formats.names():
        for shape in _shapes(sg.formats.get(name).spec):
            index.setdefault(shape, []).append(f"[{name}](#{name})")
    yield "\n## By shape\n\n| shape | formats |\n|---|---|\n"
    yield from (f"| {shape} | {', '.join(names)} |\n" for shape, names in sorted(index.items()))


ORIGINS = """
## Names

Every name and alias, the format that it means, and whose it is: `--tool-call-parser` (tools) and `--reasoning-parser`
(reasoning) of the programs that have parsers by name, with the version that was read. llama.cpp has none: it reads the
chat template, as `sg.analyze` does. Signs count: `deepseek-v3` and `deepseek_v3` are two names.

| name | format | known to |
|---|---|---|
"""


def _by_origin() -> Iterator[str]:
    """Every name, its format, and the programs that know it."""
    origins: dict[str, list[str]] = {}
    known = tomllib.loads((DOCS / "reference" / "format-names.toml").read_text(encoding="utf-8"))
    for program, parts in known.items():
        for name in dict.fromkeys(itertools.chain(*parts.values())):
            has = [part for part, listed in parts.items() if name in listed]
            origins.setdefault(name, []).append(f"{program} ({', '.join(has)})")
    owners = {alias: name for name in sg.formats.names() for alias in (name, *sg.formats.get(name).spec.aliases)}
    yield ORIGINS
    for name in sorted(owners):
        yield f"| `{name}` | [{owners[name]}](#{owners[name]}) | {', '.join(origins.get(name, ['Syntagma']))} |\n"


def formats() -> str:
    """Every registered format, as its file says it."""
    pages = [NOTE + "# Formats\n\nThe formats that come with the package. Each is one file.\n\n" + HELD]
    pages.append("| format | other names | reasoning | arguments |\n|---|---|---|---|\n")
    for name in sg.formats.names():
        spec = sg.formats.get(name).spec
        thoughts = "" if spec.reasoning is None else f"start {spec.reasoning.start}"
        pages.append(f"| [{name}](#{name}) | {', '.join(spec.aliases)} | {thoughts} | {_arguments(spec)} |\n")
    pages += _by_origin()
    pages += _by_shape()
    pages += [f"\n## {name}\n\n```toml\n{sg.formats.get(name).to_toml()}```\n" for name in sg.formats.names()]
    return "".join(pages)


OUTCOMES = {
    "outside": "a reference leads out of the schema, which is refused: nothing is fetched",
    "widened": "reported: a format, a multiple or a negation that is not enforced, `minProperties` that a repeated"
    " property would reach, or open values of `uniqueItems`",
    "rejected": "a spelling that is not given (1.0 for 1, an exponent, a leap second with an offset), or `format` and"
    " vocabularies, which always count here and are optional in the suite",
    "annotation": "a keyword that is an annotation here: contentEncoding, contentMediaType",
}
"""why a group is not exact, by its outcome in the baseline"""


def schema_suite() -> str:
    """Each file of the JSON Schema Test Suite: how many of its groups are held exactly, what becomes of the others."""
    baseline = tomllib.loads((DOCS.parent / "conformance" / "json_schema" / "suite.toml").read_text())
    rows: dict[str, list[str]] = {}
    for draft, files in baseline.items():
        for file, entry in files.items():
            outcomes = Counter(entry.get("not_exact", {}).values())
            cell = f"{entry['groups'] - outcomes.total()}/{entry['groups']}"
            cell += "".join(f", {count} {outcome}" for outcome, count in sorted(outcomes.items()))
            row = rows.setdefault(file.removesuffix(".json"), [""] * len(baseline))
            row[list(baseline).index(draft)] = cell
    table = [f"| `{file}` | " + " | ".join(cells) + " |\n" for file, cells in sorted(rows.items())]
    reasons = [f"* **{outcome}**: {reason}.\n" for outcome, reason in OUTCOMES.items()]
    head = (
        "# JSON Schema Test Suite\n\nOf all groups of a file, those whose every instance is judged right by a grammar"
        " that is said to be exact;\nthen what becomes of the others. Such a grammar accepts nothing invalid.\n\n"
    )
    drafts = f"\n| | {' | '.join(baseline)} |\n|---|{'---|' * len(baseline)}\n"
    return "".join([NOTE, head, *reasons, drafts, *table])


STATES = """The parser of a turn is a table of states. There are two tables: one for turns with markers in the text, as
in most formats, and one for turns that are a sequence of messages, each with a header. `StreamParser.state` shows which
of four things is read (second column below). The tables, `syntagma.parsing.INLINE` and `MESSAGES`, drive the reader:
the method of a state returns a word for what it has read, and the row with this word says where it goes on. The
prompt's tail is read like output, so that the output itself may begin in any state.

"""


def parser_states() -> str:
    """The states of the parser and the transitions between them."""
    pages = [NOTE + "# States of the parser\n\n" + STATES]
    pages.append("| state | `parser.state` | what is read |\n|---|---|---|\n")
    pages += [f"| {state} | `{meaning.now}` | {meaning.text} |\n" for state, meaning in MEANING.items()]
    pages += _transitions("Turns with markers", "states-inline.svg", INLINE)
    pages += _transitions("Turns that are messages with headers", "states-messages.svg", MESSAGES)
    return "".join(pages)


def _transitions(title: str, picture: str, table: Transitions) -> Iterator[str]:
    """One reader's transitions, as a drawing and as a table."""
    yield f"\n## {title}\n\n![Which state leads to which](../pictures/{picture})\n\n"
    yield f"Reading begins in: {', '.join(map(str, table.starts))}.\n\n| from | read | to | when |\n|---|---|---|---|\n"
    yield from (f"| {row.source} | `{row.outcome}` | {row.target} | {row.when} |\n" for row in table.rows)


def limits() -> str:
    """Every bound with its unit and default, as `Limits` itself describes them."""
    rows = []
    body = next(node for node in ast.parse(inspect.getsource(sg.Limits)).body if isinstance(node, ast.ClassDef)).body
    for field, described in itertools.pairwise(body):
        if isinstance(field, ast.AnnAssign) and isinstance(described, ast.Expr):
            name, text = ast.unparse(field.target), " ".join(ast.literal_eval(described.value).split())
            rows.append(f"| `{name}` | {getattr(sg.Limits(), name):,} | {text.rstrip('.')} |\n")
    return NOTE + LIMITS + "| field | default | what it bounds |\n|:--|--:|:--|\n" + "".join(rows)


LIMITS = """# Limits

`sg.Limits` has all bounds on inputs, with defaults for a public server. It is the type of every `limits=`; `None` means
the defaults. On the command line it is `syntagma serve --limits schema_bytes=4194304`. An
input of exactly the limit is accepted; a larger one raises `sg.LimitError` with a code [`E-LIMIT-…`](errors.md#limits),
and the field's name in `error.limit`. Only the parser does not raise: beyond its
limits a call ends incomplete, with a diagnostic, and the rest of the text is content.

```python
import syntagma as sg

small = sg.Limits(schema_bytes=1024)
try:
    sg.Grammar.from_json_schema({"enum": ["x" * 2000]}, limits=small)
except sg.LimitError as error:
    print(error.code, error.limit, error.allowed)
```

```text output
E-LIMIT-SCHEMA-BYTES schema_bytes 1024
```

Work is bounded by *fuel*: the units of work that an input costs. They are the same on every machine, so that an input
that is accepted on one is accepted on all. Only templates are also bounded by time.

`step_fuel` bounds the work of one call of a matcher; what the compiled grammar knows already is no work. What was
refused once is refused again. What was not asked for yet may be allowed later: other calls may have done a part of it.

A unit of `compile_fuel` costs about the same time and memory, whatever spends it. With the default, a server can
compile grammars from strangers: `cargo run --release -p syntagma-fuzz --example hostile -- --attacks` shows what each
attack costs on your machine. Grammars of normal use cost far less. Reading a source, making its normal form and
compiling it each have their own fuel.

"""


def openchatml_rules() -> str:
    """Every requirement and settled point of OpenChatML, with the cases that show it and break it."""
    path = DOCS.parent / "conformance" / "openchatml" / "rules.toml"
    rows: dict[str, dict[str, list[str]]] = {}
    for case in tomllib.loads(path.read_text(encoding="utf-8"))["case"]:
        row = rows.setdefault(case["number"], {"holds": [], "breaks": [], "doors": []})
        row[case["shows"]].append(case["name"])
        if case["door"] not in row["doors"]:
            row["doors"].append(case["door"])
    table = (
        "".join(
            f"| {number} | {'; '.join(row['holds'])} | {'; '.join(row['breaks'])} | {', '.join(row['doors'])} |\n"
            for number, row in rows.items()
        )
        .replace("<|", "<\\|")
        .replace("|>", "\\|>")
    )
    return f"{NOTE}{RULES}{table}"


RULES = """# OpenChatML: every rule and its cases

R-numbers are requirements of the specification, A-numbers the [settled points](openchatml.md#settled-points). For each
number: what a case shows in which the rule holds, what one shows that breaks it, and at which doors they are tried. The
cases are in `conformance/openchatml/rules.toml`, and run in `tests/openchatml/test_rules.py`.

| | holds | breaks | doors |
|---|---|---|---|
"""

SGLANG = """# Every name of SGLang's parsers

The names of SGLang 0.5.9 that have to do with reasoning, calls and what constrains a model to them: where each is
[offered](compat-sglang.md), below `syntagma.compat.sglang` unless it says otherwise, or why it is not.
"""


def sglang_names() -> str:
    """SGLang's names, from the list that the tests check."""
    path = DOCS.parent / "tests" / "compat" / "sglang_names.toml"
    pages = [NOTE + SGLANG]
    for section in tomllib.loads(path.read_text(encoding="utf-8"))["section"]:
        offered, refused = section.get("offered", {}), section.get("not_offered", {})
        pages.append(f"\n## {section['title']}\n\n| name | here |\n|---|---|\n")
        pages += [f"| `{name}` | `{place}` |\n" for name, place in offered.items()]
        pages += [f"| `{name}` | not offered: {reason} |\n" for name, reason in refused.items()]
    return "".join(pages)


_MODULES = re.compile(r"(<!-- modules: written by `make docs` -->\n).*?(<!-- end of modules -->)", re.DOTALL)


def python_names() -> str:
    """The page of Python names, with the modules of each level of stability."""
    text = (DOCS / "reference" / "python.md").read_text(encoding="utf-8")
    modules = tomllib.loads((DOCS / "reference" / "python.toml").read_text(encoding="utf-8"))["module"]
    rows = "| | modules |\n|:--|:--|\n"
    for level in dict.fromkeys(modules.values()):
        rows += f"| **{level}** | {', '.join(f'`{name}`' for name in modules if modules[name] == level)} |\n"
    text, count = _MODULES.subn(lambda place: place[1] + rows + place[2], text)
    if count != 1:
        raise ValueError("the page of Python names has no place for its modules")
    return text


def _with_figures(page: Path) -> str:
    """A page that people write, with its figures as they are today."""
    return insert_figures(page.read_text(encoding="utf-8"))


PAGES = {
    "../README.md": lambda: insert_peers_table((DOCS.parent / "README.md").read_text()),
    **{str(page.relative_to(DOCS)): functools.partial(_with_figures, page) for page in pages_with_figures(DOCS)},
    "clients.md": lambda: NOTE + clients_page(),
    "engines/index.md": lambda: NOTE + engines_page(),
    "reference/cli.md": command_line,
    "reference/compat-sglang-names.md": sglang_names,
    "reference/doctor-checks.md": lambda: NOTE + doctor_page(),
    "reference/formats.md": formats,
    "reference/lark.md": lambda: insert_lark_table((DOCS / "reference" / "lark.md").read_text()),
    "reference/limits.md": limits,
    "reference/openchatml-rules.md": openchatml_rules,
    "reference/parser-states.md": parser_states,
    "reference/python.md": python_names,
    "reference/schema-suite.md": schema_suite,
    "reference/server-fields.md": lambda: NOTE + server_fields_page(),
    **{f"pictures/{name}": draw for name, draw in PICTURES.items()},
}


def main() -> int:
    """Write the pages, or check them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a page is out of date")
    check = parser.parse_args().check
    stale = []
    for name, make in PAGES.items():
        path, text = DOCS / name, make()
        if not path.is_file() or path.read_text() != text:
            stale.append(name)
            if not check:
                path.write_text(text)
    if check and stale:
        print("out of date (run `make docs`): " + ", ".join(stale), file=sys.stderr)
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
