"""`syntagma grammar`: reads a grammar, prints it, checks a text against it."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
import typer

from syntagma.cli.inputs import (
    EMBEDDED,
    GRAMMAR_FILE,
    START,
    format_of,
    load_grammar,
    load_tokenizer,
    load_tools,
    read_text,
)
from syntagma.cli.output import JsonOption, reported, warn, write, write_json
from syntagma.cli.progress import progress
from syntagma.cli.schemas import misspelt_in, schema_of, warn_of_misspelt
from syntagma.compat.llama_cpp import special_tokens
from syntagma.decoding import TokenizerInfo, grammar_cost, keyword_costs
from syntagma.errors import RequestError
from syntagma.grammars import Check, Grammar

__all__ = ["grammar"]

_SHOWN_KEYWORDS = 10


@reported
def grammar(
    source: Annotated[str | None, typer.Argument(help=GRAMMAR_FILE)] = None,
    *,
    regex: Annotated[str | None, typer.Option(help="A regular expression instead of a file.")] = None,
    format_: Annotated[
        str | None,
        typer.Option("--format", help="Instead of a file, the grammar of a turn in this format (name or TOML file)."),
    ] = None,
    template: Annotated[
        str | None, typer.Option(help="Instead of a file, the grammar of a turn of this chat template.")
    ] = None,
    tools: Annotated[str | None, typer.Option(help="JSON file with the tools of the turn.")] = None,
    start: Annotated[str | None, typer.Option(help=START)] = None,
    order: Annotated[str, typer.Option(help="Order of properties in a JSON Schema: 'declared' or 'any'.")] = "declared",
    resources: Annotated[
        str | None,
        typer.Option(help="Folder of JSON files that a JSON Schema may refer to, by their paths in it or their $id."),
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Reject a JSON Schema that cannot be enforced exactly.")
    ] = False,
    report: Annotated[bool, typer.Option("--report", help="Also print what is not enforced.")] = False,
    ebnf: Annotated[bool, typer.Option("--ebnf", help="Print it as EBNF.")] = False,
    gbnf: Annotated[bool, typer.Option("--gbnf", help="Print it as GBNF.")] = False,
    lark: Annotated[bool, typer.Option("--lark", help="Print it as Lark, for llguidance.")] = False,
    exports: Annotated[
        bool,
        typer.Option(
            "--exports", help="List the languages of other engines in which it can be written, and what is lost."
        ),
    ] = False,
    lnf: Annotated[bool, typer.Option("--lnf", help="Print the normal form that the engine runs.")] = False,
    check: Annotated[
        str | None, typer.Option(help="File with a text to check: is it accepted, or where and why not?")
    ] = None,
    examples: Annotated[
        int | None, typer.Option(min=1, help="Print so many random texts, to see what the grammar lets through.")
    ] = None,
    cost: Annotated[
        bool,
        typer.Option(
            "--cost",
            help="Measure its cost: time, memory, tokens of an answer, and the most expensive keywords of a schema.",
        ),
    ] = False,
    tokenizer: Annotated[
        str | None,
        typer.Option(
            help="tokenizer.json, folder, GGUF, or 'embedded'. --gbnf, --lark and --exports write its special tokens as"
            " numbers; --cost compiles for it. Default of --cost: 'embedded'."
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Read, print and check a grammar, or measure its cost.

    The grammar comes from a file, a JSON Schema, a regular expression, or a turn of a format or chat template.
    """
    if format_ is not None or template is not None:
        read = _of_turn(source or regex, format_, template, tools)
    else:
        with progress(source or "regex"):
            read = load_grammar(source, regex, start=start, order=order, strict=strict, resources=resources)
    schema = schema_of(source)
    misspelt = misspelt_in(schema, load_tools(tools))
    enforced = read.report
    vocabulary = None if tokenizer is None else load_tokenizer(tokenizer)
    token_ids = None if vocabulary is None else special_tokens(vocabulary)
    answer: dict[str, Any] = {
        "status": enforced.status,
        "pointers": enforced.pointers,
        "warnings": msgspec.to_builtins(read.warnings),
        "misspelt": misspelt,
    }
    if ebnf:
        answer["ebnf"] = read.to_ebnf()
    if gbnf:
        written = read.to_gbnf(token_ids)
        answer |= {"gbnf": written.text, "preserved_tokens": list(written.preserved_tokens)}
    if lark:
        answer["lark"] = read.to_lark(token_ids)
    if exports:
        answer["exports"] = {
            name: {"status": found.status, "where": dict(found.where), "why": found.why}
            for name, found in read.exports(token_ids).items()
        }
    if cost:
        answer["cost"] = _cost(read, load_tokenizer(EMBEDDED) if vocabulary is None else vocabulary, schema)
    if lnf:
        answer["lnf"] = read.dump_lnf()
    if examples is not None:
        answer["examples"] = read.examples(examples)
    verdict = None if check is None else read.check(read_text(check))
    if as_json:
        write_json(answer if verdict is None else answer | {"check": verdict})
    else:
        for warning in read.warnings:
            warn(str(warning))
        warn_of_misspelt(misspelt)
        if examples is not None and len(answer["examples"]) < examples:
            warn(f"only {len(answer['examples'])} different texts were found")
        _print(answer, verdict, report=report)
    if verdict is not None and (not verdict.accepted or verdict.violations):
        raise typer.Exit(1)


