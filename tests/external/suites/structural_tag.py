"""Structural tags as their owners describe them: `structural_tag.toml` beside this file has tags and texts.

Every text is a case, and every tag that is refused. `tests/external/suites/structural_tag.py --peer` asks xgrammar
the same.
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import syntagma as sg
from syntagma.formats import styled

__all__ = ["run"]

_CASES = Path(__file__).with_suffix(".toml")
_END = 263
_TOKENS = [*(bytes([value]) for value in range(256)), *(f"<{at}>".encode() for at in range(256, 260))]
_TOKENS += [b"<|t|>", b"<|u|>", b"<|v|>", b"<|end|>"]
_TOKEN = re.compile("⟨([0-9]+)⟩")


def run(_data: Path) -> Iterator[tuple[str, str | None]]:
    """Each text and each refusal, with what is wrong or None."""
    special = range(256, _END + 1)
    info = sg.TokenizerInfo.from_tokens(_TOKENS, special_token_ids=special, eos_token_ids=[_END])
    compiler = sg.GrammarCompiler(info)

    def accepts(tag: Any) -> Callable[[str], bool]:
        compiled = compiler.compile(sg.Grammar.from_structural_tag(tag, styles=styled))
        return lambda text: (
            (matcher := sg.GrammarMatcher(compiled)).accept_output(_ids(text)) == len(_ids(text))
            and matcher.is_accepting()
        )

    yield from _cases(accepts, lambda error: getattr(error, "code", ""))


def _ids(text: str) -> list[int]:
    parts = _TOKEN.split(text)
    return [token for at, part in enumerate(parts) for token in ([int(part)] if at % 2 else list(part.encode()))]


def _cases(
    accepts: Callable[[Any], Callable[[str], bool]], code: Callable[[Exception], str]
) -> Iterator[tuple[str, str | None]]:
    for number, case in enumerate(tomllib.loads(_CASES.read_text(encoding="utf-8"))["case"]):
        tag = json.loads(case["tag"], strict=False) if "tag" in case else None
        tag = tag or {"type": "structural_tag", "format": json.loads(case["format"], strict=False)}
        name = f"{number:02} {case['source']}"
        try:
            judge = accepts(tag)
        except Exception as error:  # whoever is asked has errors of its own
            found = code(error)
            wanted = case.get("refused")
            yield name, None if wanted is not None and found in ("", wanted) else f"refused: {error}"
            continue
        if "refused" in case:
            yield name, "is not refused"
        for verdict, texts in ((True, case.get("accepts", ())), (False, case.get("refuses", ()))):
            for text in texts:
                wrong = f"{'refuses' if verdict else 'accepts'} {text!r}"
                yield f"{name}: {text!r}", None if judge(text) == verdict else wrong


def _peer() -> int:
    """What xgrammar says otherwise."""
    import xgrammar

    info = xgrammar.TokenizerInfo(_TOKENS, stop_token_ids=[_END])

    def accepts(tag: Any) -> Callable[[str], bool]:
        compiled = xgrammar.GrammarCompiler(info).compile_structural_tag(tag)

        def judge(text: str) -> bool:
            matcher = xgrammar.GrammarMatcher(compiled)
            return all(matcher.accept_token(token) for token in _ids(text)) and matcher.is_completed()

        return judge

    found = [(name, problem) for name, problem in _cases(accepts, lambda _: "")]
    for name, problem in found:
        if problem is not None:
            print(f"{name}: {problem}")
    print(f"{sum(problem is None for _, problem in found)} of {len(found)} as xgrammar has it")
    return 0


if __name__ == "__main__" and "--peer" in sys.argv:
    sys.exit(_peer())
