"""Perturbs templates, and counts how many of the derived formats follow.

A marker gets other brackets, another word or a prefix, brackets are doubled, whitespace is put in or left out, members
of JSON change places. A format follows if it reads back the messages of the template's cases from the perturbed render,
and its certificate is clean as before.

`python -m tests.analysis.perturbation [--seed 1] [--count 600]` prints the figures, and every template that was not
followed.
"""

from __future__ import annotations

import argparse
import functools
import json
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from syntagma.analysis import Analysis, analyze
from syntagma.codec import ChatCodec
from syntagma.errors import SyntagmaError
from syntagma.templates import ChatTemplate

from .invented import NAMES, TOOLS, USER, _plain, record, template

_BRACKETS = (
    ("<", ">"),
    ("[", "]"),
    ("<|", "|>"),
    ("[[", "]]"),
    ("⟦", "⟧"),
    ("«", "»"),
    ("【", "】"),
    ("<<", ">>"),
    ("◁", "▷"),
    ("[|", "|]"),
    ("<\N{FULLWIDTH VERTICAL LINE}", "\N{FULLWIDTH VERTICAL LINE}>"),
)
_WORDS = ("zorb", "quill", "vexel", "brim_two", "NOOK", "Fjord")
_PREFIXES = ("x:", "kit_", "v2.", "my-")
_MARKER = re.compile(
    r"<\|?(/?)([A-Za-z_]+)\|?>|(?<!\w)\[\[?(/?)([A-Za-z_]+)\]\]?|⟦(/?)([A-Za-z_]+)⟧|«(/?)([A-Za-z_]+)»"
)
"""whole markers of common styles, as they stand in a template's literals: an optional slash, and a word; what stands in
square brackets after a word is a subscript"""
_MEMBERS = re.compile(r"\{('\w+': [^{},]+), ('\w+': [^{},]+)\}")
_LINE_BREAK = re.compile(r"""(?<!replace\(['"])\\n""")
"""one that the template writes; the text that a filter looks for is no spacing of the format"""
_ROLES = ("assistant", "user", "system", "tool")
"""words that a template also writes by their role: changed in one place alone, the template would be broken"""


class Outcome(NamedTuple):
    """A perturbed template: what was done to it, whether the format follows, and whether its certificate is clean."""

    template: str
    kind: str
    source: str
    right: bool
    clean: bool


def _with_markers(source: str, change: Callable[[str, str], str]) -> str:
    """The template with every marker written otherwise; `change` is given the slash and the word."""

    def changed(match: re.Match[str]) -> str:
        slash, word = next((match[at], match[at + 1]) for at in (1, 3, 5, 7) if match[at + 1] is not None)
        return match[0] if word in _ROLES else change(slash, word)

    return _MARKER.sub(changed, source)


def _rename(source: str, draw: random.Random) -> str:
    words = sorted({word for match in _MARKER.finditer(source) for word in match.groups() if word and word != "/"})
    new = {word: f"{draw.choice(_WORDS)}{at}" for at, word in enumerate(words)}
    return _MARKER.sub(lambda match: _replaced(match, new), source)


def _replaced(match: re.Match[str], new: dict[str, str]) -> str:
    word = next(one for one in match.groups() if one and one != "/")
    return match[0] if word in _ROLES else match[0].replace(word, new[word])


def _rebracket(source: str, draw: random.Random) -> str:
    left, right = draw.choice(_BRACKETS)
    return _with_markers(source, lambda slash, word: f"{left}{slash}{word}{right}")


def _double(source: str, draw: random.Random) -> str:
    if draw.random() < 0.5:
        return _MARKER.sub(_doubled, source)
    return _with_markers(source, lambda slash, word: f"[[{slash}{word}]]")


def _doubled(match: re.Match[str]) -> str:
    named = any(word in _ROLES for word in match.groups())
    return match[0] if named else match[0][0] + match[0] + match[0][-1]


def _prefix(source: str, draw: random.Random) -> str:
    prefix = draw.choice(_PREFIXES)
    return _MARKER.sub(lambda match: _replaced(match, _Prefixed(prefix)), source)


class _Prefixed(dict[str, str]):
    """Every word with a prefix."""

    def __init__(self, prefix: str) -> None:
        super().__init__()
        self._prefix = prefix

    def __missing__(self, word: str) -> str:
        return self._prefix + word


def _space(source: str, draw: random.Random) -> str:
    kind = draw.choice(("after", "before", "dropped", "doubled"))
    if kind == "after":
        return _MARKER.sub(lambda match: match[0] + _blank(match), source)
    if kind == "before":
        return _MARKER.sub(lambda match: (_blank(match) if match[0][1] != "/" else "") + match[0], source)
    return _LINE_BREAK.sub("" if kind == "dropped" else r"\\n\\n", source)