def _cost(grammar: Grammar, info: TokenizerInfo, schema: dict[str, Any] | None) -> dict[str, Any]:
    """The cost of a grammar, with the cost of keywords if its source is a JSON Schema."""
    cost: dict[str, Any] = msgspec.to_builtins(grammar_cost(grammar, info))
    if schema is not None:
        cost["keywords"] = msgspec.to_builtins(keyword_costs(schema, info))
    return cost


def _print_cost(cost: dict[str, Any]) -> None:
    write(f"compile     {cost['compile_ms']:,.3f} ms, {cost['rules']:,} rules, {cost['compiled_bytes']:,} bytes")
    write(f"first mask  {cost['first_mask_ms']:,.3f} ms, for {cost['vocab_size']:,} tokens")
    write(f"matcher     {cost['matcher_bytes']:,} bytes")
    shortest, typical = _or_none(cost["shortest_tokens"]), _or_none(cost["typical_tokens"])
    write(f"answer      {shortest} tokens at least, {typical} typically")
    for warning in cost["warnings"]:
        write(f"above {warning['limit']:g}: {warning['figure']} {warning['value']:g}: {warning['message']}")
    keywords = cost.get("keywords")
    if keywords is not None and keywords["tried"]:
        left = f", {keywords['left']} not tried" if keywords["left"] else ""
        write(f"the most expensive of {keywords['tried']} keywords{left}:")
        for one in keywords["keywords"][:_SHOWN_KEYWORDS]:
            saved = f"{one['milliseconds']:+g} ms, {one['rules']:+d} rules, {one['compiled_bytes']:+d} bytes"
            write(f"  {one['pointer']}: {saved}")


def _or_none(count: float | None) -> str:
    return "unknown" if count is None else f"{count:g}"


def _of_turn(other: str | None, name: str | None, template: str | None, tools: str | None) -> Grammar:
    """The grammar of a turn. `other` is a source of a grammar, which must not be given as well."""
    if other is not None:
        raise RequestError("E-REQUEST-ARGUMENT", "give either a grammar or the format of a turn")
    return format_of(name, template).grammar(load_tools(tools))


def _print(answer: dict[str, Any], verdict: Check | None, *, report: bool) -> None:
    if verdict is not None:
        if verdict.accepted:
            write("accepted")
            for violation in verdict.violations:
                write(f"  not enforced by the grammar: {violation}")
        else:
            write(f"{verdict.line}:{verdict.column}: {verdict.message}\n{verdict.excerpt}")
            write(f"in {', '.join(verdict.rules)}; next may come: {verdict.expected or 'nothing'}")
            if verdict.out_of_order:
                write("hint: --order any accepts properties in any order")
    shown = [answer[name].rstrip("\n") for name in ("ebnf", "gbnf", "lark", "lnf") if name in answer]
    for part in shown:
        write(part)
    for text in answer.get("examples", ()):
        write(repr(text))
    if answer.get("preserved_tokens"):
        write("# preserved tokens: " + " ".join(answer["preserved_tokens"]))
    for name, export in answer.get("exports", {}).items():
        places = "; ".join(f"{place or '/'}: {what}" for place, what in export["where"].items())
        write(f"{name}: {export['status']}" + (f" ({export['why'] or places})" if export["status"] != "exact" else ""))
    measured = answer.get("cost")
    if measured is not None:
        _print_cost(measured)
    if report or (not shown and verdict is None and measured is None and not {"exports", "examples"} & answer.keys()):
        write(answer["status"])
        for pointer, reason in answer["pointers"].items():
            write(f"  {pointer or '/'}: {reason}")
