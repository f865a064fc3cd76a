"""Cases that every host of the engine runs: grammars, what a matcher takes, and a hash of each mask.

python -m tests.hosts.cases    write conformance/hosts/cases.jsonl (see the README beside it)
"""

from __future__ import annotations

import json
import random
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import syntagma as sg
from syntagma import _engine
from syntagma.grammars.json_schema import ValueNotation
from tests.grammars.schema_draws import Draw
from tests.hosts.tag_draws import drawn_tag

__all__ = ["CASES", "TOKENIZER", "VOCABULARIES", "fnv", "grammar_of", "info_of", "run"]

HOSTS = Path(__file__).resolve().parents[2] / "conformance" / "hosts"
CASES = HOSTS / "cases.jsonl"
_MODEL = Path(sg.__file__).parent / "embedded" / "data"
TOKENIZER = _MODEL / "tokenizer.json"
DRAWN, TAGS = 212, 60
STEPS = 8
"""tokens drawn at random before the text is brought to an end"""
MOST_SOURCE, MOST_CLOSE = 420, 10
"""longest source that is drawn, in characters, and longest way to the end, in tokens"""

_WORDS = """true false null "name" "a" "b" "type": ": ", "," {" "} }, [] [1 ]] ":" \\" \\n \\u00 hello good find open
close haps per fect yes no and answer think call the an in er on 10 20 99 000 -1 .5 1e False True None é 中 🙂 ße <call>
</call> <
"""
_SPECIAL = ["<|end|>", "<|pad|>", "<|tool|>"]


def _small() -> dict[str, Any]:
    """A vocabulary with every byte, words, tokens inside of characters, and special tokens."""
    words = [*dict.fromkeys(_WORDS.split()), "  ", "\n\n", '": ', ' "', ", ", "- "]
    texts = [bytes([byte]) for byte in range(256)]
    texts += [word.encode() for word in words if len(word.encode()) > 1]
    texts += ["中".encode()[:2], "🙂".encode()[1:], b""]
    count = len(texts)
    texts += [word.encode() for word in _SPECIAL] + [b"<added>"]
    return {
        "vocabulary": "small",
        "tokens": [text.hex() for text in texts],
        "eos_ids": [count],
        "special_ids": [count + 1, count + 2],
        "added_ids": [count + 3],
        "vocab_size": len(texts) + 5,
    }


def _embedded() -> dict[str, Any]:
    ends = json.loads((_MODEL / "generation_config.json").read_text(encoding="utf-8"))["eos_token_id"]
    return {"vocabulary": "embedded", "eos_ids": ends, "vocab_size": 0}


VOCABULARIES = {parts["vocabulary"]: parts for parts in (_small(), _embedded())}


def info_of(parts: dict[str, Any]) -> sg.TokenizerInfo:
    """The vocabulary that a line describes."""
    if "tokens" not in parts:
        return sg.TokenizerInfo.from_tokenizer_json(TOKENIZER, eos_token_ids=parts["eos_ids"])
    return sg.TokenizerInfo.from_tokens(
        [bytes.fromhex(token) for token in parts["tokens"]],
        eos_token_ids=parts["eos_ids"],
        special_token_ids=parts["special_ids"],
        added_token_ids=parts["added_ids"],
        vocab_size=parts["vocab_size"],
    )


def grammar_of(case: dict[str, Any]) -> sg.Grammar:
    """The grammar of a case, read as Python reads it.

    Raises:
        SyntagmaError: it is refused.
    """
    if "saved" in case:
        return sg.Grammar.from_bytes(bytes.fromhex(case["saved"]))
    options = json.loads(case.get("options", "{}"))
    options["limits"] = sg.Limits(**options.get("limits", {}))
    if "notation" in options:
        options["notation"] = ValueNotation(**options["notation"])
    try:
        match case["notation"]:
            case "ebnf":
                return sg.Grammar.from_ebnf(case["source"], **options)
            case "gbnf":
                return sg.Grammar.from_gbnf(case["source"], **options)
            case "xgrammar":
                return sg.Grammar.from_xgrammar(case["source"], **options)
            case "lark":
                return sg.Grammar.from_lark(case["source"], **options)
            case "regex":
                return sg.Grammar.from_regex(case["source"], **options)
            case "json_schema":
                # An option of hosts alone; in Python it belongs to the interface of xgrammar.
                is_strict = options.pop("strict", False)
                source = _engine.strict_schema(case["source"], options["limits"]) if is_strict else case["source"]
                return sg.Grammar.from_json_schema(source, **options)
            case "structural_tag":
                return sg.Grammar.from_structural_tag(case["source"], **options)
            case other:
                raise sg.ArgumentError("E-GRAMMAR-DIALECT", f"dialect is {other!r}")
    except TypeError as error:  # an option that there is not
        raise sg.ArgumentError("E-ARGUMENT-VALUE", str(error)) from error


def fnv(row: np.ndarray[Any, Any]) -> str:
    """A row of a bitmask as 8 digits."""
    found = 0x811C9DC5
    for byte in row.astype("<i4").tobytes():
        found = (found ^ byte) * 0x01000193 & 0xFFFFFFFF
    return f"{found:08x}"