def _blank(match: re.Match[str]) -> str:
    return "" if any(word in _ROLES for word in match.groups()) else " "


def _reorder(source: str, _: random.Random) -> str:
    return _MEMBERS.sub(lambda match: f"{{{match[2]}, {match[1]}}}", source)


KINDS: dict[str, Callable[[str, random.Random], str]] = {
    "other words": _rename,
    "other brackets": _rebracket,
    "doubled brackets": _double,
    "prefixes": _prefix,
    "spacing": _space,
    "order of members": _reorder,
}


@functools.cache
def _readable(name: str) -> tuple[tuple[dict[str, Any], ...], bool]:
    """The messages that come back from the template as it is, and whether its certificate is clean."""
    analysis = analyze(template(name), candidates="derived")
    messages = tuple(one for one in _messages(name) if _comes_back(template(name), analysis, one) is True)
    return messages, analysis.certificate is not None and analysis.certificate.clean


def _messages(name: str) -> Iterator[dict[str, Any]]:
    for case in record(name)["case"]:
        message: dict[str, Any] = {"role": "assistant", "content": case.get("content", "")}
        if case.get("reasoning"):
            message["reasoning_content"] = case["reasoning"]
        if case.get("calls"):
            message["tool_calls"] = [
                {
                    "id": call.get("id") or f"Kx{at}Vt7Lm9",
                    "type": "function",
                    "function": {"name": call["name"], "arguments": call["arguments"]},
                }
                for at, call in enumerate(case["calls"])
            ]
        yield message


def _comes_back(source: ChatTemplate, analysis: Analysis, message: dict[str, Any]) -> bool | None:
    """Whether a message comes back, whole and by characters; None where its turn does not continue the prompt."""
    codec = ChatCodec.from_template(source, analysis)
    try:
        prompt = codec.render(USER, tools=TOOLS, add_generation_prompt=True)
        whole = str(codec.render([*USER, message], tools=TOOLS, add_generation_prompt=False))
    except SyntagmaError:
        return None
    if not whole.startswith(str(prompt)):
        return None
    expected = {
        "reasoning": message.get("reasoning_content", "").strip(),
        "content": message["content"].strip(),
        "calls": [
            [call["function"]["name"], json.loads(call["function"]["arguments"]), None]
            for call in message.get("tool_calls", [])
        ],
    }
    for chunks in ([whole[len(prompt) :]], list(whole[len(prompt) :])):
        parser = analysis.format.parser(TOOLS, prompt=prompt, id_seed="1")
        for chunk in chunks:
            parser.feed(chunk)
        parser.finish()
        try:
            if _plain(parser.message, with_ids=[]) != expected:
                return False
        except ValueError:
            return False
    return True


def outcomes(seed: int, count: int) -> Iterator[Outcome]:
    """Perturbed templates, `count` of them; those that a perturbation does not change, or breaks, are drawn anew."""
    draw = random.Random(seed)
    names = [name for name in NAMES if "beyond" not in record(name)]
    made = 0
    while made < count:
        name, kind = draw.choice(names), draw.choice(list(KINDS))
        source = KINDS[kind](template(name).source, draw)
        messages, clean = _readable(name)
        if source == template(name).source or not messages or not clean:
            continue
        made += 1
        perturbed = ChatTemplate(source, eos_token="</s>")
        try:
            analysis = analyze(perturbed, candidates="derived", cache={})
            results = [_comes_back(perturbed, analysis, message) for message in messages]
            if None in results:
                made -= 1  # the perturbed template is broken: its turns do not begin as its prompts end
                continue
            right = all(results)
        except SyntagmaError:
            yield Outcome(name, kind, source, right=False, clean=False)
            continue
        yield Outcome(name, kind, source, right, analysis.certificate is not None and analysis.certificate.clean)


def _main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--count", type=int, default=600)
    given = options.parse_args()
    made = list(outcomes(given.seed, given.count))
    follow = [one for one in made if one.right and one.clean]
    for one in made:
        if one not in follow:
            verdict = f"{'right' if one.right else 'wrong'}, {'clean' if one.clean else 'not clean'}"
            print(f"{one.template}, {one.kind}: {verdict}")
    for kind in KINDS:
        of_kind = [one for one in made if one.kind == kind]
        print(f"{kind}: {sum(one.right and one.clean for one in of_kind)} of {len(of_kind)}")
    verdicts = Counter((one.right, one.clean) for one in made)
    print(f"{len(made)} templates, {len(follow)} followed ({len(follow) / len(made):.1%})")
    print(f"wrong and clean: {verdicts[False, True]}; right and not clean: {verdicts[True, False]}")


if __name__ == "__main__":
    _main()
