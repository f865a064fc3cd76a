"""`syntagma grammar`: read a grammar, print it, check a text against it."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
import typer

from syntagma.cli.inputs import load_grammar, read_text
from syntagma.cli.output import JsonOption, reported, write, write_json
from syntagma.decoding import GrammarCompiler, GrammarMatcher, TokenizerInfo
from syntagma.grammars import Grammar

__all__ = ["grammar"]


class Check(msgspec.Struct, frozen=True, omit_defaults=True):
    """Whether a text is in the language, and where it leaves it.

    Attributes:
        accepted: the whole text is in the language.
        reason: `refused`: a character cannot follow; `incomplete`: the text may not end where it ends.
        offset: 0-based offset in code points where it is refused or ends.
        line: 1-based.
        column: 1-based, in code points.
        excerpt: the line with a caret.
    """

    accepted: bool
    reason: str | None = None
    offset: int | None = None
    line: int | None = None
    column: int | None = None
    excerpt: str | None = None


@reported
def grammar(
    source: Annotated[str | None, typer.Argument(help="Grammar file: .json is a JSON Schema, else EBNF.")] = None,
    *,
    regex: Annotated[str | None, typer.Option(help="A regular expression instead of a file.")] = None,
    ebnf: Annotated[bool, typer.Option("--ebnf", help="Print it as EBNF.")] = False,
    lnf: Annotated[bool, typer.Option("--lnf", help="Print the normal form that the engine runs.")] = False,
    check: Annotated[str | None, typer.Option(help="File with a text to check; - is standard input.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Say what of a grammar is enforced (exact or widened), print it, or check a text against it."""
    read = load_grammar(source, regex)
    report = read.report
    answer: dict[str, Any] = {"status": report.status, "pointers": report.pointers}
    if ebnf:
        answer["ebnf"] = read.to_ebnf()
    if lnf:
        answer["lnf"] = read.dump_lnf()
    verdict = None if check is None else _check(read, read_text(check))
    if as_json:
        write_json(answer if verdict is None else answer | {"check": verdict})
    else:
        _print(answer, verdict)
    if verdict is not None and not verdict.accepted:
        raise typer.Exit(1)


def _check(read: Grammar, text: str) -> Check:
    # Bytes are tokens here: what a grammar says about text does not depend on a model's vocabulary.
    end = 256
    info = TokenizerInfo.from_tokens([bytes([value]) for value in range(256)] + [b""], eos_token_ids=[end])
    matcher = GrammarMatcher(GrammarCompiler(info).compile(read))
    for offset, character in enumerate(text):
        if not matcher.accept_bytes(character.encode()):
            return _place(text, offset, "refused")
    return Check(True) if matcher.is_accepting() else _place(text, len(text), "incomplete")


def _place(text: str, offset: int, reason: str) -> Check:
    begin = text.rfind("\n", 0, offset) + 1
    end = text.find("\n", offset)
    line = text[begin : end if end >= 0 else len(text)]
    column = offset - begin
    excerpt = f"{line}\n{' ' * column}^"
    return Check(False, reason, offset, text.count("\n", 0, offset) + 1, column + 1, excerpt)


def _print(answer: dict[str, Any], verdict: Check | None) -> None:
    if verdict is not None:
        if verdict.accepted:
            write("accepted")
        else:
            what = "refused" if verdict.reason == "refused" else "the text ends too early"
            write(f"{what} at {verdict.line}:{verdict.column}\n{verdict.excerpt}")
    shown = [answer[name].rstrip("\n") for name in ("ebnf", "lnf") if name in answer]
    for part in shown:
        write(part)
    if not shown and verdict is None:
        write(answer["status"])
        for pointer, reason in answer["pointers"].items():
            write(f"  {pointer or '/'}: {reason}")