def run(
    case: dict[str, Any], compiler: sg.GrammarCompiler, choose: Iterator[random.Random] | None = None
) -> dict[str, Any]:
    """What becomes of a case, as the members of its line; `choose` draws the tokens that it does not have yet."""
    try:
        grammar = grammar_of(case)
        compiled = compiler.compile(grammar)
    except sg.SyntagmaError as error:
        return {"error": error.code}
    report = grammar.report
    told = {"status": report.status, "pointers": report.pointers}
    matcher = sg.GrammarMatcher(compiled)
    jump = matcher.find_jump_forward_bytes().hex()
    tokens = case["tokens"] if "tokens" in case else _drawn(matcher.fork(), compiler.info, next(choose or iter(())))
    rng = random.Random(len(tokens))
    at = len(tokens) // 3
    masks, refused, ends, close = [], [], "", None
    row = sg.allocate_token_bitmask(1, compiler.info.vocab_size)[0]
    for place, token in enumerate([*tokens, None]):
        matcher.fill_next_token_bitmask(row)
        masks.append(fnv(row))
        ends += str(int(matcher.is_accepting()))
        if place == at:
            close = matcher.shortest_close()
        if token is not None:
            none = np.flatnonzero(~_bits(row, compiler.info.vocab_size))
            refused.append(int(rng.choice(none)) if len(none) else -1)
            assert matcher.accept_token(token), (case, place)
    captures = json.dumps(matcher.captures(), separators=(",", ":"), ensure_ascii=False)
    return {
        "report": told,
        "tokens": tokens,
        "masks": masks,
        "refused": refused,
        "ends": ends,
        "jump": jump,
        "close": {"at": at, "tokens": close},
        "captures": captures,
    }


def _bits(row: np.ndarray[Any, Any], size: int) -> np.ndarray[Any, Any]:
    return np.unpackbits(row.view(np.uint8), bitorder="little")[:size].astype(bool)


def _drawn(matcher: sg.GrammarMatcher, info: sg.TokenizerInfo, rng: random.Random) -> list[int]:
    """Tokens that a matcher takes: some at random, then a way to an end, and the end."""
    row = sg.allocate_token_bitmask(1, info.vocab_size)[0]
    taken: list[int] = []
    while len(taken) < STEPS and not matcher.is_terminated():
        matcher.fill_next_token_bitmask(row)
        allowed = np.flatnonzero(_bits(row, info.vocab_size)).tolist()
        # Tokens of several bytes are rarer than single ones, and more is to be seen behind them.
        longer = [token for token in allowed if len(info.token_bytes(token)) > 1]
        taken.append(rng.choice(longer if longer and rng.random() < 0.6 else allowed))
        matcher.accept_token(taken[-1])
    if not matcher.is_terminated():
        close = matcher.shortest_close(MOST_CLOSE)
        if close is not None:
            taken += [*close, info.eos_token_ids[0]]
    return taken


def _sources() -> Iterator[dict[str, Any]]:
    listed = tomllib.loads((HOSTS / "sources.toml").read_text(encoding="utf-8"))["case"]
    for number, case in enumerate(listed):
        yield {"name": f"{case['notation']}-{number}", **case, "vocabulary": case.get("vocabulary", "small")}
    tag = {
        "type": "structural_tag",
        "format": {
            "type": "triggered_tags",
            "triggers": ["<call>"],
            "tags": [
                {
                    "begin": "<call>",
                    "content": {"type": "json_schema", "json_schema": {"type": "integer"}},
                    "end": "</call>",
                }
            ],
        },
    }
    bounded = sg.Grammar.from_ebnf('start ::= @part(#"[a-z]*") "!";').bounded("part", tokens=3)
    saved = {"tag": sg.Grammar.from_structural_tag(tag), "bounded": bounded, "token": sg.Grammar.token("<|tool|>")}
    for name, grammar in saved.items():
        yield {"name": f"saved-{name}", "saved": grammar.to_bytes().hex(), "vocabulary": "small"}
    seed = drawn = 0
    while drawn < DRAWN:
        rng = random.Random(seed)
        source = json.dumps(Draw(rng).schema(), ensure_ascii=False)
        seed += 1
        if len(source) <= MOST_SOURCE:
            drawn += 1
            vocabulary = "embedded" if drawn % 4 == 0 else "small"
            yield {"name": f"drawn-{seed}", "notation": "json_schema", "source": source, "vocabulary": vocabulary}
    for seed in range(TAGS):
        source = json.dumps(drawn_tag(random.Random(seed)), ensure_ascii=False)
        yield {"name": f"tag-{seed}", "notation": "structural_tag", "source": source, "vocabulary": "small"}


def main() -> None:
    """Write the file."""
    compilers = {name: sg.GrammarCompiler(info_of(parts)) for name, parts in VOCABULARIES.items()}
    lines: list[dict[str, Any]] = [*VOCABULARIES.values()]
    generators = (random.Random(seed) for seed in range(1 << 20))
    lines += [case | run(case, compilers[case["vocabulary"]], generators) for case in _sources()]
    text = "".join(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n" for line in lines)
    CASES.write_text(text, encoding="utf-8")
    refused = sum("error" in line for line in lines)
    print(f"{len(lines) - len(VOCABULARIES)} cases, {refused} of them refused, {len(text.encode()) >> 10} KiB")


if __name__ == "__main__":
    main()
